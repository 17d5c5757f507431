/* Files in the message that is being written: the list of @, and the row below the text that says
 * what each mention brings. Disks are read by errands. */
#ifndef UI_APP_MENTIONS_H
#define UI_APP_MENTIONS_H

#include "ui/app/app.h"

/* The mention that ends at the caret, not closed by a quote: the byte of its @, and the name so
 * far, which the caller frees. False: there is none. */
bool mentions_at_caret(const struct app *app, size_t *from, char **name);

/* Adds the rows for a name that begins like this, the best first: files in the order of
 * `git ls-files`, folders, corpora, skills. False: they are being read, and app->listed() is
 * called when they are known. */
bool mentions_list(struct app *app, struct list *list, const char *name);

/* After an edit: looks at the files that the text mentions now. */
void mentions_follow(struct app *app);

/* Writes the mention of a path (mention_of_path()) at the caret. "": an @ alone, with its list. */
void mentions_attach(struct app *app, const char *path);

/* After a paste: if that is the path of an image, as a terminal writes it where a file is dropped,
 * its mention takes the place of the path once the file has been looked at. */
void mentions_pasted(struct app *app, const char *text);

/* "@notes.md · 84 lines · 1.1k tokens" of each mention that is known, as far as there is room.
 * False: there is none, and no row. */
bool mentions_row(const struct app *app, size_t width, struct rows *out);

#endif
