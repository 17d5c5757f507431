/* /corpus and /cite. */
#ifndef UI_CORPORA_H
#define UI_CORPORA_H

struct app;

void corpora_run(struct app *app, const char *arguments);
void corpora_cite(struct app *app, const char *arguments);

#endif
