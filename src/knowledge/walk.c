#include "knowledge/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/vec.h"

/* --- patterns --------------------------------------------------------------------------------- */

/* A name or a pattern of one: the characters up to a slash or the end. */
struct part {
    const char *at, *end;
};

static struct part first_part(const char *path)
{
    return (struct part){path, path + strcspn(path, "/")};
}

/* NULL: it is the last one. */
static const char *behind(struct part p)
{
    return *p.end == '/' ? p.end + 1 : NULL;
}

/* Behind the "]" of the set that begins here; NULL: it has none, so "[" stands for itself. */
static const char *set_end(const char *at, const char *end)
{
    const char *p = at + 1;
    p += p < end && (*p == '!' || *p == '^');
    p += p < end && *p == ']';
    while (p < end && *p != ']')
        p++;
    return p < end ? p + 1 : NULL;
}

static bool is_in_set(const char *at, const char *end, unsigned char c)
{
    const char *p = at + 1, *last = end - 1;
    bool negated = *p == '!' || *p == '^', found = false;
    for (p += negated; p < last; p++) {
        unsigned char from = (unsigned char)*p, to = from;
        if (p + 2 < last && p[1] == '-') {
            to = (unsigned char)p[2];
            p += 2;
        }
        found = found || (from <= c && c <= to);
    }
    return found != negated;
}

/* Whether the element of the pattern at `p` takes the character; *next: the element behind it. */
static bool takes(const char *p, const char *end, char c, const char **next)
{
    const char *set = *p == '[' ? set_end(p, end) : NULL;
    *next = set ? set : p + 1;
    if (set)
        return is_in_set(p, set, (unsigned char)c);
    if (*p == '?')
        return true;
    if (*p == '\\' && p + 1 < end) {
        *next = p + 2;
        return p[1] == c;
    }
    return *p == c;
}

/* Where it does not go on, the last "*" takes a character more. */
static bool part_fits(struct part pattern, struct part name)
{
    const char *p = pattern.at, *star = NULL, *n = name.at, *from = NULL;
    while (n < name.end) {
        const char *next;
        if (p < pattern.end && *p == '*') {
            star = ++p;
            from = n;
        } else if (p < pattern.end && takes(p, pattern.end, *n, &next)) {
            p = next;
            n++;
        } else if (star) {
            p = star;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.end && *p == '*')
        p++;
    return p == pattern.end;
}

static bool is_any_depth(struct part p)
{
    return p.end - p.at == 2 && p.at[0] == '*' && p.at[1] == '*';
}

/* The same with names in place of characters, and "**" in place of "*". At the end of the pattern
 * it needs something below it. */
bool ignore_fits(const char *pattern, const char *path)
{
    const char *p = pattern, *n = path, *any = NULL, *from = NULL;
    while (n) {
        struct part name = first_part(n), part = {0};
        if (p)
            part = first_part(p);
        if (p && is_any_depth(part)) {
            any = behind(part);
            if (!any)
                return true;
            p = any;
            from = n;
        } else if (p && part_fits(part, name)) {
            p = behind(part);
            n = behind(name);
        } else if (any) {
            p = any;
            from = behind(first_part(from));
            n = from;
        } else {
            return false;
        }
    }
    return !p;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Blanks at the end do not count, unless one is escaped. */
static size_t trimmed(const char *line, size_t len)
{
    if (len > 0 && line[len - 1] == '\r')
        len--;
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t') &&
           !(len > 1 && line[len - 2] == '\\'))
        len--;
    return len;
}

static void add_line(struct ignore_rules *out, const char *line, size_t len)
{
    struct ignore_rule r = {0};
    len = trimmed(line, len);
    if (len == 0 || *line == '#' || memchr(line, '\0', len))
        return;
    if (*line == '!') {
        r.negated = true;
        line++, len--;
    }
    if (len > 0 && line[len - 1] == '/') {
        r.directory = true;
        len--;
    }
    r.anchored = len > 0 && memchr(line, '/', len);
    if (len > 0 && *line == '/')
        line++, len--;
    if (len == 0)
        return;
    r.pattern = mem_strndup(line, len);
    vec_push(&out->items, r);
}

void ignore_read(struct ignore_rules *out, const char *text, size_t len)
{
    const char *end = text + len;
    *out = (struct ignore_rules){0};
    while (text < end && out->items.len < IGNORE_LINES) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        add_line(out, text, (size_t)(stop - text));
        text = stop + 1;
    }
}

void ignore_release(struct ignore_rules *r)
{
    for (size_t i = 0; i < r->items.len; i++)
        free(r->items.items[i].pattern);
    vec_release(&r->items);
}

enum ignore_verdict ignore_says(const struct ignore_rules *r, const char *path, bool is_directory)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = r->items.len; i-- > 0;) {
        const struct ignore_rule *rule = &r->items.items[i];
        if ((!rule->directory || is_directory) &&
            ignore_fits(rule->pattern, rule->anchored ? path : name))
            return rule->negated ? IGNORE_IN : IGNORE_OUT;
    }
    return IGNORE_UNSAID;
}

/* The rules of a folder's .gitignore. */
struct rules {
    struct ignore_rules ignore;
    size_t prefix; /* bytes of a path before what is below that folder */
};

/* A folder that is gone through. */
struct level {
    VEC(char *) names;
    size_t next;
    size_t path; /* bytes of its path, with the slash behind it */
    bool ruled;  /* it has rules, the last ones at that depth */
};

struct walk {
    char *root;
    struct buf path;
    VEC(struct level) levels;
    VEC(struct rules) rules; /* outermost first */
    size_t files, unreadable;
    struct stat alone; /* the root, where that is a file */
    bool is_file;
};

/* --- rules ------------------------------------------------------------------------------------ */

static bool read_beginning(const char *path, struct buf *out)
{
    char bytes[16384];
    ssize_t n = 1;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    while (ok && n > 0 && out->len < WALK_IGNORE_BYTES) {
        n = read(fd, bytes, sizeof bytes);
        if (n > 0)
            buf_add(out, bytes, (size_t)n);
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Of the folder whose path, with its slash, is the first `prefix` bytes. */
static bool add_rules(struct walk *w, const char *path, size_t prefix, const char *file)
{
    struct buf text = BUF_INIT;
    char *name = mem_printf("%.*s%s", (int)prefix, path, file);
    struct rules r = {.prefix = prefix};
    bool found = read_beginning(name, &text);
    if (found) {
        ignore_read(&r.ignore, text.data, text.len);
        vec_push(&w->rules, r);
    }
    buf_release(&text);
    free(name);
    return found;
}

static void drop_rules(struct walk *w)
{
    ignore_release(&vec_last(&w->rules).ignore);
    w->rules.len--;
}

static bool has_git(const char *path, size_t prefix)
{
    struct stat st;
    char *name = mem_printf("%.*s.git", (int)prefix, path);
    bool found = lstat(name, &st) == 0;
    free(name);
    return found;
}

/* The length of the path's part up to and with the slash before `end`. */
static size_t parent_prefix(const char *path, size_t end)
{
    while (end > 0 && path[end - 1] != '/')
        end--;
    return end;
}

/* Of the folders above the root, where one of them or the root is the top of a work tree. */
static void add_rules_above(struct walk *w)
{
    char *root = mem_printf("%s%s", w->root, w->is_file ? "" : "/");
    size_t top = parent_prefix(root, strlen(root));
    while (top > 1 && !has_git(root, top))
        top = parent_prefix(root, top - 1);
    if (top > 0 && has_git(root, top)) {
        add_rules(w, root, top, ".git/info/exclude");
        for (size_t at = top; at < strlen(root); at++)
            if (root[at - 1] == '/')
                add_rules(w, root, at, ".gitignore");
    }
    free(root);
}

static bool is_left_out(const struct walk *w, const char *path, bool is_directory)
{
    for (size_t i = w->rules.len; i-- > 0;) {
        const struct rules *r = &w->rules.items[i];
        enum ignore_verdict says = ignore_says(&r->ignore, path + r->prefix, is_directory);
        if (says != IGNORE_UNSAID)
            return says == IGNORE_OUT;
    }
    return false;
}

/* --- folders ---------------------------------------------------------------------------------- */

static bool read_names(const char *path, struct level *out)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    errno = 0;
    while ((d = readdir(dir)))
        if (d->d_name[0] != '.')
            vec_push(&out->names, mem_strdup(d->d_name));
    bool ok = errno == 0;
    closedir(dir);
    vec_sort(&out->names, vec_text_order);
    return ok;
}

/* w->path is the folder's. */
static void enter(struct walk *w)
{
    struct level level = {0};
    if (w->levels.len >= WALK_DEPTH || !read_names(w->path.data, &level))
        w->unreadable++;
    if (w->path.len == 0 || w->path.data[w->path.len - 1] != '/')
        buf_addch(&w->path, '/');
    level.path = w->path.len;
    level.ruled = add_rules(w, w->path.data, w->path.len, ".gitignore");
    vec_push(&w->levels, level);
}

static void leave(struct walk *w)
{
    struct level *level = &vec_last(&w->levels);
    if (level->ruled)
        drop_rules(w);
    vec_free_each(&level->names);
    w->levels.len--;
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool refuse(const char *root, struct error *e)
{
    return err_set(e, ERR_FILE_ERROR, "%.160s is neither a file nor a folder; name one of these",
                   root);
}

struct walk *walk_new(const char *root, struct error *e)
{
    struct walk w = {0};
    char *resolved = realpath(root, NULL);
    if (!resolved || stat(resolved, &w.alone) != 0) {
        err_set_errno(e, ERR_FILE_ERROR, "%.160s cannot be read", root);
        free(resolved);
        return NULL;
    }
    w.root = mem_strdup(resolved);
    free(resolved);
    w.is_file = S_ISREG(w.alone.st_mode);
    if (!w.is_file && !S_ISDIR(w.alone.st_mode)) {
        refuse(root, e);
        free(w.root);
        return NULL;
    }
    struct walk *out = mem_alloc(sizeof *out);
    *out = w;
    buf_init(&out->path, 0);
    buf_addstr(&out->path, out->root);
    add_rules_above(out);
    if (!out->is_file)
        enter(out);
    return out;
}

void walk_free(struct walk *w)
{
    if (!w)
        return;
    while (w->levels.len > 0)
        leave(w);
    while (w->rules.len > 0)
        drop_rules(w);
    vec_release(&w->levels);
    vec_release(&w->rules);
    buf_release(&w->path);
    free(w->root);
    free(w);
}

const char *walk_root(const struct walk *w)
{
    return w->root;
}

size_t walk_unreadable(const struct walk *w)
{
    return w->unreadable;
}

/* Whether w->path is a file that is wanted; a folder is entered. */
static bool look_at(struct walk *w, struct walk_file *out)
{
    if (lstat(w->path.data, &out->stat) != 0)
        return false;
    bool is_directory = S_ISDIR(out->stat.st_mode);
    if ((!is_directory && !S_ISREG(out->stat.st_mode)) ||
        is_left_out(w, w->path.data, is_directory))
        return false;
    if (is_directory)
        enter(w);
    out->path = w->path.data;
    return !is_directory;
}

static bool find_next(struct walk *w, struct walk_file *out)
{
    while (w->levels.len > 0) {
        struct level *level = &vec_last(&w->levels);
        if (level->next >= level->names.len) {
            leave(w);
            continue;
        }
        buf_truncate(&w->path, level->path);
        buf_addstr(&w->path, level->names.items[level->next++]);
        if (look_at(w, out))
            return true;
    }
    return false;
}

bool walk_next(struct walk *w, struct walk_file *out, bool *found, struct error *e)
{
    *found = w->is_file ? w->files == 0 : find_next(w, out);
    if (*found && w->is_file)
        *out = (struct walk_file){w->root, w->alone};
    w->files += *found;
    return w->files <= WALK_FILES ||
           err_set(e, ERR_FILE_ERROR, "%.120s has more than %d files; name smaller folders",
                   w->root, WALK_FILES);
}
