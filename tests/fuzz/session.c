/* Readers of events, snapshots, transcripts and imports. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/event.h"
#include "chat/history.h"
#include "import/scan.h"
#include "index/transcripts.h"
#include "session/export.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "tests/fuzz/fuzz.h"
#include "tests/imported.h"
#include "ui/transcript/transcript.h"

/* --- event ------------------------------------------------------------------------------------ */

static void check_payload(const struct event *ev, const char *payload)
{
    AUTO(event_free_local) struct event *again = NULL;
    struct error e = {0};
    bool ok =
        event_from_payload(ev->type, event_version(ev->type), payload, strlen(payload), &again, &e);
    FUZZ_CHECK_ERROR(ok, &e);
    auto_free char *written = event_payload(again);
    FUZZ_CHECK_SAME(payload, written);
}

static void check_line(struct event *ev, const char *payload)
{
    static const char id[] = "01890a5d-ac96-774b-bcce-b302099a8057";
    AUTO(event_free_local) struct event *again = NULL;
    struct error e = {0};
    ev->seq = 7;
    ev->wall_ms = 1683554160123;
    memcpy(ev->session_id, id, sizeof id);
    auto_free char *line = event_to_line(ev);
    AUTO(json_free_local) struct json *v = json_parse(line, strlen(line), &e);
    FUZZ_CHECK_ERROR(v && event_from_json(v, &again, &e), &e);
    auto_free char *of_line = event_payload(again), *line_again = event_to_line(again);
    FUZZ_CHECK_SAME(payload, of_line);
    FUZZ_CHECK_SAME(line, line_again);
    FUZZ_CHECK(!strchr(line, '\n'));
}

/* A payload from a foreign database or file: an accepted event is written as a payload and as a
 * line that both read as the same event. The first byte is the type. */
int fuzz_event(const uint8_t *data, size_t size)
{
    struct event *ev;
    struct error e = {0};
    if (size == 0)
        return -1;
    enum event_type type = (enum event_type)(data[0] % EVENT_TYPE_COUNT);
    if (!event_from_payload(type, 1, (const char *)data + 1, size - 1, &ev, &e)) {
        fuzz_check_error(&e);
        return 0;
    }
    auto_free char *payload = event_payload(ev);
    check_payload(ev, payload);
    check_line(ev, payload);
    AUTO(event_free_local) struct event *copy = event_clone(ev);
    auto_free char *of_copy = event_payload(copy);
    FUZZ_CHECK_SAME(payload, of_copy);
    event_free(ev);
    return 0;
}

/* --- event_struct ----------------------------------------------------------------------------- */

enum { STRINGS_MAX = 14 };

/* A figure that the program counts; beyond it a double is no counter. */
static int64_t figure(struct fuzz_input *in)
{
    int64_t n = fuzz_number(in), most = INT64_C(1) << 53;
    return n < 0 ? 0 : n > most ? most : n;
}

static int64_t known(struct fuzz_input *in)
{
    return fuzz_bool(in) ? -1 : figure(in);
}

static int count(struct fuzz_input *in)
{
    int64_t n = figure(in);
    return n > INT32_MAX ? INT32_MAX : (int)n;
}

static double amount(struct fuzz_input *in)
{
    return (double)figure(in) / (double)(1 + fuzz_byte(in));
}

/* A member of that struct which is a string, whether the event's type has it or not. */
static char **string_of(struct event *ev, size_t i)
{
    struct compaction *c = &ev->compaction;
    char **strings[STRINGS_MAX] = {&ev->text,   &ev->id,          &ev->name,  &ev->signature,
                                   &ev->model,  &ev->attachments, &ev->hits,  &c->mode,
                                   &c->stage,   &c->trigger,      &c->reason, &c->effective_mode,
                                   &c->history, &c->dropped};
    return strings[i];
}

static void fill(struct event *ev, struct fuzz_input *in)
{
    struct compaction *c = &ev->compaction;
    for (size_t i = 0; i < STRINGS_MAX; i++)
        *string_of(ev, i) = fuzz_string(in);
    ev->number = figure(in);
    ev->count = count(in);
    ev->limit = count(in);
    ev->flag = fuzz_bool(in);
    ev->stop_reason = (enum stop_reason)fuzz_below(in, STOP_OTHER + 1);
    ev->usage.input = known(in);
    ev->usage.output = known(in);
    ev->usage.cached = known(in);
    ev->usage.estimated = usage_known(&ev->usage) && fuzz_bool(in);
    ev->used = amount(in);
    ev->bound = amount(in);
    c->input_tokens = known(in);
    c->estimate = figure(in);
    c->threshold = figure(in);
    c->summary_tokens = figure(in);
    c->tokens_before = figure(in);
    c->tokens_after = figure(in);
    c->messages_before = count(in);
    c->messages_after = count(in);
    c->messages_dropped = count(in);
    c->messages_changed = count(in);
    c->entries_indexed = count(in);
    c->failures = count(in);
    c->suspended = fuzz_bool(in);
}

/* Any event that the program may make: the written event reads back as the same. */
int fuzz_event_struct(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    AUTO(event_free_local) struct event *read = NULL;
    struct error e = {0};
    /* Not made by event_new(), since no type frees all of these strings. */
    struct event ev = {.type = (enum event_type)fuzz_below(&in, EVENT_TYPE_COUNT)};
    fill(&ev, &in);
    auto_free char *payload = event_payload(&ev);
    bool ok =
        event_from_payload(ev.type, event_version(ev.type), payload, strlen(payload), &read, &e);
    FUZZ_CHECK_ERROR(ok, &e);
    auto_free char *again = event_payload(read);
    FUZZ_CHECK_SAME(payload, again);
    for (size_t i = 0; i < STRINGS_MAX; i++)
        free(*string_of(&ev, i));
    return 0;
}

/* --- history ---------------------------------------------------------------------------------- */

enum { HISTORY_MOST_EVENTS = 200 };

static const enum event_type told[] = {
    EVENT_TURN_STARTED,      EVENT_CALL_STARTED,        EVENT_TEXT_COMPLETE,
    EVENT_CALL_COMPLETED,    EVENT_TOOL_CALL_REQUESTED, EVENT_TOOL_EXECUTION_COMPLETED,
    EVENT_TURN_COMPLETED,    EVENT_TURN_FAILED,         EVENT_INTERRUPTED,
    EVENT_MESSAGE_PINNED,    EVENT_REASONING_COMPLETE,  EVENT_COMPACTION_COMPLETED,
    EVENT_COMPACTION_FAILED, EVENT_TEXT_DELTA};

static void set_compaction(struct compaction *c, struct fuzz_input *in)
{
    size_t first = fuzz_below(in, 8), count = fuzz_below(in, 8);
    c->mode = mem_strdup("handoff");
    c->effective_mode = mem_strdup("handoff");
    c->stage = mem_strdup("summary");
    c->trigger = mem_strdup(fuzz_bool(in) ? "manual" : "estimate");
    c->history = first == 7
                     ? fuzz_string(in)
                     : mem_printf(
                           "[{\"message\":{\"role\":\"user\",\"seq\":1,\"turn\":1,\"summary\":true,"
                           "\"content\":[{\"type\":\"text\",\"text\":\"sum\"}]}},[%zu,%zu]]",
                           first, count);
    c->dropped = mem_strdup("[]");
}

static struct event *make_event(struct fuzz_input *in, int64_t seq)
{
    struct event *ev = event_new(told[fuzz_below(in, sizeof told / sizeof *told)]);
    bool tool = ev->type == EVENT_TOOL_CALL_REQUESTED || ev->type == EVENT_TOOL_EXECUTION_COMPLETED;
    bool compacts = ev->type == EVENT_COMPACTION_COMPLETED || ev->type == EVENT_COMPACTION_FAILED;
    ev->seq = seq;
    ev->number = (int64_t)fuzz_below(in, (size_t)seq + 1);
    ev->flag = fuzz_bool(in);
    if (ev->type == EVENT_COMPACTION_COMPLETED)
        set_compaction(&ev->compaction, in);
    else if (compacts) {
        ev->compaction.mode = mem_strdup("handoff");
        ev->compaction.reason = mem_strdup("llm");
    }
    if (tool) {
        /* Few different ids, so that results meet calls. */
        ev->id = mem_printf("call%zu", fuzz_below(in, 4));
        ev->name = mem_strdup("read_file");
    }
    if (ev->type == EVENT_TURN_FAILED)
        ev->name = mem_strdup("AGENT_ERROR");
    bool texts = ev->type != EVENT_CALL_STARTED && ev->type != EVENT_CALL_COMPLETED &&
                 ev->type != EVENT_INTERRUPTED && ev->type != EVENT_MESSAGE_PINNED;
    if (texts)
        ev->text = fuzz_string(in);
    if (ev->type == EVENT_TURN_STARTED && !*ev->text) { /* nobody sends nothing */
        free(ev->text);
        ev->text = mem_strdup("?");
    }
    return ev;
}

/* The event as the log returns it: arguments of a call are then compact JSON. */
static struct event *reread(const struct event *ev)
{
    struct event *read;
    struct error e = {0};
    auto_free char *payload = event_payload(ev);
    bool ok =
        event_from_payload(ev->type, event_version(ev->type), payload, strlen(payload), &read, &e);
    FUZZ_CHECK_ERROR(ok, &e);
    read->seq = ev->seq;
    return read;
}

static void check_same(const struct history *a, const struct history *b)
{
    auto_free char *x = history_counters(a), *y = history_counters(b);
    FUZZ_CHECK_SAME(x, y);
    FUZZ_CHECK(a->messages.len == b->messages.len && a->estimate == b->estimate);
}

static void check_restored(const struct history *h)
{
    AUTO(history_release) struct history again = {0};
    struct error e = {0};
    auto_free char *counters = history_counters(h);
    history_init(&again);
    for (size_t i = 0; i < h->messages.len; i++)
        history_add_saved(&again, message_clone(&h->messages.items[i]),
                          shape_bytes(&message_shape, &h->messages.items[i]));
    FUZZ_CHECK_ERROR(history_restore(&again, counters, strlen(counters), &e), &e);
    check_same(h, &again);
}

static size_t count_calls(const struct message *m, enum block_type type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        count += m->blocks.items[i].type == type && strcmp(m->blocks.items[i].id, id) == 0;
    return count;
}

/* Providers refuse a call without a result, and a result without a call. */
static void check_calls(const struct history *h)
{
    static const struct message none = {.role = ROLE_USER};
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        const struct message *before = i > 0 ? m - 1 : &none;
        const struct message *next = i + 1 < h->messages.len ? m + 1 : &none;
        FUZZ_CHECK(m->role != ROLE_TOOL || before->role == ROLE_ASSISTANT);
        for (size_t k = 0; k < m->blocks.len; k++) {
            const struct block *b = &m->blocks.items[k];
            if (b->type == BLOCK_TOOL_CALL)
                FUZZ_CHECK(count_calls(m, BLOCK_TOOL_CALL, b->id) ==
                           count_calls(next, BLOCK_TOOL_RESULT, b->id));
            if (b->type == BLOCK_TOOL_RESULT)
                FUZZ_CHECK(count_calls(before, BLOCK_TOOL_CALL, b->id) > 0);
        }
    }
}

/* A random log, in any order, folded: each call has its result directly after it, the history from
 * a snapshot is the same, and each event reads back with the same effect. */
int fuzz_history(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    AUTO(history_release) struct history h = {0}, again = {0};
    bool compacted = false;
    history_init(&h);
    history_init(&again);
    for (int64_t seq = 1; in.left > 0 && seq <= HISTORY_MOST_EVENTS; seq++) {
        AUTO(event_free_local) struct event *ev = make_event(&in, seq);
        compacted = compacted || ev->type == EVENT_COMPACTION_COMPLETED;
        AUTO(event_free_local) struct event *logged = reread(ev), *twice = reread(logged);
        history_apply(&h, logged);
        history_apply(&again, twice);
    }
    check_same(&h, &again);
    int64_t sum = 0;
    for (size_t i = 0; i < h.estimates.len; i++)
        sum += h.estimates.items[i];
    FUZZ_CHECK(h.estimates.len == h.messages.len && h.estimate == sum);
    check_restored(&h);
    history_drop_open_turn(&h);
    if (!compacted) /* a compaction names the kept messages itself */
        check_calls(&h);
    return 0;
}

/* --- snapshot --------------------------------------------------------------------------------- */

static char *written(const struct message *m)
{
    struct buf out = BUF_INIT;
    struct json_out o = {.buf = &out};
    shape_write(&message_shape, m, &o);
    return buf_take(&out);
}

static bool read_message(const char *text, size_t len, struct message *out)
{
    struct error e = {0};
    AUTO(json_free_local) struct json *v = json_parse(text, len, &e);
    bool ok = v && message_from_json(v, out, &e);
    if (!ok)
        fuzz_check_error(&e);
    return ok;
}

static void check_message(const struct message *m)
{
    AUTO(message_release) struct message again = {0};
    auto_free char *text = written(m);
    FUZZ_CHECK(read_message(text, strlen(text), &again));
    auto_free char *text_again = written(&again);
    FUZZ_CHECK_SAME(text, text_again);
    FUZZ_CHECK(message_estimate_tokens(m) == message_estimate_tokens(&again));
}

static void take_messages(const char *text, const char *end, struct history *out)
{
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        struct message m;
        if (read_message(text, (size_t)(stop - text), &m)) {
            check_message(&m);
            history_add_saved(out, m, shape_bytes(&message_shape, &m));
        }
        text = stop + 1;
    }
}

static void check_history(struct history *h)
{
    AUTO(history_release) struct history again = {0};
    struct error e = {0};
    history_init(&again);
    for (size_t i = 0; i < h->messages.len; i++)
        history_add_saved(&again, message_clone(&h->messages.items[i]),
                          shape_bytes(&message_shape, &h->messages.items[i]));
    auto_free char *counters = history_counters(h);
    FUZZ_CHECK_ERROR(history_restore(&again, counters, strlen(counters), &e), &e);
    auto_free char *counters_again = history_counters(&again);
    FUZZ_CHECK_SAME(counters, counters_again);
}

/* A snapshot's counters (the first line) and messages (the others) from a foreign database: an
 * accepted history survives writing and reading. */
int fuzz_snapshot(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size;
    const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;
    struct history h;
    struct error e = {0};
    if (!newline)
        return -1;
    history_init(&h);
    take_messages(newline + 1, end, &h);
    if (!history_restore(&h, text, (size_t)(newline - text), &e)) {
        fuzz_check_error(&e);
        return 0;
    }
    check_history(&h);
    history_drop_open_turn(&h);
    check_history(&h);
    history_release(&h);
    return 0;
}

/* --- transcript ------------------------------------------------------------------------------- */

enum { HEIGHT = 24, TRANSCRIPT_MOST_EVENTS = 60, MOST_SCREENS = 30 };

static void check_screen(struct transcript *t, int width)
{
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    FUZZ_CHECK(count <= HEIGHT);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i].rows->list.items[rows[i].index];
        FUZZ_CHECK(rows_width(rows[i].rows, rows[i].index) <= (size_t)width);
        FUZZ_CHECK(fuzz_is_clean(rows[i].rows->text.data + row->text, row->len, false));
    }
}

static void check_screens(struct transcript *t, int width)
{
    transcript_resize(t, width, HEIGHT);
    transcript_scroll(t, -TRANSCRIPT_ALL);
    check_screen(t, width);
    for (int i = 0; i < MOST_SCREENS && transcript_scroll(t, HEIGHT); i++)
        check_screen(t, width);
}

/* A session of somebody's on the screen: events as lines of JSON, notes and searches in them. The
 * rows fit the width and hold nothing that a terminal obeys, with everything folded and opened. */
int fuzz_transcript(const uint8_t *data, size_t size)
{
    static const int widths[] = {40, 120};
    auto_free char *text = fuzz_text(data, size);
    struct transcript *t = transcript_new();
    transcript_set_reasoning(t, REASONING_OPEN);
    transcript_resize(t, 80, HEIGHT);
    int events = 0;
    for (const char *line = text; *line && events < TRANSCRIPT_MOST_EVENTS; events++) {
        size_t len = strcspn(line, "\n");
        struct event *ev;
        struct error e = {0};
        AUTO(json_free_local) struct json *v = json_parse(line, len, &e);
        if (v && event_from_json(v, &ev, &e)) {
            transcript_apply(t, ev);
            event_free(ev);
        } else {
            fuzz_check_error(&e);
        }
        line += len + (line[len] == '\n');
        check_screen(t, 80);
    }
    transcript_note(t, STYLE_NOTE, text, false);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        check_screens(t, widths[i]);
        transcript_toggle_all(t);
    }
    transcript_find(t, "a", true);
    check_screen(t, widths[1]);
    free(transcript_last_code(t));
    transcript_free(t);
    return 0;
}

/* --- import ----------------------------------------------------------------------------------- */

/* One database in memory for all inputs; each leaves it empty. */
static struct store *open_store(void)
{
    static struct store *store;
    struct error e = {0};
    if (!store) {
        auto_free char *path = store_memory_path();
        FUZZ_CHECK_ERROR(store_open(path, STORE_READ_WRITE, &store, &e), &e);
    }
    return store;
}

static bool add_bytes(void *context, const char *bytes, size_t len, struct error *e)
{
    (void)e;
    buf_add(context, bytes, len);
    return true;
}

static struct buf export_as(struct catalog *c, const char *id, enum export_format format)
{
    struct buf out = BUF_INIT;
    struct error e = {0};
    FUZZ_CHECK_ERROR(export_session(c, id, format, add_bytes, &out, &e), &e);
    FUZZ_CHECK(utf8_valid(out.data, out.len));
    return out;
}

static void check_empty(struct catalog *c)
{
    struct session_filter all = {0};
    AUTO(session_list_release) struct session_list list = {0};
    struct error e = {0};
    int64_t total;
    FUZZ_CHECK_ERROR(catalog_list(c, &all, &list, &total, &e), &e);
    FUZZ_CHECK(total == 0);
}

/* The id is free again, since the session had no files to remove. */
static void forget(struct catalog *c, struct session_info *info)
{
    struct error e = {0};
    FUZZ_CHECK_ERROR(transcripts_delete(c->store, info->id, &e), &e);
    FUZZ_CHECK_ERROR(removals_strike(c->store, info->id, &e), &e);
    session_info_release(info);
}

/* Exported in one form and imported again, a session gives the same text. */
static void check_again(struct catalog *c, const struct buf *json, const struct buf *form)
{
    struct session_info info;
    struct error e = {0};
    FUZZ_CHECK_ERROR(imported_text(c, form->data, form->len, NULL, "/", &info, &e), &e);
    AUTO(buf_release) struct buf again = export_as(c, info.id, EXPORT_JSON);
    FUZZ_CHECK_SAME(json->data, again.data);
    forget(c, &info);
}

/* Foreign sessions, in our format or OpenAI's: an accepted session survives export and import, each
 * exported format can be read, and a refused session leaves nothing. */
int fuzz_import(const uint8_t *data, size_t size)
{
    struct catalog c;
    struct session_info info;
    struct error e = {0};
    catalog_borrow(&c, open_store(), NULL, "");
    if (!imported_text(&c, (const char *)data, size, NULL, "/", &info, &e)) {
        fuzz_check_error(&e);
        check_empty(&c);
        catalog_release(&c);
        return 0;
    }
    AUTO(buf_release) struct buf json = export_as(&c, info.id, EXPORT_JSON);
    AUTO(buf_release) struct buf lines = export_as(&c, info.id, EXPORT_JSONL);
    AUTO(buf_release) struct buf markdown = export_as(&c, info.id, EXPORT_MARKDOWN);
    forget(&c, &info);
    check_again(&c, &json, &json);
    check_again(&c, &json, &lines);
    check_empty(&c);
    catalog_release(&c);
    return 0;
}

/* --- import of histories ---------------------------------------------------------------------- */

static int64_t scan_messages(const struct text_list *paths)
{
    static const struct import_options options = {0};
    struct import_report report;
    struct error e = {0};
    int64_t messages = 0;
    if (!import_scan(open_store(), paths, &options, &report, &e))
        fuzz_check_error(&e);
    for (size_t i = 0; i < report.sources.len; i++)
        messages += report.sources.items[i].messages;
    import_report_release(&report);
    return messages;
}

/* Histories of other agents, of any source: what was read does not come again. */
int fuzz_import_source(const uint8_t *data, size_t size)
{
    struct catalog c;
    struct session_list list;
    struct error e = {0};
    char path[] = "/tmp/tiro-fuzz.XXXXXX";
    struct text_list paths = {0};
    struct store *s = open_store();
    int fd = mkstemp(path);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
    vec_push(&paths.items, path);
    scan_messages(&paths);
    FUZZ_CHECK_ERROR(store_exec(s, "DELETE FROM import_file", &e), &e);
    FUZZ_CHECK(scan_messages(&paths) == 0);
    unlink(path);
    vec_release(&paths.items);

    catalog_borrow(&c, s, NULL, "");
    FUZZ_CHECK_ERROR(catalog_list(&c, &(struct session_filter){0}, &list, NULL, &e), &e);
    for (size_t i = 0; i < list.items.len; i++) {
        AUTO(buf_release) struct buf json = export_as(&c, list.items.items[i].id, EXPORT_JSON);
        struct session_info info = session_info_clone(&list.items.items[i]);
        forget(&c, &info);
    }
    session_list_release(&list);
    catalog_release(&c);
    FUZZ_CHECK_ERROR(store_exec(s,
                                "DELETE FROM import_file; DELETE FROM import_message;"
                                " DELETE FROM import_conversation",
                                &e),
                     &e);
    return 0;
}
