/* Pages of HTML, as files and as chapters of books. */
#ifndef KNOWLEDGE_LOAD_HTML_H
#define KNOWLEDGE_LOAD_HTML_H

#include "knowledge/flow.h"
#include "knowledge/markup.h"

enum { LOAD_HTML_TITLE = 1000 }; /* bytes of a title that are kept */

/* Adds the page's text. `title` (may be NULL) gets what it calls itself; the caller releases it.
 * What the source's read() refused is for the caller to know. */
enum document_outcome load_html_page(struct flow *flow, const struct markup_source *source,
                                     bool has_lines, struct buf *title);

#endif
