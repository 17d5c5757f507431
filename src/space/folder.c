/* The carrier of a directory that a program such as Syncthing or a network file system shares:
 *
 *   space.json               facts (space_facts_shape)
 *   members/PERSON.json      space_member_shape
 *   seen/WRITER.json         the person, and when that replica last read the log to its end
 *   log/WRITER/00000001.jsonl  a push of this writer: a line each, and a last one with their
 *                          number and a random id, {"lines":N,"id":ID}
 *   erased/WRITER.txt        ids of the objects that this writer erased, a line each
 *
 * A file has one writer, and appears under its name when it is whole; a file that another program
 * brings in parts is not read before its last line is there. So nothing needs a lock. There is no
 * order between writers: a cursor says how many files of each were read. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "space/carrier.h"

enum {
    FOLDER_WRITERS = 10000,       /* more are not read */
    FOLDER_FILE_BYTES = 64 << 20, /* of a push; a longer file is passed over */
    PUSH_BYTES = 16 << 20         /* a push of more is several files */
};

struct folder {
    struct carrier carrier;
    struct carrier_place place;
    char *path;
};

static struct folder *folder_of(struct carrier *c)
{
    return (struct folder *)c;
}

/* PATH/DIRECTORY/NAMEending; the caller frees. */
static char *within(const struct folder *f, const char *directory, const char *name,
                    const char *ending)
{
    return mem_printf("%s/%s/%s%s", f->path, directory, name, ending);
}

/* Whether a text may be the name of a file: letters, digits and a few signs, no dot first. */
static bool is_name(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && len <= SPACE_NAME_BYTES && text[0] != '.' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.@+") ==
               len;
}

/* The names in a directory that end so, without the ending, sorted; a missing directory is empty.
 * The caller frees them. */
static bool list_names(const char *path, const char *ending, struct text_list *out, struct error *e)
{
    DIR *directory = opendir(path);
    const struct dirent *d;
    *out = (struct text_list){0};
    if (!directory)
        return errno == ENOENT || err_set_errno(e, ERR_AGENT_ERROR, "%s cannot be read", path);
    while ((d = readdir(directory)) && out->items.len < 1000000) {
        size_t len = strlen(d->d_name), end = strlen(ending);
        if (len <= end || strcmp(d->d_name + len - end, ending) != 0)
            continue;
        char *name = mem_strndup(d->d_name, len - end);
        if (is_name(name))
            vec_push(&out->items, name);
        else
            free(name);
    }
    closedir(directory);
    vec_sort(&out->items, vec_text_order);
    return true;
}

static bool read_shape(const char *path, const struct shape *shape, void *out, struct error *e)
{
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = 1 << 20};
    struct error cause;
    if (!paths_read_file(path, PATHS_FILE_NO_LINK, &text, e))
        return false;
    AUTO(json_free_local) struct json *v = json_parse_foreign(text.data, text.len, &cause);
    return (v && shape_read(shape, v, out, &cause)) ||
           err_set(e, ERR_AGENT_ERROR, "%.120s: %s", path, cause.text);
}

static bool write_shape(const char *path, const struct shape *shape, const void *from,
                        struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *parent = paths_parent(path);
    struct json_out o = {.buf = &text};
    shape_write(shape, from, &o);
    buf_addch(&text, '\n');
    return paths_make_dir(parent, e) && paths_write_file(path, text.data, text.len, e);
}

/* ---- opening ---- */

static bool folder_open(const struct carrier_place *place, struct carrier **out, struct error *e)
{
    const char *path = strchr(place->url, ':') + 1;
    if (strncmp(path, "//", 2) == 0)
        path += 2;
    if (path[0] != '/')
        return err_set(e, ERR_USAGE,
                       "the directory of a shared space is an absolute path, folder:/srv/team");
    if ((place->writer && !is_name(place->writer)) || (place->person && !is_name(place->person)))
        return err_set(e, ERR_USAGE,
                       "a person's name has letters, digits and . - _ @ +, and at most %d of them",
                       SPACE_NAME_BYTES);
    struct folder *f = mem_alloc(sizeof *f);
    f->carrier.ops = &carrier_folder;
    f->place = *place;
    f->path = mem_strdup(path);
    *out = &f->carrier;
    return true;
}

static void folder_close(struct carrier *c)
{
    free(folder_of(c)->path);
    free(c);
}

static bool folder_person(struct carrier *c, const char **out, struct error *e)
{
    (void)e;
    *out = folder_of(c)->place.person;
    return true;
}

static bool folder_facts(struct carrier *c, struct space_facts *out, struct error *e)
{
    auto_free char *path = paths_join(folder_of(c)->path, "space.json");
    *out = (struct space_facts){0};
    return read_shape(path, &space_facts_shape, out, e);
}

static bool folder_set_facts(struct carrier *c, const struct space_facts *facts, struct error *e)
{
    auto_free char *path = paths_join(folder_of(c)->path, "space.json");
    return write_shape(path, &space_facts_shape, facts, e);
}

static bool folder_put_member(struct carrier *c, const struct space_member *m, struct error *e)
{
    auto_free char *path = within(folder_of(c), "members", m->person, ".json");
    if (!is_name(m->person))
        return err_set(e, ERR_USAGE, "%.60s is not a name; use letters, digits and . - _ @ +",
                       m->person);
    return write_shape(path, &space_member_shape, m, e);
}

static bool folder_make(struct carrier *c, const struct space_facts *facts,
                        const struct space_member *owner, struct error *e)
{
    struct folder *f = folder_of(c);
    auto_free char *path = paths_join(f->path, "space.json");
    if (access(path, F_OK) == 0)
        return err_set(e, ERR_USAGE, "%.120s is a space already; use another directory, or join it",
                       f->path);
    return paths_make_dir(f->path, e) && folder_put_member(c, owner, e) &&
           folder_set_facts(c, facts, e);
}

/* A member has seen what the replica of this person has seen that is farthest behind. */
static bool add_seen(const struct folder *f, struct space_members *out, struct error *e)
{
    auto_free char *directory = paths_join(f->path, "seen");
    struct text_list names;
    if (!list_names(directory, ".json", &names, e))
        return false;
    for (size_t i = 0; i < names.items.len; i++) {
        auto_free char *path = within(f, "seen", names.items.items[i], ".json");
        struct space_member seen = {0};
        struct error ignored; /* a file that is on its way */
        if (!read_shape(path, &space_member_shape, &seen, &ignored))
            continue;
        for (size_t k = 0; k < out->items.len; k++) {
            struct space_member *m = &out->items.items[k];
            if (strcmp(m->person, seen.person) == 0 &&
                (m->seen_ms == 0 || seen.seen_ms < m->seen_ms))
                m->seen_ms = seen.seen_ms;
        }
        space_member_release(&seen);
    }
    vec_free_each(&names.items);
    return true;
}

static bool folder_members(struct carrier *c, struct space_members *out, struct error *e)
{
    auto_free char *directory = paths_join(folder_of(c)->path, "members");
    struct text_list names;
    *out = (struct space_members){0};
    bool ok = list_names(directory, ".json", &names, e);
    for (size_t i = 0; i < names.items.len && ok; i++) {
        auto_free char *path = within(folder_of(c), "members", names.items.items[i], ".json");
        struct space_member m = {0};
        ok = read_shape(path, &space_member_shape, &m, e);
        if (!ok)
            break;
        mem_replace(&m.person, mem_strdup(names.items.items[i]));
        m.seen_ms = 0;
        vec_push(&out->items, m);
    }
    vec_free_each(&names.items);
    ok = ok && add_seen(folder_of(c), out, e);
    if (!ok)
        space_members_release(out);
    return ok;
}

static bool folder_drop_member(struct carrier *c, const char *person, struct error *e)
{
    auto_free char *path = within(folder_of(c), "members", person, ".json");
    return (is_name(person) && (unlink(path) == 0 || errno == ENOENT)) ||
           err_set_errno(e, ERR_AGENT_ERROR, "%.120s cannot be removed", path);
}

/* A member's file belongs to its owners; when a replica has read is told by a file of its own, so
 * that two machines never write the same file. */
static bool folder_note_seen(struct carrier *c, int64_t at_ms, struct error *e)
{
    struct folder *f = folder_of(c);
    auto_free char *directory = paths_join(f->path, "seen");
    auto_free char *path = within(f, "seen", f->place.writer, ".json");
    const struct space_member seen = {.person = (char *)(uintptr_t)f->place.person,
                                      .seen_ms = at_ms};
    return paths_make_dir(directory, e) && write_shape(path, &space_member_shape, &seen, e);
}

/* ---- writing ---- */

static bool append_names(const char *path, const char *const *names, size_t count, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t i = 0; i < count; i++)
        buf_addf(&text, "%s\n", names[i]);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && paths_write_all(fd, text.data, text.len) && fsync(fd) == 0;
    if (!ok)
        err_set_errno(e, ERR_AGENT_ERROR, "%.120s cannot be written", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Writes the text as the writer's next file. */
static bool write_batch(struct folder *f, const struct buf *text, struct error *e)
{
    auto_free char *directory = within(f, "log", f->place.writer, "");
    struct text_list names;
    struct error cause = {0};
    if (!paths_make_dir(directory, e) || !list_names(directory, ".jsonl", &names, e))
        return false;
    long next = names.items.len > 0 ? atol(names.items.items[names.items.len - 1]) + 1 : 1;
    vec_free_each(&names.items);
    for (int tries = 0; tries < 100; tries++, next++) { /* another process of this writer */
        auto_free char *path = mem_printf("%s/%08ld.jsonl", directory, next);
        struct whole_file file;
        if (access(path, F_OK) == 0)
            continue;
        if (whole_file_begin(&file, path, false, &cause) &&
            whole_file_write(&file, text->data, text->len, &cause) &&
            whole_file_finish(&file, &cause))
            return true;
        if (access(path, F_OK) != 0)
            break;
    }
    return err_set(e, ERR_AGENT_ERROR, "%s", cause.text);
}

static void end_batch(struct buf *text, size_t lines, const char *id)
{
    buf_addf(text, "{\"lines\":%zu,\"id\":\"%s\"}\n", lines, id);
}

static bool folder_push(struct carrier *c, const struct space_line *lines, size_t count,
                        struct error *e)
{
    struct folder *f = folder_of(c);
    AUTO(buf_release) struct buf text = BUF_INIT;
    size_t in_file = 0;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        space_line_write(&lines[i], &text);
        buf_addch(&text, '\n');
        in_file++;
        if (text.len < PUSH_BYTES && i + 1 < count)
            continue;
        char id[UUID_LEN + 1];
        uuid_new(id);
        end_batch(&text, in_file, id);
        ok = write_batch(f, &text, e);
        buf_clear(&text);
        in_file = 0;
    }
    return ok;
}

/* ---- reading ---- */

/* The lines of a file that is whole, and its id; *whole is false while a part of it is missing. */
static bool read_batch(const char *path, struct buf *text, char id[UUID_LEN + 1], bool *whole,
                       struct error *e)
{
    struct error cause;
    struct stat st;
    *whole = false;
    id[0] = 0;
    buf_clear(text);
    text->max = FOLDER_FILE_BYTES;
    if (stat(path, &st) == 0 && st.st_size > FOLDER_FILE_BYTES) {
        *whole = true; /* no push is as long: somebody else wrote it */
        return true;
    }
    if (!paths_read_file(path, PATHS_FILE_NO_LINK, text, e))
        return false;
    buf_trim_end(text, "\n");
    const char *last = strrchr(text->data, '\n');
    last = last ? last + 1 : text->data;
    size_t lines = 0;
    for (const char *p = text->data; (p = strchr(p, '\n')); p++)
        lines++;
    AUTO(json_free_local)
    struct json *v = json_parse_foreign(last, text->len - (size_t)(last - text->data), &cause);
    const char *known = json_get_string(v, "id");
    *whole = v && json_get_int(v, "lines", -1) == (int64_t)lines && known && uuid_valid(known);
    if (*whole) {
        memcpy(id, known, UUID_LEN + 1);
        buf_truncate(text, (size_t)(last - text->data));
    }
    return true;
}

static void take_lines(const struct buf *text, struct space_lines *out, int64_t *skipped)
{
    struct error ignored;
    for (const char *p = text->data, *end; (end = strchr(p, '\n')); p = end + 1) {
        struct space_line line;
        bool known;
        if (space_line_read(p, (size_t)(end - p), &line, &known, &ignored) && known) {
            out->bytes += line.key.len + line.body.len + 64;
            vec_push(&out->items, line);
        } else
            ++*skipped;
    }
}

/* Whether a writer's file of this number is still the one with this id, the last that was read: the
 * log may have been replaced by an older copy, whose next files are others. */
static bool is_same_log(const char *log, const char *writer, int64_t number, const char *id)
{
    auto_free char *path = mem_printf("%s/%s/%08lld.jsonl", log, writer, (long long)number);
    char end[128] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    bool there = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    off_t from = there && st.st_size >= (off_t)sizeof end ? st.st_size - (off_t)sizeof end + 1 : 0;
    there = there && pread(fd, end, sizeof end - 1, from) > 0 && strstr(end, id);
    if (fd >= 0)
        close(fd);
    return there;
}

static bool folder_pull(struct carrier *c, struct buf *cursor, size_t most, struct space_lines *out,
                        bool *more, int64_t *skipped, struct error *e)
{
    struct folder *f = folder_of(c);
    auto_free char *log = paths_join(f->path, "log");
    AUTO(buf_release) struct buf text = BUF_INIT, behind = BUF_INIT;
    struct json_out o = {.buf = &behind};
    struct text_list writers;
    struct error ignored;
    AUTO(json_free_local)
    struct json *read = cursor->len > 0 ? json_parse(cursor->data, cursor->len, &ignored) : NULL;
    *out = (struct space_lines){0};
    *more = false;
    /* Without its facts the directory is not mounted, and an empty log would be believed. */
    struct space_facts facts;
    if (!folder_facts(c, &facts, e))
        return false;
    space_facts_release(&facts);
    if (!list_names(log, "", &writers, e))
        return false;
    bool ok = true;
    json_out_open(&o, '{');
    for (size_t i = 0; i < writers.items.len && i < FOLDER_WRITERS; i++) {
        const char *writer = writers.items.items[i];
        const char *last = json_get_string(read, writer); /* "NUMBER ID" */
        char id[UUID_LEN + 1] = "";
        int64_t done = last ? strtoll(last, NULL, 10) : 0;
        bool there = ok;
        if (done > 0 && strchr(last, ' '))
            snprintf(id, sizeof id, "%s", strchr(last, ' ') + 1);
        if (done > 0 && !is_same_log(log, writer, done, id)) {
            done = 0;
            out->anew = true;
        }
        while (there && !*more) {
            auto_free char *path =
                mem_printf("%s/%s/%08lld.jsonl", log, writer, (long long)done + 1);
            char read_id[UUID_LEN + 1];
            bool whole;
            if (access(path, F_OK) != 0)
                break;
            ok = read_batch(path, &text, read_id, &whole, e) && wakeup_sleep(f->place.wakeup, 0);
            there = ok && whole;
            if (there) {
                take_lines(&text, out, skipped);
                done++;
                memcpy(id, read_id, sizeof id);
                *more = out->bytes >= most;
            }
        }
        auto_free char *place = mem_printf("%lld %s", (long long)done, id);
        json_out_member(&o, writer, place);
    }
    json_out_close(&o, '}');
    vec_free_each(&writers.items);
    if (!ok) {
        space_lines_release(out);
        return false;
    }
    buf_clear(cursor);
    buf_add(cursor, behind.data, behind.len);
    return true;
}

/* ---- erasing ---- */

static bool is_named(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Writes a file of this writer again without the bodies of these objects. */
static bool erase_in(const char *path, const char *const *entries, size_t count, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT, out = BUF_INIT;
    size_t lines = 0;
    char id[UUID_LEN + 1];
    bool whole, changed = false;
    if (!read_batch(path, &text, id, &whole, e))
        return false;
    for (const char *p = text.data, *end; whole && (end = strchr(p, '\n')); p = end + 1, lines++) {
        struct space_line line;
        struct error ignored;
        bool known;
        if (space_line_read(p, (size_t)(end - p), &line, &known, &ignored) && known &&
            line.body.len > 0 && line.kind != SPACE_FORGET &&
            is_named(line.entry, entries, count)) {
            buf_clear(&line.body);
            buf_clear(&line.key);
            space_line_write(&line, &out);
            changed = true;
        } else
            buf_add(&out, p, (size_t)(end - p));
        buf_addch(&out, '\n');
        if (known)
            space_line_release(&line);
    }
    end_batch(&out, lines, id);
    return !changed || paths_write_file(path, out.data, out.len, e);
}

static bool folder_erase(struct carrier *c, const char *const *entries, size_t count,
                         struct error *e)
{
    struct folder *f = folder_of(c);
    auto_free char *directory = within(f, "log", f->place.writer, "");
    auto_free char *erased = paths_join(f->path, "erased");
    auto_free char *noted = within(f, "erased", f->place.writer, ".txt");
    struct text_list names;
    bool ok = paths_make_dir(erased, e) && append_names(noted, entries, count, e) &&
              list_names(directory, ".jsonl", &names, e);
    if (!ok)
        return false;
    for (size_t i = 0; i < names.items.len && ok; i++) {
        auto_free char *path = mem_printf("%s/%s.jsonl", directory, names.items.items[i]);
        ok = erase_in(path, entries, count, e);
    }
    vec_free_each(&names.items);
    return ok;
}

static bool folder_doctor(struct carrier *c, struct text_list *warnings, struct error *e)
{
    (void)c;
    (void)e;
    vec_push(&warnings->items,
             mem_strdup("a folder has no roles: everybody who can write to it can "
                        "change every line; visibility is a convention"));
    return true;
}

const struct carrier_ops carrier_folder = {
    .scheme = "folder",
    .each_erases = true,
    .open = folder_open,
    .close = folder_close,
    .person = folder_person,
    .make = folder_make,
    .facts = folder_facts,
    .set_facts = folder_set_facts,
    .members = folder_members,
    .put_member = folder_put_member,
    .drop_member = folder_drop_member,
    .note_seen = folder_note_seen,
    .push = folder_push,
    .pull = folder_pull,
    .erase = folder_erase,
    .doctor = folder_doctor,
};
