/* The parts of the offline provider, which answers without a model: passages and their ranking, the
 * answer as a pure function of the request, and readers of texts. */
#ifndef PROVIDER_OFFLINE_H
#define PROVIDER_OFFLINE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/vec.h"
#include "provider/provider.h"

/* --- passages and their ranking (offline_rank.c) ---------------------------------------------- */

struct passage {
    char *source; /* for a person: "the manual, “Keys”", "you, turn 3" */
    char *title;  /* its words count more; "" if none */
    char *text;
    bool is_talk;    /* from a conversation */
    double weight;   /* factor of its score: 1, or less for a page of reference */
    double recalled; /* the score that a search of memory gave it; 0: it is from elsewhere */
};

struct passages {
    VEC(struct passage) items;
};

/* Copies. */
void passages_add(struct passages *p, const char *source, const char *title, const char *text,
                  size_t len, bool is_talk);

/* One passage for each section of data/manual.md: "## " of the guide, "### " of a page of
 * reference. */
void passages_add_manual(struct passages *p, const char *markdown);
void passages_release(struct passages *p);

struct ranked {
    const struct passage *passage;
    double score;    /* BM25, more where the title fits */
    double coverage; /* part of the question's words that it has, by their rarity: (0, 1] */
};
struct ranking {
    VEC(struct ranked) hits;
};

/* The passages with a word in common, best first; of equals, the later passage first. Words are
 * compared without case, ending and the most frequent ones. */
void passages_rank(const struct passages *p, const char *question, struct ranking *out);
void ranking_release(struct ranking *r);

/* Whether the word (lower case) stands in the text, case ignored. */
bool offline_has_word(const char *text, const char *word);

/* --- plans ------------------------------------------------------------------------------------ */

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

/* Adds the hits of a search, but for questions, our own quotations and known passages; each
 * says where it is from, for which `session_id` (NULL: unknown) is this conversation. False: the
 * result is no list of hits. */
bool offline_add_hits(struct passages *p, const struct block *result, const char *session_id);

/* A text of the conversation that answers nothing: a question, or our own quotations. */
bool offline_is_idle(const char *text, size_t len);

/* The tool that should look at what the text names ("read README.md", "what is in src/?", "list
 * the files") and the path, which the caller frees; NULL if it names nothing. */
const char *offline_find_path(const char *text, char **path);

#endif
