/* /compact [MODE] [--preview] [FOCUS...]: what stands behind it. */
#ifndef UI_COMPACT_H
#define UI_COMPACT_H

#include "ui/app/app.h"

/* Pure. A word that begins with "--" and is no option ends it: `unknown`. What follows mode and
 * options, from its first word on, is the focus. */
struct compact_words {
    const char *mode; /* static; NULL: none */
    bool preview;
    const char *focus;   /* in the text; "" */
    const char *unknown; /* in the text; NULL */
};
struct compact_words compact_parse(const char *arguments);

/* What it asks of the engine; NULL, with what is wrong in words of the user's. The caller frees.
 */
struct command *compact_command(const char *arguments, char **complaint);

void compact_send(struct app *app, const char *arguments);

/* Why a mode shortens nothing: by its keys, "name = value, …", or NULL: for want of messages. The
 * caller frees. */
char *compact_all_stays(const char *mode, const char *keys);

/* Adds the modes and options that may stand there and begin with `word`. `before`: what stands
 * between the command and the word. */
void compact_list(struct list *list, const char *before, const char *word);

#endif
