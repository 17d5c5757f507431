/* When memory forgets a text of a session, summaries of the session that quote it are flagged, and
 * the rows of its snapshot that still have the message are deleted. */
#ifndef MEMORY_SUMMARY_FLAGS_H
#define MEMORY_SUMMARY_FLAGS_H

#include "memory/memory.h"

/* Listens for the sessions of this database, whose connection is borrowed. */
struct memory_listener summary_flags_listener(struct store *s);

/* Whether the summary of this compaction quotes a forgotten text. */
bool summary_flagged(struct store *s, const char *session_id, int64_t completed_seq, bool *out,
                     struct error *e);
bool summary_flags_count(struct store *s, int64_t *out, struct error *e); /* of such summaries */

/* Whether a summary quotes a text: it has a whole sentence of at least QUOTE_SENTENCE characters,
 * or all of a text of at least QUOTE_TEXT, whatever the blanks. A pure function. */
enum { QUOTE_SENTENCE = 40, QUOTE_TEXT = 12 };
bool summary_quotes(const char *summary, const char *text);

#endif
