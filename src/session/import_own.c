#include <string.h>

#include "session/export.h"
#include "session/import_private.h"

/* The full-text index numbers what it knows with 32 bits. */
#define SEQ_MAX INT32_MAX

static bool check_version(const struct json *v, const struct place *p, struct error *e)
{
    double version = json_get_number(v, "tiro", 0);
    if (version > EXPORT_VERSION)
        return import_fault(p, e, "written by a newer tiro (\"tiro\" is %g, this one reads %d)",
                            version, EXPORT_VERSION);
    return version == EXPORT_VERSION || import_fault(p, e, "\"tiro\" is no version");
}

static bool check_order(const struct event *ev, const struct imported *im, const struct place *p,
                        struct error *e)
{
    int64_t before = im->events.len > 0 ? vec_last(&im->events)->seq : 0;
    if (*im->info.id && strcmp(ev->session_id, im->info.id) != 0)
        return import_fault(p, e, "\"session_id\" is that of another session");
    if (ev->seq <= before)
        return import_fault(p, e, "\"seq\" %lld does not come after %lld", (long long)ev->seq,
                            (long long)before);
    return ev->seq <= SEQ_MAX || import_fault(p, e, "\"seq\" is above %d", SEQ_MAX);
}

static bool add_event(const struct json *v, const struct place *p, struct imported *im,
                      struct error *e)
{
    struct event *ev;
    struct error cause = {0};
    if (!event_from_json(v, &ev, &cause))
        return import_fault(p, e, "%s", cause.text);
    if (!check_order(ev, im, p, e)) {
        event_free(ev);
        return false;
    }
    memcpy(im->info.id, ev->session_id, sizeof im->info.id);
    vec_push(&im->events, ev);
    return true;
}

bool import_json(const struct json *root, struct imported *out, struct error *e)
{
    struct place top = place_of("the text");
    struct place session = place_of("session");
    const struct json *events = json_get(root, "events");
    if (!check_version(root, &top, e) || !import_info(json_get(root, "session"), &session, out, e))
        return false;
    if (json_type(events) != JSON_ARRAY)
        return import_fault(&top, e, "\"events\" is no array");
    size_t i = 0;
    for (const struct json *v = json_first(events); v; v = json_next(v)) {
        struct place p = place_of("events[%zu]", i++);
        if (!add_event(v, &p, out, e))
            return false;
    }
    return true;
}

static bool is_session(const struct json *line)
{
    const char *type = json_get_string(line, "type");
    return type && strcmp(type, "session") == 0;
}

static bool add_line(const struct json *line, const struct place *p, bool first,
                     struct imported *out, struct error *e)
{
    if (!is_session(line))
        return add_event(line, p, out, e);
    if (!first)
        return import_fault(p, e, "a second session; import each by itself");
    return check_version(line, p, e) && import_info(line, p, out, e);
}

static bool read_line(const char *text, size_t len, const struct place *p, bool first,
                      struct imported *out, struct error *e)
{
    struct error cause = {0};
    struct json *line = json_parse(text, len, &cause);
    if (!line)
        return import_fault(p, e, "%s", cause.text);
    bool ok = add_line(line, p, first, out, e);
    json_free(line);
    return ok;
}

static bool is_blank(const char *text, size_t len)
{
    while (len > 0 && strchr(" \t\r", text[len - 1]))
        len--;
    return len == 0;
}

bool import_lines(const char *text, size_t len, struct imported *out, struct error *e)
{
    const char *end = text + len;
    bool first = true;
    for (size_t number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((newline ? newline : end) - text);
        if (!is_blank(text, line)) {
            struct place p = place_of("line %zu", number);
            if (!read_line(text, line, &p, first, out, e))
                return false;
            first = false;
        }
        text += newline ? line + 1 : line;
    }
    return true;
}
