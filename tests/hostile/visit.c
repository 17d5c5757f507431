#include "tests/hostile/visit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "tests/support.h"

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

static bool inspect_has_key(const char *bytes, size_t len, const char *key)
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

static void inspect_files(struct buf *faults, const char *directory, const char *key, size_t *size)
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

/* Memory of the program itself, with libraries, and of one request beyond its text. */
enum { OWN_MIB = 16, REQUEST_MIB = 64, EVENT_MIB = 16 };
/* Limits of the files' size: a base, and a factor of the text that is kept. Beside the database
 * there are the transcript, the events as lines and two exports. */
enum { FILES_MIB = 8, DATABASE_FACTOR = 5, HOME_FACTOR = 16 };

int visit_ms(int ms)
{
    return SUPPORT_TELLS_MEMORY ? ms : 15 * ms;
}

static void add_fault(struct visit *v, const char *format, va_list args)
{
    buf_vaddf(&v->faults, format, args);
    buf_addch(&v->faults, '\n');
}

void visit_fault(struct visit *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(v, format, args);
    va_end(args);
    v->only_late = false;
}

void visit_late(struct visit *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_fault(v, format, args);
    va_end(args);
}

void visit_begin(struct visit *v)
{
    buf_init(&v->faults, 0);
    v->only_late = true;
    /* Processes that a program leaves behind are reparented to us, and found at the end. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    support_setup(NULL);
    static const char letters[] = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    uint64_t seed = (uint64_t)getpid() * 2654435761u;
    strcpy(v->key, "sk-");
    for (size_t i = 3; i < 51; i++)
        v->key[i] = letters[support_random(&seed) % (sizeof letters - 1)];
    v->key[51] = '\0';
    v->server = hostile_server_start(v->form, v->mode, v->target, v->key);
    auto_free char *url = mem_printf("%s%s", hostile_server_url(v->server), v->form->host_suffix);
    setenv(v->form->host_variable, url, 1);
    if (v->form->key_variable != NULL)
        setenv(v->form->key_variable, v->key, 1);
    setenv("TIRO_PROVIDER_NAME", v->form->name, 1);
    setenv("TIRO_PROVIDER_CONNECT_TIMEOUT", "1", 1);
    setenv("TIRO_PROVIDER_STALL_TIMEOUT", "1", 1);
    setenv("TIRO_PROVIDER_MAX_RETRIES", "1", 1);
    setenv("TIRO_LOG_LEVEL", "debug", 1);
    /* Without a model's name, tiro asks the server for its models. */
    if (v->target != TARGET_LISTING)
        setenv("TIRO_PROVIDER_MODEL", "good-model", 1);
    if (v->target == TARGET_EMBEDDING)
        setenv("TIRO_EMBEDDING_PROVIDER", v->form->name, 1);
    if (chdir(support_dir()) != 0)
        visit_fault(v, "%s: %s", support_dir(), strerror(errno));
}

/* Each step leaves a session, so the limit grows. */
static void check_size(struct visit *v, const char *what, size_t size, int factor)
{
    bool many = v->every_step && v->mode->steps != NULL;
    if (!many && size >> 20 > (size_t)(FILES_MIB + factor * v->mode->kept_mib))
        visit_fault(v, "%s: %zu MB", what, size >> 20);
}

void visit_end(struct visit *v)
{
    if (hostile_server_strayed(v->server))
        visit_fault(v, "the client went to another port");
    hostile_server_stop(v->server);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        visit_fault(v, "something still runs that the program started");
    size_t size = 0;
    struct stat database = {0};
    AUTO(buf_release) struct buf faults = BUF_INIT;
    inspect_files(&faults, support_dir(), v->form->key_variable == NULL ? NULL : v->key, &size);
    if (faults.len > 0)
        visit_fault(v, "%s", faults.data);
    check_size(v, "all files", size, HOME_FACTOR);
    if (stat(".local/share/tiro/tiro.db", &database) == 0)
        check_size(v, "the database", (size_t)database.st_size, DATABASE_FACTOR);
    (void)!chdir("/");
    support_teardown(NULL);
}

static void inspect_output(struct visit *v, const char *bytes, size_t len, bool plain)
{
    AUTO(buf_release) struct buf faults = BUF_INIT;
    for (size_t at = 0; at < len;)
        at += character(&faults, bytes + at, len - at, plain);
    if (faults.len > 0)
        visit_fault(v, "on the terminal: %s", faults.data);
    if (v->form->key_variable != NULL && inspect_has_key(bytes, len, v->key))
        visit_fault(v, "a piece of the key is on the terminal");
}

void visit_inspect_screen(struct visit *v, struct screen *s)
{
    size_t len;
    const char *bytes = screen_log(s, &len);
    inspect_output(v, bytes, len, false);
}

void visit_check_memory(struct visit *v, long peak_kib)
{
    long most = (OWN_MIB + REQUEST_MIB + EVENT_MIB + v->mode->kept_mib) * 1024L;
    if (SUPPORT_TELLS_MEMORY && peak_kib > most)
        visit_fault(v, "it took %ld MB", peak_kib / 1024);
}

static struct screen *start(const char *const *arguments)
{
    VEC(const char *) argv = {0};
    vec_push(&argv, support_program());
    for (; *arguments != NULL; arguments++)
        vec_push(&argv, *arguments);
    vec_push(&argv, NULL);
    struct screen *s = screen_start(argv.items, support_dir(), 24, 80);
    screen_emulate(s, false);
    vec_release(&argv);
    return s;
}

static bool pump_to_end(struct screen *s, int ms)
{
    double until = screen_clock() + ms;
    while (screen_status(s) < 0 && screen_clock() < until)
        (void)screen_pump(s, (int)(until - screen_clock()) + 1);
    return screen_status(s) >= 0;
}

/* A program that does not end is killed, so that the next can be looked at. */
static bool end_it(struct visit *v, struct screen *s, const char *name, int patience_ms)
{
    if (pump_to_end(s, patience_ms > 0 ? patience_ms : visit_ms(VISIT_END_MS)))
        return false;
    if (patience_ms == 0)
        visit_late(v, "%s does not end by itself within %d s", name, VISIT_END_MS / 1000);
    double asked = screen_clock();
    screen_signal(s, SIGINT);
    if (!pump_to_end(s, visit_ms(10 * VISIT_STOP_MS))) {
        visit_late(v, "%s does not answer an interrupt within %d s", name,
                   10 * VISIT_STOP_MS / 1000);
        screen_signal(s, SIGKILL);
        (void)pump_to_end(s, visit_ms(VISIT_END_MS));
    } else if (screen_clock() - asked > visit_ms(VISIT_STOP_MS)) {
        visit_late(v, "%s took %.0f ms for an interrupt", name, screen_clock() - asked);
    }
    return true;
}

struct ending visit_run(struct visit *v, const char *const *arguments, int patience_ms)
{
    struct ending e = {0};
    struct screen *s = start(arguments);
    e.stopped = end_it(v, s, arguments[0], patience_ms);
    e.status = screen_status(s);
    const char *bytes = screen_log(s, &e.len);
    while (e.len > 0 && bytes[e.len - 1] == '\0') /* that of screen.c */
        e.len--;
    e.text = mem_strndup(bytes, e.len);
    screen_free(s);
    /* Search shows the hits in bold. */
    inspect_output(v, e.text, e.len, strcmp(arguments[0], "memory") != 0);
    if (e.status > 128 && !e.stopped)
        visit_fault(v, "%s ended by signal %d", arguments[0], e.status - 128);
    else if (e.status >= 64 && e.status <= 128)
        visit_fault(v, "%s ended with %d: %.200s", arguments[0], e.status, e.text);
    return e;
}

void visit_expect(struct visit *v, const char *const *arguments, const char *text)
{
    struct ending e = visit_run(v, arguments, 0);
    if (e.status != 0 || (text != NULL && strstr(e.text, text) == NULL))
        visit_fault(v, "%s %s ended with %d: %.300s", arguments[0], arguments[1], e.status,
                    e.len > 300 ? e.text + e.len - 300 : e.text);
    free(e.text);
}

void visit_check_session(struct visit *v)
{
    hostile_server_behave(v->server, true);
    visit_expect(v, VALUES("run", "-r", "last", "and now?"), HOSTILE_WELL);
    visit_expect(v, VALUES("sessions", "show", "last"), HOSTILE_WELL);
    visit_expect(v, VALUES("sessions", "export", "last", "-o", "last.json"), NULL);
    visit_expect(v, VALUES("sessions", "export", "last", "-o", "last.md"), NULL);
    visit_expect(v, VALUES("doctor", "--thorough"), NULL);
}
