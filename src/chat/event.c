#include "chat/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/figure.h"

static const struct {
    const char *name;
    int version;
} types[] = {
#define X(id, name, version) [EVENT_##id] = {name, version},
    EVENT_TYPES(X)
#undef X
};

struct event *event_new(enum event_type type)
{
    struct event *ev = mem_alloc(sizeof *ev);
    ev->type = type;
    ev->usage = ev->summaries = USAGE_UNKNOWN;
    ev->compaction.input_tokens = -1;
    shape_init(&event_shapes[type], ev);
    return ev;
}

void event_free(struct event *ev)
{
    if (!ev)
        return;
    shape_release(&event_shapes[ev->type], ev);
    free(ev);
}

struct event *event_clone(const struct event *ev)
{
    struct event *copy = event_new(ev->type);
    shape_copy(&event_shapes[ev->type], copy, ev);
    copy->seq = ev->seq;
    copy->wall_ms = ev->wall_ms;
    memcpy(copy->session_id, ev->session_id, sizeof copy->session_id);
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

bool event_is_delta(enum event_type type)
{
    return type == EVENT_TEXT_DELTA || type == EVENT_REASONING_DELTA ||
           type == EVENT_COMPACTION_DELTA;
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

bool event_between_turns(const struct event *ev)
{
    bool compacts = ev->type == EVENT_COMPACTION_STARTED || ev->type == EVENT_COMPACTION_COMPLETED;
    return ev->type == EVENT_COMPACTION_UNDONE ||
           (compacts && ev->compaction.trigger && strcmp(ev->compaction.trigger, "manual") == 0);
}

char *event_payload(const struct event *ev)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(&event_shapes[ev->type], ev, &o);
    return buf_take(&text);
}

void event_begin_line(const struct event *ev, struct json_out *o)
{
    char time[25];
    rfc3339_format(ev->wall_ms, time);
    json_out_open(o, '{');
    json_out_member(o, "type", types[ev->type].name);
    json_out_int(o, "seq", ev->seq);
    json_out_member(o, "session_id", ev->session_id);
    json_out_member(o, "at", time);
    if (types[ev->type].version > 1)
        json_out_int(o, "version", types[ev->type].version);
}

static void write_line(struct json_out *o, const struct event *ev)
{
    event_begin_line(ev, o);
    shape_write_members(&event_shapes[ev->type], ev, o);
    json_out_close(o, '}');
}

char *event_to_line(const struct event *ev)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    write_line(&o, ev);
    return buf_take(&text);
}

static bool read_fields(const struct json *v, struct event *ev, struct error *e)
{
    struct error cause = {0};
    return shape_read(&event_shapes[ev->type], v, ev, &cause) ||
           err_set(e, ERR_SESSION_STORE_ERROR, "in a %s event: %s", types[ev->type].name,
                   cause.text);
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
    if (!at || !rfc3339_parse_exact(at, &ev->wall_ms))
        return misfit("at", e);
    ev->seq = seq;
    memcpy(ev->session_id, session_id, sizeof ev->session_id);
    return true;
}

bool event_from_json(const struct json *line, struct event **out, struct error *e)
{
    enum event_type type = EVENT_TURN_STARTED;
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

/* --- members of a shape ----------------------------------------------------------------------- */

static void write_event(struct json_out *o, const void *at)
{
    const struct event *ev = *(struct event *const *)at;
    if (ev)
        write_line(o, ev);
    else
        json_out_raw(o, "null");
}

static bool read_event(const struct json *v, void *at)
{
    return json_type(v) == JSON_NULL || event_from_json(v, at, NULL);
}

static void release_event(void *at)
{
    event_free(*(struct event **)at);
    *(struct event **)at = NULL;
}

const struct shape_codec event_codec = {.write = write_event,
                                        .read = read_event,
                                        .release = release_event,
                                        .schema = "{\"type\":[\"object\",\"null\"]}",
                                        .expected = "an event"};

void event_list_release(struct event_list *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        event_free(l->items.items[i]);
    vec_release(&l->items);
}

static void write_events(struct json_out *o, const void *at)
{
    const struct event_list *l = at;
    json_out_open(o, '[');
    for (size_t i = 0; i < l->items.len; i++)
        write_line(o, l->items.items[i]);
    json_out_close(o, ']');
}

static bool read_events(const struct json *v, void *at)
{
    struct event_list *l = at;
    struct event *ev;
    for (const struct json *line = json_first(v); line; line = json_next(line)) {
        if (!event_from_json(line, &ev, NULL))
            return false;
        vec_push(&l->items, ev);
    }
    return json_type(v) == JSON_ARRAY;
}

static void release_events(void *at)
{
    event_list_release(at);
}

const struct shape_codec event_list_codec = {
    .write = write_events,
    .read = read_events,
    .release = release_events,
    .schema = "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}",
    .expected = "a list of events",
};
