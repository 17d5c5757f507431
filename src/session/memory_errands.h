/* What the third worker (memory_desk.h) is asked, in the order it was asked, and what of it is out
 * of date. One thread sends; another one, the worker, does the rest. */
#ifndef SESSION_MEMORY_ERRANDS_H
#define SESSION_MEMORY_ERRANDS_H

#include <pthread.h>
#include <stdbool.h>

#include "base/mailbox.h"
#include "base/vec.h"
#include "base/wakeup.h"
#include "session/command.h"
#include "store/store.h"

enum errand_kind { ERRAND_ASKED, ERRAND_WORK, ERRAND_QUIT };
struct errand {
    enum errand_kind kind;
    struct command *command; /* ERRAND_ASKED */
    int64_t serial;          /* later ones have a larger one */
};
void errand_free(void *errand); /* NULL is fine */
bool errand_is_search(const struct errand *errand);

struct errands {
    struct mailbox *box;
    int64_t serial; /* of the last one; the sender's */

    pthread_mutex_t lock;   /* over the two below */
    struct store *reading;  /* on which a search runs, which a newer one may end; NULL: none */
    int64_t reading_serial; /* of that search */

    /* The worker's own. */
    VEC(struct errand *) waiting; /* taken out of the box */
    bool leaving;                 /* ERRAND_QUIT was taken */
};

void errands_init(struct errands *q);
void errands_release(struct errands *q); /* both threads are done with it */

/* Takes the command (NULL but for ERRAND_ASKED). A search, or ERRAND_QUIT, ends an older search
 * that runs. */
void errands_send(struct errands *q, enum errand_kind kind, struct command *command);

/* The next one, which the caller frees; NULL: none came for so long (-1: waits for one). */
struct errand *errands_next(struct errands *q, int timeout_ms);

/* Between the two a newer search may interrupt `s`. */
void errands_begin_search(struct errands *q, struct store *s, const struct errand *search);
void errands_end_search(struct errands *q);

/* Whether the search that runs is out of date: there is a newer one, or it is over. */
bool errands_have_newer(struct errands *q);

/* Whether the worker is told to leave; of a `struct errands`. */
bool errands_say_leave(void *errands);

/* For what the worker waits for: goes on until a search is out of date, anything else is to be
 * done, or the worker is told to leave. */
struct wakeup errands_until_newer(struct errands *q);
struct wakeup errands_until_any(struct errands *q);
struct wakeup errands_until_leave(struct errands *q);

#endif
