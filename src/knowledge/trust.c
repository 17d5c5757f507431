#include "knowledge/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "config/permissions.h"
#include "knowledge/project.h"
#include "knowledge/skills.h"
#include "knowledge/walk.h"
#include "mcp/config.h"

enum {
    ALL_BYTES = 512 * 1024, /* of the texts of all parts */
    SHOWN_BYTES = 32 * 1024 /* of the content of a file */
};

/* The permission of a trusted directory, before its hash. No grant of a tool begins so. */
#define TRUST_WORD "trust sha256:"

/* --- SHA-256 (FIPS 180-4) --------------------------------------------------------------------- */

struct sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t len; /* bytes so far */
};

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void mix_block(struct sha256 *h)
{
    uint32_t w[64], s[8];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)h->block[4 * i] << 24 | (uint32_t)h->block[4 * i + 1] << 16 |
               (uint32_t)h->block[4 * i + 2] << 8 | h->block[4 * i + 3];
    for (size_t i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, h->state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        uint32_t one = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
        uint32_t two = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++)
        h->state[i] += s[i];
}

static void sha256_add(struct sha256 *h, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;
    for (size_t i = 0; i < len; i++) {
        h->block[h->len++ % 64] = from[i];
        if (h->len % 64 == 0)
            mix_block(h);
    }
}

static struct sha256 sha256_begin(void)
{
    return (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                     0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

/* In hexadecimal digits; the caller frees. */
static char *sha256_end(struct sha256 *h)
{
    struct buf out = BUF_INIT;
    uint64_t bits = h->len * 8;
    uint8_t tail[8];
    for (int i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(h, "\x80", 1);
    while (h->len % 64 != 56)
        sha256_add(h, "", 1);
    sha256_add(h, tail, sizeof tail);
    for (size_t i = 0; i < 8; i++)
        buf_addf(&out, "%08x", (unsigned)h->state[i]);
    return buf_take(&out);
}

/* A text with its length before it, so that no two lists of texts are the same bytes. */
static void add_text(struct sha256 *h, const char *text)
{
    auto_free char *len = mem_printf("%zu:", strlen(text));
    sha256_add(h, len, strlen(len));
    sha256_add(h, text, strlen(text));
}

static const char *below(const struct project_part *part)
{
    return part->below ? part->below : "";
}

/* The permission that trusts the parts that a directory of the project ("": its top) brings: with
 * the name of the directory behind the hash. The caller frees. */
static char *permission_of(const struct project_parts *p, const char *directory)
{
    struct sha256 h = sha256_begin();
    add_text(&h, p->directory);
    for (size_t i = 0; i < p->items.len; i++) {
        const struct project_part *part = &p->items.items[i];
        uint8_t kind = (uint8_t)part->kind;
        if (strcmp(below(part), directory) != 0)
            continue;
        sha256_add(&h, &kind, 1);
        add_text(&h, part->name);
        add_text(&h, part->text);
        add_text(&h, part->detail);
    }
    auto_free char *hex = sha256_end(&h);
    return mem_printf("%s%s%s%s", TRUST_WORD, hex, *directory ? " " : "", directory);
}

/* --- the parts -------------------------------------------------------------------------------- */

void project_parts_release(struct project_parts *p)
{
    for (size_t i = 0; i < p->items.len; i++) {
        free(p->items.items[i].name);
        free(p->items.items[i].text);
        free(p->items.items[i].detail);
        free(p->items.items[i].below);
    }
    vec_release(&p->items);
    free(p->directory);
    free(p->from);
    free(p->faults);
    *p = (struct project_parts){.directory = NULL};
}

void project_parts_add_fault(struct project_parts *p, const char *text)
{
    AUTO(buf_release) struct buf shown = BUF_INIT;
    utf8_reveal(&shown, text, strlen(text), UTF8_ONE_LINE);
    if (p->faults && strstr(p->faults, shown.data))
        return;
    mem_replace(&p->faults,
                p->faults ? mem_printf("%s; %s", p->faults, shown.data) : mem_strdup(shown.data));
}

void project_parts_add(struct project_parts *p, enum project_part_kind kind, const char *name,
                       const char *text, const char *detail)
{
    const char *const texts[] = {name, text, detail ? detail : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        p->bytes += strlen(texts[i]);
    p->excessive = p->excessive || p->items.len == PROJECT_PARTS || p->bytes > ALL_BYTES;
    if (!p->excessive)
        vec_push(&p->items, (struct project_part){kind, mem_strdup(texts[0]), mem_strdup(texts[1]),
                                                  mem_strdup(texts[2]), NULL});
}

enum read_result { READ_DONE, READ_ABSENT, READ_FAILED };

/* Opens each component without following a link, so that no path leads out. `fault`: of FAILED; the
 * caller frees. */
static enum read_result read_below(const char *directory, const char *path, struct buf *out,
                                   char **fault)
{
    enum read_result result = READ_FAILED;
    const char *why = NULL;
    struct stat st = {0};
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *at = path; fd >= 0 && *at;) {
        size_t len = strcspn(at, "/");
        auto_free char *name = mem_strndup(at, len);
        int way = at[len] ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY, above = fd;
        bool up = strcmp(name, "..") == 0;
        fd = up ? -1 : openat(above, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | way);
        int error = up ? ENOENT : errno;
        bool link =
            fd < 0 && fstatat(above, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        close(above);
        if (fd < 0 && !link && (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG))
            return READ_ABSENT;
        why = link ? "a symbolic link is not followed here" : strerror(error);
        at += len + (at[len] == '/');
    }
    if (fd < 0) {
        why = why ? why : strerror(errno);
    } else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        why = "it is no regular file";
    } else if (st.st_size > PROJECT_FILE_BYTES) {
        why = "it has more than 1 MiB";
    } else {
        char piece[8192];
        ssize_t n = 0;
        while (out->len <= PROJECT_FILE_BYTES && (n = read(fd, piece, sizeof piece)) > 0)
            buf_add(out, piece, (size_t)n);
        why = n < 0 ? strerror(errno) : "it grows";
        result = n == 0 ? READ_DONE : READ_FAILED;
    }
    if (fd >= 0)
        close(fd);
    if (result == READ_FAILED)
        *fault = mem_printf("%s/%s was passed over: %s", directory, path, why);
    return result;
}

bool project_parts_read(struct project_parts *p, const char *path, struct buf *out)
{
    auto_free char *fault = NULL;
    AUTO(buf_release) struct buf content = BUF_INIT;
    enum read_result result = read_below(p->directory, path, &content, &fault);
    if (result == READ_DONE)
        buf_add(out, content.data, content.len);
    if (fault)
        project_parts_add_fault(p, fault);
    return result == READ_DONE;
}

/* Reads a file that runs. A link is followed; beyond the project its target alone counts.
 * `detail`: the hash, or the target; the caller frees. */
static enum read_result read_program(const char *directory, const char *path, struct buf *out,
                                     char **detail, char **fault)
{
    auto_free char *whole = paths_join(directory, path), *real = realpath(whole, NULL);
    size_t len = strlen(directory) > 1 ? strlen(directory) : 0;
    if (!real)
        return READ_ABSENT;
    if (strncmp(real, directory, len) != 0 || real[len] != '/') {
        buf_addf(out, "a link to %s", real);
        *detail = mem_strdup(real);
        return READ_DONE;
    }
    enum read_result result = read_below(directory, real + len + 1, out, fault);
    struct sha256 h = sha256_begin();
    sha256_add(&h, out->data, out->len);
    *detail = result == READ_DONE ? sha256_end(&h) : NULL;
    return result;
}

void project_parts_add_file(struct project_parts *p, const char *path)
{
    auto_free char *fault = NULL, *detail = NULL;
    AUTO(buf_release) struct buf content = BUF_INIT, shown = BUF_INIT;
    for (size_t i = 0; i < p->items.len; i++)
        if (p->items.items[i].kind == PART_FILE && strcmp(p->items.items[i].name, path) == 0)
            return;
    enum read_result result = read_program(p->directory, path, &content, &detail, &fault);
    if (fault) {
        project_parts_add_fault(p, fault);
        p->excessive = true;
    }
    if (result != READ_DONE)
        return;
    utf8_reveal(&shown, content.data, content.len < SHOWN_BYTES ? content.len : SHOWN_BYTES,
                UTF8_MULTILINE);
    if (content.len > SHOWN_BYTES)
        buf_addf(&shown, "\n[and %zu more bytes of this file]", content.len - SHOWN_BYTES);
    project_parts_add(p, PART_FILE, path, shown.data, detail);
}

bool project_parts_unchanged(const struct project_parts *p)
{
    bool same = true;
    for (size_t i = 0; same && i < p->items.len; i++) {
        const struct project_part *part = &p->items.items[i];
        auto_free char *fault = NULL, *detail = NULL;
        AUTO(buf_release) struct buf content = BUF_INIT;
        if (part->kind == PART_FILE)
            same = read_program(p->directory, part->name, &content, &detail, &fault) == READ_DONE &&
                   strcmp(detail, part->detail) == 0;
    }
    return same;
}

/* --- hooks ------------------------------------------------------------------------------------ */

#define SETTINGS ".claude/settings.json"

/* A word that runs the file that the next one names. */
static bool is_interpreter(const char *word)
{
    static const char *const names[] = {"sh",  "bash", "dash", "zsh",    "ksh", "fish", "source",
                                        ".",   "node", "deno", "bun",    "tsx", "ruby", "perl",
                                        "php", "lua",  "awk",  "python", "run", "exec", "Rscript"};
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(name, names[i], len) == 0 && name[len + strspn(name + len, "0123456789.")] == 0)
            return true;
    }
    return false;
}

static bool is_script(const char *path)
{
    static const char endings[] = " sh bash zsh fish py js mjs cjs ts rb pl php lua awk jq ";
    const char *dot = strrchr(path, '.');
    auto_free char *ending = dot && !strchr(dot, '/') ? mem_printf(" %s ", dot + 1) : NULL;
    return ending && strstr(endings, ending);
}

/* Adds the files of the project that a command names and runs: their content runs, too. Those are
 * files that may be executed, scripts by their ending, and what follows an interpreter; others are
 * data, which the hook itself may change. Quotes are dropped; a name with a blank is not found. */
static void add_programs(struct project_parts *p, const char *command)
{
    auto_free char *own = mem_printf("%s/", p->directory);
    const char *const places[] = {"$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/", own, "./"};
    bool interpreted = false;
    for (const char *at = command; *at && !p->excessive;) {
        AUTO(buf_release) struct buf word = BUF_INIT;
        struct stat st;
        size_t between = strspn(at, " \t\n;|&()<>`=");
        bool written = false; /* it is the target of ">" */
        for (size_t i = 0; i < between; i++)
            written = at[i] == '>' || (written && (at[i] == ' ' || at[i] == '|'));
        for (at += between; *at && !strchr(" \t\n;|&()<>`=", *at); at++)
            if (!strchr("\"'\\", *at))
                buf_addch(&word, *at);
        const char *path = word.data;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            path += strncmp(path, places[i], strlen(places[i])) == 0 ? strlen(places[i]) : 0;
        auto_free char *whole = paths_join(p->directory, path);
        if (!written && *path && *path != '/' && stat(whole, &st) == 0 && S_ISREG(st.st_mode) &&
            (interpreted || is_script(path) || (st.st_mode & 0111) != 0))
            project_parts_add_file(p, path);
        interpreted = is_interpreter(word.data) || (interpreted && *word.data == '-');
    }
}

static void collect_hooks(struct project_parts *p)
{
    static const char *const events[] = {
#define X(id, name, event) event,
        HOOKS(X)
#undef X
    };
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    if (!project_parts_read(p, SETTINGS, &text))
        return;
    AUTO(json_free_local) struct json *settings = json_parse_foreign(text.data, text.len, &e);
    if (!settings) {
        auto_free char *fault =
            mem_printf("%s/%s was passed over: %s", p->directory, SETTINGS, e.text);
        project_parts_add_fault(p, fault);
        return;
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const struct json *entry = json_first(json_get(json_get(settings, "hooks"), events[i]));
        for (; entry && !p->excessive; entry = json_next(entry)) {
            const struct json *hook = json_first(json_get(entry, "hooks"));
            for (; hook && !p->excessive; hook = json_next(hook)) {
                const char *type = json_get_string(hook, "type");
                const char *command = json_get_string(hook, "command");
                if (!command || (type && strcmp(type, "command") != 0))
                    continue;
                project_parts_add(p, PART_HOOK, events[i], command,
                                  json_get_string(entry, "matcher"));
                add_programs(p, command);
            }
        }
    }
}

/* --- servers ---------------------------------------------------------------------------------- */

/* Adds a word of a server's command line, if it names a program of the project. */
static void add_server_program(struct project_parts *p, const char *directory, const char *word,
                               bool command)
{
    static const char *const endings[] = {".js", ".mjs", ".cjs", ".ts",  ".py",
                                          ".rb", ".pl",  ".sh",  ".php", ".lua"};
    auto_free char *whole = *word == '/' ? mem_strdup(word) : paths_join(directory, word);
    size_t len = strlen(p->directory) > 1 ? strlen(p->directory) : 0;
    const char *dot = strrchr(word, '.');
    struct stat st;
    bool program = command && strchr(word, '/');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        program = program || strcmp(dot, endings[i]) == 0;
    if (program && strncmp(whole, p->directory, len) == 0 && whole[len] == '/' &&
        stat(whole, &st) == 0 && S_ISREG(st.st_mode))
        project_parts_add_file(p, whole + len + 1);
}

static void collect_servers(struct project_parts *p)
{
    AUTO(mcp_servers_release) struct mcp_servers servers;
    mcp_servers_read(p->directory, NULL, &servers);
    for (size_t i = 0; i < servers.len; i++) {
        const struct mcp_server *s = &servers.items[i];
        if (strcmp(s->origin, "project") != 0 || !s->definition)
            continue;
        project_parts_add(p, PART_SERVER, s->name, s->shown, s->definition);
        if (s->command)
            add_server_program(p, s->cwd, s->command, true);
        for (size_t k = 0; k < s->args.len; k++)
            add_server_program(p, s->cwd, s->args.items[k], false);
    }
}

void trust_mark_servers(const struct project_parts *p, bool trusted, struct mcp_servers *servers)
{
    for (size_t i = 0; i < servers->len; i++) {
        struct mcp_server *s = &servers->items[i];
        bool held = false;
        if (s->fault || strcmp(s->origin, "project") != 0)
            continue;
        for (size_t k = 0; trusted && k < p->items.len; k++)
            held = held || (p->items.items[k].kind == PART_SERVER &&
                            strcmp(p->items.items[k].name, s->name) == 0 &&
                            strcmp(p->items.items[k].detail, s->definition) == 0);
        if (!held)
            s->fault = mem_strdup("you do not trust this project yet");
    }
}

/* --- skills ----------------------------------------------------------------------------------- */

enum { SKILL_FILES = 1000 }; /* of one skill */

/* Adds the beginning of a file, and its size. */
static void hash_file(struct sha256 *h, const char *path)
{
    AUTO(buf_release) struct buf content = BUF_INIT;
    struct error e;
    content.max = PROJECT_FILE_BYTES;
    bool whole = paths_read_file(path, PATHS_FILE, &content, &e);
    auto_free char *size = mem_printf("%s%zu", whole ? "" : "more than ", content.len);
    add_text(h, size);
    sha256_add(h, content.data, content.len);
}

/* A skill is one part, whatever its folder has. One with more files than can be looked at is not
 * added, and so stays untrusted. */
static void collect_skills(struct project_parts *p)
{
    AUTO(skills_release) struct skills found = {0};
    size_t top = strcmp(p->directory, "/") == 0 ? 0 : strlen(p->directory);
    skills_add_project(&found, p->from, getenv("HOME"));
    for (size_t i = 0; i < found.items.len; i++) {
        const struct skill *s = &found.items.items[i];
        struct sha256 h = sha256_begin();
        AUTO(buf_release) struct buf text = BUF_INIT;
        auto_free char *folder = skill_folder(s);
        struct walk_file file;
        struct error e;
        bool more = true;
        int count = 0;
        if (s->state != SKILL_READY && s->state != SKILL_SHADOWED)
            continue;
        struct walk *w = s->command ? NULL : walk_new(folder, &e);
        buf_addf(&text, "text for the model: %s", s->description);
        hash_file(&h, s->path);
        while (w && count <= SKILL_FILES && walk_next(w, &file, &more, &e) && more) {
            const char *name = file.path + strlen(folder) + 1;
            if (strcmp(file.path, s->path) == 0)
                continue;
            add_text(&h, name);
            hash_file(&h, file.path);
            buf_addf(&text, "\n%s (%lld bytes)", name, (long long)file.stat.st_size);
            count++;
        }
        walk_free(w);
        auto_free char *hash = sha256_end(&h);
        if (count <= SKILL_FILES)
            project_parts_add(p, PART_SKILL, s->path + top + 1, text.data, hash);
        /* A place is two names below the directory that has it. */
        auto_free char *parent = paths_parent(s->place), *above = paths_parent(parent);
        if (count <= SKILL_FILES && !p->excessive && strlen(above) > top + 1)
            vec_last(&p->items).below = mem_strdup(above + top + 1);
    }
}

void trust_mark_skills(const struct project_parts *p, bool trusted, struct skills *skills)
{
    size_t top = p->directory && strcmp(p->directory, "/") != 0 ? strlen(p->directory) : 0;
    for (size_t i = 0; i < skills->items.len; i++) {
        struct skill *s = &skills->items.items[i];
        bool held = false;
        if (s->state != SKILL_READY)
            continue;
        for (size_t k = 0; trusted && k < p->items.len; k++)
            held = held || (p->items.items[k].kind == PART_SKILL &&
                            strcmp(p->items.items[k].name, s->path + top + 1) == 0);
        if (held)
            continue;
        s->state = SKILL_UNTRUSTED;
        mem_replace(&s->detail, mem_strdup("you do not trust this project yet"));
    }
}

/* --- gathering -------------------------------------------------------------------------------- */

/* A collector adds the parts of one kind of file. */
static void (*const collectors[])(struct project_parts *p) = {collect_hooks, collect_servers,
                                                              collect_skills};

void project_parts_gather(const char *directory, struct project_parts *out)
{
    *out =
        (struct project_parts){.directory = project_of(directory), .from = mem_strdup(directory)};
    for (size_t i = 0; i < sizeof collectors / sizeof *collectors; i++)
        collectors[i](out);
    if (out->excessive)
        project_parts_add_fault(out,
                                "the parts of this project are more than can be shown, and "
                                "none of them runs");
}

static const char *const kind_words[] = {
    [PART_HOOK] = "hook", [PART_SERVER] = "server", [PART_FILE] = "file", [PART_SKILL] = "skill"};

void project_parts_name(const struct project_parts *p, struct buf *out)
{
    enum { NAMED = 10 };
    for (size_t i = 0; i < p->items.len && i < NAMED; i++) {
        const struct project_part *part = &p->items.items[i];
        buf_addf(out, "%s %s ", i > 0 ? "," : "", kind_words[part->kind]);
        utf8_reveal(out, part->name, strlen(part->name), UTF8_ONE_LINE);
    }
    if (p->items.len > NAMED)
        buf_addf(out, " and %zu more", p->items.len - NAMED);
}

void project_parts_describe(const struct project_parts *p, struct buf *out)
{
    utf8_reveal(out, p->directory, strlen(p->directory), UTF8_ONE_LINE);
    buf_addstr(out, "\nwould run these programs as you, without further questions:\n");
    for (size_t i = 0; i < p->items.len; i++) {
        const struct project_part *part = &p->items.items[i];
        const char *matcher = part->kind == PART_HOOK ? part->detail : "";
        AUTO(buf_release) struct buf text = BUF_INIT;
        buf_addf(out, "\n%s ", kind_words[part->kind]);
        utf8_reveal(out, part->name, strlen(part->name), UTF8_ONE_LINE);
        if (*matcher) {
            buf_addstr(out, " for ");
            utf8_reveal(out, matcher, strlen(matcher), UTF8_ONE_LINE);
        }
        buf_addstr(out, ":\n");
        utf8_reveal(&text, part->text, strlen(part->text), UTF8_MULTILINE);
        for (const char *line = text.data; *line;) {
            size_t len = strcspn(line, "\n");
            buf_addstr(out, len > 0 ? "    " : "");
            buf_add(out, line, len);
            buf_addch(out, '\n');
            line += len + (line[len] == '\n');
        }
    }
}

/* --- trust ------------------------------------------------------------------------------------ */

bool trust_is_permission(const char *permission)
{
    return strncmp(permission, TRUST_WORD, strlen(TRUST_WORD)) == 0;
}

bool trust_holds(const struct project_parts *p)
{
    AUTO(permissions_release) struct permissions given = {0};
    bool held = p->items.len > 0 && !p->excessive && permissions_read(p->directory, &given, NULL);
    for (size_t i = 0; held && i < p->items.len; i++) {
        if (i > 0 && strcmp(below(&p->items.items[i]), below(&p->items.items[i - 1])) == 0)
            continue;
        auto_free char *wanted = permission_of(p, below(&p->items.items[i]));
        held = false;
        for (size_t k = 0; !held && k < given.len; k++)
            held = strcmp(given.items[k], wanted) == 0;
    }
    return held;
}

bool trust_revoke(const char *directory, struct error *e)
{
    AUTO(permissions_release) struct permissions given = {0};
    bool ok = permissions_read(directory, &given, e);
    for (size_t i = 0; ok && i < given.len; i++)
        if (trust_is_permission(given.items[i]))
            ok = permissions_set(directory, given.items[i], false, e);
    return ok;
}

bool trust_grant(const struct project_parts *p, struct error *e)
{
    enum { HEX = 64 };
    AUTO(permissions_release) struct permissions given = {0};
    if (p->excessive)
        return err_set(e, ERR_FORBIDDEN, "%.150s has more parts than can be shown", p->directory);
    bool ok = permissions_read(p->directory, &given, e);
    for (size_t i = 0; ok && i < p->items.len; i++) {
        if (i > 0 && strcmp(below(&p->items.items[i]), below(&p->items.items[i - 1])) == 0)
            continue;
        auto_free char *wanted = permission_of(p, below(&p->items.items[i]));
        for (size_t k = 0; ok && k < given.len; k++) { /* of the same directory */
            const char *old = given.items[k];
            const size_t names = sizeof TRUST_WORD - 1 + HEX;
            if (trust_is_permission(old) && strlen(old) >= names && strcmp(old, wanted) != 0 &&
                strcmp(old + names, wanted + names) == 0)
                ok = permissions_set(p->directory, old, false, e);
        }
        ok = ok && permissions_set(p->directory, wanted, true, e);
    }
    return ok;
}

bool trust_list(struct permissions *out, struct error *e)
{
    AUTO(permissions_release) struct permissions projects = {0};
    *out = (struct permissions){0};
    bool ok = permissions_projects(&projects, e);
    for (size_t i = 0; ok && i < projects.len; i++) {
        AUTO(permissions_release) struct permissions given = {0};
        bool any = false;
        ok = permissions_read(projects.items[i], &given, e);
        for (size_t k = 0; k < given.len; k++)
            any = any || trust_is_permission(given.items[k]);
        if (any)
            vec_push(out, mem_strdup(projects.items[i]));
    }
    return ok;
}
