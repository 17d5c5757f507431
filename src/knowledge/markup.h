/* HTML and XML as events, read with libxml2, which is loaded at the first document. HTML may have
 * faults, as in a browser; XML must be well formed. Nothing outside of the text is looked up: no
 * DTD, no entity, no network. Entities that a document declares are not replaced, so none can
 * multiply. */
#ifndef KNOWLEDGE_MARKUP_H
#define KNOWLEDGE_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct markup; /* one text while it is read */

/* Names are local: without a prefix. False from any of them, or from `read`, ends the reading. */
struct markup_events {
    bool (*begin)(void *context, struct markup *m, const char *name);
    bool (*end)(void *context, const char *name); /* of an empty element, too; may be NULL */
    bool (*text)(void *context, const char *text, size_t len); /* may be NULL */
};

struct markup_source {
    ssize_t (*read)(void *context, char *bytes, size_t len); /* 0: the end; -1: no more */
    void *context;
    bool utf8; /* HTML: the encoding, whatever the page declares */
};

enum markup_end { MARKUP_WHOLE, MARKUP_STOPPED, MARKUP_BROKEN /* e says why */ };

enum markup_end markup_read_html(const struct markup_source *source,
                                 const struct markup_events *events, void *context,
                                 struct error *e);
enum markup_end markup_read_xml(const struct markup_source *source,
                                const struct markup_events *events, void *context, struct error *e);

/* Within begin(): the line of the element, from 1. */
int64_t markup_line(const struct markup *m);
/* Within begin(): the value of the attribute with this local name, the caller's; NULL: it has
 * none. */
char *markup_attribute(struct markup *m, const char *name);

#endif
