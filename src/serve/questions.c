#include "serve/questions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "serve/notice_json.h"

struct questions {
    VEC(struct question) items; /* one a session at most */
};

struct questions *questions_new(void)
{
    return mem_alloc(sizeof(struct questions));
}

void questions_free(struct questions *q)
{
    for (size_t i = 0; q && i < q->items.len; i++)
        free(q->items.items[i].params);
    if (q)
        vec_release(&q->items);
    free(q);
}

bool question_begins(const struct notice *n)
{
    return n->type == NOTICE_APPROVAL || n->type == NOTICE_DRAFT;
}

bool question_ends(const struct notice *n)
{
    bool idle = n->type == NOTICE_BUSY && !n->flag;
    return idle || (n->type == NOTICE_EVENT && (n->event->type == EVENT_TOOL_EXECUTION_COMPLETED ||
                                                n->event->type == EVENT_COMPACTION_COMPLETED ||
                                                n->event->type == EVENT_COMPACTION_FAILED));
}

const struct question *questions_at(const struct questions *q, size_t index)
{
    return index < q->items.len ? &q->items.items[index] : NULL;
}

const struct question *questions_of(const struct questions *q, const char *session)
{
    for (size_t i = 0; i < q->items.len; i++)
        if (strcmp(q->items.items[i].session, session) == 0)
            return &q->items.items[i];
    return NULL;
}

static void forget(struct questions *q, const char *session)
{
    const struct question *gone = questions_of(q, session);
    if (!gone)
        return;
    free(gone->params);
    vec_remove(&q->items, (size_t)(gone - q->items.items), 1);
}

void questions_note(struct questions *q, const struct notice *n)
{
    bool begins = question_begins(n);
    if (!begins && !question_ends(n))
        return;
    forget(q, n->session);
    if (!begins)
        return;
    struct question asked = {.method = notification_of(n->type)->method, .params = notice_json(n)};
    memcpy(asked.session, n->session, sizeof asked.session);
    vec_push(&q->items, asked);
}
