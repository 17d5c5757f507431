#include "knowledge/document.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/document_loaders.h"

enum { PIECE = 64 * 1024, BEGINNING = 512, TITLE_MAX = 200 };

const struct document_limits document_limits = {.bytes = INT64_C(64) << 20,
                                                .text = INT64_C(32) << 20,
                                                .parts = 100000,
                                                .expanded = INT64_C(128) << 20,
                                                .ms = 60000};

const char *document_part_kind_name(enum document_part_kind kind)
{
    static const char *const names[DOCUMENT_PART_KINDS] = {"prose", "heading", "code", "row"};
    return names[kind];
}

void loaded_document_release(struct loaded_document *d)
{
    free(d->title);
    buf_release(&d->text);
    vec_release(&d->parts);
    *d = (struct loaded_document){.text = BUF_INIT};
}

/* --- for all loaders -------------------------------------------------------------------------- */

static enum document_outcome end_with(struct loading *l, enum document_outcome outcome, char *text)
{
    err_set(l->e, ERR_FILE_ERROR, "%s", text);
    free(text);
    return outcome;
}

enum document_outcome loading_fails(struct loading *l, const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    return end_with(l, DOCUMENT_FAILED, buf_take(&text));
}

enum document_outcome loading_skips(struct loading *l, const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    return end_with(l, DOCUMENT_SKIPPED, buf_take(&text));
}

static enum document_outcome fails_late(struct loading *l)
{
    return loading_fails(l, "takes longer than %lld s to read",
                         (long long)(l->options->limits.ms + 999) / 1000);
}

static enum document_outcome fails_large(struct loading *l, int64_t most)
{
    return loading_fails(l, "is larger than %lld MiB", (long long)(most >> 20));
}

enum document_outcome loading_goes_on(struct loading *l)
{
    if (l->options->wakeup && !wakeup_sleep(l->options->wakeup, 0)) {
        err_set(l->e, ERR_INTERRUPTED, "stopped");
        return DOCUMENT_STOPPED;
    }
    return clock_mono_ms() >= l->deadline_ms ? fails_late(l) : DOCUMENT_LOADED;
}

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void loading_add_part(struct loading *l, struct document_part part, size_t at, size_t end)
{
    const char *text = l->out->text.data;
    size_t first = at;
    while (first < end && is_white(text[first]))
        first++;
    while (end > first && is_white(text[end - 1]))
        end--;
    if (first == end)
        return;
    if (part.kind == DOCUMENT_CODE) /* its first line keeps its indentation */
        while (first > at && text[first - 1] != '\n')
            first--;
    part.at = first;
    part.len = end - first;
    if (part.kind == DOCUMENT_HEADING && part.name_len == 0) {
        part.name_at = first;
        part.name_len = part.len;
    }
    if (l->out->parts.len < l->options->limits.parts) {
        vec_push(&l->out->parts, part);
        return;
    }
    struct document_part *last = &vec_last(&l->out->parts);
    last->len = end - last->at;
    last->level = 0;
    if (last->kind == DOCUMENT_HEADING)
        last->kind = DOCUMENT_PROSE;
}

void loading_name(struct loading *l, const char *title, size_t len)
{
    AUTO(buf_release) struct buf clean = BUF_INIT, cut = BUF_INIT;
    utf8_clean(&clean, title, len, UTF8_ONE_LINE);
    buf_trim_end(&clean, " ");
    buf_consume(&clean, strspn(clean.data, " "));
    utf8_add_cut(&cut, clean.data, clean.len, TITLE_MAX);
    if (cut.len > 0 && !l->out->title)
        l->out->title = buf_take(&cut);
}

/* --- formats that another program reads ------------------------------------------------------- */

/* Each program is a child process: a hostile file can only harm the child. */

enum { NOT_FOUND = 127, SHELL_SIGNAL = 128, SAID_MOST = 4096 };

/* A small file can make a child use up much: KiB of memory, seconds of processor time. The limits
 * are soft, so that the user's own command can raise them. */
#define LIMITS "ulimit -S -v 524288 2>/dev/null; ulimit -S -t 20 2>/dev/null; "
static const char late[] = "takes longer than 20 s of processor time to read";

extern char **environ;

static bool take_output(void *context, const char *bytes, size_t len)
{
    struct loading *l = context;
    struct buf *out = &l->out->text;
    if (len > (size_t)l->options->limits.text - out->len)
        return false;
    buf_add(out, bytes, len);
    return true;
}

/* The reason is the last line of the child's messages as a rule. */
static enum document_outcome fails_with_status(struct loading *l, const char *program, int status,
                                               const char *said)
{
    AUTO(buf_release) struct buf lines = BUF_INIT, line = BUF_INIT;
    buf_addstr(&lines, said);
    buf_trim_end(&lines, " \t\r\n");
    const char *last = strrchr(lines.data, '\n');
    last = last ? last + 1 : lines.data;
    utf8_clean(&line, last, strlen(last), UTF8_ONE_LINE);
    if (status == NOT_FOUND)
        return loading_fails(l, "cannot be read: %s is not installed", program);
    if (status == SHELL_SIGNAL + SIGXCPU)
        return loading_fails(l, late);
    if (line.len > 0)
        return loading_fails(l, "cannot be read: %s: %s", program, line.data);
    return loading_fails(l, "cannot be read: %s ended with status %d", program, status);
}

/* Runs the child with the short list of variables; its output becomes the document's text.
 * DOCUMENT_LOADED: it exited, whatever its status. */
static enum document_outcome run_program(struct loading *l, const char *program,
                                         struct child_command *child, int *status)
{
    struct child_environment environment;
    struct child_result result;
    struct error e;
    child_environment_init(&environment, environ, CHILD_HELPER, "HOME");
    child->environment = environment.list.items;
    child->deadline_ms = l->deadline_ms;
    child->wakeup = l->options->wakeup;
    child->take = take_output;
    child->context = l;
    bool ran = child_run(child, &result, &e);
    child_environment_release(&environment);
    if (!ran)
        return loading_fails(l, "cannot be read: %s", e.text);
    *status = result.status;
    switch (result.end) {
    case CHILD_EXITED:
        return DOCUMENT_LOADED;
    case CHILD_SIGNALED:
        if (result.status == SIGXCPU)
            return loading_fails(l, late);
        return loading_fails(l, "cannot be read: %s was ended by signal %d", program,
                             result.status);
    case CHILD_LATE:
        return fails_late(l);
    case CHILD_STOPPED:
        err_set(l->e, ERR_INTERRUPTED, "stopped");
        return DOCUMENT_STOPPED;
    case CHILD_REFUSED:
        return loading_fails(l, "has more than %lld MiB of text",
                             (long long)(l->options->limits.text >> 20));
    }
    return DOCUMENT_FAILED;
}

/* Form feeds end pages; a text without one has none. */
static enum document_outcome take_pages(struct loading *l)
{
    const struct buf *text = &l->out->text;
    if (memchr(text->data, '\0', text->len))
        return loading_fails(l, "cannot be read: what came of it is no text");
    bool has_pages = memchr(text->data, '\f', text->len) != NULL;
    int64_t page = has_pages;
    for (size_t at = 0; at < text->len; page++) {
        const char *feed = memchr(text->data + at, '\f', text->len - at);
        size_t end = feed ? (size_t)(feed - text->data) : text->len;
        loading_add_part(l, (struct document_part){.page = has_pages ? page : 0}, at, end);
        at = end + 1;
    }
    if (l->out->parts.len == 0)
        return loading_skips(l, "has no text: its pages may be pictures");
    return DOCUMENT_LOADED;
}

/* Descriptor 3 is the `extra` of child_run(): pdftotext reads the file that was opened, even if the
 * path leads to another by now. */
static enum document_outcome run_pdftotext(struct loading *l, const char *line, bool with_errors,
                                           int *status)
{
    struct child_command child = {.argv = (const char *const[]){"/bin/sh", "-c", line, NULL},
                                  .extra = l->fd,
                                  .with_errors = with_errors};
    return run_program(l, "pdftotext", &child, status);
}

/* Where it fails it runs again for the reason. */
static enum document_outcome load_pdf(struct loading *l)
{
    struct buf *text = &l->out->text;
    int status = 0, again;
    enum document_outcome outcome = run_pdftotext(
        l, LIMITS "exec pdftotext -q -enc UTF-8 -eol unix /dev/fd/3 -", false, &status);
    if (outcome != DOCUMENT_LOADED)
        return outcome;
    if (status == 0)
        return take_pages(l);
    buf_clear(text);
    outcome = run_pdftotext(l, LIMITS "exec pdftotext -l 1 /dev/fd/3 /dev/null", true, &again);
    if (outcome != DOCUMENT_LOADED)
        return outcome;
    buf_truncate(text, text->len < SAID_MOST ? text->len : SAID_MOST);
    return fails_with_status(l, "pdftotext", status, text->data);
}

/* The user's command. $1 is one word, whatever is in the file's name. */
static enum document_outcome load_command(struct loading *l)
{
    auto_free char *line = mem_printf(LIMITS "set -f; IFS=; %s", l->command);
    auto_free char *path = *l->name == '/' ? mem_strdup(l->name) : mem_printf("./%s", l->name);
    auto_free char *program = mem_strndup(l->command, strcspn(l->command, " \t"));
    struct child_command child = {
        .argv = (const char *const[]){"/bin/sh", "-c", line, "sh", path, NULL}};
    int status = 0;
    enum document_outcome outcome = run_program(l, program, &child, &status);
    if (outcome != DOCUMENT_LOADED)
        return outcome;
    return status == 0 ? take_pages(l) : fails_with_status(l, program, status, "");
}

/* --- formats ---------------------------------------------------------------------------------- */

static const struct loader loaders[] = {
    {"Markdown", "md markdown mdown mkd mdx qmd rmd", NULL, true, load_markdown},
    {"HTML", "html htm xhtml xht", "<!doctype html", true, load_html},
    {"HTML", "", "<html", true, load_html},
    {"docx", "docx docm dotx", NULL, false, load_docx},
    {"odt", "odt ott", "PK*mimetypeapplication/vnd.oasis.opendocument.text", false, load_odt},
    {"epub", "epub", "PK*mimetypeapplication/epub+zip", false, load_epub},
    {"PDF", "pdf", "%PDF-", false, load_pdf},
};
static const struct loader text_loader = {"text", "", NULL, true, load_plain_text};
static const struct loader code_loader = {"code", "", NULL, true, load_code};
static const struct loader command_loader = {"command", "", NULL, false, load_command};

/* Files that never have text, so that a folder of pictures need not be read to be passed over. */
static const char *const without_text =
    "3gp 7z a aac aif aiff apk ar avi avif bin blend bmp bz2 cab class cr2 dat db deb dll dmg "
    "dylib eot exe fbx flac flv gif gmo gz heic heif ico img iso jar jpeg jpg ko lib lz4 lzma m4a "
    "m4v mid mkv mo mov mp3 mp4 mpeg mpg nef o obj oga ogg ogv opus otf parquet pcap png psd pyc "
    "pyd pyo rar raw rlib rpm so sqlite sqlite3 stl swf tar tgz tif tiff ttc ttf wasm wav webm "
    "webp wma wmv woff woff2 xcf xz z zip zst";

/* Behind the last dot of the path's last part; "" if none. */
static const char *extension_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}

static const struct document_command *command_of(const char *name,
                                                 const struct document_options *options)
{
    const char *extension = extension_of(name);
    for (size_t i = 0; *extension && i < options->command_count; i++)
        if (strcasecmp(options->commands[i].extension, extension) == 0)
            return &options->commands[i];
    return NULL;
}

/* By the name; text_loader where that says nothing. */
static const struct loader *loader_by_name(const char *name)
{
    const char *extension = extension_of(name);
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
        if (*extension && code_is_word_of(loaders[i].extensions, extension))
            return &loaders[i];
    return code_language_of(name) ? &code_loader : &text_loader;
}

/* "PK*": a zip file. The name and bytes of its first member follow its head of 30 bytes, as formats
 * demand that have such a member. */
static bool begins_with(const char *bytes, size_t len, const char *with)
{
    enum { HEAD = 30 };
    bool zip = strncmp(with, "PK*", 3) == 0;
    if (zip && (len < HEAD || memcmp(bytes, "PK\3\4", 4) != 0))
        return false;
    with += zip ? 3 : 0;
    bytes += zip ? HEAD : 0;
    len -= zip ? HEAD : 0;
    return strlen(with) <= len && strncasecmp(with, bytes, strlen(with)) == 0;
}

const char *document_format_of(const char *name, const struct document_options *options)
{
    const struct document_command *command = command_of(name, options);
    if (command)
        return command->extension;
    const char *extension = extension_of(name);
    if (*extension && code_is_word_of(without_text, extension))
        return NULL;
    const struct loader *loader = loader_by_name(name);
    return loader == &code_loader ? code_language_of(name)->name : loader->format;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* A file that grows while it is read is read to the size that it had. */
static enum document_outcome read_whole(struct loading *l)
{
    int64_t most = l->options->limits.text;
    char beginning[BEGINNING];
    ssize_t begun = l->size > most ? pread(l->fd, beginning, sizeof beginning, 0) : 0;
    if (begun > 0 && memchr(beginning, '\0', (size_t)begun))
        return loading_skips(l, "a binary file");
    if (l->size > most)
        return fails_large(l, most);
    for (;;) {
        char piece[PIECE];
        int64_t left = l->size - (int64_t)l->source.len;
        ssize_t n = read(l->fd, piece, left < PIECE ? (size_t)left : PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return loading_fails(l, "cannot be read: %s", strerror(errno));
        if (n == 0)
            return DOCUMENT_LOADED;
        buf_add(&l->source, piece, (size_t)n);
        enum document_outcome outcome = loading_goes_on(l);
        if (outcome != DOCUMENT_LOADED)
            return outcome;
    }
}

/* The title is the first heading where the format has none. Form feeds and vertical tabs are white
 * space; on the screen they would be pictures. */
static enum document_outcome run_loader(struct loading *l)
{
    static const char feeds[] = "\f\v";
    struct loaded_document *d = l->out;
    d->format = l->loader->format;
    enum document_outcome outcome = DOCUMENT_LOADED;
    if (l->loader->whole && l->fd >= 0)
        outcome = read_whole(l);
    if (outcome == DOCUMENT_LOADED)
        outcome = l->loader->load(l);
    buf_release(&l->source);
    if (outcome != DOCUMENT_LOADED) {
        loaded_document_release(d);
        return outcome;
    }
    for (const char *feed = feeds; *feed; feed++)
        for (char *at = d->text.data;
             (at = memchr(at, *feed, d->text.len - (size_t)(at - d->text.data)));)
            *at = ' ';
    for (size_t i = 0; !d->title && i < d->parts.len; i++)
        if (d->parts.items[i].kind == DOCUMENT_HEADING)
            loading_name(l, d->text.data + d->parts.items[i].name_at, d->parts.items[i].name_len);
    return outcome;
}

static struct loading begin(struct loaded_document *out, const char *name,
                            const struct document_options *options, struct error *e)
{
    *out = (struct loaded_document){.text = BUF_INIT};
    return (struct loading){.options = options,
                            .name = name,
                            .fd = -1,
                            .source = BUF_INIT,
                            .out = out,
                            .e = e,
                            .deadline_ms = clock_mono_ms() + options->limits.ms};
}

/* Files there are made while they are read: they may never end, and their size says nothing. */
static bool is_on_pseudo_file_system(int fd)
{
#ifdef __linux__
    /* As in linux/magic.h: proc, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2, configfs,
     * pstore, bpf, efivarfs, selinuxfs. */
    static const uint32_t magics[] = {0x9fa0,     0x62656572, 0x64626720, 0x74726163,
                                      0x73636673, 0x27e0eb,   0x63677270, 0x62656570,
                                      0x6165676c, 0xcafe4a11, 0xde5e81e4, 0xf97cff8c};
    struct statfs fs;
    for (size_t i = 0; fstatfs(fd, &fs) == 0 && i < sizeof magics / sizeof *magics; i++)
        if ((uint32_t)fs.f_type == magics[i])
            return true;
#endif
    (void)fd;
    return false;
}

/* A descriptor of a regular file of an allowed size; -1 with the reason. */
static int open_regular(struct loading *l)
{
    struct stat st;
    int fd = open(l->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP) {
        loading_fails(l, "is a symbolic link, or reached by too many");
    } else if (fd < 0) {
        loading_fails(l, "cannot be opened: %s", strerror(errno));
    } else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        loading_fails(l, "is not a regular file");
    } else if (is_on_pseudo_file_system(fd)) {
        loading_fails(l, "is made by the kernel while it is read, as files of /proc and /sys are");
    } else if (st.st_size > l->options->limits.bytes) {
        fails_large(l, l->options->limits.bytes);
    } else {
        l->size = st.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

enum document_outcome document_load_file(struct loaded_document *out, const char *path,
                                         const struct document_options *options, struct error *e)
{
    struct loading l = begin(out, path, options, e);
    if (!document_format_of(path, options))
        return loading_skips(&l, "a .%s file has no text", extension_of(path));
    l.fd = open_regular(&l);
    if (l.fd < 0)
        return DOCUMENT_FAILED;
    const struct document_command *command = command_of(path, options);
    l.command = command ? command->command : NULL;
    l.loader = command ? &command_loader : loader_by_name(path);
    char beginning[BEGINNING];
    ssize_t n = l.loader == &text_loader ? pread(l.fd, beginning, sizeof beginning, 0) : 0;
    for (size_t i = 0; n > 0 && l.loader == &text_loader && i < sizeof loaders / sizeof *loaders;
         i++)
        if (loaders[i].begins && begins_with(beginning, (size_t)n, loaders[i].begins))
            l.loader = &loaders[i];
    enum document_outcome outcome = run_loader(&l);
    close(l.fd);
    return outcome;
}

enum document_outcome document_load_text(struct loaded_document *out, const char *name,
                                         const char *text, size_t len,
                                         const struct document_options *options, struct error *e)
{
    struct loading l = begin(out, name, options, e);
    if ((int64_t)len > options->limits.text)
        return fails_large(&l, options->limits.text);
    l.loader = loader_by_name(name);
    if (!l.loader->whole)
        l.loader = &text_loader;
    buf_add(&l.source, text, len);
    return run_loader(&l);
}
