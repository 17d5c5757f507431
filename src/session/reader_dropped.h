/* The messages that a compaction dropped, read from the log, a page at a time. */
#ifndef SESSION_READER_DROPPED_H
#define SESSION_READER_DROPPED_H

#include "base/err.h"
#include "session/command.h"
#include "session/notice.h"
#include "store/store.h"

/* Answers DROPPED of the session in c->name. */
bool reader_dropped(struct store *s, const struct command *c, struct notice *n, struct error *e);

#endif
