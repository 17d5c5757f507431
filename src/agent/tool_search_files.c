/* The tool that searches the files of the working directory for a regular expression. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/approval.h"
#include "agent/confine.h"
#include "agent/pattern.h"
#include "agent/tool.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

enum {
    MAX_FILE = 8 * 1024 * 1024,
    MAX_DEPTH = 32, /* of directories */
    CHUNK = 64 * 1024,
    DEFAULT_LIMIT = 100,
    SHOWN = 300,   /* bytes of a line */
    LEAD = 100,    /* of them before the match, in a line that is cut */
    NOTES = 512,   /* bytes kept free for the notes at the end */
    MAX_HARD = 10, /* lines that take too many steps, before the search is given up */
    ASK_EVERY_MS = 10
};

struct search {
    const struct tool_context *context;
    struct glob glob; /* empty: every file */
    size_t limit;     /* lines */
    struct buf path;  /* that is visited, as it is shown; directories end in a slash */
    struct regex *regex;
    struct buf *out;
    struct buf text; /* of the file that is read */
    struct guard guard;
    struct buf where; /* the resolved top of the search, and the path below it */
    size_t top;       /* bytes of `where`, and of the shown path, of the top */
    size_t top_shown;
    size_t found, files, too_large, too_deep, unreadable, guarded;
    int64_t asked_ms;
    bool full;             /* as many lines, or bytes, as may be */
    size_t hard;           /* lines that the pattern takes too much for */
    struct buf first_hard; /* where the first of them is */
    enum tool_stop stop;
};

static bool go_on(void *context)
{
    struct search *s = context;
    int64_t now = clock_mono_ms();
    if (now - s->asked_ms >= ASK_EVERY_MS) {
        s->asked_ms = now;
        s->stop = tool_stop(s->context);
    }
    return s->stop == TOOL_GOES_ON;
}

/* Below a place that the user was asked about all may be searched; elsewhere guarded places are
 * left out without a question for each. */
static bool is_left_out(struct search *s, const char *path, size_t len)
{
    if (s->context->guarded)
        return false;
    buf_truncate(&s->where, s->top);
    buf_addch(&s->where, '/');
    buf_add(&s->where, path + s->top_shown, len - s->top_shown);
    bool guarded = guard_begins(&s->guard, s->where.data);
    s->guarded += guarded;
    return guarded;
}

/* A long line is shown around its match. */
static void add_line(struct buf *out, const char *line, size_t len, size_t at)
{
    size_t from = 0;
    if (len > SHOWN && at > LEAD) {
        from = at - LEAD;
        while (from < at && ((unsigned char)line[from] & 0xC0) == 0x80)
            from++;
    }
    size_t shown = utf8_cut_bytes(line + from, len - from, SHOWN);
    buf_addstr(out, from > 0 ? "…" : "");
    size_t start = out->len;
    utf8_clean(out, line + from, shown, UTF8_MULTILINE); /* tabs stay tabs */
    for (char *p = out->data + start; (p = strchr(p, '\n'));)
        *p = ' ';
    buf_addstr(out, from + shown < len ? "…" : "");
}

/* Appends a line that matches, unless the output is full. */
static void show(struct search *s, const char *path, size_t number, const char *line, size_t len,
                 size_t at)
{
    size_t before = s->out->len, max = s->context->max_output;
    s->full = s->found == s->limit;
    if (s->full)
        return;
    utf8_reveal(s->out, path, strlen(path), UTF8_ONE_LINE);
    buf_addf(s->out, ":%zu: ", number);
    add_line(s->out, line, len, at);
    buf_addch(s->out, '\n');
    s->full = s->out->len > (max > 2 * NOTES ? max - NOTES : max / 2);
    if (s->full)
        buf_truncate(s->out, before);
    else
        s->found++;
}

static bool is_done(const struct search *s)
{
    return s->full || s->hard == MAX_HARD || s->stop != TOOL_GOES_ON;
}

/* Reads the whole file into s->text. False: it is not to be searched. */
static bool read_text(struct search *s, int fd)
{
    char chunk[CHUNK];
    struct stat st;
    ssize_t n = 1;
    buf_clear(&s->text);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    bool large = st.st_size > MAX_FILE;
    while (n > 0 && !large && go_on(s)) {
        do
            n = read(fd, chunk, sizeof chunk);
        while (n < 0 && errno == EINTR);
        if (n > 0 && memchr(chunk, '\0', (size_t)n))
            return false;
        if (n > 0)
            buf_add(&s->text, chunk, (size_t)n);
        large = s->text.len > MAX_FILE;
    }
    s->unreadable += n < 0;
    s->too_large += large;
    return n == 0;
}

/* --- the files below a directory, in the order of their paths --------------------------------- */

/* The names of directories end in a slash, so that they sort as the paths do. */
struct names {
    VEC(char *) list;
};

/* Searches the file and closes it. False: no more. */
static bool search_file(struct search *s, const char *path, int fd)
{
    bool is_text = read_text(s, fd);
    close(fd);
    if (!is_text)
        return s->stop == TOOL_GOES_ON;
    s->files++;
    const char *line = s->text.data, *end = line + s->text.len;
    for (size_t number = 1; line < end && !is_done(s); number++) { /* LF or CR LF ends a line */
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *next = newline ? newline + 1 : end;
        size_t len = (size_t)((newline ? newline : end) - line);
        size_t at;
        if (len > 0 && line[len - 1] == '\r')
            len--;
        enum regex_result result = regex_find(s->regex, line, len, &at);
        if (result == REGEX_FOUND)
            show(s, path, number, line, len, at);
        if (result == REGEX_TOO_MUCH && s->hard++ == 0) {
            utf8_reveal(&s->first_hard, path, strlen(path), UTF8_ONE_LINE);
            buf_addf(&s->first_hard, ":%zu", number);
        }
        line = next;
    }
    return !is_done(s);
}

static bool read_names(struct search *s, DIR *dir, struct names *names)
{
    bool more = true;
    for (struct dirent *d;;) {
        struct stat st;
        more = go_on(s);
        errno = 0;
        if (!more || !(d = readdir(dir)))
            break;
        const char *name = d->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(st.st_mode))
            vec_push(&names->list, mem_strdup(name));
        else if (S_ISDIR(st.st_mode) && strcmp(name, ".git") != 0)
            vec_push(&names->list, mem_printf("%s/", name));
    }
    s->unreadable += errno != 0;
    vec_sort(&names->list, vec_text_order);
    return more;
}

static bool walk_directory(struct search *s, int fd, int depth);

/* s->path is the entry's. What changes on the disk meanwhile leads nowhere else. */
static bool visit(struct search *s, int dir, const char *name, int depth)
{
    size_t len = strlen(name);
    bool is_dir = name[len - 1] == '/';
    if (is_dir && depth == MAX_DEPTH) {
        s->too_deep++;
        return true;
    }
    if ((!is_dir && s->glob.patterns.len > 0 && !glob_matches(&s->glob, s->path.data)) ||
        is_left_out(s, s->path.data, s->path.len - is_dir))
        return true;
    auto_free char *plain = mem_strndup(name, is_dir ? len - 1 : len);
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (is_dir ? O_DIRECTORY : 0);
    int fd = openat(dir, plain, flags);
    if (fd < 0) {
        s->unreadable++;
        return true;
    }
    return is_dir ? walk_directory(s, fd, depth + 1) : search_file(s, s->path.data, fd);
}

static bool walk_directory(struct search *s, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        s->unreadable++;
        return true;
    }
    struct names names = {0};
    size_t base = s->path.len;
    bool more = read_names(s, dir, &names);
    for (size_t i = 0; more && i < names.list.len; i++) {
        buf_addstr(&s->path, names.list.items[i]);
        more = go_on(s) && visit(s, dirfd(dir), names.list.items[i], depth);
        buf_truncate(&s->path, base);
    }
    vec_free_each(&names.list);
    closedir(dir);
    return more;
}

static void add_count(struct buf *out, size_t count, const char *one, const char *many,
                      const char *text)
{
    if (count > 0)
        buf_addf(out, "[%zu %s %s]\n", count, count == 1 ? one : many, text);
}

static void add_notes(const struct search *s)
{
    struct buf *out = s->out;
    char text[64];
    if (s->full && s->found == s->limit)
        buf_addf(out, "[more matches; the limit is %zu line%s]\n", s->limit,
                 s->limit == 1 ? "" : "s");
    else if (s->full)
        buf_addstr(out, "[more matches; the output is full, narrow the search]\n");
    else if (s->stop == TOOL_TIMED_OUT)
        buf_addstr(out, "[timed out; the rest was not searched]\n");
    else if (s->found == 0)
        buf_addf(out, "[no match in %zu text file%s]\n", s->files, s->files == 1 ? "" : "s");
    if (s->hard > 0)
        buf_addf(out,
                 "[the pattern takes too many steps for %zu line%s, first %s; make it simpler%s]\n",
                 s->hard, s->hard == 1 ? "" : "s", s->first_hard.data,
                 s->hard == MAX_HARD ? ": the rest was not searched" : "");
    snprintf(text, sizeof text, "of more than %d MiB left out", MAX_FILE >> 20);
    add_count(out, s->too_large, "file", "files", text);
    snprintf(text, sizeof text, "more than %d levels deep left out", MAX_DEPTH);
    add_count(out, s->too_deep, "directory", "directories", text);
    add_count(
        out, s->guarded, "place", "places",
        "left out, of keys or of tiro's own files; the user is asked where the path names one");
    add_count(out, s->unreadable, "file or directories", "files or directories",
              "could not be read");
}

/* False: the file or directory to search cannot be opened. */
static bool walk(struct search *s, const char *path)
{
    struct stat st;
    auto_free char *where = NULL;
    int fd = builtin_open(s->context, path, O_RDONLY, &where, s->out);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode)) {
        search_file(s, path, fd);
        return true;
    }
    size_t len = strlen(path); /* the shown paths begin with it */
    while (len > 0 && path[len - 1] == '/')
        len--;
    if (len > 0 && strcmp(path, ".") != 0) {
        buf_add(&s->path, path, len);
        buf_addch(&s->path, '/');
    }
    buf_addstr(&s->where, strcmp(where, "/") == 0 ? "" : where);
    s->top = s->where.len;
    s->top_shown = s->path.len;
    walk_directory(s, fd, 1);
    return true;
}

static void search_release(struct search *s)
{
    guard_release(&s->guard);
    regex_free(s->regex);
    glob_release(&s->glob);
    buf_release(&s->first_hard);
    buf_release(&s->path);
    buf_release(&s->where);
    buf_release(&s->text);
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const char *path = json_get_string(args, "path"), *names = json_get_string(args, "glob");
    AUTO(search_release)
    struct search s = {.context = context,
                       .limit = (size_t)json_get_int(args, "limit", DEFAULT_LIMIT),
                       .out = out,
                       .path = BUF_INIT,
                       .where = BUF_INIT,
                       .text = BUF_INIT,
                       .first_hard = BUF_INIT};
    struct error e = {0};
    if (!names || glob_read(&s.glob, names, &e))
        s.regex = regex_new(json_get_string(args, "pattern"),
                            json_get_bool(args, "ignore_case", false), go_on, &s, &e);
    if (!s.regex) {
        buf_addstr(out, e.text);
        return false;
    }
    guard_init(&s.guard);
    if (!walk(&s, path ? path : "."))
        return false;
    if (s.stop == TOOL_INTERRUPTED) {
        buf_clear(out);
        buf_addstr(out, "interrupted");
        return false;
    }
    add_notes(&s);
    return s.stop == TOOL_GOES_ON && s.hard < MAX_HARD;
}

/* clang-format off */
const struct tool tool_search_files = {
    .spec =
        {.name = "search_files",
         .description = "Search text files of the working directory for a regular expression (PCRE), "
                        "line by line. Returns lines as path:line: text. Binary files, .git and "
                        "symbolic links are left out.",
         .schema = TOOL_SCHEMA(
             TOOL_ARG("string", "pattern", "as of grep -P") ","
             TOOL_ARG("string", "path", "a directory or a file") ","
             TOOL_ARG("string", "glob", "only such files: *.{c,h}, or with a slash src/*.c") ","
             TOOL_ARG_WITH("boolean", "ignore_case", "\"default\":false") ","
             TOOL_ARG_WITH("integer", "limit", "\"minimum\":1,\"maximum\":1000,\"default\":100"),
             TOOL_NEEDS("\"pattern\""))},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = run,
};
/* clang-format on */
