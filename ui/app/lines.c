#include "ui/app/lines.h"

#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "ui/text/format.h"

void lines_passage(struct buf *out, const struct corpus_passage *p)
{
    utf8_clean(out, p->file, strlen(p->file), UTF8_ONE_LINE);
    if (p->line > 0)
        buf_addf(out, ":%lld", (long long)p->line);
    if (p->page > 0)
        buf_addf(out, _(", page %lld"), (long long)p->page);
    if (p->heading && *p->heading) {
        buf_addstr(out, "  ");
        utf8_clean(out, p->heading, strlen(p->heading), UTF8_ONE_LINE);
    }
    buf_addch(out, '\n');
    utf8_clean(out, p->content, strlen(p->content), UTF8_MULTILINE);
    buf_addch(out, '\n');
}

static void add_text(struct buf *out, const char *before, const char *text, const char *after)
{
    buf_addstr(out, before);
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
    buf_addstr(out, after);
}

static void add_source(struct buf *out, const struct graph_source *s)
{
    buf_addstr(out, "  [");
    format_time(out, s->created_ms);
    if (s->session_id && s->deleted)
        buf_addf(out, ", %s", _("its session was deleted"));
    else if (s->session_id)
        buf_addf(out, ", %s %s", _("session"), session_short_id(s->session_id));
    buf_addstr(out, "]\n");
}

void lines_graph(struct buf *out, const struct graph_part *part)
{
    for (size_t i = 0; i < part->entities.len; i++) {
        const struct graph_entity *n = &part->entities.items[i];
        add_text(out, "", n->name, "");
        add_text(out, " (", n->type, ")");
        add_source(out, &n->source);
        for (size_t k = 0; k < n->observations.len; k++) {
            add_text(out, "  - ", n->observations.items[k].content, "");
            add_source(out, &n->observations.items[k].source);
        }
    }
    if (part->relations.len > 0 && part->entities.len > 0)
        buf_addch(out, '\n');
    for (size_t i = 0; i < part->relations.len; i++) {
        const struct graph_relation *r = &part->relations.items[i];
        add_text(out, "", r->from, " -- ");
        add_text(out, "", r->type, " -> ");
        add_text(out, "", r->to, "\n");
    }
    if (part->relations_left > 0)
        buf_addf(out,
                 ngettext("and %lld more relation\n", "and %lld more relations\n",
                          (unsigned long)part->relations_left),
                 (long long)part->relations_left);
}
