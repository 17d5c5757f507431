/* /corpus, /cite, citations in the transcript, and messages about an ingest. */
#ifndef UI_CORPORA_H
#define UI_CORPORA_H

#include <stdbool.h>

struct app;
struct corpus_progress;
struct notice;
struct transcript_citation;

void corpora_run(struct app *app, const char *arguments);
void corpora_cite(struct app *app, const char *arguments);

/* Opens the passage of a citation in the transcript; `before` 0: that of the newest answer. The
 * keyboard stays with the message. */
void corpora_open_citation(struct app *app, const struct transcript_citation *citation);

/* --- for both surfaces --- */

/* The arguments of /corpus. */
enum corpora_order_kind { CORPORA_SHOW, CORPORA_ADD, CORPORA_UPDATE };
struct corpora_order {
    enum corpora_order_kind kind;
    char *name, *path;     /* of ADD; of UPDATE a name that may be NULL: all of them. Owned */
    const char *query;     /* of SHOW; borrowed */
    bool consent;          /* however much goes to an embedding endpoint */
    const char *complaint; /* for the person: a name or a path is missing; NULL: it can be done */
};
void corpora_order_read(const char *arguments, struct corpora_order *out);
void corpora_order_release(struct corpora_order *o);

/* Reads the number in "2" or "[2]". Returns a complaint for the person if there is none, else NULL.
 */
const char *corpora_read_citation(const char *arguments, int *number);

/* The message when an ingest was requested, and the one about a CORPORA_STATE (NULL: none). `why`
 * names the command that tells why files could not be read. The caller frees. */
char *corpora_begun_text(const struct corpus_progress *p);
char *corpora_state_text(const struct notice *n, const char *why);

#endif
