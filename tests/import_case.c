#include "tests/import_case.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "chat/history.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "tests/suite.h"

struct store *import_case_store;
struct import_options import_case_options;
static struct error e;

int import_case_set_up(void **state)
{
    support_setup(state);
    import_case_options = (struct import_options){0};
    return store_open(support_path("tiro.db"), STORE_READ_WRITE, &import_case_store, &e) ? 0 : -1;
}

int import_case_tear_down(void **state)
{
    store_close(import_case_store);
    return support_teardown(state);
}

static char *place(const char *to)
{
    char *path = support_path(to);
    auto_free char *folder = paths_parent(path);
    assert_ok(paths_make_dir(folder, &e), e);
    return path;
}

void import_case_copy(const char *fixture, const char *to)
{
    support_write(place(to),
                  support_read(support_text("%s/tests/import/%s", getenv("SOURCE_DIR"), fixture)));
}

void import_case_write(const char *to, const char *text)
{
    support_write(place(to), support_json(text));
}

void import_case_append(const char *to, const char *text)
{
    FILE *f = fopen(support_path(to), "ab");
    assert_non_null(f);
    fputs(support_json(text), f);
    assert_int_equal(fclose(f), 0);
}

void import_case_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    char *fault = NULL;
    assert_int_equal(sqlite3_open(place(path), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &fault) != SQLITE_OK)
        fail_msg("%s", fault);
    sqlite3_close(db);
}

struct import_counts import_case_scan(const char *path)
{
    struct text_list paths = {0};
    struct import_report report;
    struct import_counts counts = {0};
    if (path)
        vec_push(&paths.items, support_path(path));
    assert_ok(import_scan(import_case_store, &paths, &import_case_options, &report, &e), e);
    for (size_t i = 0; i < report.sources.len; i++)
        if (report.sources.items[i].files > 0) {
            assert_int_equal(counts.files, 0);
            counts = report.sources.items[i];
            counts.name = support_keep(mem_strdup(counts.name));
            counts.fault = support_keep(mem_strdup(counts.fault ? counts.fault : ""));
            counts.label = counts.places = counts.kinds = NULL;
        }
    import_report_release(&report);
    vec_release(&paths.items);
    return counts;
}

static bool apply(void *history, const struct event *ev)
{
    history_apply(history, ev);
    return true;
}

static void add(struct buf *out, const char *before, const char *text)
{
    buf_addstr(out, before);
    for (; *text; text++)
        if (*text == '\n')
            buf_addstr(out, "\\n");
        else
            buf_addch(out, *text);
    buf_addch(out, '\n');
}

static void add_session(struct buf *out, const struct session_info *info)
{
    struct history h;
    buf_addf(out, "== %s | %s | %s | %s\n", info->title, info->directory, info->model,
             info->imported ? info->imported : "-");
    history_init(&h);
    assert_ok(event_log_read(import_case_store, info->id, 0, apply, &h, &e), e);
    for (size_t i = 0; i < h.messages.len; i++) {
        const struct message *m = &h.messages.items[i];
        for (size_t j = 0; j < m->blocks.len; j++) {
            const struct block *b = &m->blocks.items[j];
            if (b->type == BLOCK_TOOL_CALL)
                add(out, support_text("call %s ", b->name), b->text);
            else if (b->type == BLOCK_TOOL_RESULT)
                add(out, support_text("result %s: ", b->name), b->text);
            else
                add(out, support_text("%s: ", role_name(m->role)), b->text);
        }
    }
    history_release(&h);
}

const char *import_case_text(void)
{
    struct text_list ids = {0};
    AUTO(buf_release) struct buf out = BUF_INIT;
    struct query q = sql_query(import_case_store, &e, "SELECT id FROM session ORDER BY key", "");
    assert_true(query_texts(&q, &ids));
    for (size_t i = 0; i < ids.items.len; i++) {
        struct session_info info;
        assert_ok(sessions_get(import_case_store, ids.items.items[i], &info, &e), e);
        add_session(&out, &info);
        session_info_release(&info);
    }
    vec_free_each(&ids.items);
    return support_text("%s", out.data);
}

void import_case_expect(const char *const *lines)
{
    AUTO(buf_release) struct buf expected = BUF_INIT;
    for (size_t i = 0; lines[i]; i++)
        buf_addf(&expected, "%s\n", lines[i]);
    assert_string_equal(import_case_text(), expected.data);
}

void import_case_read(const char *path, const char *name, const char *const *lines)
{
    struct import_counts counts = import_case_scan(path);
    assert_string_equal(counts.name, name);
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(lines);
}
