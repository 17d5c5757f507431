/* Turns that a command names by their number, counted as a person does, from the first message on.
 * Where older ones are not on the screen yet, they are asked for first. */
#ifndef UI_TURNS_H
#define UI_TURNS_H

#include "ui/app/app.h"

struct turn_found {
    size_t number, count; /* the one that was asked for; how many there are */
    int64_t seq;          /* of its message; 0: there is no such turn */
    int64_t last;         /* of its last event */
};

/* False: the text is no number from 1 on. */
bool turns_number(const char *text, size_t *number);

/* The turn among those that the transcript holds; it has all of them from the first on. */
struct turn_found turns_held(const struct transcript *t, size_t number);

/* Calls back now or when all is here. */
void turns_find(struct app *app, size_t number,
                void (*take)(struct app *app, const struct turn_found *found));

/* Adds the turns whose number begins so, newest first. */
void turns_list(struct app *app, struct list *list, const char *prefix);

/* Older events have come. True if a list waits for them, and all are here. */
bool turns_page_came(struct app *app);

/* They will not come, or are of no use any more. */
void turns_forget(struct app *app);

#endif
