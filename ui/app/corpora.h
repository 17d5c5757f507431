/* /corpus, /cite, citations in the transcript, and how an ingest went. */
#ifndef UI_CORPORA_H
#define UI_CORPORA_H

#include <stdbool.h>

struct app;
struct corpus_progress;
struct notice;
struct transcript_citation;

void corpora_run(struct app *app, const char *arguments);
void corpora_cite(struct app *app, const char *arguments);

/* The passage of a citation in the transcript. */
void corpora_open_citation(struct app *app, const struct transcript_citation *citation);

/* An ingest that has ended is told. */
void corpora_take(struct app *app, struct notice *n);

/* ---- the same for every surface ---- */

/* What the words behind /corpus ask for. */
enum corpora_order_kind { CORPORA_SHOW, CORPORA_ADD, CORPORA_UPDATE, CORPORA_INCOMPLETE };
struct corpora_order {
    enum corpora_order_kind kind;
    char *name, *path; /* of ADD; of UPDATE a name that may be NULL: all of them. Owned */
    const char *query; /* of SHOW; borrowed */
    bool consent;      /* however much goes to an embedding endpoint */
};
void corpora_order_read(const char *arguments, struct corpora_order *out);
void corpora_order_release(struct corpora_order *o);
const char *corpora_order_complaint(void); /* of INCOMPLETE */

/* The number of "2" or "[2]"; 0: it is none. */
int corpora_citation_number(const char *arguments);
const char *corpora_citation_complaint(void);

/* What is said when an ingest was asked for, and (NULL: nothing) of a CORPORA_STATE. `why`: who
 * says why files could not be read. The caller frees. */
char *corpora_begun_text(const struct corpus_progress *p);
char *corpora_state_text(const struct notice *n, const char *why);

#endif
