/* Keys that came before what they mean: the hits of the query as it was typed, the text of the
 * entry that is to be changed, or the list once it is. They wait, so that nothing is done with
 * another entry. */
#include <stdlib.h>

#include "base/mem.h"
#include "ui/view/memory_view_private.h"

enum { MOST_KEYS = 64 };

static bool waits_for_hits(const struct memory_view *p)
{
    return p->behind && p->tab == TAB_MEMORY;
}

bool ahead_waits(const struct memory_view *p)
{
    if (p->place == IN_EDITOR)
        return p->edit.saving;
    return edit_waits(p) || waits_for_hits(p);
}

void ahead_drop(struct memory_view *p)
{
    for (size_t i = 0; i < p->ahead.len; i++)
        free(p->ahead.items[i].text);
    vec_clear(&p->ahead);
    edit_give_up(p);
}

/* --- which keys wait --- */

static bool is_any_of(enum action action, const enum action *all)
{
    for (; *all != ACTION_NONE; all++)
        if (*all == action)
            return true;
    return false;
}

/* What closes or leaves is not to be waited with, and what came before it is off. */
static bool leaves(enum action action)
{
    static const enum action leaving[] = {ACTION_CANCEL,   ACTION_CLEAR,      ACTION_MEMORY,
                                          ACTION_COMPLETE, ACTION_FIND_NEWER, ACTION_NONE};
    return is_any_of(action, leaving) || pane_passes(action);
}

/* What means no hit, if nothing waits that would come before it. */
static bool means_no_hit(const struct memory_view *p, enum action action, const struct key *key)
{
    static const enum action letters[] = {
        ACTION_MEMORY_RESTORE, ACTION_MEMORY_SCOPE, ACTION_MEMORY_ORIGIN, ACTION_MEMORY_SORT,
        ACTION_MEMORY_QUERY,   ACTION_MEMORY_TAB,   ACTION_NONE};
    static const enum action of_list[] = {ACTION_LEFT, ACTION_RIGHT, ACTION_NONE};
    if (p->ahead.len > 0 || p->place == IN_EDITOR || edit_waits(p))
        return false;
    if (is_any_of(keymap_find_in(p->view.host->keymap, key, KEYS_PANE), letters))
        return true;
    bool first = p->lists[p->tab].chosen == 0;
    return p->place == IN_LIST && (is_any_of(action, of_list) || (action == ACTION_UP && first));
}

static void keep(struct memory_view *p, const struct key *key)
{
    struct key copy = *key;
    if (p->ahead.len == MOST_KEYS)
        return;
    copy.text = mem_strdup(key->text);
    vec_push(&p->ahead, copy);
}

bool ahead_take(struct memory_view *p, enum action action, const struct key *key)
{
    bool wheel = action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN;
    if (wheel || !ahead_waits(p) || p->place == IN_QUERY)
        return false;
    if (leaves(action)) {
        ahead_drop(p);
        return false;
    }
    if (means_no_hit(p, action, key))
        return false;
    keep(p, key);
    return true;
}

void ahead_replay(struct memory_view *p)
{
    const struct view_host *host = p->view.host;
    while (p->ahead.len > 0 && !ahead_waits(p)) {
        struct key key = p->ahead.items[0];
        vec_remove(&p->ahead, 0, 1);
        host->type(host->app, &p->view, &key);
        free(key.text);
    }
}
