#include "ui/view/view.h"

void view_send(const struct view *v, struct command *c)
{
    v->host->send(v->host->app, c);
}

void view_close(struct view *v)
{
    v->host->close(v->host->app, v);
}

void view_jump(struct view *v, int64_t seq)
{
    v->host->jump(v->host->app, v, seq);
}

bool view_run_action(struct view *v, const struct view_key *keys, enum action action)
{
    while (keys->action != ACTION_NONE && keys->action != action)
        keys++;
    if (!keys->run)
        return false;
    keys->run(v);
    return true;
}

bool view_run_key(struct view *v, const struct view_key *keys, enum action action,
                  const struct key *key)
{
    enum action letter = keymap_find_reading(v->host->keymap, key);
    return view_run_action(v, keys, letter != ACTION_NONE ? letter : action);
}

/* --- the stack --- */

void views_open(struct views *s, struct view *v)
{
    views_close_from(s, v->ops->layer);
    s->open[v->ops->layer] = v;
}

void views_close(struct views *s, struct view *v)
{
    if (!v || s->open[v->ops->layer] != v)
        return;
    s->open[v->ops->layer] = NULL;
    v->ops->free(v);
}

void views_close_from(struct views *s, enum view_layer lowest)
{
    for (int i = VIEW_LAYERS - 1; i >= (int)lowest; i--)
        views_close(s, s->open[i]);
}

void views_close_session(struct views *s)
{
    for (int i = 0; i < VIEW_LAYERS; i++)
        if (s->open[i] && s->open[i]->ops->of_session)
            views_close(s, s->open[i]);
}

struct view *views_holder(const struct views *s)
{
    for (int i = VIEW_LAYERS - 1; i >= 0; i--)
        if (s->open[i] && !(s->open[i]->ops->passes && s->open[i]->ops->passes(s->open[i])))
            return s->open[i];
    return NULL;
}

bool views_key(struct views *s, enum action action, const struct key *key)
{
    for (int i = VIEW_LAYERS - 1; i >= 0; i--)
        if (s->open[i] && s->open[i]->ops->key(s->open[i], action, key))
            return true;
    return false;
}

bool views_notice(struct views *s, struct notice *n, const char *words)
{
    bool taken = false;
    for (int i = VIEW_LAYERS - 1; i >= 0; i--)
        if (s->open[i] && s->open[i]->ops->notice)
            taken = s->open[i]->ops->notice(s->open[i], n, words) || taken;
    return taken;
}

static int64_t due_of(const struct view *v)
{
    return v && v->ops->due ? v->ops->due(v) : 0;
}

int64_t views_due(const struct views *s)
{
    int64_t earliest = 0;
    for (int i = 0; i < VIEW_LAYERS; i++) {
        int64_t due = due_of(s->open[i]);
        if (due != 0 && (earliest == 0 || due < earliest))
            earliest = due;
    }
    return earliest;
}

bool views_tick(struct views *s, int64_t now_ms)
{
    bool any = false;
    for (int i = 0; i < VIEW_LAYERS; i++) {
        int64_t due = due_of(s->open[i]);
        if (due == 0 || due > now_ms)
            continue;
        any = true;
        if (s->open[i]->ops->tick)
            s->open[i]->ops->tick(s->open[i]);
    }
    return any;
}
