#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/file_walk.h"
#include "agent/glob.h"
#include "agent/line_search.h"
#include "agent/pattern.h"
#include "agent/rows.h"
#include "base/clock.h"
#include "base/utf8.h"

enum {
    MAX_FILE = 8 * 1024 * 1024,
    CHUNK = 64 * 1024,
    DEFAULT_LIMIT = 100,
    SHOWN = 300, /* bytes of a line */
    LEAD = 100,  /* of them before the match, in a line that is cut */
    NOTES = 512, /* bytes kept free for what is said at the end */
    ASK_EVERY_MS = 10
};

struct search {
    const struct tool_context *context;
    struct glob glob; /* empty: every file */
    size_t limit;     /* lines */
    struct file_walk walk;
    struct line_search lines;
    struct buf *out;
    const char *path; /* of the file that is searched */
    struct buf text;  /* of it */
    size_t found, files, too_large, unreadable;
    int64_t asked_ms;
    bool full; /* as many lines, or bytes, as may be */
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

static bool wanted(void *context, const char *path)
{
    const struct search *s = context;
    return s->glob.patterns.len == 0 || glob_matches(&s->glob, path);
}

/* On one line, where tabs stay what they are. */
static void add_clean(struct buf *out, const char *text, size_t len)
{
    size_t from = out->len;
    utf8_clean(out, text, len, UTF8_MULTILINE);
    for (char *p = out->data + from; (p = strchr(p, '\n'));)
        *p = ' ';
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
    add_clean(out, line + from, shown);
    buf_addstr(out, from + shown < len ? "…" : "");
}

static size_t most_bytes(const struct tool_context *context)
{
    return context->max_output > 2 * NOTES ? context->max_output - NOTES : context->max_output / 2;
}

static bool found(void *context, int64_t number, const char *line, size_t len, size_t at)
{
    struct search *s = context;
    size_t before = s->out->len;
    s->full = s->found == s->limit;
    if (s->full)
        return false;
    add_clean(s->out, s->path, strlen(s->path));
    buf_addf(s->out, ":%lld: ", (long long)number);
    add_line(s->out, line, len, at);
    buf_addch(s->out, '\n');
    s->full = s->out->len > most_bytes(s->context);
    if (s->full)
        buf_splice(s->out, before, s->out->len - before, NULL, 0);
    else
        s->found++;
    return !s->full;
}

/* The whole file into s->text. False: it is none to be searched. */
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

static bool search_file(void *context, const char *path, int fd)
{
    struct search *s = context;
    bool is_text = read_text(s, fd);
    close(fd);
    if (!is_text)
        return s->stop == TOOL_GOES_ON;
    s->path = path;
    s->files++;
    return s->text.len == 0 || line_search_run(&s->lines, s->text.data, s->text.len);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void add_notes(const struct search *s)
{
    struct buf *out = s->out;
    size_t unreadable = s->unreadable + s->walk.unreadable;
    if (s->full && s->found == s->limit)
        buf_addf(out, "[more matches; the limit is %zu line%s]\n", s->limit, plural(s->limit));
    else if (s->full)
        buf_addstr(out, "[more matches; the output is full, narrow the search]\n");
    else if (s->stop == TOOL_TIMED_OUT)
        buf_addstr(out, "[timed out; the rest was not searched]\n");
    else if (s->found == 0)
        buf_addf(out, "[no match in %zu text file%s]\n", s->files, plural(s->files));
    if (s->too_large > 0)
        buf_addf(out, "[%zu file%s of more than %d MiB left out]\n", s->too_large,
                 plural(s->too_large), MAX_FILE >> 20);
    if (s->walk.too_deep > 0)
        buf_addf(out, "[%zu director%s more than %d levels deep left out]\n", s->walk.too_deep,
                 s->walk.too_deep == 1 ? "y" : "ies", FILE_WALK_MAX_DEPTH);
    if (unreadable > 0)
        buf_addf(out, "[%zu file%s or directories could not be read]\n", unreadable,
                 plural(unreadable));
}

/* What the paths below it begin with. */
static void set_prefix(struct buf *out, const char *path)
{
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    if (len == 0 || strcmp(path, ".") == 0)
        return;
    buf_add(out, path, len);
    buf_addch(out, '/');
}

static bool search_path(struct search *s, const char *path)
{
    struct error e = {0};
    struct stat st;
    int fd = confine_open(s->context->root_fd, s->context->root, path, O_RDONLY, &e);
    if (fd < 0) {
        buf_addstr(s->out, e.text);
        return false;
    }
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        set_prefix(&s->walk.path, path);
        file_walk_run(&s->walk, fd);
        buf_release(&s->walk.path);
    } else {
        search_file(s, path, fd);
    }
    if (s->stop == TOOL_INTERRUPTED) {
        buf_clear(s->out);
        buf_addstr(s->out, "interrupted");
        return false;
    }
    add_notes(s);
    return s->stop == TOOL_GOES_ON;
}

static bool search_with(const struct tool_context *context, const struct json *args,
                        const regex_t *pattern, const struct glob *glob, struct buf *out)
{
    const char *path = json_get_string(args, "path");
    struct search s = {.context = context,
                       .glob = *glob,
                       .limit = (size_t)json_get_int(args, "limit", DEFAULT_LIMIT),
                       .out = out,
                       .text = BUF_INIT};
    s.walk = (struct file_walk){
        .path = BUF_INIT, .wanted = wanted, .file = search_file, .go_on = go_on, .context = &s};
    s.lines =
        (struct line_search){.pattern = pattern, .found = found, .go_on = go_on, .context = &s};
    bool ok = search_path(&s, path ? path : ".");
    buf_release(&s.text);
    return ok;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    regex_t pattern;
    struct glob glob = {0};
    struct error e = {0};
    const char *names = json_get_string(args, "glob");
    if ((names && !glob_read(&glob, names, &e)) ||
        !pattern_compile(&pattern, json_get_string(args, "pattern"),
                         json_get_bool(args, "ignore_case", false), &e)) {
        glob_release(&glob);
        buf_addstr(out, e.text);
        return false;
    }
    bool ok = search_with(context, args, &pattern, &glob, out);
    glob_release(&glob);
    regfree(&pattern);
    return ok;
}

const struct tool tool_search_files = {
    .spec = {.name = "search_files",
             .description =
                 "Search the text files of the working directory for a POSIX extended regular "
                 "expression. Returns lines as path:line: text, sorted by path. Binary files, .git "
                 "and symbolic links are left out.",
             .schema =
                 "{\"type\":\"object\",\"properties\":{"
                 "\"pattern\":{\"type\":\"string\",\"description\":\"extended regular expression, "
                 "without back references\"},"
                 "\"path\":{\"type\":\"string\",\"description\":\"a directory or a file; default: "
                 "the working directory\"},"
                 "\"glob\":{\"type\":\"string\",\"description\":\"only files of such names, as "
                 "*.{c,h}; with a slash it is compared with the path, as src/*.c\"},"
                 "\"ignore_case\":{\"type\":\"boolean\"},"
                 "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"description\":"
                 "\"most lines; default 100\"}},"
                 "\"required\":[\"pattern\"],\"additionalProperties\":false}"},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .run = run,
};
