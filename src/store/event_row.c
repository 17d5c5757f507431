#include "store/event_row.h"

#include <string.h>

struct event *event_row_decode(const struct query *q, int first, struct error *e)
{
    const char *name = (const char *)sqlite3_column_text(q->handle, first);
    /* As a blob: sqlite3_column_text() copies a long text for the NUL behind it. */
    const void *bytes = sqlite3_column_blob(q->handle, first + 2);
    const char *payload = bytes ? bytes : "";
    size_t len = (size_t)sqlite3_column_bytes(q->handle, first + 2);
    enum event_type type;
    struct event *ev;
    if (!event_type_from_name(name, &type)) {
        err_set(e, ERR_SESSION_STORE_ERROR,
                "the log has an event of unknown type \"%.40s\"; use a newer tiro", name);
        return NULL;
    }
    struct error cause;
    int version = sqlite3_column_int(q->handle, first + 1);
    if (event_from_payload(type, version, payload, len, &ev, &cause))
        return ev;
    bool advised = strchr(cause.text, ';') != NULL; /* a version that is newer than this program */
    err_set(e, cause.code, "%s%s", cause.text, advised ? "" : " in the log; run 'tiro doctor'");
    return NULL;
}

struct event *event_row_read(const struct query *q, const char *session_id, struct error *e)
{
    struct event *ev = event_row_decode(q, 2, e);
    if (!ev)
        return NULL;
    ev->seq = sqlite3_column_int64(q->handle, 0);
    ev->wall_ms = sqlite3_column_int64(q->handle, 1);
    memcpy(ev->session_id, session_id, strnlen(session_id, UUID_LEN));
    return ev;
}
