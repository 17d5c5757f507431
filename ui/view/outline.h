/* A list of entries: a heading each, and for some a text that opens below it. One row is chosen, of
 * a heading or of a text, and the view follows it. A place is an entry and a row in it, and a text
 * is broken into rows only as far as it was looked at: the cost of a frame grows with the screen,
 * not with the entries. No curses. */
#ifndef UI_OUTLINE_H
#define UI_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct outline;

struct outline_text {
    const char *text; /* borrowed, not clean; NULL: the entry does not open */
    bool markdown;
};

/* How a heading is drawn: it fills exactly `columns` of the row that is begun. */
struct outline_look {
    size_t columns;
    bool chosen, open;
};

struct outline_host {
    /* Identifies an entry when outline_fill() brings other entries. */
    int64_t (*key)(void *context, size_t entry);
    struct outline_text (*text)(void *context, size_t entry);
    void (*heading)(void *context, size_t entry, const struct outline_look *look, struct rows *out);
    void *context;
};

struct outline *outline_new(const struct outline_host *host);
void outline_free(struct outline *o); /* NULL is fine */

/* Replaces the entries; those that are open, chosen and in view stay so, if they still exist. */
void outline_fill(struct outline *o, size_t count);

/* Both at least 1. */
void outline_resize(struct outline *o, int width, int height);

/* Appends exactly `height` rows of `width` columns. */
void outline_rows(struct outline *o, struct rows *out);

void outline_choose(struct outline *o, size_t entry); /* its heading */
size_t outline_chosen(const struct outline *o);       /* SIZE_MAX: there are no entries */

/* Opens the chosen entry, or closes it. False if it does not open. */
bool outline_toggle(struct outline *o);
void outline_open(struct outline *o, size_t entry);
bool outline_unfolds(const struct outline *o); /* whether the chosen entry has a text */

/* Moves by the keys of lists, j k g G, Ctrl-N and Ctrl-P, and a blank for a page. False: the key
 * does not move. */
bool outline_key(struct outline *o, enum action action, const struct key *key);

/* A click at a row of what was drawn last chooses it, and opens or closes a heading. False if there
 * is none. */
bool outline_click(struct outline *o, int row);

#endif
