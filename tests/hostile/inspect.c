#include "tests/hostile/inspect.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Any 12 bytes in a row hold one of the pieces of 6 that the key is cut into. */
enum { KEY_PREFIX = 3, KEY_PIECE = 6, KEY_RUN = 12 };

static const char *find(const char *bytes, size_t len, const char *what, size_t what_len)
{
    const char *end = bytes + len;
    while ((size_t)(end - bytes) >= what_len) {
        bytes = memchr(bytes, what[0], (size_t)(end - bytes) - what_len + 1);
        if (bytes == NULL || memcmp(bytes, what, what_len) == 0)
            return bytes;
        bytes++;
    }
    return NULL;
}

static void fault(struct buf *faults, const char *what, const char *bytes, size_t len)
{
    if (strstr(faults->data, what) != NULL)
        return;
    buf_addf(faults, "%s: ", what);
    for (size_t i = 0; i < len && i < 40; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 || c >= 0x7F)
            buf_addf(faults, "\\x%02x", c);
        else
            buf_addch(faults, (char)c);
    }
    buf_addch(faults, '\n');
}

/* Bytes of the string that a terminal takes from `s` on, up to BEL or ST. */
static size_t string_len(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] == '\a' || (s[i] == '\033' && i + 1 < len && s[i + 1] == '\\'))
            return i;
    return len;
}

static bool holds(const char *s, size_t len, const char *word)
{
    return find(s, len, word, strlen(word)) != NULL;
}

/* Titles, links, questions about the colours, notifications. */
static bool is_own_string(const char *s, size_t len)
{
    static const char *const own[] = {"]0;", "]2;", "]8;", "]9;", "]11;", "]99;", "]777;"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (len >= strlen(own[i]) && strncmp(s, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

/* A sequence that the program may have written itself, after ESC. */
static void sequence(struct buf *faults, const char *s, size_t len)
{
    if (len == 0)
        return;
    if (s[0] == '[') {
        size_t end = 1;
        while (end < len && end < 80 && ((unsigned char)s[end] < 0x40 || s[end] > 0x7E))
            end++;
        if (holds(s, end, "31337"))
            fault(faults, "the server's sequence", s, len);
    } else if (s[0] == ']') {
        size_t end = string_len(s, len);
        if (holds(s, end, "hostile") || !is_own_string(s, end))
            fault(faults, "the server's string", s, len);
    } else if (strchr("PX^_cZ", s[0]) != NULL) {
        fault(faults, "a string or a reset", s, len);
    }
}

/* The length of the character at `s`; adds a line for any fault of it. */
static size_t character(struct buf *faults, const char *s, size_t len, bool plain)
{
    uint32_t c = 0;
    size_t used = utf8_decode(s, len, &c);
    if (c == 0xFFFD && used == 1)
        fault(faults, "no UTF-8", s, len);
    else if (c >= 0x7F && c < 0xA0)
        fault(faults, "a control of eight bits, or DEL", s, len);
    else if (c == 0x202E || c == 0x202D || (c >= 0x2066 && c <= 0x2069))
        fault(faults, "an override of direction", s, len);
    else if ((c >= 0x2060 && c <= 0x206F) || (c >= 0xE0000 && c <= 0xE0FFF))
        fault(faults, "hidden text", s, len);
    else if (c == '\033' && plain)
        fault(faults, "an escape sequence", s, len);
    else if (c == '\033')
        sequence(faults, s + 1, len - 1);
    else if (c < 0x20 && strchr(plain ? "\r\n\t" : "\r\n\t\b\a\016\017", (int)c) == NULL)
        fault(faults, "a control character", s, len);
    return used;
}

void inspect_terminal(struct buf *faults, const char *bytes, size_t len, bool plain)
{
    for (size_t at = 0; at < len;)
        at += character(faults, bytes + at, len - at, plain);
}

/* The number of adjacent bytes that belong to the key, around the match at `hit` and `at`. */
static size_t run_around(const char *bytes, const char *end, const char *hit, const char *key,
                         size_t at)
{
    size_t before = 0, behind = 0;
    while (before < at && hit - before > bytes &&
           hit[-(ptrdiff_t)before - 1] == key[at - before - 1])
        before++;
    while (hit + behind < end && key[at + behind] != '\0' && hit[behind] == key[at + behind])
        behind++;
    return before + behind;
}

bool inspect_has_key(const char *bytes, size_t len, const char *key)
{
    const char *end = bytes + len;
    for (size_t at = KEY_PREFIX; at + KEY_PIECE <= strlen(key); at += KEY_PIECE)
        for (const char *hit = bytes;
             (hit = find(hit, (size_t)(end - hit), key + at, KEY_PIECE)) != NULL; hit++)
            if (run_around(bytes, end, hit, key, at) >= KEY_RUN)
                return true;
    return false;
}

static void inspect_file(struct buf *faults, const char *path, const char *key, size_t size)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *bytes =
        fd < 0 || size == 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        if (inspect_has_key(bytes, size, key))
            buf_addf(faults, "a piece of the key is in %s\n", path);
        munmap(bytes, size);
    }
    if (fd >= 0)
        close(fd);
}

void inspect_files(struct buf *faults, const char *directory, const char *key, size_t *size)
{
    DIR *d = opendir(directory);
    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;) {
        struct stat st;
        auto_free char *path = mem_printf("%s/%s", directory, entry->d_name);
        bool self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!self && lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            inspect_files(faults, path, key, size);
        } else if (!self && lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            *size += (size_t)st.st_size;
            if (key != NULL)
                inspect_file(faults, path, key, (size_t)st.st_size);
        }
    }
    if (d != NULL)
        closedir(d);
}
