#include "ui/view/view.h"

struct view *view_outer(struct view *v)
{
    while (v->within)
        v = v->within;
    return v;
}

const struct rows *view_draw(struct view *v, int width, int height)
{
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
    v->caret.shown = false;
    return v->ops->rows(v);
}

uint64_t view_ask(struct view *v, const struct operation *o, const void *params, view_answer *take)
{
    return v->host->ask(v->host->app, v, o, params, take);
}

void view_withdraw(const struct view *v, uint64_t id)
{
    v->host->withdraw(v->host->app, NULL, id);
}

void view_touch(const struct view *v)
{
    v->host->touch(v->host->app);
}

bool view_has_keyboard(const struct view *v)
{
    while (v->within)
        v = v->within;
    return !v->ops->passes || !v->ops->passes(v);
}

void view_close(struct view *v)
{
    v->host->close(v->host->app, view_outer(v));
}

enum action view_action(const struct view *v, enum action action, const struct key *key)
{
    enum action letter = keymap_find_in(v->host->keymap, key, KEYS_READING);
    return letter != ACTION_NONE ? letter : action;
}

/* --- the stack --- */

static void free_view(struct view *v)
{
    v->host->withdraw(v->host->app, v, 0);
    v->ops->free(v);
}

struct view *views_shown(const struct views *s, enum view_layer layer)
{
    struct view *v = s->at[layer];
    return v && (!v->ops->shown || v->ops->shown(v)) ? v : NULL;
}

void views_open(struct views *s, struct view *v)
{
    views_close_from(s, v->ops->layer);
    views_close(s, s->at[v->ops->layer]);
    s->at[v->ops->layer] = v;
}

void views_close(struct views *s, struct view *v)
{
    if (!v || s->at[v->ops->layer] != v)
        return;
    if (v->ops->close) {
        v->ops->close(v);
        return;
    }
    s->at[v->ops->layer] = NULL;
    free_view(v);
}

void views_close_from(struct views *s, enum view_layer lowest)
{
    for (int i = VIEW_LIST; i >= (int)lowest; i--)
        views_close(s, s->at[i]);
}

void views_close_session(struct views *s)
{
    for (int i = 0; i < VIEW_LAYERS; i++)
        if (s->at[i] && s->at[i]->ops->of_session)
            views_close(s, s->at[i]);
}

void views_release(struct views *s)
{
    for (int i = VIEW_LAYERS - 1; i >= 0; i--)
        if (s->at[i])
            free_view(s->at[i]);
    *s = (struct views){0};
}

struct view *views_holder(const struct views *s)
{
    for (int i = VIEW_LAYERS - 1; i >= 0; i--) {
        struct view *v = views_shown(s, (enum view_layer)i);
        if (v && view_has_keyboard(v))
            return v;
    }
    return NULL;
}

bool views_key(struct views *s, enum action action, const struct key *key, enum view_layer *by)
{
    for (int i = VIEW_LAYERS - 1; i >= 0; i--) {
        struct view *v = views_shown(s, (enum view_layer)i);
        if (!v || !v->ops->key(v, action, key))
            continue;
        *by = (enum view_layer)i;
        return true;
    }
    return false;
}

void views_notice(struct views *s, struct notice *n)
{
    for (int i = VIEW_LAYERS - 1; i >= 0; i--)
        if (s->at[i] && s->at[i]->ops->notice)
            s->at[i]->ops->notice(s->at[i], n);
}

static int64_t due_of(const struct views *s, int layer)
{
    const struct view *v = views_shown(s, (enum view_layer)layer), *holder = views_holder(s);
    bool covered = holder && (int)holder->ops->layer > layer;
    return v && v->ops->due && !(v->ops->due_with_keys && covered) ? v->ops->due(v) : 0;
}

int64_t views_due(const struct views *s)
{
    int64_t earliest = 0;
    for (int i = 0; i < VIEW_LAYERS; i++) {
        int64_t due = due_of(s, i);
        if (due != 0 && (earliest == 0 || due < earliest))
            earliest = due;
    }
    return earliest;
}

bool views_tick(struct views *s, int64_t now_ms)
{
    bool any = false;
    for (int i = 0; i < VIEW_LAYERS; i++) {
        int64_t due = due_of(s, i);
        if (due == 0 || due > now_ms)
            continue;
        any = true;
        if (s->at[i]->ops->tick)
            s->at[i]->ops->tick(s->at[i]);
    }
    return any;
}
