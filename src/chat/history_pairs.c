#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "chat/history_private.h"

struct ids {
    VEC(const char *) items;
};

/* Of the blocks of one type, sorted. */
static struct ids ids_of(const struct message *m, enum block_type type)
{
    struct ids ids = {0};
    for (size_t i = 0; m && i < m->blocks.len; i++)
        if (m->blocks.items[i].type == type)
            vec_push(&ids.items, m->blocks.items[i].id);
    vec_sort(&ids.items, vec_text_order);
    return ids;
}

static bool same_ids(const struct ids *a, const struct ids *b)
{
    bool same = a->items.len == b->items.len;
    for (size_t i = 0; i < a->items.len && same; i++)
        same = strcmp(a->items.items[i], b->items.items[i]) == 0;
    return same;
}

/* The results in `next`, a tool's message or NULL, are those of the calls in `m`. */
static bool answered(const struct message *m, const struct message *next)
{
    struct ids calls = ids_of(m, BLOCK_TOOL_CALL);
    struct ids results = ids_of(next, BLOCK_TOOL_RESULT);
    bool same = same_ids(&calls, &results);
    vec_release(&calls.items);
    vec_release(&results.items);
    return same;
}

/* What each role can say. */
static bool has_strange_block(const struct message *m)
{
    static const unsigned blocks[] = {
        [ROLE_SYSTEM] = 1U << BLOCK_TEXT,
        [ROLE_USER] = 1U << BLOCK_TEXT | 1U << BLOCK_IMAGE,
        [ROLE_ASSISTANT] = 1U << BLOCK_TEXT | 1U << BLOCK_REASONING | 1U << BLOCK_TOOL_CALL,
        [ROLE_TOOL] = 1U << BLOCK_TOOL_RESULT,
    };
    for (size_t i = 0; i < m->blocks.len; i++)
        if (!(blocks[m->role] & 1U << m->blocks.items[i].type))
            return true;
    return false;
}

/* What is wrong with a message, or NULL. `next` is NULL unless it is a tool's. */
static const char *misfit(const struct message *before, const struct message *m,
                          const struct message *next)
{
    if (!before && m->role != ROLE_USER)
        return "it does not begin with the user";
    if (m->role == ROLE_SYSTEM)
        return "it has a message of the system's";
    if (m->blocks.len == 0)
        return "it has an empty message";
    if (has_strange_block(m))
        return "a message says what its role cannot";
    if (m->turn < 1 || (before && (m->seq <= before->seq || m->turn < before->turn)))
        return "its messages are out of order";
    if (m->role == ROLE_TOOL && before->role != ROLE_ASSISTANT)
        return "it has results without calls";
    if (m->role == ROLE_ASSISTANT && !answered(m, next))
        return "its calls and results do not pair";
    return NULL;
}

bool history_messages_fit(const struct message *messages, size_t count,
                          struct message_source *source, const char **what)
{
    *what = NULL;
    for (size_t i = 0; i < count && !*what; i++) {
        struct message room, next_room = {.role = ROLE_TOOL};
        bool follows = i + 1 < count && messages[i + 1].role == ROLE_TOOL;
        const struct message *m = message_whole(source, &messages[i], &room);
        const struct message *next =
            follows ? message_whole(source, &messages[i + 1], &next_room) : NULL;
        *what = misfit(i > 0 ? &messages[i - 1] : NULL, m, next);
        message_release(&room);
        message_release(&next_room);
    }
    return !*what;
}
