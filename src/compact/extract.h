/* Summaries made without a model: an extract of messages with what earlier summaries say. The same
 * messages give the same bytes. */
#ifndef COMPACT_EXTRACT_H
#define COMPACT_EXTRACT_H

#include <stdbool.h>

#include "base/buf.h"
#include "compact/plan.h"

/* Counts of the messages that go, the texts of earlier summaries among them, and the extract of the
 * others (chat/extract.h). The caller frees. */
char *compact_extract(const struct compact_input *in, const struct compact_plan *p);

/* Ends the mark of recency_preserving. It is no content of a summary. */
#define COMPACT_MARK_END "Recent messages are preserved verbatim below."

/* "[Context compacted] 6 earlier messages were dropped: 3 user, 3 assistant, 0 tool." for the
 * messages that go; counts in earlier summaries are added. */
void compact_add_counts(struct buf *out, const struct compact_input *in,
                        const struct compact_plan *p);

/* The texts of earlier summaries that go, below a heading after an empty line; nothing where they
 * only have counts. Sections of extracts are merged, newest lines first, with one timeline; of
 * other text the first and the last lines stay. The threshold bounds all of it. */
void compact_add_earlier(struct buf *out, const struct compact_input *in,
                         const struct compact_plan *p);

/* ---- sections of a structured summary (data/prompts/compaction-structured.md): pure ---- */

enum { SECTIONS = 7, SECTIONS_LEAST = 4 };

/* How many sections the text has, each with its heading. */
int sections_count(const char *text);

/* The text with all sections in the template's order, each once, with "(none)" in an empty one. A
 * missing section is taken from `earlier`, a summary before it (NULL: there is none). Text above
 * the first heading is left out. The caller frees. */
char *sections_complete(const char *text, const char *earlier);

#endif
