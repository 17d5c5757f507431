/* What the offline provider answers: a pure function of the request. */
#ifndef PROVIDER_OFFLINE_PLAN_H
#define PROVIDER_OFFLINE_PLAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "provider/offline_rank.h"
#include "provider/provider.h"

/* Stands at the end of each answer, so that nobody takes it for a model's. */
#define OFFLINE_MARK "*offline: no model; answers are quotations*"

/* Either an answer, or a tool to call first. Owned strings. */
struct offline_plan {
    char *text;
    char *tool, *args; /* args: JSON */
};

/* `manual` is data/manual.md, which the build makes of the manual pages. */
struct offline_plan offline_plan_make(const struct request *request, const char *manual);
void offline_plan_release(struct offline_plan *p);

/* Whether memory should be asked: it has a question mark, or begins as questions do. */
bool offline_is_question(const char *text);

/* Adds what a search found, but for questions, our own quotations and what is there already; each
 * says where it is from, for which `session_id` (NULL: unknown) is this conversation. False: the
 * result is no list of hits. */
bool offline_add_hits(struct passages *p, const struct block *result, const char *session_id);

/* A text of the conversation that answers nothing: a question, or our own quotations. */
bool offline_is_idle(const char *text, size_t len);

/* The tool that should look at what the text names ("read README.md", "what is in src/?", "list
 * the files") and the path, which the caller frees; NULL if it names nothing. */
const char *offline_find_path(const char *text, char **path);

/* The deterministic extract of the messages before `count`, for a summarising request; `prompt` is
 * that request's text. */
void offline_extract(struct buf *out, const struct request *request, size_t count,
                     const char *prompt);

#endif
