#include <string.h>

#include "session/export.h"
#include "session/import_private.h"

/* The full-text index numbers what it knows with 32 bits. */
#define SEQ_MAX INT32_MAX

bool import_own_version(const struct json *v, const struct place *p, struct error *e)
{
    double version = json_number(v, 0);
    if (version > EXPORT_VERSION)
        return import_fault(p, e, "written by a newer tiro (\"tiro\" is %g, this one reads %d)",
                            version, EXPORT_VERSION);
    return version == EXPORT_VERSION || import_fault(p, e, "\"tiro\" is no version");
}

bool import_own_session(const struct json *v, struct imported *out, struct error *e)
{
    struct place p = place_of("session");
    char said[UUID_LEN + 1];
    memcpy(said, out->info.id, sizeof said);
    if (!import_info(v, &p, out, e))
        return false;
    return !*said || strcmp(said, out->info.id) == 0 ||
           import_fault(&p, e, "\"id\" is not that of the events");
}

static bool check_order(const struct event *ev, const struct imported *im, const struct place *p,
                        struct error *e)
{
    if (*im->info.id && strcmp(ev->session_id, im->info.id) != 0)
        return import_fault(p, e, "\"session_id\" is that of another session");
    if (ev->seq <= im->last_seq)
        return import_fault(p, e, "\"seq\" %lld does not come after %lld", (long long)ev->seq,
                            (long long)im->last_seq);
    return ev->seq <= SEQ_MAX || import_fault(p, e, "\"seq\" is above %d", SEQ_MAX);
}

bool import_own_event(const struct json *v, const struct place *p, struct imported *im,
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
    imported_add(im, ev);
    return true;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_session(const struct json *line)
{
    const char *type = json_get_string(line, "type");
    return type && strcmp(type, "session") == 0;
}

static bool add_line(const struct json *line, const struct place *p, bool first,
                     struct imported *out, struct error *e)
{
    if (!is_session(line))
        return import_own_event(line, p, out, e);
    if (!first)
        return import_fault(p, e, "a second session; import each by itself");
    return import_own_version(json_get(line, "tiro"), p, e) && import_info(line, p, out, e);
}

static bool read_line(struct import_text *t, bool first, struct imported *out, struct error *e)
{
    struct place p = place_of("line %lld", (long long)t->element_line);
    struct json *line = import_text_parse(t, &p, e);
    bool ok = line && add_line(line, &p, first, out, e);
    json_free(line);
    return ok;
}

bool import_own_lines(struct import_text *t, struct imported *out, struct error *e)
{
    for (bool first = true; import_text_peek(t) >= 0; first = false) {
        if (!import_text_line(t, e) || !read_line(t, first, out, e) || !imported_settle(out, e))
            return false;
    }
    return true;
}
