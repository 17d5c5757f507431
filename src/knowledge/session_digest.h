/* A digest of a session: what it was about and how its tools fared, kept up to the last turn, so
 * that later sessions of the project can be told. It has typed messages and the answers to those.
 * It can be made again from the log at any time. */
#ifndef KNOWLEDGE_SESSION_DIGEST_H
#define KNOWLEDGE_SESSION_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/knowledge.h"
#include "store/store.h"

enum {
    DIGEST_REQUEST_BYTES = 160,  /* of the first request, and of the last response */
    DIGEST_SUMMARY = 220,        /* characters of a session's summary, of which at most: */
    DIGEST_SUMMARY_TOOLS = 50,   /* names of tools */
    DIGEST_SUMMARY_ASKED = 100,  /* the request, where there is a response */
    DIGEST_SESSIONS = 3,         /* sessions that a model is told of */
    DIGEST_TOOL_CALLS_LEAST = 3, /* calls of a tool that a model is told of */
};

/* Adds the events since the last time to the digest. One transaction. */
bool session_digest_follow(struct store *s, const char *session_id, const char *project,
                           struct error *e);

/* Adds items of scope TOOL: a tool of the project (NULL: of all) with the parameters that it was
 * given, the number of calls and the share that succeeded. */
bool session_digest_tools(struct store *s, const char *project, struct learned_items *out,
                          struct error *e);

/* Adds items of scope HISTORY: at most `limit` (0: all) sessions of the project (NULL: of all)
 * except `but` (NULL: none), newest first. */
bool session_digest_sessions(struct store *s, const char *project, const char *but, int limit,
                             struct learned_items *out, struct error *e);

#endif
