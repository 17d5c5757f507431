#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "session/import_private.h"

/* "+" before each, so that a label which begins with a sign stays what it is. */
static bool check_labels(const char *labels, char **out, struct error *e)
{
    struct buf words = BUF_INIT;
    for (const char *at = labels; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
        buf_addf(&words, "+%.*s ", (int)strcspn(at, " "), at);
    bool ok = session_labels_change(NULL, words.data, out, e);
    buf_release(&words);
    return ok;
}

static void move(char **to, char **from)
{
    free(*to);
    *to = *from;
    *from = NULL;
}

static void move_time(int64_t *to, int64_t ms)
{
    if (ms != 0)
        *to = ms;
}

/* What a listing counts is made of the events. */
static void take(struct imported *out, struct session_info *told)
{
    struct session_info *info = &out->info;
    free(info->title);
    info->title = session_title_from(told->title ? told->title : "");
    move(&info->directory, &told->directory);
    move(&info->provider, &told->provider);
    move(&info->model, &told->model);
    move(&info->system, &told->system);
    move(&info->draft, &told->draft);
    if (*told->id)
        memcpy(info->id, told->id, sizeof info->id);
    if (*told->parent) {
        memcpy(info->parent, told->parent, sizeof info->parent);
        info->parent_seq = told->parent_seq;
    }
    move_time(&info->created_ms, told->created_ms);
    move_time(&info->archived_ms, told->archived_ms);
    move_time(&out->updated_ms, told->updated_ms);
    out->cost = told->cost;
}

bool import_info(const struct json *v, const struct place *p, struct imported *out, struct error *e)
{
    struct session_info told = {0};
    struct error cause;
    if (!shape_read(&session_info_shape, v, &told, &cause))
        return import_fault(p, e, "%s", cause.text);
    bool ok = !told.labels || check_labels(told.labels, &out->info.labels, &cause) ||
              import_fault(p, e, "\"labels\": %s", cause.text);
    if (ok)
        take(out, &told);
    session_info_release(&told);
    return ok;
}
