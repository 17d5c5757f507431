#include "knowledge/package.h"

enum document_outcome package_read_xml(struct package *p, const char *name,
                                       const struct markup_events *events, void *context,
                                       bool *found)
{
    const struct markup_source source = {.read = package_read, .context = p};
    if (package_find(p, name, found) != DOCUMENT_LOADED || !*found)
        return p->outcome;
    struct error e;
    enum markup_end end = markup_read_xml(&source, events, context, &e);
    if (end == MARKUP_BROKEN && p->outcome == DOCUMENT_LOADED)
        p->outcome = loading_fails(p->l, "cannot be read: %s: %s", name, e.text);
    return p->outcome;
}
