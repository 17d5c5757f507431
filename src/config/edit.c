#include "config/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "config/config.h"
#include "config/ini.h"

/* --- the key ---------------------------------------------------------------------------------- */

bool config_edit_split(const char *path, char **section, char **name, struct error *e)
{
    static const char corpus[] = "corpus."; /* whose names may have dots, as a model's may */
    const char *dot = strncmp(path, corpus, sizeof corpus - 1) == 0 ? path + sizeof corpus - 2
                                                                    : strrchr(path, '.');
    if (!dot || dot == path || !dot[1])
        return err_set(e, ERR_USAGE,
                       "\"%.80s\" is not a key; write SECTION.KEY, such as ui.theme or \"model "
                       "NAME.window\"",
                       path);
    *section = mem_strndup(path, (size_t)(dot - path));
    *name = mem_strdup(dot + 1);
    return true;
}

/* A value of several lines is continued on indented lines. */
static void add_value(struct buf *out, const char *value, const char *line_end)
{
    for (;; value++) {
        size_t len = strcspn(value, "\n");
        buf_add(out, value, len);
        value += len;
        if (!*value)
            return;
        buf_addf(out, "%s    ", line_end);
    }
}

static void add_entry(struct buf *out, const char *name, const char *value, const char *line_end)
{
    buf_addf(out, "%s =%s", name, *value ? " " : "");
    add_value(out, value, line_end);
    buf_addstr(out, line_end);
}

bool config_edit_check(const char *section, const char *name, const char *value, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addf(&text, "[%s]\n", section);
    add_entry(&text, name, value, "\n");

    struct config *scratch = config_new();
    struct config_problems problems = {0};
    config_load_text(scratch, "", text.data, &problems);
    bool ok =
        problems.list.len == 0 || err_set(e, ERR_CONFIG_ERROR, "%s", problems.list.items[0].text);
    config_problems_release(&problems);
    config_free(scratch);
    if (!ok)
        return false;

    /* The text must read back as this key and this value. */
    AUTO(ini_release) struct ini ini = {0};
    ini_read(&ini, text.data);
    const struct ini_entry *entry = ini.entries.items;
    if (ini.faults.len > 0)
        return err_set(e, ERR_CONFIG_ERROR, "%s: %s", name, ini.faults.items[0].text);
    return (ini.entries.len == 1 && strcmp(entry->section, section) == 0 &&
            strcmp(entry->name, name) == 0 && strcmp(entry->value, value) == 0) ||
           err_set(e, ERR_CONFIG_ERROR,
                   "%s: an INI file cannot hold this value; it may have no blanks around its "
                   "lines, no empty line, none that begins with \";\" or \"#\" and no \";\" after "
                   "a blank",
                   name);
}

/* --- its place in the text -------------------------------------------------------------------- */

struct place {
    const char *text, *section, *name;
    const struct ini *ini; /* of the text */
};

static const struct ini_line *line_at(const struct place *p, size_t line)
{
    return line < p->ini->lines.len ? &p->ini->lines.items[line] : NULL;
}

static bool in_section(const struct place *p, const struct ini_line *line)
{
    const struct ini_line *header = line_at(p, line->section);
    return header && strcmp(header->name, p->section) == 0;
}

/* The last line of this kind with the key's name. Not a comment within a value of several lines. */
static size_t find_named(const struct place *p, enum ini_line_kind kind)
{
    for (size_t i = p->ini->lines.len; i-- > 0;) {
        const struct ini_line *line = line_at(p, i), *next = line_at(p, i + 1);
        if (line->kind != kind || !line->name || strcmp(line->name, p->name) != 0)
            continue;
        if (in_section(p, line) && (kind == INI_LINE_ENTRY || !next || next->kind != INI_LINE_MORE))
            return i;
    }
    return INI_NO_LINE;
}

static const char *line_end_of(const struct place *p, const struct ini_line *line)
{
    return line && line->next > line->end && p->text[line->end] == '\r' ? "\r\n" : "\n";
}

/* --- the change ------------------------------------------------------------------------------- */

static void end_line(struct buf *out, const char *line_end)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        buf_addstr(out, line_end);
}

static void replace_value(const struct place *p, size_t entry, const char *value, struct buf *out)
{
    const struct ini_line *line = line_at(p, entry);
    const char *more = strchr(value, '\n');
    char last = line->value > 0 ? p->text[line->value - 1] : ' ';
    buf_add(out, p->text, line->value);
    if (*value && (last == '=' || last == ':'))
        buf_addch(out, ' ');
    buf_add(out, value, strcspn(value, "\n"));
    buf_add(out, p->text + line->value_end, line->next - line->value_end);
    if (more) {
        const char *line_end = line_end_of(p, line);
        end_line(out, line_end);
        buf_addstr(out, "    ");
        add_value(out, more + 1, line_end);
        buf_addstr(out, line_end);
    }
    /* The rest without the continuation lines of the old value. */
    for (size_t i = entry + 1; i < p->ini->lines.len; i++) {
        line = line_at(p, i);
        if (line->kind != INI_LINE_MORE || line->entry != entry)
            buf_add(out, p->text + line->start, line->next - line->start);
    }
}

static void set(const struct place *p, const char *value, struct buf *out)
{
    size_t entry = find_named(p, INI_LINE_ENTRY);
    if (entry != INI_NO_LINE) {
        replace_value(p, entry, value, out);
        return;
    }
    size_t above = find_named(p, INI_LINE_COMMENT), count = p->ini->lines.len;
    if (above == INI_NO_LINE) {
        /* The section's last line that is neither blank nor a comment, with the comments right
         * below it: comments after an empty line mostly belong to the next section. */
        const struct ini_line *line;
        for (size_t i = 0; (line = line_at(p, i)); i++)
            if (in_section(p, line) && line->kind != INI_LINE_BLANK &&
                line->kind != INI_LINE_COMMENT)
                above = i;
        while (above != INI_NO_LINE && (line = line_at(p, above + 1)) &&
               line->kind == INI_LINE_COMMENT)
            above++;
    }
    if (above != INI_NO_LINE) {
        const struct ini_line *line = line_at(p, above);
        const char *line_end = line_end_of(p, line);
        buf_add(out, p->text, line->next);
        end_line(out, line_end);
        add_entry(out, p->name, value, line_end);
        buf_addstr(out, p->text + line->next);
        return;
    }
    const struct ini_line *last = line_at(p, count - 1);
    const char *line_end = line_end_of(p, count > 1 ? line_at(p, 0) : last);
    buf_addstr(out, p->text);
    end_line(out, line_end);
    if (last && last->kind != INI_LINE_BLANK)
        buf_addstr(out, line_end);
    buf_addf(out, "[%s]%s", p->section, line_end);
    add_entry(out, p->name, value, line_end);
}

/* --- the check that nothing else changed ------------------------------------------------------ */

static bool is_key(const struct ini_entry *entry, const struct place *p)
{
    return strcmp(entry->section, p->section) == 0 && strcmp(entry->name, p->name) == 0;
}

/* Whether both have the same entries but for the key, and as many faults. */
static bool same_others(const struct ini *a, const struct ini *b, const struct place *p)
{
    size_t i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a->entries.len && is_key(&a->entries.items[i], p))
            i++;
        while (j < b->entries.len && is_key(&b->entries.items[j], p))
            j++;
        if (i == a->entries.len || j == b->entries.len)
            break;
        const struct ini_entry *x = &a->entries.items[i], *y = &b->entries.items[j];
        if (strcmp(x->section, y->section) != 0 || strcmp(x->name, y->name) != 0 ||
            strcmp(x->value, y->value) != 0)
            return false;
    }
    return i == a->entries.len && j == b->entries.len && a->faults.len == b->faults.len;
}

static const char *last_value(const struct ini *ini, const struct place *p)
{
    const char *value = NULL;
    for (size_t i = 0; i < ini->entries.len; i++)
        if (is_key(&ini->entries.items[i], p))
            value = ini->entries.items[i].value;
    return value;
}

bool config_edit_set(const char *text, const char *section, const char *name, const char *value,
                     struct buf *out, struct error *e)
{
    AUTO(ini_release) struct ini before = {0};
    ini_read(&before, text);
    const struct place p = {text, section, name, &before};
    AUTO(buf_release) struct buf changed = BUF_INIT;
    if (value)
        set(&p, value, &changed);
    /* Every line with the key is removed: otherwise an earlier one would count again. */
    for (size_t i = 0; !value && i < before.lines.len; i++) {
        const struct ini_line *line = line_at(&p, i), *entry = line_at(&p, line->entry);
        if (!entry || strcmp(entry->name, p.name) != 0 || !in_section(&p, entry))
            buf_add(&changed, text + line->start, line->next - line->start);
    }
    AUTO(ini_release) struct ini after = {0};
    ini_read(&after, changed.data);
    const char *now = last_value(&after, &p);
    if (!(value ? now && strcmp(now, value) == 0 : !now) || !same_others(&before, &after, &p))
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s cannot be changed without changing something else in the file; "
                       "change it by hand",
                       name);
    buf_add(out, changed.data, changed.len);
    return true;
}

char *config_edit_value(const char *text, const char *section, const char *name)
{
    AUTO(ini_release) struct ini ini = {0};
    ini_read(&ini, text);
    return mem_strdup(last_value(&ini, &(struct place){text, section, name, &ini}));
}

/* --- the file --------------------------------------------------------------------------------- */

void config_file_init(struct config_file *f)
{
    *f = (struct config_file){0};
    buf_init(&f->text, CONFIG_FILE_MAX);
    buf_init(&f->changed, 0);
}

void config_file_release(struct config_file *f)
{
    free(f->path);
    buf_release(&f->text);
    buf_release(&f->changed);
}

bool config_file_read(struct config_file *f, struct error *e)
{
    struct stat st;
    free(f->path);
    f->path = paths_config_file();
    buf_clear(&f->text);
    buf_clear(&f->changed);
    if (stat(f->path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        if (lstat(f->path, &st) == 0)
            return err_set(e, ERR_FILE_ERROR, "%s is a link to a file that is not there; make it",
                           f->path);
        return true;
    }
    if (!paths_read_file(f->path, PATHS_FILE, &f->text, e))
        return false;
    return !memchr(f->text.data, '\0', f->text.len) ||
           err_set(e, ERR_FILE_ERROR, "%s is not a text file; move it away", f->path);
}

bool config_file_write(const struct config_file *f, struct error *e)
{
    if (f->changed.len > CONFIG_FILE_MAX)
        return err_set(e, ERR_FILE_ERROR, "%s would be too long; at most %d bytes are read",
                       f->path, (int)CONFIG_FILE_MAX);
    auto_free char *dir = paths_dir(PATHS_CONFIG);
    return paths_make_dir(dir, e) && paths_write_file(f->path, f->changed.data, f->changed.len, e);
}

/* Locks the directory: the file itself is replaced. */
int config_file_lock(struct error *e)
{
    auto_free char *dir = paths_dir(PATHS_CONFIG);
    int fd = paths_make_dir(dir, e) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

bool config_file_set(const char *section, const char *name, const char *value, struct error *e)
{
    struct config_file f;
    config_file_init(&f);
    int lock = config_file_lock(e);
    bool ok = config_edit_check(section, name, value, e) && config_file_read(&f, e) &&
              config_edit_set(f.text.data, section, name, value, &f.changed, e) &&
              (strcmp(f.text.data, f.changed.data) == 0 || config_file_write(&f, e));
    if (lock >= 0)
        close(lock);
    config_file_release(&f);
    return ok;
}
