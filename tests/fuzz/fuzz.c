#include "tests/fuzz/fuzz.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

const struct fuzz_target fuzz_targets[FUZZ_TARGET_COUNT] = {
#define X(name, max_len) {#name, fuzz_##name, max_len},
    FUZZ_TARGETS(X)
#undef X
};

const struct fuzz_target *fuzz_target_find(const char *name)
{
    for (int i = 0; i < FUZZ_TARGET_COUNT; i++)
        if (strcmp(fuzz_targets[i].name, name) == 0)
            return &fuzz_targets[i];
    return NULL;
}

_Noreturn void fuzz_fail(const char *file, int line, const char *what, const char *a, const char *b)
{
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, what);
    if (a)
        fprintf(stderr, "--- \"%s\"\n", a);
    if (b)
        fprintf(stderr, "--- \"%s\"\n", b);
    abort();
}

void fuzz_check_same(const char *file, int line, const char *what, const char *a, const char *b)
{
    if (a != b && (!a || !b || strcmp(a, b) != 0))
        fuzz_fail(file, line, what, a, b);
}

struct dice fuzz_dice(const uint8_t *data, size_t size)
{
    struct dice d = {.state = size};
    for (size_t i = 0; i < size; i++)
        d.state = (d.state ^ data[i]) * 0x100000001B3U;
    return d;
}

size_t fuzz_piece(struct dice *d, size_t left)
{
    size_t len = 1 + dice_below(d, dice_one_in(d, 4) ? left : left < 16 ? left : 16);
    return len < left ? len : left;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
    return mem_strndup((const char *)data, nul ? (size_t)(nul - data) : size);
}

bool fuzz_is_clean(const char *text, size_t len, bool multiline)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    utf8_clean(&clean, text, len, multiline ? UTF8_MULTILINE : UTF8_ONE_LINE);
    return clean.len == len && memcmp(clean.data, text, len) == 0;
}

void fuzz_check_error(const struct error *e)
{
    size_t len = strlen(e->text);
    FUZZ_CHECK(e->code != ERR_OK && len > 0 && len < sizeof e->text);
}

/* --- values ----------------------------------------------------------------------------------- */

uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

bool fuzz_bool(struct fuzz_input *in)
{
    return fuzz_byte(in) & 1;
}

size_t fuzz_below(struct fuzz_input *in, size_t bound)
{
    size_t n = fuzz_byte(in);
    if (bound > 256)
        n = n << 8 | fuzz_byte(in);
    return bound > 0 ? n % bound : 0;
}

int64_t fuzz_number(struct fuzz_input *in)
{
    static const int64_t extremes[] = {0,         1,         -1,        INT32_MAX, INT32_MIN,
                                       INT64_MAX, INT64_MIN, 1LL << 53, 1LL << 62};
    uint8_t kind = fuzz_byte(in);
    if (kind < 64)
        return extremes[kind % (sizeof extremes / sizeof *extremes)];
    uint64_t n = 0;
    for (int i = 0; i < kind % 9; i++)
        n = n << 8 | fuzz_byte(in);
    return (int64_t)n;
}

/* The first byte is the length. Invalid UTF-8 is replaced. */
char *fuzz_string(struct fuzz_input *in)
{
    struct buf out = BUF_INIT;
    size_t len = fuzz_byte(in);
    if (len > in->left)
        len = in->left;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        char bytes[4];
        i += utf8_decode((const char *)in->at + i, len - i, &cp);
        if (cp != 0)
            buf_add(&out, bytes, utf8_encode(cp, bytes));
    }
    in->at += len;
    in->left -= len;
    return buf_take(&out);
}

/* --- files ------------------------------------------------------------------------------------ */

static char directory[4096];
static pid_t owner;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)st;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_directory(void)
{
    if (getpid() == owner)
        nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    static char path[sizeof directory + 256];
    if (owner == 0) {
        const char *tmp = getenv("TMPDIR");
        snprintf(directory, sizeof directory, "%s/tiro-fuzz.XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(directory)) {
            perror(directory);
            exit(1);
        }
        owner = getpid();
        atexit(remove_directory);
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    bool ok = f && (size == 0 || fwrite(data, 1, size, f) == size);
    if (!f || fclose(f) != 0 || !ok) {
        perror(path);
        exit(1);
    }
    return path;
}
