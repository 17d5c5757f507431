#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "session/session_operations.h"
#include "ui/view/sessions_private.h"

/* At once: what is gone cannot be asked for. */
static void forget_session(struct sessions *s, const char *id)
{
    for (size_t i = s->list.items.len; i-- > 0;)
        if (strcmp(s->list.items.items[i].id, id) == 0) {
            session_info_release(&s->list.items.items[i]);
            vec_remove(&s->list.items, i, 1);
            s->matching--;
        }
    for (size_t i = s->hits.items.len; i-- > 0;)
        if (strcmp(s->hits.items.items[i].session_id, id) == 0) {
            free(s->hits.items.items[i].title);
            free(s->hits.items.items[i].snippet);
            vec_remove(&s->hits.items, i, 1);
        }
    if (strcmp(s->previewed.id, id) == 0)
        sessions_forget_preview(s);
    s->all -= s->all > 0;
    sessions_stay_within(s);
}

/* At once: the next key may be the same one, and would do the same again. */
static void mark(struct sessions *s, const char *id, int64_t archived_ms)
{
    for (size_t i = 0; i < s->list.items.len; i++)
        if (strcmp(s->list.items.items[i].id, id) == 0)
            s->list.items.items[i].archived_ms = archived_ms;
    for (size_t i = 0; i < s->hits.items.len; i++)
        if (strcmp(s->hits.items.items[i].session_id, id) == 0)
            s->hits.items.items[i].archived = archived_ms > 0;
}

static void mark_archived(struct sessions *s, const char *id)
{
    s->shows_archived = true; /* the same key takes it back */
    mark(s, id, clock_wall_ms());
}

static void mark_live(struct sessions *s, const char *id)
{
    mark(s, id, 0);
}

static const struct change {
    const struct operation *operation;
    const char *said; /* for gettext */
    void (*show)(struct sessions *s, const char *id);
} changes[] = {
    {&operation_session_rename, N_("Renamed."), NULL},
    {&operation_session_label, N_("The labels are changed."), NULL},
    {&operation_session_archive, N_("Archived."), mark_archived},
    {&operation_session_unarchive, N_("Moved out of the archive."), mark_live},
    {&operation_session_delete, N_("Deleted."), forget_session},
};

static void show_change(struct sessions *s, const struct change *c, const char *id)
{
    sessions_say(s, STYLE_NOTE, _(c->said));
    if (c->show)
        c->show(s, id);
    sessions_forget_question(s, &s->list_question);
    sessions_forget_question(s, &s->search_question);
    sessions_forget_question(s, &s->preview_question);
    s->pinned = true;
    sessions_ask(s);
}

static bool take_change(struct view *view, struct operation_answer *a, const char *words)
{
    struct sessions *s = sessions_of(view);
    const struct session_changed *changed = a->result;
    sessions_input_answered(s, a->request->id, !words);
    if (words)
        sessions_say(s, STYLE_ERROR, words);
    for (size_t i = 0; i < sizeof changes / sizeof *changes && !words; i++)
        if (operation_answers(a, changes[i].operation))
            show_change(s, &changes[i], changed->id);
    return true;
}

uint64_t sessions_change(struct sessions *s, const struct operation *o, const void *params)
{
    s->pinned = true;
    return view_ask(&s->view, o, params, take_change);
}
