/* Reads directories on a thread of its own, so that a slow disk never blocks the keyboard. */
#ifndef UI_PATH_LISTER_H
#define UI_PATH_LISTER_H

#include "base/mailbox.h"
#include "base/vec.h"

#define PATH_ENTRIES_MAX 2000 /* of one directory; the rest is left out */

struct path_lister;

struct path_listing {
    char *directory;   /* as it was asked for */
    VEC(char *) names; /* sorted; directories end in "/" */
};
void path_listing_free(struct path_listing *l);

/* Starts nothing yet. */
struct path_lister *path_lister_new(void);

/* Never waits: a thread that hangs in a dead file system is left to the end of the process. */
void path_lister_free(struct path_lister *p);

/* Asks for a directory ("": the working directory). The answer is a struct path_listing in the
 * mailbox; one that cannot be read gives an empty one. */
void path_lister_ask(struct path_lister *p, const char *directory);

struct mailbox *path_lister_answers(struct path_lister *p);

#endif
