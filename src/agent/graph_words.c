#include "agent/graph_words.h"

#include <string.h>

#include "base/utf8.h"

void graph_outcome_release(struct graph_outcome *o)
{
    graph_part_release(&o->part);
    shape_release(&graph_added_shape, &o->added);
}

/* --- before: a fact a row --------------------------------------------------------------------- */

/* Further lines of a text stand below its first: none can look like another fact. */
static void add_fact(struct buf *out, char sign, const char *text)
{
    buf_addf(out, "  %c ", sign);
    for (; *text; text++) {
        buf_addch(out, *text);
        if (*text == '\n')
            buf_addstr(out, "    ");
    }
    buf_addch(out, '\n');
}

static void add_entity(const struct graph_entity *n, enum graph_change change, struct buf *out)
{
    if (change == GRAPH_MADE)
        buf_addf(out, "New entity %s (%s)\n", n->name, n->type);
    else if (change == GRAPH_UNMADE)
        buf_addf(out, "Delete entity %s (%s)\n", n->name, n->type);
    else
        buf_addf(out, "Delete observations of %s\n", n->name);
    for (size_t i = 0; i < n->observations.len; i++)
        add_fact(out, change == GRAPH_MADE ? '+' : '-', n->observations.items[i].content);
}

static void add_relation(const struct graph_relation *r, enum graph_change change, struct buf *out)
{
    if (change == GRAPH_MADE)
        buf_addf(out, "New relation: %s -- %s -> %s\n", r->from, r->type, r->to);
    else
        buf_addf(out, "Delete relation: %s -- %s -> %s\n", r->from, r->type, r->to);
}

static void add_added(const struct graph_added_to *a, struct buf *out)
{
    if (a->added.len == 0)
        return;
    buf_addf(out, "New observations of %s\n", a->entity);
    for (size_t i = 0; i < a->added.len; i++)
        add_fact(out, '+', a->added.items[i]);
}

void graph_words_preview(const struct graph_outcome *o, struct buf *out)
{
    for (size_t i = 0; i < o->part.entities.len; i++)
        add_entity(&o->part.entities.items[i], o->change, out);
    for (size_t i = 0; i < o->part.relations.len; i++)
        add_relation(&o->part.relations.items[i], o->change, out);
    for (size_t i = 0; i < o->added.items.len; i++)
        add_added(&o->added.items.items[i], out);
    if (out->len == 0)
        buf_addstr(out, "Nothing changes: all of it is in the graph already.");
}

/* --- afterwards: some of it ------------------------------------------------------------------- */

enum { RECEIPT_FACTS = 10, RECEIPT_COLUMNS = 60 /* of a name or a text */ };

struct receipt {
    struct buf *out;
    int facts;
    int64_t left;
};

static void add_short(struct buf *out, const char *text)
{
    struct buf line = BUF_INIT;
    utf8_clean(&line, text, strlen(text), UTF8_ONE_LINE);
    size_t len = utf8_cut_width(line.data, line.len, RECEIPT_COLUMNS);
    buf_add(out, line.data, len);
    buf_addstr(out, len < line.len ? "…" : "");
    buf_release(&line);
}

/* Texts with what stands between them; NULL: there are no more. */
static void note(struct receipt *r, const char *first, const char *between, const char *second,
                 const char *third)
{
    if (r->facts == RECEIPT_FACTS) {
        r->left++;
        return;
    }
    buf_addstr(r->out, r->facts++ > 0 ? ", " : "");
    add_short(r->out, first);
    if (second) {
        buf_addstr(r->out, between);
        add_short(r->out, second);
    }
    if (third) {
        buf_addstr(r->out, between);
        add_short(r->out, third);
    }
}

static void note_part(struct receipt *r, const struct graph_outcome *o)
{
    bool entities = o->change != GRAPH_UNOBSERVED;
    for (size_t i = 0; i < o->part.entities.len; i++) {
        const struct graph_entity *n = &o->part.entities.items[i];
        if (entities)
            note(r, n->name, NULL, NULL, NULL);
        for (size_t k = 0; k < n->observations.len && !entities; k++)
            note(r, n->name, ": ", n->observations.items[k].content, NULL);
    }
    /* relations of an entity go with it */
    for (size_t i = 0; i < o->part.relations.len && o->part.entities.len == 0; i++) {
        const struct graph_relation *relation = &o->part.relations.items[i];
        note(r, relation->from, " ", relation->type, relation->to);
    }
}

int64_t graph_words_receipt(const struct graph_outcome *o, struct buf *out)
{
    struct receipt r = {.out = out};
    note_part(&r, o);
    for (size_t i = 0; i < o->added.items.len; i++) {
        const struct graph_added_to *a = &o->added.items.items[i];
        for (size_t k = 0; k < a->added.len; k++)
            note(&r, a->entity, ": ", a->added.items[k], NULL);
    }
    return r.left;
}
