/* The tools that change files of the working directory: write_file and edit_file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/tool.h"
#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/change.h"

/* --- the file that is written ----------------------------------------------------------------- */

#define TEMPORARY ".tiro-"
enum {
    RANDOM_DIGITS = 16,
    MAX_TEMPORARY = 32,
    MAX_TEXT = 16 * 1024 * 1024 /* bytes of a file that is compared or edited */
};

struct target {
    const char *path; /* as the model gave it */
    struct confine_place place;
    struct tool_sight now; /* the state that find_target() saw */
};

static bool fail_write(const struct target *t, const char *why, struct buf *out)
{
    buf_clear(out);
    buf_addf(out, "%s: %s", t->path, why);
    return false;
}

/* Finds the file that a call writes, and checks that it may be written. A missing directory is made
 * if `make`; otherwise place.dir is -1 then. */
static bool find_target(const struct tool_context *context, const char *path, bool make,
                        struct target *t, struct buf *out)
{
    const struct tool_host *host = context->self;
    struct error e = {0};
    *t = (struct target){.path = path, .now.taken = true};
    if (!confine_find(host->root_fd, host->root, t->path, make, &t->place, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    int dir = t->place.dir;
    const char *name = t->place.name, *why = NULL;
    bool reaches = builtin_may_reach(context, t->path, t->place.where, &e);
    if (!reaches)
        buf_addstr(out, e.text);
    if (reaches && dir < 0)
        return true;
    if (reaches) {
        t->now.has_directory = fstat(dir, &t->now.directory) == 0;
        t->now.exists = fstatat(dir, name, &t->now.file, AT_SYMLINK_NOFOLLOW) == 0;
        if (!t->now.exists && errno != ENOENT)
            why = strerror(errno);
        else if (t->now.exists && !S_ISREG(t->now.file.st_mode))
            why = S_ISDIR(t->now.file.st_mode) ? "is a directory" : "not a regular file";
        else if ((t->now.exists && faccessat(dir, name, W_OK, AT_EACCESS) != 0) ||
                 faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) != 0)
            why = strerror(errno); /* the system would allow to replace a read-only file, but its
                                      owner wants no change */
        if (!why || fail_write(t, why, out))
            return true;
    }
    confine_place_release(&t->place);
    return false;
}

/* Gives the new file the owner, the group and the mode of the old one. If it cannot have the group,
 * the rights of the group are dropped. */
static bool take_over(const struct target *t, int fd)
{
    struct stat now;
    mode_t mode = t->now.file.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    if (!t->now.exists)
        return true;
    if (fstat(fd, &now) != 0)
        return false;
    if ((now.st_uid != t->now.file.st_uid || now.st_gid != t->now.file.st_gid) &&
        fchown(fd, t->now.file.st_uid, t->now.file.st_gid) != 0 &&
        fchown(fd, (uid_t)-1, t->now.file.st_gid) != 0)
        mode &= (mode_t)~S_IRWXG;
    return fchmod(fd, mode) == 0;
}

static bool same_entry(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Refuses the write if `change` says how the file differs from that which the user was shown or the
 * model has read; NULL: it does not differ. Returns whether it refused; `out` then holds why. */
static bool refuse_if(const char *change, const struct target *t, const struct tool_sight *seen,
                      struct buf *out)
{
    bool asked = seen != &t->now;
    if (!change)
        return false;
    buf_clear(out);
    buf_addf(out, "%s %s since %s; nothing was written. Read it again%s", t->path, change,
             asked ? "the user was asked" : "it was read", asked ? " and ask again" : "");
    return true;
}

/* Whether the directory, or with `file` the file, has changed since it was seen. */
static bool is_outdated(const struct tool_sight *seen, const struct target *t, bool file,
                        struct buf *out)
{
    const struct stat *was = &seen->file;
    struct stat now;
    const char *change = NULL;
    if (!seen->taken)
        return false;
    if (t->place.dir < 0)
        change = "has lost its directory";
    else if (seen->has_directory &&
             (fstat(t->place.dir, &now) != 0 || !same_entry(&now, &seen->directory)))
        change = "leads to another place";
    if (!change && file) {
        bool exists = fstatat(t->place.dir, t->place.name, &now, AT_SYMLINK_NOFOLLOW) == 0;
        if (!exists && errno != ENOENT)
            change = "changed";
        else if (exists != seen->exists)
            change = exists ? "was created" : "was removed";
        else if (exists && (!same_entry(&now, was) || now.st_size != was->st_size ||
                            now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
                            now.st_mtim.tv_nsec != was->st_mtim.tv_nsec ||
                            now.st_ctim.tv_sec != was->st_ctim.tv_sec ||
                            now.st_ctim.tv_nsec != was->st_ctim.tv_nsec))
            change = "changed"; /* a program can set mtime back, but not ctime */
    }
    return refuse_if(change, t, seen, out);
}

static int make_temporary(const struct target *t, char name[MAX_TEMPORARY])
{
    uint64_t random;
    entropy_fill(&random, sizeof random);
    snprintf(name, MAX_TEMPORARY, TEMPORARY "%016" PRIx64, random);
    int fd = openat(t->place.dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    t->now.exists ? 0600 : 0666);
    if (fd < 0 || temporary_claim(fd))
        return fd;
    close(fd);
    return make_temporary(t, name);
}

/* `written` gets the state of the new file. */
static bool replace(const struct tool_context *context, const struct target *t,
                    const struct tool_sight *seen, const struct buf *content, struct stat *written,
                    struct buf *out)
{
    char temporary[MAX_TEMPORARY];
    temporary_sweep(t->place.dir, TEMPORARY, RANDOM_DIGITS);
    int fd = make_temporary(t, temporary);
    if (fd < 0)
        return fail_write(t, strerror(errno), out);
    bool ok = paths_write_all(fd, content->data, content->len) && take_over(t, fd) &&
              fsync(fd) == 0 && fstat(fd, written) == 0;
    int fault = errno;
    bool refused = ok && (tool_stopped(context, out) || is_outdated(seen, t, true, out));
    if (ok && !refused) {
        ok = renameat(t->place.dir, temporary, t->place.dir, t->place.name) == 0;
        fault = errno;
        /* Synced so that the new name survives a power failure. Some file systems cannot sync a
         * directory; the file itself is safe all the same. */
        if (ok)
            fsync(t->place.dir);
    }
    if (!ok || refused)
        unlinkat(t->place.dir, temporary, 0);
    close(fd); /* not before: another session removes temporary files that nobody has locked */
    if (!ok)
        fail_write(t, strerror(fault), out);
    return ok && !refused;
}

/* --- its text, before and after --------------------------------------------------------------- */

/* The source of the present text of the file. */
enum present {
    PRESENT_NONE,       /* there is no file */
    PRESENT_SAVED,      /* the disk */
    PRESENT_OPEN,       /* the surface, whose text replaces that on the disk */
    PRESENT_UNREADABLE, /* the file cannot be read; the text says why */
    PRESENT_REFUSED     /* the surface failed; the text says why */
};

static enum present read_present(const struct tool_context *context, const struct target *t,
                                 struct buf *text)
{
    const struct tool_surface *s = ((const struct tool_host *)context->self)->surface;
    const struct tool_sight *seen = context->sight;
    bool asks =
        s && !(seen && seen->taken && !seen->text); /* it had none when the user was asked */
    enum surface_outcome outcome =
        asks ? s->read(s->context, context, t->place.where, text) : SURFACE_PASSED;
    if (outcome == SURFACE_DID)
        return PRESENT_OPEN;
    if (outcome == SURFACE_FAILED && t->now.exists)
        return PRESENT_REFUSED;
    buf_clear(text);
    if (!t->now.exists)
        return PRESENT_NONE;
    int fd = openat(t->place.dir, t->place.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 && text->len <= MAX_TEXT) {
        char chunk[64 * 1024];
        n = read(fd, chunk, sizeof chunk);
        if (n > 0)
            buf_add(text, chunk, (size_t)n);
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    auto_free char *fault = mem_strdup(strerror(errno));
    if (fd >= 0)
        close(fd);
    if (n == 0)
        return PRESENT_SAVED;
    buf_clear(text);
    if (n < 0)
        buf_addf(text, "cannot be read: %s", fault);
    else
        buf_addf(text, "has more than %d MiB", MAX_TEXT / 1024 / 1024);
    return PRESENT_UNREADABLE;
}

/* Whether the target has not changed since the user was shown it. If the surface had the text, that
 * text is compared: an editor may have saved the file meanwhile. */
static bool may_write(const struct tool_context *context, const struct target *t,
                      enum present present, const struct buf *old, struct buf *out)
{
    const struct tool_sight *seen = context->sight;
    if (tool_stopped(context, out) || (seen->taken && is_outdated(seen, t, !seen->text, out)))
        return false;
    if (!seen->text)
        return true;
    if (present == PRESENT_REFUSED)
        return fail_write(t, old->data, out);
    bool same = present == PRESENT_OPEN && strcmp(old->data, seen->text) == 0;
    return !refuse_if(same ? NULL : "changed in the editor", t, seen, out);
}

/* Gives the target its new text, by the surface or on the disk, and keeps the change. */
static bool put(const struct tool_context *context, const struct target *t, enum present present,
                const struct buf *old, const struct buf *new, struct buf *out)
{
    struct tool_host *host = context->self;
    const struct tool_surface *s = host->surface;
    AUTO(buf_release) struct buf why = BUF_INIT;
    struct stat written = {0};
    enum surface_outcome outcome =
        s ? s->write(s->context, context, t->place.where, new->data, &why) : SURFACE_PASSED;
    if (outcome == SURFACE_FAILED)
        return fail_write(t, why.data, out);
    if (outcome == SURFACE_DID)
        (void)!fstatat(t->place.dir, t->place.name, &written, AT_SYMLINK_NOFOLLOW);
    else if (!replace(context, t, context->sight->taken ? context->sight : &t->now, new, &written,
                      out))
        return false;
    read_files_note(&host->read, t->place.where, &written, new);
    if (context->change && present <= PRESENT_OPEN)
        change_keep(context->change, present == PRESENT_NONE ? NULL : old, new);
    return true;
}

/* --- an earlier content --- */

void file_present_release(struct file_present *p)
{
    free(p->where);
    buf_release(&p->text);
    *p = (struct file_present){.text = BUF_INIT};
}

bool file_present_read(const struct tool_context *context, const char *path,
                       struct file_present *out, struct buf *why)
{
    struct target t;
    *out = (struct file_present){.text = BUF_INIT};
    if (!find_target(context, path, false, &t, why))
        return false;
    enum present present = read_present(context, &t, &out->text);
    out->exists = present == PRESENT_SAVED;
    out->where = mem_strdup(t.place.where);
    if (present > PRESENT_OPEN) {
        fail_write(&t, out->text.data, why);
        file_present_release(out);
    }
    confine_place_release(&t.place);
    return present <= PRESENT_OPEN;
}

bool file_give_back(const struct tool_context *context, const char *path,
                    const struct file_present *was, const struct buf *content, struct buf *why)
{
    struct target t;
    struct stat written;
    AUTO(buf_release) struct buf now = BUF_INIT;
    if (!find_target(context, path, content != NULL, &t, why))
        return false;
    enum present present = read_present(context, &t, &now);
    bool same = (present == PRESENT_SAVED) == was->exists && present <= PRESENT_OPEN &&
                now.len == was->text.len && memcmp(now.data, was->text.data, now.len) == 0;
    bool ok = same || fail_write(&t, "changed meanwhile; nothing was written", why);
    if (ok && content)
        ok = replace(context, &t, &t.now, content, &written, why);
    else if (ok && was->exists)
        ok = !is_outdated(&t.now, &t, true, why) &&
             (unlinkat(t.place.dir, t.place.name, 0) == 0 || fail_write(&t, strerror(errno), why));
    confine_place_release(&t.place);
    return ok;
}

/* --- write_file ------------------------------------------------------------------------------- */

static bool write_file(const struct tool_context *context, const struct json *args, struct buf *out)
{
    struct target t;
    bool make = !context->sight->has_directory; /* a directory that was seen is not made again */
    if (!find_target(context, json_get_string(args, "path"), make, &t, out))
        return false;
    AUTO(buf_release) struct buf old = BUF_INIT;
    const struct buf new = buf_borrow(json_get_string(args, "content"));
    enum present present = read_present(context, &t, &old);
    bool ok =
        may_write(context, &t, present, &old, out) && put(context, &t, present, &old, &new, out);
    if (ok) {
        size_t lines = new.len > 0 && new.data[new.len - 1] != '\n';
        for (size_t i = 0; i < new.len; i++)
            lines += new.data[i] == '\n';
        buf_addf(out, "wrote %zu byte%s, %zu line%s", new.len, new.len == 1 ? "" : "s", lines,
                 lines == 1 ? "" : "s");
    }
    confine_place_release(&t.place);
    return ok;
}

/* Appends the change of the target to this text: the difference as `diff -u` writes it, or the
 * whole text with the reason why there is no difference. Fails if the surface failed to give the
 * text: nobody could see what would be lost. */
static bool show_change(const struct target *t, enum present present, const struct buf *old,
                        const struct buf *new, struct tool_sight *sight, struct buf *out)
{
    AUTO(buf_release) struct buf label = BUF_INIT;
    bool exists = present != PRESENT_NONE;
    if (present == PRESENT_REFUSED)
        return fail_write(t, old->data, out);
    *sight = t->now;
    sight->text = present == PRESENT_OPEN ? mem_strdup(old->data) : NULL;
    utf8_reveal(&label, t->path, strlen(t->path), UTF8_ONE_LINE);
    if (present == PRESENT_UNREADABLE) {
        buf_addf(out, "[the present content %s; this is the whole new content of %s]\n%s",
                 old->data, label.data, new->data);
        return true;
    }
    change_keep(&sight->change, exists ? old : NULL, new);
    buf_addf(out, "--- %s\n+++ %s\n", exists ? label.data : "/dev/null", label.data);
    struct difference_size size = difference_write(out, old, new, 1);
    if (exists && size.added + size.removed == 0) {
        buf_clear(out);
        buf_addstr(out, "[no difference]\n");
    } else if (out->len > TOOL_MAX_PREVIEW) {
        buf_clear(out);
        buf_addf(
            out,
            "[the difference is too long to be shown; this is the whole new content of %s]\n%s",
            label.data, new->data);
    }
    return true;
}

static bool preview_write(const struct tool_context *context, const struct json *args,
                          struct tool_sight *sight, struct buf *out)
{
    struct target t;
    if (!find_target(context, json_get_string(args, "path"), false, &t, out))
        return false;
    AUTO(buf_release) struct buf old = BUF_INIT;
    const struct buf new = buf_borrow(json_get_string(args, "content"));
    enum present present = read_present(context, &t, &old);
    bool ok = show_change(&t, present, &old, &new, sight, out);
    confine_place_release(&t.place);
    return ok;
}

const struct tool tool_write_file = {
    .spec = {.name = "write_file",
             .description = "Write a whole text file in the working directory. An existing file is "
                            "replaced; missing directories are made.",
             .schema = TOOL_SCHEMA(TOOL_PATH "," TOOL_ARG("string", "content", "all of it"),
                                   TOOL_NEEDS("\"path\",\"content\""))},
    .class = TOOL_WRITE,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = write_file,
    .preview = preview_write,
};

/* --- edit_file -------------------------------------------------------------------------------- */

enum { LINES_NAMED = 5 };

/* Appends a text with a line feed for each CR LF. */
static void add_flat(struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\r', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        buf_add(out, text + at, n);
        at += n;
        if (at < len && (at + 1 == len || text[at + 1] != '\n'))
            buf_addch(out, '\r');
        at += at < len;
    }
}

/* Returns the place in a text that is `count` bytes of its flat form behind `at`. */
static size_t forward(const struct buf *text, size_t at, size_t count)
{
    for (; count > 0; count--)
        at += text->data[at] == '\r' && text->data[at + 1] == '\n' ? 2 : 1;
    return at;
}

/* Whether the line at this place ends with CR LF; for a last line without an end, whether the line
 * before it does. */
static bool ends_with_cr(const struct buf *text, size_t at)
{
    const char *end = memchr(text->data + at, '\n', text->len - at);
    while (!end && at > 0)
        end = text->data[--at] == '\n' ? text->data + at : NULL;
    return end && end > text->data && end[-1] == '\r';
}

struct edit {
    size_t number; /* from 1 */
    bool all;
    struct buf old, new; /* flat */
};

/* Appends the numbers of the first lines on which old_text begins. Returns how often it occurs. */
static size_t find(const struct edit *edit, const struct buf *flat, struct buf *lines)
{
    size_t count = 0, step = edit->all ? edit->old.len : 1;
    int64_t line = 1;
    const char *from = flat->data;
    for (const char *p = from; (p = strstr(p, edit->old.data)); p += step) {
        for (; count <= LINES_NAMED && from < p; from++)
            line += *from == '\n';
        if (count < LINES_NAMED)
            buf_addf(lines, "%s%lld", count > 0 ? ", " : "", (long long)line);
        else if (count == LINES_NAMED)
            buf_addstr(lines, "…");
        count++;
    }
    return count;
}

/* Appends the numbers of the first lines that equal the first line of old_text except for blanks at
 * their ends. */
static void find_alike(const struct edit *edit, const struct buf *flat, struct buf *lines)
{
    static const char blanks[] = " \t";
    const char *wanted = edit->old.data + strspn(edit->old.data, " \t\n");
    size_t wanted_len = strcspn(wanted, "\n"), count = 0;
    int64_t line = 1;
    while (wanted_len > 0 && strchr(blanks, wanted[wanted_len - 1]))
        wanted_len--;
    for (const char *p = flat->data; *p && wanted_len > 0 && count < LINES_NAMED; line++) {
        size_t whole = strcspn(p, "\n"), lead = strspn(p, blanks), len = whole;
        while (len > lead && strchr(blanks, p[len - 1]))
            len--;
        if (len - lead == wanted_len && memcmp(p + lead, wanted, wanted_len) == 0)
            buf_addf(lines, "%s%lld", count++ > 0 ? ", " : "", (long long)line);
        p += whole + (p[whole] == '\n');
    }
}

/* Replaces old_text, and writes line ends as the file has them there. Returns the number of
 * replacements; 0: `out` says why there is none. */
static size_t apply_edit(const struct edit *edit, struct buf *text, struct buf *out)
{
    AUTO(buf_release) struct buf flat = BUF_INIT, lines = BUF_INIT, changed = BUF_INIT;
    add_flat(&flat, text->data, text->len);
    size_t count = find(edit, &flat, &lines), from = 0;
    if (count > 1 && !edit->all) {
        buf_addf(out,
                 "old_text of edit %zu is found %zu times (lines %s); give more of the text around "
                 "it, or set replace_all",
                 edit->number, count, lines.data);
        return 0;
    }
    if (count == 0) {
        find_alike(edit, &flat, &lines);
        buf_addf(out, "old_text of edit %zu is not found", edit->number);
        if (lines.len > 0)
            buf_addf(out, "; its first line is like line %s", lines.data);
        return 0;
    }
    /* The product cannot overflow: both factors came from texts in memory of some MiB. */
    if (flat.len - count * edit->old.len + count * edit->new.len > MAX_TEXT) {
        buf_addf(out, "after edit %zu the file would have more than %d MiB", edit->number,
                 MAX_TEXT / 1024 / 1024);
        return 0;
    }
    const char *at = flat.data;
    int crlf = -1;
    for (const char *p = at; (p = strstr(p, edit->old.data)); p += edit->old.len, at = p) {
        size_t start = forward(text, from, (size_t)(p - at));
        buf_add(&changed, text->data + from, start - from);
        crlf = crlf < 0 ? ends_with_cr(text, start) : crlf;
        for (const char *c = edit->new.data; *c; c++) {
            if (crlf && *c == '\n')
                buf_addch(&changed, '\r');
            buf_addch(&changed, *c);
        }
        from = forward(text, start, edit->old.len);
    }
    buf_add(&changed, text->data + from, text->len - from);
    struct buf before = *text;
    *text = changed;
    changed = before;
    return count;
}

/* Keeps the end of the last line, or its absence. */
static void keep_final_newline(const struct buf *old, struct buf *new)
{
    bool had = old->len > 0 && old->data[old->len - 1] == '\n';
    bool has = new->len > 0 && new->data[new->len - 1] == '\n';
    if (had && !has && new->len > 0)
        buf_addstr(new, ends_with_cr(old, old->len - 1) ? "\r\n" : "\n");
    else if (!had && has)
        buf_truncate(new, new->len - (new->len > 1 && new->data[new->len - 2] == '\r' ? 2 : 1));
}

/* Appends the text after all edits to `new`. Returns the number of replacements; 0: `out` says why
 * nothing can be written. */
static size_t edit_text(const struct tool_context *context, const struct json *args,
                        const struct target *t, enum present present, const struct buf *old,
                        struct buf *new, struct buf *out)
{
    struct read_files *read = &((struct tool_host *)context->self)->read;
    const struct json *edits = json_get(args, "edits");
    AUTO(buf_release) struct buf why = BUF_INIT;
    size_t number = 0, count = 0;
    if (present == PRESENT_NONE)
        return fail_write(t, "there is no such file; write_file makes one", out);
    if (present > PRESENT_OPEN)
        return fail_write(t, old->data, out);
    const char *doubt =
        read_files_doubt(read, t->place.where, &t->now.file, present == PRESENT_OPEN ? old : NULL);
    if (doubt) {
        buf_addf(out, "%s %s; nothing was written. Read it, then edit it", t->path, doubt);
        return 0;
    }
    if (memchr(old->data, '\0', old->len))
        return fail_write(t, "a binary file", out);
    buf_add(new, old->data, old->len);
    for (const struct json *v = json_first(edits); v && why.len == 0; v = json_next(v)) {
        const char *from = json_get_string(v, "old_text"), *to = json_get_string(v, "new_text");
        struct edit edit = {++number, json_get_bool(v, "replace_all", false), BUF_INIT, BUF_INIT};
        add_flat(&edit.old, from, strlen(from));
        add_flat(&edit.new, to, strlen(to));
        if (edit.old.len == 0)
            buf_addf(&why, "old_text of edit %zu is empty", number);
        else if (!tool_stopped(context, &why))
            count += apply_edit(&edit, new, &why);
        buf_release(&edit.old);
        buf_release(&edit.new);
    }
    if (why.len == 0) {
        keep_final_newline(old, new);
        if (new->len == old->len && memcmp(new->data, old->data, old->len) == 0)
            buf_addstr(&why, "the edits change nothing (the end of the last line stays as it is)");
    }
    if (why.len == 0)
        return count;
    if (json_len(edits) > 1)
        buf_addstr(&why, "; none of the edits was written");
    return fail_write(t, why.data, out);
}

static bool edit_file(const struct tool_context *context, const struct json *args, struct buf *out)
{
    struct target t;
    if (!find_target(context, json_get_string(args, "path"), false, &t, out))
        return false;
    AUTO(buf_release) struct buf old = BUF_INIT, new = BUF_INIT;
    enum present present = read_present(context, &t, &old);
    size_t count = 0;
    bool ok = may_write(context, &t, present, &old, out) &&
              (count = edit_text(context, args, &t, present, &old, &new, out)) > 0 &&
              put(context, &t, present, &old, &new, out);
    if (ok)
        buf_addf(out, "replaced %zu text%s", count, count == 1 ? "" : "s");
    confine_place_release(&t.place);
    return ok;
}

static bool preview_edit(const struct tool_context *context, const struct json *args,
                         struct tool_sight *sight, struct buf *out)
{
    struct target t;
    if (!find_target(context, json_get_string(args, "path"), false, &t, out))
        return false;
    AUTO(buf_release) struct buf old = BUF_INIT, new = BUF_INIT;
    enum present present = read_present(context, &t, &old);
    bool ok = edit_text(context, args, &t, present, &old, &new, out) > 0 &&
              show_change(&t, present, &old, &new, sight, out);
    confine_place_release(&t.place);
    return ok;
}

const struct tool tool_edit_file = {
    .spec =
        {.name = "edit_file",
         .description = "Replace texts in a file that you have read. Each old_text must occur "
                        "exactly once, unless replace_all is true. The edits are made in order, "
                        "all of them or none.",
         .schema = TOOL_SCHEMA(
             TOOL_PATH
             ",\"edits\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
             "\"old_text\":{\"type\":\"string\"},\"new_text\":{\"type\":\"string\"},"
             "\"replace_all\":{\"type\":\"boolean\"}},\"required\":[\"old_text\",\"new_text\"]}}",
             TOOL_NEEDS("\"path\",\"edits\""))},
    .class = TOOL_WRITE,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = edit_file,
    .preview = preview_edit,
};
