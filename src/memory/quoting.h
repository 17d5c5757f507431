/* What sessions do when memory forgets a text of theirs: summaries that quote it are flagged, and
 * what a snapshot still had of its message goes. */
#ifndef MEMORY_QUOTING_H
#define MEMORY_QUOTING_H

#include "memory/memory.h"

/* For the memory of sessions that this database holds; its connection is borrowed. */
struct memory_listener quoting_listener(struct store *s);

/* Whether the summary of this compaction quotes something that was forgotten. */
bool quoting_flagged(struct store *s, const char *session_id, int64_t completed_seq, bool *out,
                     struct error *e);
bool quoting_count(struct store *s, int64_t *out, struct error *e); /* summaries that do */

/* Whether a summary quotes a text: it holds a whole sentence of it of at least QUOTE_SENTENCE
 * characters, or all of it of at least QUOTE_TEXT, however blanks run. A pure function. */
enum { QUOTE_SENTENCE = 40, QUOTE_TEXT = 12 };
bool quoting_in(const char *summary, const char *text);

#endif
