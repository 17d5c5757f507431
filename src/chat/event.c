#include "chat/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "chat/event_fields.h"
#include "chat/figure.h"

/* Member of a run's usage: the share of its summaries. */
#define SUMMARIES "summaries"

static const struct {
    const char *name;
    int version;
} types[] = {
#define X(id, name, version) [EVENT_##id] = {name, version},
    EVENT_TYPES(X)
#undef X
};

static const char *const stop_reasons[] = {
    [STOP_END_TURN] = "end_turn",
    [STOP_MAX_TOKENS] = "max_tokens",
    [STOP_SEQUENCE] = "stop_sequence",
    [STOP_TOOL_USE] = "tool_use",
    [STOP_PAUSE] = "pause",
    [STOP_REFUSAL] = "refusal",
    [STOP_CONTEXT_EXCEEDED] = "context_exceeded",
    [STOP_CANCELLED] = "cancelled",
    [STOP_OTHER] = "other",
};

static bool is_string(enum event_field_kind kind)
{
    return kind == FIELD_TEXT || kind == FIELD_OPTIONAL_TEXT || kind == FIELD_JSON_TEXT;
}

/* What the field's offset points at, as its kind says. */
static void *at(struct event *ev, const struct event_field *f)
{
    return (char *)ev + f->offset;
}

static const void *in(const struct event *ev, const struct event_field *f)
{
    return (const char *)ev + f->offset;
}

/* Those that may be unknown are. */
static void forget_reals(struct event *ev)
{
    for (const struct event_field *f = event_fields[ev->type]; f->name; f++)
        if (f->kind == FIELD_KNOWN_REAL)
            *(double *)at(ev, f) = -1;
}

struct event *event_new(enum event_type type)
{
    struct event *ev = mem_alloc(sizeof *ev);
    ev->type = type;
    ev->usage = ev->summaries = USAGE_UNKNOWN;
    ev->compaction.input_tokens = -1;
    forget_reals(ev);
    return ev;
}

void event_free(struct event *ev)
{
    if (!ev)
        return;
    for (const struct event_field *f = event_fields[ev->type]; f->name; f++)
        if (is_string(f->kind))
            free(*(char **)at(ev, f));
    free(ev);
}

/* Those that are no field of its type would be nobody's to free. */
static void disown_strings(struct event *ev)
{
    struct compaction *c = &ev->compaction;
    ev->text = ev->id = ev->name = NULL;
    ev->signature = ev->model = ev->attachments = ev->hits = NULL;
    c->mode = c->effective_mode = c->stage = c->trigger = NULL;
    c->reason = c->history = c->dropped = NULL;
}

struct event *event_clone(const struct event *ev)
{
    struct event *copy = event_new(ev->type);
    *copy = *ev;
    disown_strings(copy);
    for (const struct event_field *f = event_fields[ev->type]; f->name; f++)
        if (is_string(f->kind))
            *(char **)at(copy, f) = mem_strdup(*(char *const *)in(ev, f));
    return copy;
}

const char *event_name(enum event_type type)
{
    return types[type].name;
}

int event_version(enum event_type type)
{
    return types[type].version;
}

bool event_type_from_name(const char *name, enum event_type *out)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = (enum event_type)i;
            return true;
        }
    }
    return false;
}

bool event_between_runs(const struct event *ev)
{
    bool compacts = ev->type == EVENT_COMPACTION_STARTED || ev->type == EVENT_COMPACTION_COMPLETED;
    return ev->type == EVENT_COMPACTION_UNDONE ||
           (compacts && ev->compaction.trigger && strcmp(ev->compaction.trigger, "manual") == 0);
}

const char *stop_reason_name(enum stop_reason reason)
{
    return stop_reasons[reason];
}

/* A reason that we do not know is one of the others, no fault. */
static enum stop_reason stop_reason_from(const char *name)
{
    for (int i = 0; i < STOP_OTHER; i++)
        if (strcmp(stop_reasons[i], name) == 0)
            return (enum stop_reason)i;
    return STOP_OTHER;
}

static void write_string(struct json_out *o, const struct event_field *f, const char *text)
{
    if (f->kind == FIELD_TEXT)
        json_out_member(o, f->name, text ? text : "");
    else if (f->kind == FIELD_OPTIONAL_TEXT)
        json_out_member(o, f->name, text);
    else if (text) {
        json_out_name(o, f->name);
        json_text_write(o, text);
    }
}

static bool is_optional(enum event_field_kind kind)
{
    return kind == FIELD_OPTIONAL_NUMBER || kind == FIELD_OPTIONAL_COUNT;
}

static void write_number(struct json_out *o, const struct event_field *f, int64_t n)
{
    bool left_out = f->kind == FIELD_KNOWN_NUMBER ? n < 0 : n <= 0 && is_optional(f->kind);
    if (!left_out)
        json_out_int(o, f->name, figure_bounded(n, FIGURE_MAX));
}

static void write_real(struct json_out *o, const struct event_field *f, double n)
{
    if (!(n < 0) || f->kind != FIELD_KNOWN_REAL)
        json_out_real(o, f->name, figure_bounded_real(n));
}

static void write_flag(struct json_out *o, const struct event_field *f, bool flag)
{
    if (flag || f->kind == FIELD_OPTIONAL_FLAG) {
        json_out_flag(o, f->name, flag);
        return;
    }
    json_out_name(o, f->name);
    json_out_raw(o, "false");
}

static void write_usage(struct json_out *o, const struct event_field *f, const struct usage *u)
{
    if (!usage_known(u))
        return;
    json_out_name(o, f->name);
    usage_write(o, u);
}

static void write_run_usage(struct json_out *o, const struct event_field *f, const struct event *ev)
{
    if (!usage_known(&ev->usage))
        return;
    json_out_name(o, f->name);
    usage_write_share(o, &ev->usage, SUMMARIES, &ev->summaries);
}

static void write_field(struct json_out *o, const struct event_field *f, const struct event *ev)
{
    const void *value = in(ev, f);
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_OPTIONAL_TEXT:
    case FIELD_JSON_TEXT:
        write_string(o, f, *(char *const *)value);
        break;
    case FIELD_NUMBER:
    case FIELD_OPTIONAL_NUMBER:
    case FIELD_KNOWN_NUMBER:
        write_number(o, f, *(const int64_t *)value);
        break;
    case FIELD_COUNT:
    case FIELD_OPTIONAL_COUNT:
        write_number(o, f, *(const int *)value);
        break;
    case FIELD_FLAG:
    case FIELD_OPTIONAL_FLAG:
        write_flag(o, f, *(const bool *)value);
        break;
    case FIELD_REAL:
    case FIELD_KNOWN_REAL:
        write_real(o, f, *(const double *)value);
        break;
    case FIELD_STOP:
        json_out_member(o, f->name, stop_reasons[*(const enum stop_reason *)value]);
        break;
    case FIELD_USAGE:
        write_usage(o, f, value);
        break;
    case FIELD_RUN_USAGE:
        write_run_usage(o, f, ev);
        break;
    }
}

static void write_fields(struct json_out *o, const struct event *ev)
{
    for (const struct event_field *f = event_fields[ev->type]; f->name; f++)
        write_field(o, f, ev);
}

char *event_payload(const struct event *ev)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    write_fields(&o, ev);
    json_out_close(&o, '}');
    return buf_take(&text);
}

char *event_to_line(const struct event *ev)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    char time[25];
    clock_format(ev->wall_ms, time);
    json_out_open(&o, '{');
    json_out_member(&o, "type", types[ev->type].name);
    json_out_int(&o, "seq", ev->seq);
    json_out_member(&o, "session_id", ev->session_id);
    json_out_member(&o, "at", time);
    if (types[ev->type].version > 1)
        json_out_int(&o, "version", types[ev->type].version);
    write_fields(&o, ev);
    json_out_close(&o, '}');
    return buf_take(&text);
}

static bool read_string(const struct event_field *f, const struct json *v, char **out)
{
    if (f->kind == FIELD_JSON_TEXT) {
        *out = v ? json_text_read(v) : NULL;
        return true;
    }
    *out = mem_strdup(json_string(v));
    return *out || (!v && f->kind == FIELD_OPTIONAL_TEXT);
}

/* A figure past the most that is written today is that: an older program wrote what servers told.
 */
static bool read_number(const struct event_field *f, const struct json *v, int64_t *out)
{
    *out = f->kind == FIELD_KNOWN_NUMBER ? -1 : 0;
    if (!v)
        return is_optional(f->kind) || f->kind == FIELD_KNOWN_NUMBER;
    double n = json_number(v, -1);
    if (!(n >= 0))
        return false;
    *out = n < (double)FIGURE_MAX ? (int64_t)n : FIGURE_MAX;
    return true;
}

static bool read_count(const struct event_field *f, const struct json *v, int *out)
{
    int64_t n;
    if (!read_number(f, v, &n) || n > INT32_MAX)
        return false;
    *out = (int)n;
    return true;
}

static bool read_flag(const struct event_field *f, const struct json *v, bool *out)
{
    *out = json_true(v);
    return v ? json_type(v) == JSON_BOOL : f->kind == FIELD_OPTIONAL_FLAG;
}

static bool read_real(const struct event_field *f, const struct json *v, double *out)
{
    double n = json_number(v, -1);
    *out = v ? figure_bounded_real(n) : -1;
    return v ? n >= 0 : f->kind == FIELD_KNOWN_REAL;
}

static bool read_stop(const struct json *v, enum stop_reason *out)
{
    const char *name = json_string(v);
    *out = name ? stop_reason_from(name) : STOP_OTHER;
    return name;
}

static bool read_usage(const struct json *v, struct usage *out)
{
    *out = v ? usage_from_json(v) : USAGE_UNKNOWN;
    return !v || json_type(v) == JSON_OBJECT;
}

static bool read_field(const struct event_field *f, const struct json *v, struct event *ev)
{
    void *value = at(ev, f);
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_OPTIONAL_TEXT:
    case FIELD_JSON_TEXT:
        return read_string(f, v, value);
    case FIELD_NUMBER:
    case FIELD_OPTIONAL_NUMBER:
    case FIELD_KNOWN_NUMBER:
        return read_number(f, v, value);
    case FIELD_COUNT:
    case FIELD_OPTIONAL_COUNT:
        return read_count(f, v, value);
    case FIELD_FLAG:
    case FIELD_OPTIONAL_FLAG:
        return read_flag(f, v, value);
    case FIELD_REAL:
    case FIELD_KNOWN_REAL:
        return read_real(f, v, value);
    case FIELD_STOP:
        return read_stop(v, value);
    case FIELD_USAGE:
        return read_usage(v, value);
    case FIELD_RUN_USAGE:
        return read_usage(v, &ev->usage) && read_usage(json_get(v, SUMMARIES), &ev->summaries);
    }
    return false;
}

static bool read_fields(const struct json *v, struct event *ev, struct error *e)
{
    if (json_type(v) != JSON_OBJECT)
        return err_set(e, ERR_SESSION_STORE_ERROR, "the payload of a %s event is no object",
                       types[ev->type].name);
    for (const struct event_field *f = event_fields[ev->type]; f->name; f++)
        if (!read_field(f, json_get(v, f->name), ev))
            return err_set(e, ERR_SESSION_STORE_ERROR, "\"%s\" of a %s event does not fit", f->name,
                           types[ev->type].name);
    return true;
}

static bool known_version(enum event_type type, int64_t version, struct error *e)
{
    return (version >= 1 && version <= types[type].version) ||
           err_set(e, ERR_SESSION_STORE_ERROR,
                   "a %s event of version %" PRId64
                   "; this program reads up to %d, so use a newer one",
                   types[type].name, version, types[type].version);
}

bool event_from_payload(enum event_type type, int version, const char *payload, size_t len,
                        struct event **out, struct error *e)
{
    *out = NULL;
    if (type < 0 || type >= EVENT_TYPE_COUNT)
        return err_set(e, ERR_SESSION_STORE_ERROR, "an event of unknown type %d", (int)type);
    if (!known_version(type, version, e))
        return false;
    struct json *v = json_parse(payload, len, e);
    if (!v) {
        struct error cause = e ? *e : (struct error){0};
        return err_set(e, ERR_SESSION_STORE_ERROR, "the payload of a %s event is no JSON: %s",
                       types[type].name, cause.text);
    }
    struct event *ev = event_new(type);
    bool ok = read_fields(v, ev, e);
    json_free(v);
    if (ok)
        *out = ev;
    else
        event_free(ev);
    return ok;
}

static bool read_type(const struct json *line, enum event_type *out, struct error *e)
{
    const char *name = json_get_string(line, "type");
    if (!name)
        return err_set(e, ERR_SESSION_STORE_ERROR, "an event without a \"type\"");
    return event_type_from_name(name, out) ||
           err_set(e, ERR_SESSION_STORE_ERROR, "an event of unknown type \"%.40s\"", name);
}

static bool misfit(const char *member, struct error *e)
{
    return err_set(e, ERR_SESSION_STORE_ERROR, "\"%s\" of an event does not fit", member);
}

static bool read_envelope(const struct json *line, struct event *ev, struct error *e)
{
    int64_t seq = figure_from(json_get_number(line, "seq", 0), FIGURE_MAX);
    const char *session_id = json_get_string(line, "session_id");
    const char *at = json_get_string(line, "at");
    if (seq < 1)
        return misfit("seq", e);
    if (!session_id || !uuid_valid(session_id))
        return misfit("session_id", e);
    if (!at || !clock_parse(at, &ev->wall_ms))
        return misfit("at", e);
    ev->seq = seq;
    memcpy(ev->session_id, session_id, sizeof ev->session_id);
    return true;
}

bool event_from_json(const struct json *line, struct event **out, struct error *e)
{
    enum event_type type = EVENT_RUN_STARTED;
    *out = NULL;
    if (json_type(line) != JSON_OBJECT)
        return err_set(e, ERR_SESSION_STORE_ERROR, "an event is no object");
    if (!read_type(line, &type, e) || !known_version(type, json_get_int(line, "version", 1), e))
        return false;
    struct event *ev = event_new(type);
    bool ok = read_envelope(line, ev, e) && read_fields(line, ev, e);
    if (ok)
        *out = ev;
    else
        event_free(ev);
    return ok;
}
