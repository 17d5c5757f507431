/* Reads directories as errands, so that a slow disk never blocks the keyboard. */
#ifndef UI_PATH_LISTER_H
#define UI_PATH_LISTER_H

#include "base/vec.h"
#include "ui/app/errand.h"

#define PATH_ENTRIES_MAX 2000 /* of one directory; the rest is left out */

struct path_listing {
    struct errand errand;
    char *directory;   /* as it was asked for */
    VEC(char *) names; /* sorted; directories end in "/". None where it cannot be read */
};

/* Asks for a directory ("": the working directory); `take` borrows the answer. */
void path_lister_ask(struct errands *errands, const char *directory,
                     void (*take)(struct app *app, struct errand *listing));

#endif
