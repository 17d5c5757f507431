#include "knowledge/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
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
    *next = p + 1;
    if (*p == '[') { /* a set ends behind its "]"; without one "[" stands for itself */
        const char *last = p + 1;
        last += last < end && (*last == '!' || *last == '^');
        last += last < end && *last == ']';
        while (last < end && *last != ']')
            last++;
        if (last < end) {
            *next = last + 1;
            return is_in_set(p, *next, (unsigned char)c);
        }
    }
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

/* The same with names in place of characters, and "**" in place of "*". "**" at the end needs
 * something below it. */
bool ignore_fits(const char *pattern, const char *path)
{
    const char *p = pattern, *n = path, *any = NULL, *from = NULL;
    while (n) {
        struct part name = first_part(n), part = p ? first_part(p) : (struct part){0};
        if (p && part.end - part.at == 2 && memcmp(part.at, "**", 2) == 0) {
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

/* --- .gitignore ------------------------------------------------------------------------------- */

struct rule {
    char *pattern;  /* without "!" and the slashes at its ends */
    bool negated;   /* takes files in again */
    bool directory; /* for directories alone */
    bool anchored;  /* compared with the path from the file's directory on, not with the name */
};

/* The rules of one folder. */
struct rules {
    VEC(struct rule) items;
    size_t prefix; /* bytes of a path before the part below that folder */
};

/* Blanks at the end do not count, unless one is escaped. */
static void read_rule(struct rules *out, const char *line, size_t len)
{
    struct rule r = {0};
    if (len > 0 && line[len - 1] == '\r')
        len--;
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t') &&
           !(len > 1 && line[len - 2] == '\\'))
        len--;
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

/* --- folders ---------------------------------------------------------------------------------- */

/* A folder that is gone through. */
struct level {
    VEC(char *) names;
    size_t next;
    size_t path; /* bytes of its path, with the slash behind it */
    bool ruled;  /* the last rules are its own */
};

struct walk {
    char *root;
    struct buf path;
    VEC(struct level) levels;
    VEC(struct rules) rules; /* outermost first */
    size_t files;
    struct stat alone; /* the root, where that is a file */
    bool is_file;
};

/* For the folder whose path, with its slash, is the first `prefix` bytes. */
static bool add_rules(struct walk *w, const char *path, size_t prefix, const char *file)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *name = mem_printf("%.*s%s", (int)prefix, path, file);
    struct rules r = {.prefix = prefix};
    if (!read_beginning(name, &text))
        return false;
    const char *end = text.data + text.len;
    for (const char *at = text.data; at < end && r.items.len < WALK_IGNORE_LINES;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        read_rule(&r, at, (size_t)(stop - at));
        at = stop + 1;
    }
    vec_push(&w->rules, r);
    return true;
}

static void drop_rules(struct walk *w)
{
    struct rules *r = &w->rules.items[--w->rules.len];
    for (size_t i = 0; i < r->items.len; i++)
        free(r->items.items[i].pattern);
    vec_release(&r->items);
}

/* The innermost folder's last rule that fits decides. */
static bool is_ignored(const struct walk *w, const char *path, bool is_directory)
{
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = w->rules.len; i-- > 0;) {
        const struct rules *r = &w->rules.items[i];
        for (size_t k = r->items.len; k-- > 0;) {
            const struct rule *rule = &r->items.items[k];
            if ((!rule->directory || is_directory) &&
                ignore_fits(rule->pattern, rule->anchored ? path + r->prefix : name))
                return !rule->negated;
        }
    }
    return false;
}

static bool has_git(const char *path, size_t prefix)
{
    struct stat st;
    auto_free char *name = mem_printf("%.*s.git", (int)prefix, path);
    return lstat(name, &st) == 0;
}

/* The length of the path's part up to and with the slash before `end`. */
static size_t parent_prefix(const char *path, size_t end)
{
    while (end > 0 && path[end - 1] != '/')
        end--;
    return end;
}

/* Adds the rules of the folders above the root, where one of them or the root is the top of a work
 * tree. */
static void add_rules_above(struct walk *w)
{
    auto_free char *root = mem_printf("%s%s", w->root, w->is_file ? "" : "/");
    size_t len = strlen(root), top = parent_prefix(root, len);
    while (top > 1 && !has_git(root, top))
        top = parent_prefix(root, top - 1);
    if (top == 0 || !has_git(root, top))
        return;
    add_rules(w, root, top, ".git/info/exclude");
    for (size_t at = top; at < len; at++)
        if (root[at - 1] == '/')
            add_rules(w, root, at, ".gitignore");
}

/* w->path is the folder's. */
static void enter(struct walk *w)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    struct level level = {0};
    int fd = w->levels.len < WALK_DEPTH ? open(w->path.data, flags) : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;
    while (dir && (d = readdir(dir)))
        if (d->d_name[0] != '.')
            vec_push(&level.names, mem_strdup(d->d_name));
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    vec_sort(&level.names, vec_text_order);
    if (w->path.len == 0 || w->path.data[w->path.len - 1] != '/')
        buf_addch(&w->path, '/');
    level.path = w->path.len;
    level.ruled = add_rules(w, w->path.data, w->path.len, ".gitignore");
    vec_push(&w->levels, level);
}

static void leave(struct walk *w)
{
    struct level *level = &w->levels.items[--w->levels.len];
    if (level->ruled)
        drop_rules(w);
    vec_free_each(&level->names);
}

/* --- the walk --------------------------------------------------------------------------------- */

struct walk *walk_new(const char *root, struct error *e)
{
    struct stat st;
    char *resolved = realpath(root, NULL);
    if (!resolved || stat(resolved, &st) != 0) {
        err_set_errno(e, ERR_FILE_ERROR, "%.160s cannot be read", root);
        free(resolved);
        return NULL;
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        err_set(e, ERR_FILE_ERROR, "%.160s is neither a file nor a folder; name one of these",
                root);
        free(resolved);
        return NULL;
    }
    struct walk *w = mem_alloc(sizeof *w);
    *w = (struct walk){
        .root = resolved, .path = BUF_INIT, .alone = st, .is_file = S_ISREG(st.st_mode)};
    buf_addstr(&w->path, w->root);
    add_rules_above(w);
    if (!w->is_file)
        enter(w);
    return w;
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
        if (lstat(w->path.data, &out->stat) != 0)
            continue;
        bool is_directory = S_ISDIR(out->stat.st_mode);
        if ((!is_directory && !S_ISREG(out->stat.st_mode)) ||
            is_ignored(w, w->path.data, is_directory))
            continue;
        out->path = w->path.data;
        if (!is_directory)
            return true;
        enter(w);
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
