#include "chat/memory_entry.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "base/rfc3339.h"
#include "chat/figure.h"

void memory_entry_release(struct memory_entry *m)
{
    free(m->id);
    free(m->session_id);
    free(m->speaker);
    free(m->content);
    *m = (struct memory_entry){0};
}

struct memory_entry memory_entry_clone(const struct memory_entry *m)
{
    struct memory_entry copy = *m;
    copy.id = mem_strdup(m->id);
    copy.session_id = mem_strdup(m->session_id);
    copy.speaker = mem_strdup(m->speaker);
    copy.content = mem_strdup(m->content);
    return copy;
}

void memory_entries_release(struct memory_entries *list)
{
    for (size_t i = 0; i < list->items.len; i++)
        memory_entry_release(&list->items.items[i]);
    vec_release(&list->items);
}

const char *memory_entry_speaker(const struct memory_entry *m)
{
    return m->speaker ? m->speaker : role_name(m->role);
}

/* --- writing ---------------------------------------------------------------------------------- */

void memory_entry_write_id(struct json_out *o, const struct memory_entry *m)
{
    if (m->id && m->id_is_number) {
        json_out_name(o, "id");
        json_out_raw(o, m->id);
    } else {
        json_out_member(o, "id", m->id);
    }
}

void memory_entry_write_time(struct json_out *o, const struct memory_entry *m)
{
    char at[25];
    rfc3339_format(m->created_ms, at);
    json_out_member(o, "created_at", at);
}

void memory_entry_write(struct json_out *o, const struct memory_entry *m)
{
    json_out_open(o, '{');
    memory_entry_write_id(o, m);
    json_out_member(o, "session_id", m->session_id);
    json_out_int(o, "turn", figure_bounded(m->turn, FIGURE_MAX));
    if (m->seq > 0)
        json_out_int(o, "seq", figure_bounded(m->seq, FIGURE_MAX));
    json_out_member(o, "role", role_name(m->role));
    json_out_member(o, "speaker", m->speaker);
    memory_entry_write_time(o, m);
    json_out_member(o, "content", m->content);
    json_out_flag(o, "pinned", m->pinned);
    json_out_flag(o, "edited", m->edited);
    json_out_close(o, '}');
}

struct json *memory_entry_to_json(const struct memory_entry *m)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    memory_entry_write(&o, m);
    return json_out_tree(&text);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool misfit(const char *name, const char *reason, struct error *e)
{
    return err_set(e, ERR_USAGE, "\"%s\" %s", name, reason);
}

/* A member that may be missing; null counts as that. */
static const struct json *member(const struct json *v, const char *name)
{
    const struct json *found = json_get(v, name);
    return found && json_type(found) != JSON_NULL ? found : NULL;
}

static bool check_length(const char *name, const char *text, size_t most, struct error *e)
{
    return strlen(text) <= most ||
           err_set(e, ERR_USAGE, "\"%s\" is longer than %zu bytes; shorten it", name, most);
}

static bool read_text(const struct json *v, const char *name, size_t most, char **out,
                      struct error *e)
{
    const struct json *found = member(v, name);
    if (!found)
        return misfit(name, "is missing; give a string", e);
    const char *text = json_string(found);
    if (!text)
        return misfit(name, "is no string; give one", e);
    if (!check_length(name, text, most, e))
        return false;
    *out = mem_strdup(text);
    return true;
}

static bool read_name(const struct json *v, const char *name, size_t most, char **out,
                      struct error *e)
{
    return read_text(v, name, most, out, e) &&
           (**out || misfit(name, "is empty; give at least one character", e));
}

static bool read_count(const struct json *v, const char *name, int64_t *out, struct error *e)
{
    const struct json *found = member(v, name);
    *out = found ? figure_from(json_number(found, -1), FIGURE_MAX) : 0;
    return *out >= 0 || misfit(name, "is no whole number from 0; give one, or leave it out", e);
}

static bool read_flag(const struct json *v, const char *name, bool *out, struct error *e)
{
    const struct json *found = member(v, name);
    *out = json_true(found);
    return !found || json_type(found) == JSON_BOOL ||
           misfit(name, "is neither true nor false; give one of them, or leave it out", e);
}

static bool read_id(const struct json *v, struct memory_entry *out, struct error *e)
{
    const struct json *found = member(v, "id");
    if (!found)
        return true;
    if (json_type(found) != JSON_NUMBER)
        return read_name(v, "id", MEMORY_ID_BYTES, &out->id, e);
    double n = json_number(found, 0);
    if (figure_from(fabs(n), FIGURE_MAX) < 0)
        return misfit("id", "is no whole number; give one, or a string", e);
    out->id = mem_printf("%" PRId64, (int64_t)n);
    out->id_is_number = true;
    return true;
}

static bool read_role(const struct json *v, enum role *out, struct error *e)
{
    static const enum role known[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL};
    const char *name = json_get_string(v, "role");
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++) {
        *out = known[i];
        if (strcmp(name, role_name(*out)) == 0)
            return true;
    }
    return misfit("role", "is not \"user\", \"assistant\" or \"tool\"; give one of them", e);
}

static bool read_speaker(const struct json *v, char **out, struct error *e)
{
    if (!member(v, "speaker"))
        return true;
    if (!read_text(v, "speaker", MEMORY_SPEAKER_BYTES, out, e))
        return false;
    if (!**out) {
        free(*out);
        *out = NULL;
    }
    return true;
}

static bool read_time(const struct json *v, int64_t *out, struct error *e)
{
    const char *text = json_get_string(v, "created_at");
    return (text && rfc3339_parse(text, out)) ||
           misfit("created_at", "is no time; give one like \"2026-03-09T14:05:07Z\"", e);
}

static bool read_members(const struct json *v, struct memory_entry *out, struct error *e)
{
    return read_id(v, out, e) && read_name(v, "session_id", MEMORY_ID_BYTES, &out->session_id, e) &&
           read_count(v, "turn", &out->turn, e) && read_count(v, "seq", &out->seq, e) &&
           read_role(v, &out->role, e) && read_speaker(v, &out->speaker, e) &&
           read_time(v, &out->created_ms, e) &&
           read_text(v, "content", MEMORY_CONTENT_BYTES, &out->content, e) &&
           read_flag(v, "pinned", &out->pinned, e) && read_flag(v, "edited", &out->edited, e);
}

bool memory_entry_from_json(const struct json *v, struct memory_entry *out, struct error *e)
{
    *out = (struct memory_entry){0};
    if (json_type(v) != JSON_OBJECT)
        return err_set(e, ERR_USAGE, "it is no JSON object; give one entry a line");
    if (read_members(v, out, e))
        return true;
    memory_entry_release(out);
    return false;
}
