/* What a program can say of messages without a model: an extract, and what is still known of those
 * that went in earlier compactions. The same messages give the same bytes. */
#ifndef COMPACT_EXTRACT_H
#define COMPACT_EXTRACT_H

#include <stdbool.h>

#include "base/buf.h"
#include "compact/plan.h"

/* Counts of the messages that go, the texts of earlier summaries among them, and the extract of the
 * others (chat/extract.h). The caller frees. */
char *compact_extract(const struct compact_input *in, const struct compact_plan *p);

/* Ends the mark of recency_preserving, and is no part of what a summary says. */
#define COMPACT_MARK_END "Recent messages are preserved verbatim below."

/* "[Context compacted] 6 earlier messages were dropped: 3 user, 3 assistant, 0 tool." of what goes,
 * with what such a line in an earlier summary counts. */
void compact_add_counts(struct buf *out, const struct compact_input *in,
                        const struct compact_plan *p);

/* What earlier summaries among what goes say, below a heading after an empty line; nothing where
 * they only count. The sections of extracts are merged, newest lines first, into one of each, with
 * one timeline; of other text the first and the last lines stay. All is bounded by the threshold.
 */
void compact_add_earlier(struct buf *out, const struct compact_input *in,
                         const struct compact_plan *p);

/* The sections of a structured summary (data/prompts/compaction-structured.md). Pure. */

enum { SECTIONS = 7, SECTIONS_LEAST = 4 };

/* How many of them the text has, a heading of its own each. */
int sections_count(const char *text);

/* The text with all sections in the template's order, each once, with "(none)" in one that is
 * empty. One that is not there is that of `earlier`, a summary before it (NULL: there is none).
 * What stands above the first heading is left out. The caller frees. */
char *sections_complete(const char *text, const char *earlier);

#endif
