#include "session/export.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_pack.h"
#include "base/paths.h"
#include "chat/history.h"
#include "chat/transcript_text.h"
#include "store/event_log.h"

#define PIECE_BYTES ((size_t)64 * 1024)

/* A text that is exported, in pieces that are worth a write. */
struct sink {
    const struct format *format;
    struct transcript_text text; /* Markdown's state */
    struct history history;      /* that of a list of messages, */
    VEC(int64_t) times;          /* and when each began */
    int64_t last;                /* the session's newest event when the head was written */
    bool any;                    /* an event is written */
    struct buf pending;
    bool (*write)(void *context, const char *bytes, size_t len, struct error *e);
    void *context;
    bool failed;
    struct error fault; /* why, if `failed` */
};

/* The texts of JSON and JSON Lines before the version, between it and the members of the session,
 * between those and the events, before the first and every other event, after each, and at the end.
 * Markdown has its own (chat/transcript_text.h), a list of messages none. */
static const struct format {
    const char *name, *ending;
    const char *begin, *session, *events, *first, *next, *after, *end;
} formats[] = {
#define MARKDOWN_TEXTS NULL, NULL, NULL, NULL, NULL, NULL, NULL
#define MESSAGES_TEXTS MARKDOWN_TEXTS
#define JSON_TEXTS "{\"tiro\":", ",\"session\":{", "},\n\"events\":[", "\n", ",\n", "", "\n]}\n"
#define JSONL_TEXTS "{\"type\":\"session\",\"tiro\":", ",", "}\n", "", "", "\n", ""
#define X(id, name, ending) [EXPORT_##id] = {name, ending, id##_TEXTS},
    EXPORT_FORMATS(X)
#undef X
};

const char *export_format_name(enum export_format f)
{
    return formats[f].name;
}

bool export_format_from_name(const char *name, enum export_format *out)
{
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        if (strcmp(formats[i].name, name) == 0 || strcmp(formats[i].ending, name) == 0) {
            *out = (enum export_format)i;
            return true;
        }
    }
    return false;
}

enum export_format export_format_of_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < EXPORT_FORMAT_COUNT; i++)
        if (strcasecmp(formats[i].ending, dot + 1) == 0)
            return (enum export_format)i;
    return EXPORT_MARKDOWN;
}

static bool flush(struct sink *s, size_t least)
{
    if (!s->failed && s->pending.len > least) {
        s->failed = !s->write(s->context, s->pending.data, s->pending.len, &s->fault);
        buf_clear(&s->pending);
    }
    return !s->failed;
}

/* Skip events that were added after the head was written: they would contradict it. */
static bool add_event(void *sink, const struct event *ev)
{
    struct sink *s = sink;
    if (ev->seq > s->last)
        return false;
    if (s->format->begin) {
        auto_free char *line = event_to_line(ev);
        buf_addf(&s->pending, "%s%s%s", s->any ? s->format->next : s->format->first, line,
                 s->format->after);
    } else if (s->format == &formats[EXPORT_MESSAGES]) {
        if (ev->type != EVENT_COMPACTION_COMPLETED)
            history_apply(&s->history, ev);
        while (s->times.len < s->history.messages.len)
            vec_push(&s->times, ev->wall_ms);
        s->times.len = s->history.messages.len;
    } else {
        transcript_text_add(&s->text, &s->pending, ev);
    }
    s->any = true;
    return flush(s, PIECE_BYTES);
}

/* A message of tools has as many results; each is a message in this form. */
static void write_message(struct json_out *o, const struct message *m, int64_t ms)
{
    auto_free char *text = message_text(m);
    AUTO(buf_release) struct buf calls = BUF_INIT, all = BUF_INIT;
    struct json_out list = {.buf = &calls};
    buf_addstr(&all, text);
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (b->type == BLOCK_IMAGE)
            buf_addstr(&all, all.len > 0 ? "\n\n[image]" : "[image]");
        else if (b->type == BLOCK_TOOL_CALL)
            json_out_pack(&list, "{id:s type:'function' function:{name:s arguments:s}}", b->id,
                          b->name, b->text ? b->text : "{}");
        else if (b->type == BLOCK_TOOL_RESULT)
            json_out_pack(o, "{role:'tool' tool_call_id:s name:s content:s timestamp:I}", b->id,
                          b->name, b->text ? b->text : "", ms);
    }
    auto_free char *array = calls.len > 0 ? mem_printf("[%s]", calls.data) : NULL;
    if (m->role != ROLE_TOOL)
        json_out_pack(o, "{role:s content:S tool_calls:r timestamp:I}", role_name(m->role),
                      all.len > 0 || !array ? all.data : NULL, array, ms);
}

static bool flush_messages(struct sink *s, const struct session_info *info)
{
    struct json_out o = {.buf = &s->pending};
    history_drop_open_turn(&s->history);
    json_out_open(&o, '{');
    json_out_pack(&o, "id:s title:s cwd:s model:s timestamp:I", info->id, info->title,
                  info->directory, info->model, info->created_ms);
    json_out_name(&o, "messages");
    json_out_open(&o, '[');
    if (info->system && *info->system)
        json_out_pack(&o, "{role:'system' content:s}", info->system);
    for (size_t i = 0; i < s->history.messages.len && flush(s, PIECE_BYTES); i++)
        write_message(&o, &s->history.messages.items[i], s->times.items[i]);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    buf_addch(&s->pending, '\n');
    return !s->failed;
}

bool export_session(struct catalog *c, const char *reference, enum export_format format,
                    bool (*write)(void *context, const char *bytes, size_t len, struct error *e),
                    void *context, struct error *e)
{
    AUTO(session_info_release) struct session_info info = {0};
    struct sink s = {
        .format = &formats[format], .pending = BUF_INIT, .write = write, .context = context};
    if (!catalog_find(c, reference, &info, e))
        return false;
    s.last = info.last_seq;
    const struct format *f = s.format;
    bool list = format == EXPORT_MESSAGES;
    struct undone_list undone = {0};
    transcript_text_init(&s.text, &transcript_words_fixed);
    history_init(&s.history);
    bool ok = !list || event_log_undone(c->store, info.id, &undone, e);
    for (size_t i = 0; i < undone.items.len; i++)
        history_pass_over(&s.history, &undone.items.items[i].of, 1);
    vec_release(&undone.items);
    if (f->begin) {
        struct json_out o = {.buf = &s.pending};
        buf_addf(&s.pending, "%s%d%s", f->begin, EXPORT_VERSION, f->session);
        shape_write_members(&session_info_shape, &info, &o);
        buf_addstr(&s.pending, f->events);
    } else if (!list) {
        transcript_text_head(&s.pending, &info, &transcript_words_fixed, false);
    }
    ok = ok && catalog_read(c, info.id, 0, NULL, add_event, &s, e);
    if (ok && f->begin)
        buf_addstr(&s.pending, f->end);
    else if (ok && list)
        ok = flush_messages(&s, &info) || err_set(e, s.fault.code, "%s", s.fault.text);
    else if (ok)
        transcript_text_end(&s.text, &s.pending);
    if (ok && !flush(&s, 0))
        ok = err_set(e, s.fault.code, "%s", s.fault.text);
    transcript_text_release(&s.text);
    history_release(&s.history);
    vec_release(&s.times);
    buf_release(&s.pending);
    return ok;
}

static bool write_to_file(void *file, const char *bytes, size_t len, struct error *e)
{
    return whole_file_write(file, bytes, len, e);
}

bool export_to_file(struct catalog *c, const char *reference, enum export_format format,
                    const char *path, bool replace, struct error *e)
{
    struct whole_file file;
    if (!whole_file_begin(&file, path, replace, e))
        return false;
    bool ok = export_session(c, reference, format, write_to_file, &file, e) &&
              whole_file_finish(&file, e);
    whole_file_drop(&file);
    return ok;
}
