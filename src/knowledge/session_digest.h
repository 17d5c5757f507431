/* What a session was about and how its tools fared: a fold of its log, kept up to the last turn, so
 * that later sessions of the project can be told. Of the messages it has those that were typed, and
 * of the answers those to them. It can be made again of the log at any time. */
#ifndef KNOWLEDGE_SESSION_DIGEST_H
#define KNOWLEDGE_SESSION_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/knowledge.h"
#include "store/store.h"

enum {
    DIGEST_REQUEST_BYTES = 160,  /* of the first request, and of the last response */
    DIGEST_SUMMARY = 220,        /* characters of what is told of a session */
    DIGEST_SUMMARY_TOOLS = 50,   /* of these at most: the tools' names */
    DIGEST_SUMMARY_ASKED = 100,  /* … what was asked, where there is an answer */
    DIGEST_SESSIONS = 3,         /* that are told of */
    DIGEST_TOOL_CALLS_LEAST = 3, /* that a tool is told of */
};

/* Folds what the log has since the last time. One transaction. */
bool session_digest_follow(struct store *s, const char *session_id, const char *project,
                           struct error *e);

/* Adds items of scope TOOL: a tool of the project (NULL: of all) with the parameters that it was
 * given, how often it was called and how often that went well. */
bool session_digest_tools(struct store *s, const char *project, struct learned_items *out,
                          struct error *e);

/* Adds items of scope HISTORY: at most so many (0: all) of the sessions of the project (NULL: of
 * all), without that one (NULL: none), newest first. */
bool session_digest_sessions(struct store *s, const char *project, const char *but, int limit,
                             struct learned_items *out, struct error *e);

#endif
