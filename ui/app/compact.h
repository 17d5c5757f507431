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

/* What it asks of the engine (texts in `arguments`), NULL; or what is wrong, in words of the
 * user's, which the caller frees. */
char *compact_read(const char *arguments, struct compaction_run_params *out);

void compact_send(struct app *app, const char *arguments);

/* Why the mode that was asked for (NULL: the configured one) shortens nothing: by its settings, or
 * for want of messages. The caller frees. */
char *compact_all_stays(const struct config *config, const char *asked);

/* Adds the modes and options that may stand there and begin with `word`. `before`: what stands
 * between the command and the word. */
void compact_list(struct list *list, const char *before, const char *word);

#endif
