#include "session/notice.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct notice *notice_new(enum notice_type type)
{
    struct notice *n = mem_alloc(sizeof *n);
    n->type = type;
    n->meters.total = USAGE_UNKNOWN;
    n->meters.cost = -1;
    return n;
}

void notice_free(struct notice *n)
{
    if (!n)
        return;
    operation_answer_free(n->answer);
    event_free(n->event);
    session_info_release(&n->info);
    for (size_t i = 0; i < n->events.len; i++)
        event_free(n->events.items[i]);
    vec_release(&n->events);
    memory_stats_release(&n->stats);
    shape_release(&corpus_progress_shape, &n->progress);
    free(n->provider);
    free(n->model);
    free(n->detail);
    free(n->text);
    free(n->name);
    free(n->args);
    free(n->preview);
    free(n->guarded);
    free(n->grant);
    free(n);
}

void notice_name_session(struct notice *n, const char *id)
{
    size_t len = id ? strlen(id) : 0;
    memcpy(n->session, id ? id : "", len < UUID_LEN ? len : UUID_LEN);
}
