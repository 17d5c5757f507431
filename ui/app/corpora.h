/* /corpus, /cite, and citations in the transcript. */
#ifndef UI_CORPORA_H
#define UI_CORPORA_H

struct app;

void corpora_run(struct app *app, const char *arguments);
void corpora_cite(struct app *app, const char *arguments);

/* The passage of a citation in the transcript. */
struct transcript_citation;
void corpora_open_citation(struct app *app, const struct transcript_citation *citation);

#endif
