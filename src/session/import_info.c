#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "session/import_private.h"

static bool read_string(const struct json *v, const char *name, const struct place *p, char **out,
                        struct error *e)
{
    const struct json *member = json_get(v, name);
    const char *text = json_string(member);
    if (member && !text)
        return import_fault(p, e, "\"%s\" is no text", name);
    free(*out);
    *out = mem_strdup(text);
    return true;
}

static bool read_strings(const struct json *v, const struct place *p, struct session_info *info,
                         struct error *e)
{
    const struct {
        const char *name;
        char **out;
    } strings[] = {
        {"directory", &info->directory}, {"provider", &info->provider}, {"model", &info->model},
        {"system", &info->system},       {"draft", &info->draft},
    };
    char *title = NULL;
    if (!read_string(v, "title", p, &title, e))
        return false;
    free(info->title);
    info->title = session_title_from(title ? title : "");
    free(title);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!read_string(v, strings[i].name, p, strings[i].out, e))
            return false;
    return true;
}

static bool read_id(const struct json *v, const char *name, const struct place *p,
                    char out[UUID_LEN + 1], struct error *e)
{
    const char *id = json_get_string(v, name);
    if (!json_get(v, name))
        return true;
    if (!uuid_valid(id))
        return import_fault(p, e, "\"%s\" is no id of a session", name);
    memcpy(out, id, UUID_LEN + 1);
    return true;
}

static bool read_time(const struct json *v, const char *name, const struct place *p, int64_t *out,
                      struct error *e)
{
    const char *text = json_get_string(v, name);
    if (!json_get(v, name))
        return true;
    return (text && clock_parse(text, out)) ||
           import_fault(p, e, "\"%s\" is no time like 2026-03-09T14:05:07.123Z", name);
}

/* "+" before each, so that a label which begins with a sign stays what it is. */
static bool join_labels(const struct json *list, struct buf *out)
{
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const char *label = json_string(v);
        if (!label || !*label || label[strcspn(label, " \t\r\n\v\f")])
            return false;
        buf_addf(out, "+%s ", label);
    }
    return true;
}

static bool read_labels(const struct json *v, const struct place *p, char **out, struct error *e)
{
    const struct json *list = json_get(v, "labels");
    struct error cause = {.text = "not each of them is a word"};
    struct buf words = BUF_INIT;
    if (!list)
        return true;
    bool ok = json_type(list) == JSON_ARRAY && join_labels(list, &words) &&
              session_labels_change(NULL, words.data, out, &cause);
    buf_release(&words);
    return ok || import_fault(p, e, "\"labels\": %s", cause.text);
}

static bool read_parent(const struct json *v, const struct place *p, struct session_info *info,
                        struct error *e)
{
    if (!read_id(v, "parent", p, info->parent, e))
        return false;
    info->parent_seq = *info->parent ? json_get_int(v, "parent_seq", 0) : 0;
    return info->parent_seq >= 0 || import_fault(p, e, "\"parent_seq\" is negative");
}

bool import_info(const struct json *v, const struct place *p, struct imported *out, struct error *e)
{
    struct session_info *info = &out->info;
    if (json_type(v) != JSON_OBJECT)
        return import_fault(p, e, "the session is no object");
    out->cost = json_get_number(v, "cost", -1);
    return read_id(v, "id", p, info->id, e) && read_strings(v, p, info, e) &&
           read_labels(v, p, &info->labels, e) && read_parent(v, p, info, e) &&
           read_time(v, "created", p, &info->created_ms, e) &&
           read_time(v, "updated", p, &out->updated_ms, e) &&
           read_time(v, "archived", p, &info->archived_ms, e);
}
