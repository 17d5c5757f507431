#include "knowledge/markup.h"

static enum markup_end cannot(struct error *e)
{
    err_set(e, ERR_FILE_ERROR, "this program is built without libxml2");
    return MARKUP_BROKEN;
}

enum markup_end markup_read_html(const struct markup_source *source,
                                 const struct markup_events *events, void *context, struct error *e)
{
    (void)source, (void)events, (void)context;
    return cannot(e);
}

enum markup_end markup_read_xml(const struct markup_source *source,
                                const struct markup_events *events, void *context, struct error *e)
{
    (void)source, (void)events, (void)context;
    return cannot(e);
}

int64_t markup_line(const struct markup *m)
{
    (void)m;
    return 0;
}

char *markup_attribute(struct markup *m, const char *name)
{
    (void)m, (void)name;
    return NULL;
}
