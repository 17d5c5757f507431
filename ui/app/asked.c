#include "ui/app/asked.h"

void asked_release(struct asked *s)
{
    vec_release(&s->requests);
}

uint64_t asked_start(struct asked *s, struct engine *engine, const struct operation *o,
                     const void *params, struct asked_request by)
{
    by.id = engine_start(engine, o, params);
    by.lasts = operation_lasts(o);
    vec_push(&s->requests, by);
    return by.id;
}

static void withdraw_at(struct asked *s, struct engine *engine, size_t at)
{
    engine_withdraw(engine, s->requests.items[at].id);
    vec_remove(&s->requests, at, 1);
}

void asked_withdraw(struct asked *s, struct engine *engine, uint64_t id)
{
    for (size_t i = s->requests.len; i > 0; i--)
        if (s->requests.items[i - 1].id == id)
            withdraw_at(s, engine, i - 1);
}

void asked_withdraw_view(struct asked *s, struct engine *engine, const struct view *v)
{
    for (size_t i = s->requests.len; i > 0; i--) {
        struct asked_request *r = &s->requests.items[i - 1];
        if (r->view == v && r->lasts)
            *r = (struct asked_request){.id = r->id};
        else if (r->view == v)
            withdraw_at(s, engine, i - 1);
    }
}

bool asked_find(struct asked *s, uint64_t id, struct asked_request *out)
{
    for (size_t i = 0; i < s->requests.len; i++)
        if (s->requests.items[i].id == id) {
            *out = s->requests.items[i];
            vec_remove(&s->requests, i, 1);
            return true;
        }
    return false;
}

bool asked_give(struct app *app, const struct asked_request *r, struct operation_answer *a,
                const char *words)
{
    if (r->view)
        return r->take_view && r->take_view(r->view, a, words);
    return r->take && r->take(app, a, words);
}
