#include "agent/toolset.h"

#include <string.h>

#include "base/log.h"

const struct tool_source *const tool_sources[] = {&tool_source_builtin, &tool_source_memory,
                                                  &tool_source_learned, &tool_source_graph,
                                                  &tool_source_corpus,  NULL};

static void list_all(struct toolset *t)
{
    vec_clear(&t->tools);
    for (const struct tool_source *const *s = t->sources; *s; s++) {
        t->listing = *s;
        (*s)->list(&t->host, t);
    }
}

void toolset_init(struct toolset *t, const struct tool_source *const *sources,
                  const struct tool_host *host)
{
    *t = (struct toolset){.sources = sources, .host = *host};
    list_all(t);
}

void toolset_release(struct toolset *t)
{
    vec_release(&t->tools);
}

void toolset_refresh(struct toolset *t)
{
    bool changed = false;
    for (const struct tool_source *const *s = t->sources; *s; s++)
        changed = ((*s)->changed && (*s)->changed(&t->host)) || changed;
    if (changed)
        list_all(t);
}

void toolset_add(struct toolset *t, const struct tool *row, void *self)
{
    const struct tool *same = toolset_find(t, row->spec.name);
    if (same) {
        log_line(LOG_ERROR, "tool %s of %s is left out: %s has one of that name", row->spec.name,
                 t->listing->name, same->source->name);
        return;
    }
    struct tool tool = *row;
    tool.source = t->listing;
    tool.self = self;
    vec_push(&t->tools, tool);
}

const struct tool *toolset_find(const struct toolset *t, const char *name)
{
    for (size_t i = 0; i < t->tools.len; i++)
        if (strcmp(t->tools.items[i].spec.name, name) == 0)
            return &t->tools.items[i];
    return NULL;
}

bool tool_offered(const struct tool *tool, const char *level)
{
    bool reads = tool->class == TOOL_READ || tool->consent != CONSENT_BY_CLASS;
    return strcmp(level, "full") == 0 || (strcmp(level, "read") == 0 && reads);
}
