/* Keys and what they do here, as one row: "Enter open  Esc close". */
#ifndef UI_HINTS_H
#define UI_HINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct hint {
    enum action action; /* ACTION_NONE: `keys` names them */
    const char *keys;
    /* For gettext: the word in the row, and behind a '|' the sentence in the help where the word
     * alone does not say enough. */
    const char *text;
};

/* Adds so many rows of exactly `width` columns. The most important come first: what has no room is
 * left out. */
void hints_rows(struct rows *out, const struct keymap *keymap, const struct hint *hints,
                size_t count, size_t width, int rows);

/* One of several such rows (NULL: it is only measured): what has no room waits for the next one,
 * but in the last. Returns how many of the hints are done with. */
size_t hints_part(struct rows *out, const struct keymap *keymap, const struct hint *hints,
                  size_t count, size_t width, bool last);

/* Of a pane beside the message that has the keyboard. */
void hints_elsewhere(struct rows *out, const struct keymap *keymap, size_t width, int rows);

/* From now on `take` gets each hint of the rows that are made, also those without room: its keys,
 * and its sentence or word. NULL: no more. */
typedef void hint_taker(void *context, const char *keys, const char *text);
void hints_collect(hint_taker *take, void *context);

/* Whether the key is the letter that a catalogue has for yes, or for no. */
bool hint_is_letter(const struct key *key, const char *word);

/* What a key says to a question of yes or no; what closes things is no. */
enum hint_answer { HINT_NO_ANSWER, HINT_YES, HINT_NO };
enum hint_answer hint_answer(enum action action, const struct key *key);

#endif
