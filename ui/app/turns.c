#include "ui/app/turns.h"

#include <stdlib.h>
#include <string.h>

bool turns_number(const char *text, size_t *number)
{
    char *end;
    long n = strtol(text, &end, 10);
    *number = n > 0 ? (size_t)n : 0;
    return *text && !*end && n >= 1;
}

static void look_at(void *context, const struct transcript_turn *turn)
{
    struct turn_found *found = context;
    found->count = turn->number;
    if (turn->number != found->number)
        return;
    found->seq = turn->seq;
    found->last = turn->last;
}

struct turn_found turns_held(const struct transcript *t, size_t number)
{
    struct turn_found found = {.number = number};
    transcript_each_turn(t, look_at, &found);
    return found;
}

static bool all_is_here(struct app *app)
{
    return app_want_older(app) == 0;
}

void turns_find(struct app *app, size_t number,
                void (*take)(struct app *app, const struct turn_found *found))
{
    if (!all_is_here(app)) {
        app->turns.number = number;
        app->turns.take = take;
        return;
    }
    struct turn_found found = turns_held(app->transcript, number);
    take(app, &found);
}

/* Turns come oldest first and are listed newest first, so they are kept for a moment. */
struct turns {
    VEC(struct transcript_turn) items;
};

static void keep(void *context, const struct transcript_turn *turn)
{
    struct turns *turns = context;
    vec_push(&turns->items, *turn);
}

void turns_list(struct app *app, struct list *list, const char *prefix)
{
    struct turns turns = {0};
    if (!all_is_here(app)) {
        app->turns.listed = app->completion_wanted = true;
        return;
    }
    transcript_each_turn(app->transcript, keep, &turns);
    for (size_t i = turns.items.len; i-- > 0;) {
        struct buf number = BUF_INIT;
        buf_addf(&number, "%zu", turns.items.items[i].number);
        if (strncmp(number.data, prefix, strlen(prefix)) == 0)
            list_add(list, number.data, turns.items.items[i].text, number.data);
        buf_release(&number);
    }
    vec_release(&turns.items);
}

bool turns_page_came(struct app *app)
{
    struct turn_search wanted = app->turns;
    if ((wanted.number == 0 && !wanted.listed) || !all_is_here(app))
        return false;
    turns_forget(app);
    if (wanted.number > 0)
        turns_find(app, wanted.number, wanted.take);
    return wanted.listed;
}

void turns_forget(struct app *app)
{
    app->turns = (struct turn_search){0};
}
