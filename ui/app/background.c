#include "ui/app/background.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/notice.h"

void background_release(struct background *b)
{
    for (size_t i = 0; i < b->items.len; i++)
        free(b->items.items[i].title);
    vec_release(&b->items);
}

struct background_session *background_find(const struct background *b, const char *id)
{
    for (size_t i = 0; i < b->items.len; i++)
        if (strcmp(b->items.items[i].id, id) == 0)
            return &b->items.items[i];
    return NULL;
}

struct background_session *background_put(struct background *b, const char *id, const char *title)
{
    struct background_session *s = background_find(b, id);
    if (s)
        return s;
    struct background_session new = {.title = mem_strdup(title ? title : "")};
    memcpy(new.id, id, strnlen(id, UUID_LEN));
    vec_push(&b->items, new);
    return &vec_last(&b->items);
}

bool background_remove(struct background *b, const char *id)
{
    struct background_session *s = background_find(b, id);
    if (!s)
        return false;
    free(s->title);
    vec_remove(&b->items, (size_t)(s - b->items.items), 1);
    return true;
}

static size_t count(const struct background *b, const char *but, bool waits)
{
    size_t n = 0;
    for (size_t i = 0; i < b->items.len; i++)
        n += b->items.items[i].waits == waits && strcmp(b->items.items[i].id, but) != 0;
    return n;
}

size_t background_count(const struct background *b, const char *but)
{
    return count(b, but, false) + count(b, but, true);
}

const struct background_session *background_next(const struct background *b, const char *from)
{
    const struct background_session *works = NULL;
    for (size_t i = 0; i < b->items.len; i++) {
        const struct background_session *s = &b->items.items[i];
        if (strcmp(s->id, from) == 0)
            continue;
        if (s->waits)
            return s;
        if (!works)
            works = s;
    }
    return works;
}

bool background_describe(const struct background *b, const char *but, struct buf *out)
{
    size_t working = count(b, but, false), waiting = count(b, but, true);
    if (working > 0)
        buf_addf(out, ngettext("%zu working", "%zu working", working), working);
    if (working > 0 && waiting > 0)
        buf_addstr(out, ", ");
    if (waiting > 0)
        buf_addf(out, ngettext("%zu waits for you", "%zu wait for you", waiting), waiting);
    return waiting > 0;
}

bool background_means(const struct notice *n, const char *shown)
{
    if (!*n->session || !*shown || strcmp(n->session, shown) == 0)
        return false;
    switch (n->type) {
    case NOTICE_SESSION:
        return !n->flag; /* with the flag that session is shown from now on */
    case NOTICE_EVENT:
    case NOTICE_PAGE:
    case NOTICE_PROVIDER:
    case NOTICE_BUSY:
    case NOTICE_APPROVAL:
    case NOTICE_DRAFT:
        return true;
    default: /* answers, and notices about the whole engine */
        return false;
    }
}

enum background_news background_take(struct background *b, const struct notice *n)
{
    struct background_session *s = background_find(b, n->session);
    if (n->type == NOTICE_BUSY && n->flag)
        background_put(b, n->session, NULL);
    if (!s)
        return BACKGROUND_NOTHING;
    switch (n->type) {
    case NOTICE_BUSY:
        return n->flag ? BACKGROUND_NOTHING : BACKGROUND_ENDED;
    case NOTICE_APPROVAL:
    case NOTICE_DRAFT:
        s->waits = true;
        return BACKGROUND_ASKS;
    case NOTICE_SESSION:
        free(s->title);
        s->title = mem_strdup(n->info.title ? n->info.title : "");
        return BACKGROUND_NOTHING;
    case NOTICE_EVENT: {
        enum event_type type = n->event->type;
        bool waited = s->waits;
        s->failed = s->failed || type == EVENT_TURN_FAILED;
        if (type == EVENT_TOOL_EXECUTION_COMPLETED || type == EVENT_COMPACTION_COMPLETED ||
            type == EVENT_COMPACTION_FAILED)
            s->waits = false;
        return waited && !s->waits ? BACKGROUND_GOES_ON : BACKGROUND_NOTHING;
    }
    default:
        return BACKGROUND_NOTHING;
    }
}
