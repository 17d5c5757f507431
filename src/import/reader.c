#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "import/source.h"
#include "import/text.h"

enum {
    CHUNK_BYTES = 256 * 1024,
    KEPT_BYTES = 1024 * 1024, /* memory of a longer line is freed after use */
    PATIENCE_MS = 2000,       /* for a writer of a foreign database */
    VALUE_BYTES = 64 << 20,   /* of a value in it */
    SCHEMA_TABLES = 2000
};

/* --- JSON ------------------------------------------------------------------------------------- */

/* Halves of surrogate pairs, which the parser refuses, occur where a program cut a text. */
static struct json *parse(const char *text, size_t len, struct error *e)
{
    struct json *v = json_parse_foreign(text, len, e);
    auto_free char *repaired = v ? NULL : json_repair_surrogates(text, len);
    return repaired ? json_parse_foreign(repaired, strlen(repaired), e) : v;
}

void import_lines_init(struct import_lines *l, struct import_sink *k, struct import_file *f,
                       int64_t offset)
{
    *l = (struct import_lines){.file = f,
                               .sink = k,
                               .line = BUF_INIT,
                               .chunk = mem_alloc(CHUNK_BYTES),
                               .begin = offset,
                               .next = offset};
    l->line.max = IMPORT_ELEMENT_BYTES;
}

void import_lines_release(struct import_lines *l)
{
    buf_release(&l->line);
    free(l->chunk);
}

void import_lines_seek(struct import_lines *l, int64_t offset)
{
    if (l->next != offset)
        l->at = l->len = 0;
    l->next = offset;
}

/* Whether the chunk has bytes from `offset` on. */
static bool lines_fill(struct import_lines *l, int64_t offset, struct error *e)
{
    if (l->at < l->len)
        return true;
    ssize_t len;
    do
        len = pread(l->file->fd, l->chunk, CHUNK_BYTES, (off_t)offset);
    while (len < 0 && errno == EINTR);
    if (len < 0) {
        l->failed = true;
        return err_set_errno(e, ERR_FILE_ERROR, "%s cannot be read", l->file->path);
    }
    l->at = 0;
    l->len = (size_t)len;
    return len > 0;
}

struct json *import_lines_next(struct import_lines *l, struct error *e)
{
    for (;;) {
        bool ended = false, fits = true;
        int64_t offset = l->next;
        if (l->line.cap > KEPT_BYTES) {
            buf_release(&l->line);
            l->line = (struct buf){.data = buf_empty, .max = IMPORT_ELEMENT_BYTES};
        }
        buf_clear(&l->line);
        l->begin = offset;
        while (!ended && lines_fill(l, offset, e)) {
            const char *bytes = l->chunk + l->at;
            const char *newline = memchr(bytes, '\n', l->len - l->at);
            size_t len = newline ? (size_t)(newline - bytes) : l->len - l->at;
            ended = newline;
            fits = fits && buf_try_add(&l->line, bytes, len);
            l->at += len + ended;
            offset += (int64_t)len + ended;
        }
        if (l->failed)
            return NULL;
        bool blank = fits && utf8_is_blank(l->line.data);
        struct json *v = fits && !blank ? parse(l->line.data, l->line.len, NULL) : NULL;
        if (v || ended)
            l->next = offset;
        if (v)
            return v;
        if (!ended) /* nothing, or a line that is still being written */
            return NULL;
        if (!blank)
            import_unknown(l->sink, fits ? "line that is no JSON" : "line that is too long");
    }
}

FILE *import_file_open(const struct import_file *f, struct error *e)
{
    int fd = dup(f->fd);
    FILE *in = fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "rb") : NULL;
    if (in)
        return in;
    err_set_errno(e, ERR_FILE_ERROR, "%s cannot be read", f->path);
    if (fd >= 0)
        close(fd);
    return NULL;
}

bool import_file_text(const struct import_file *f, struct buf *out, struct error *e)
{
    *out = (struct buf){.data = buf_empty, .max = IMPORT_ELEMENT_BYTES};
    auto_free char *chunk = mem_alloc(CHUNK_BYTES);
    for (;;) {
        ssize_t len = pread(f->fd, chunk, CHUNK_BYTES, (off_t)out->len);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return err_set_errno(e, ERR_FILE_ERROR, "%s cannot be read", f->path);
        if (len == 0)
            return true;
        if (!buf_try_add(out, chunk, (size_t)len))
            return err_set(e, ERR_FILE_ERROR, "%s is longer than %zu MiB", f->path,
                           IMPORT_ELEMENT_BYTES >> 20);
    }
}

struct json *import_file_json(const struct import_file *f, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    return import_file_text(f, &text, e) ? parse(text.data, text.len, e) : NULL;
}

/* Goes to the array: the text itself, or a member of its object. */
static bool find_array(struct import_text *t, const char *member, struct error *e)
{
    const struct place p = {"the text"};
    if (import_text_take(t, '['))
        return true;
    if (!import_text_take(t, '{'))
        return import_text_fault(t, &p, e);
    for (;;) {
        AUTO(json_free_local) struct json *name = import_text_value(t, &p, e);
        if (!json_string(name) || !import_text_take(t, ':'))
            return name ? import_text_fault(t, &p, e) : false;
        if (import_text_peek(t) == '[' && (!member || strcmp(json_string(name), member) == 0))
            return import_text_take(t, '[');
        AUTO(json_free_local) struct json *passed = import_text_value(t, &p, e);
        if (!passed || !import_text_take(t, ','))
            return passed ? import_text_fault(t, &p, e) : false;
    }
}

bool import_elements(struct import_sink *k, const struct import_file *f, const char *member,
                     bool (*take)(struct import_sink *k, const struct json *v, void *context,
                                  struct error *e),
                     void *context, struct error *e)
{
    struct import_text t;
    FILE *in = import_file_open(f, e);
    if (!in)
        return false;
    import_text_init(&t, in, CHUNK_BYTES, NULL, NULL);
    bool ok = import_text_rewind(&t, e) && find_array(&t, member, e), more = ok;
    more = more && !import_text_take(&t, ']');
    for (size_t i = 0; ok && more; i++) {
        struct place p = place_of("[%zu]", i);
        struct error cause = {0};
        struct json *v = import_text_value(&t, &p, &cause);
        if (v)
            ok = take(k, v, context, e);
        else
            import_unknown(k, "element that cannot be read");
        json_free(v);
        more = ok && import_text_take(&t, ',');
        if (ok && !more && !import_text_take(&t, ']'))
            ok = v ? import_text_fault(&t, &p, e) : err_set(e, cause.code, "%s", cause.text);
    }
    if (t.fault.code != ERR_OK)
        ok = err_set(e, t.fault.code, "%s", t.fault.text);
    import_text_release(&t);
    fclose(in);
    return ok;
}

/* --- databases -------------------------------------------------------------------------------- */

/* The name for sqlite3_open_v2(). A database with a journal for writing ahead that nobody has open
 * is opened as one that does not change: else SQLite would leave two files beside it, and could not
 * read it in a folder that is read-only. NULL with `e`: a journal is no regular file, which may
 * block. */
static char *database_uri(const char *path, struct error *e)
{
    static const char *const journals[] = {"-wal", "-shm", "-journal"};
    struct buf uri = BUF_INIT;
    struct stat st;
    char head[20] = {0};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool ahead = fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head && head[18] == 2;
    if (fd >= 0)
        close(fd);
    buf_addstr(&uri, "file:");
    for (const char *p = path; *p; p++)
        buf_addf(&uri, strchr("%?#", *p) ? "%%%02x" : "%c", (unsigned char)*p);
    for (size_t i = 0; i < sizeof journals / sizeof *journals; i++) {
        auto_free char *name = mem_printf("%s%s", path, journals[i]);
        bool there = lstat(name, &st) == 0;
        ahead = ahead && !there;
        if (!there || S_ISREG(st.st_mode))
            continue;
        err_set(e, ERR_FILE_ERROR, "%s is no regular file", name);
        buf_release(&uri);
        return NULL;
    }
    if (ahead)
        buf_addstr(&uri, "?immutable=1");
    return buf_take(&uri);
}

struct store *import_database(const char *path, struct error *e)
{
    auto_free char *uri = database_uri(path, e);
    if (!uri)
        return NULL;
    struct store *s = mem_alloc(sizeof *s);
    s->path = mem_strdup(path);
    s->mode = STORE_READ_ONLY;
    int result = sqlite3_open_v2(
        uri, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    if (result == SQLITE_OK) {
        sqlite3_extended_result_codes(s->db, 1);
        sqlite3_busy_timeout(s->db, PATIENCE_MS);
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES);
        result = sqlite3_exec(s->db, "PRAGMA cell_size_check = ON; BEGIN", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK)
        return s;
    store_fault(s, result, e);
    store_close(s);
    return NULL;
}

bool import_database_opens(const char *path, struct error *e)
{
    int64_t tables = 0;
    struct store *s = import_database(path, e);
    bool ok = s && sql_number(s, &tables, e, "SELECT count(*) FROM sqlite_schema", "");
    store_close(s);
    return ok;
}

bool import_has_columns(struct store *s, const char *table, const char *columns)
{
    bool ok = true;
    for (const char *at = columns + strspn(columns, " "); ok && *at; at += strspn(at, " ")) {
        auto_free char *column = mem_strndup(at, strcspn(at, " "));
        ok = sql_any(s, &ok, NULL, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", "tt", table,
                     column) &&
             ok;
        at += strlen(column);
    }
    int64_t there = 0;
    return ok &&
           sql_number(s, &there, NULL,
                      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", "t",
                      table) &&
           there > 0;
}

bool import_sniff_tables(const struct import_file *f, const char *const *tables, size_t count)
{
    struct store *s = f->sqlite ? import_database(f->path, NULL) : NULL;
    bool fits = s;
    for (size_t i = 0; fits && i < count; i++) {
        size_t len = strcspn(tables[i], " ");
        auto_free char *table = mem_strndup(tables[i], len);
        fits = import_has_columns(s, table, tables[i] + len);
    }
    store_close(s);
    return fits;
}

struct json *import_column(const struct query *q, int column)
{
    auto_free char *text = query_column_text(q, column);
    return text ? json_parse_foreign(text, strlen(text), NULL) : NULL;
}

/* --- values ----------------------------------------------------------------------------------- */

int64_t import_time(double number)
{
    double ms = number > 1e14 ? number / 1e3 : number > 1e11 ? number : number * 1e3;
    return ms > 0 && ms < 253402300800000.0 ? llround(ms) : 0;
}

int64_t import_time_of(const struct json *v)
{
    int64_t ms;
    if (json_type(v) == JSON_NUMBER)
        return import_time(json_number(v, 0));
    return json_string(v) && rfc3339_parse(json_string(v), &ms) && ms > 0 ? ms : 0;
}

bool import_head_has(const struct import_file *f, const char *member)
{
    AUTO(buf_release) struct buf quoted = BUF_INIT;
    buf_addf(&quoted, "\"%s\"", member);
    for (size_t i = 0; i + quoted.len < f->head_len; i++) {
        if (memcmp(f->head + i, quoted.data, quoted.len) != 0)
            continue;
        size_t at = i + quoted.len;
        while (at < f->head_len && memchr(" \t\r\n", f->head[at], 4))
            at++;
        if (at < f->head_len && f->head[at] == ':')
            return true;
    }
    return false;
}

bool import_begins(const char *text, const char *const *beginnings)
{
    text += strspn(text, " \t\r\n");
    for (size_t i = 0; beginnings[i]; i++)
        if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

bool import_ends(const char *path, const char *ending)
{
    size_t len = strlen(path), end = strlen(ending);
    return len > end && strcmp(path + len - end, ending) == 0;
}

const char *import_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void import_add_paragraph(struct buf *out, const char *text)
{
    if (utf8_is_blank(text))
        return;
    buf_addstr(out, out->len > 0 ? "\n\n" : "");
    buf_addstr(out, text); /* buf_addf() would look at a long one twice */
}

const struct json *import_blocks(const struct json *content)
{
    return json_type(content) == JSON_ARRAY ? json_first(content) : NULL;
}

void import_add_content(struct buf *out, const struct json *content, const char *const *types)
{
    static const char *const texts[] = {"text", "input_text", "output_text", NULL};
    static const char *const images[] = {"image", "image_url", "input_image", NULL};
    import_add_paragraph(out, json_string(content));
    for (const struct json *block = import_blocks(content); block; block = json_next(block)) {
        const char *type = json_get_string(block, "type");
        import_add_paragraph(out, json_string(block));
        for (const char *const *t = types ? types : texts; *t; t++)
            if (is(type, *t))
                import_add_paragraph(out, json_get_string(block, "text"));
        for (const char *const *t = images; *t; t++)
            if (is(type, *t))
                import_add_paragraph(out, "[image]");
    }
}

struct import_call import_call_of(const struct json *block, const char *arguments)
{
    return (struct import_call){.id = json_get_string(block, "id"),
                                .name = json_get_string(block, "name"),
                                .arguments = json_get(block, arguments)};
}

bool import_add_results(struct import_sink *k, const struct json *content, const char *id,
                        int64_t ms, struct error *e)
{
    size_t number = 0;
    bool ok = true;
    for (const struct json *b = import_blocks(content); ok && b; b = json_next(b)) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct import_message m = IMPORT_MESSAGE(ROLE_TOOL, NULL);
        if (!is(json_get_string(b, "type"), "tool_result"))
            continue;
        auto_free char *nth = id ? mem_printf("%s/%zu", id, ++number) : NULL;
        import_add_content(&text, json_get(b, "content"), NULL);
        m.id = nth;
        m.ms = ms;
        m.text = text.data;
        m.call_id = json_get_string(b, "tool_use_id");
        m.tool = json_get_string(b, "name");
        m.failed = json_get_bool(b, "is_error", false);
        ok = import_add(k, &m, e);
    }
    return ok;
}

void import_take(const char **to, const char *text)
{
    if (!text || !*text || is(*to, text))
        return;
    char *copy = mem_strdup(text);
    free((char *)(uintptr_t)*to);
    *to = copy;
}

void import_conversation_release(struct import_conversation *c)
{
    const char *const texts[] = {c->id, c->title, c->directory, c->model, c->parent};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)(uintptr_t)texts[i]);
    *c = (struct import_conversation){0};
}

char *import_home(const char *variable, const char *under_variable, const char *under_home)
{
    const char *value = variable ? getenv(variable) : NULL, *home = getenv("HOME");
    if (value && *value == '/')
        return *under_variable ? paths_join(value, under_variable) : mem_strdup(value);
    return home && *home == '/' && under_home ? paths_join(home, under_home) : NULL;
}

void import_place(struct text_list *out, const char *variable, const char *under_variable,
                  const char *under_home)
{
    char *path = import_home(variable, under_variable, under_home);
    if (path)
        vec_push(&out->items, path);
}

/* --- branches --------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *id)
{
    return id && *id ? mem_hash(MEM_HASH, id, strlen(id)) : 0;
}

void import_tree_add(struct import_tree *t, const char *id, const char *parent, int64_t where,
                     int64_t order)
{
    const struct import_node node = {hash_of(id), hash_of(parent), where, order};
    vec_push(&t->nodes, node);
}

void import_tree_release(struct import_tree *t)
{
    vec_release(&t->nodes);
}

struct by_id {
    uint64_t id;
    size_t index;
};

static int id_order(const void *a, const void *b)
{
    const struct by_id *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static int id_alone(const void *a, const void *b)
{
    const struct by_id *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

void import_tree_chain(const struct import_tree *t, const char *leaf, struct import_chain *out)
{
    const size_t none = SIZE_MAX;
    size_t count = t->nodes.len, at = none;
    VEC(struct by_id) index = {0};
    auto_free bool *inner = mem_alloc(count + 1);
    for (size_t i = 0; i < count; i++)
        vec_push(&index, (struct by_id){t->nodes.items[i].id, i});
    vec_sort(&index, id_order);
#define FIND(hash)                                                                                 \
    (count > 0 ? bsearch(&(struct by_id){.id = (hash)}, index.items, count, sizeof *index.items,   \
                         id_alone)                                                                 \
               : NULL)
    for (size_t i = 0; i < count; i++) {
        const struct by_id *parent =
            t->nodes.items[i].parent ? FIND(t->nodes.items[i].parent) : NULL;
        if (parent)
            inner[parent->index] = true;
    }
    const struct by_id *wanted = leaf ? FIND(hash_of(leaf)) : NULL;
    if (wanted)
        at = wanted->index;
    for (size_t i = 0; i < count && !wanted; i++)
        if (!inner[i] && (at == none || t->nodes.items[i].order >= t->nodes.items[at].order))
            at = i;
    memset(inner, 0, count);
    vec_clear(&out->where);
    while (at != none && !inner[at]) { /* a node that comes again closes a ring */
        const struct import_node *node = &t->nodes.items[at];
        const struct by_id *parent = node->parent ? FIND(node->parent) : NULL;
        inner[at] = true;
        vec_push(&out->where, node->where);
        at = parent ? parent->index : none;
    }
#undef FIND
    for (size_t i = 0; i < out->where.len / 2; i++) {
        int64_t *first = &out->where.items[i], *last = &out->where.items[out->where.len - 1 - i];
        int64_t swap = *first;
        *first = *last;
        *last = swap;
    }
    vec_release(&index);
}
