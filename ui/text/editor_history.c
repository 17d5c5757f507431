#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ui/text/editor_private.h"

enum { HISTORY_MAX = 1000 };

static void leave_history(struct editor *e)
{
    free(e->unsent);
    e->unsent = NULL;
    e->history_back = 0;
}

void editor_history_release(struct editor *e)
{
    leave_history(e);
    vec_free_each(&e->history);
}

void editor_history_add(struct editor *e, const char *text)
{
    leave_history(e);
    if (!*text || (e->history.len && strcmp(vec_last(&e->history), text) == 0))
        return;
    if (e->history.len == HISTORY_MAX) {
        free(e->history.items[0]);
        vec_remove(&e->history, 0, 1);
    }
    vec_push(&e->history, mem_strdup(text));
}

void editor_history_load(struct editor *e, char *const *newest_first, size_t count)
{
    size_t back = e->history_back;
    char *unsent = e->unsent;
    e->unsent = NULL;
    editor_history_release(e);
    while (count-- > 0)
        editor_history_add(e, newest_first[count]);
    e->history_back = back < e->history.len ? back : e->history.len;
    if (e->history_back > 0) /* the person is on the way through it already */
        e->unsent = unsent;
    else
        free(unsent);
}

bool editor_history_older(struct editor *e)
{
    if (e->history_back == e->history.len)
        return false;
    if (e->history_back == 0)
        e->unsent = mem_strdup(e->text.data);
    e->history_back++;
    editor_set(e, e->history.items[e->history.len - e->history_back]);
    return true;
}

bool editor_history_newer(struct editor *e)
{
    if (e->history_back == 0)
        return false;
    e->history_back--;
    if (e->history_back > 0) {
        editor_set(e, e->history.items[e->history.len - e->history_back]);
        return true;
    }
    editor_set(e, e->unsent);
    leave_history(e);
    return true;
}

size_t editor_history_count(const struct editor *e)
{
    return e->history.len;
}

const char *editor_history_at(const struct editor *e, size_t index_from_newest)
{
    return index_from_newest < e->history.len
               ? e->history.items[e->history.len - 1 - index_from_newest]
               : NULL;
}
