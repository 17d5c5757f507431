#include "ui/view/compaction_detail.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/compaction_operations.h"
#include "ui/transcript/compaction_card.h"
#include "ui/view/compaction_detail_private.h"

enum { PAGE_EVENTS = 200 };

static struct compaction_detail *of(struct view *view)
{
    return (struct compaction_detail *)view;
}

/* --- entries --- */

const struct dropped_message *detail_message(const struct compaction_detail *d, size_t entry)
{
    if (entry >= d->entries.len)
        return NULL;
    struct detail_entry e = d->entries.items[entry];
    if (e.kind == DETAIL_SHORTENED)
        return &d->shortened.items.items[e.index];
    return e.kind == DETAIL_DROPPED ? &d->dropped.items.items[e.index] : NULL;
}

static int64_t entry_key(void *detail, size_t entry)
{
    const struct compaction_detail *d = detail;
    const struct dropped_message *m = detail_message(d, entry);
    return m ? m->seq : -1 - (int64_t)d->entries.items[entry].kind;
}

static struct outline_text entry_text(void *detail, size_t entry)
{
    const struct compaction_detail *d = detail;
    const struct dropped_message *m = detail_message(d, entry);
    if (d->entries.items[entry].kind == DETAIL_SUMMARY)
        return (struct outline_text){d->completed->text, true};
    return (struct outline_text){m && m->text.len > 0 ? m->text.data : NULL, false};
}

static void add_messages(struct compaction_detail *d, enum detail_kind heading,
                         enum detail_kind kind, size_t count)
{
    if (count > 0)
        vec_push(&d->entries, (struct detail_entry){heading, 0});
    for (size_t i = 0; i < count; i++)
        vec_push(&d->entries, (struct detail_entry){kind, i});
}

static void list_entries(struct compaction_detail *d)
{
    vec_clear(&d->entries);
    if (d->completed && d->completed->text && *d->completed->text)
        vec_push(&d->entries, (struct detail_entry){DETAIL_SUMMARY, 0});
    add_messages(d, DETAIL_SHORTENED_HEADING, DETAIL_SHORTENED, d->shortened.items.len);
    add_messages(d, DETAIL_DROPPED_HEADING, DETAIL_DROPPED, d->dropped.items.len);
    if (d->waiting || d->more)
        vec_push(&d->entries, (struct detail_entry){DETAIL_MORE, 0});
    outline_fill(d->outline, d->entries.len);
}

/* --- asking and answers --- */

static view_answer take_page;

static void ask(struct compaction_detail *d)
{
    const struct compaction_ledger_params params = {.session = d->view.host->session->id,
                                                    .seq = d->seq,
                                                    .place = d->place,
                                                    .limit = PAGE_EVENTS};
    d->waiting = true;
    (void)view_ask(&d->view, &operation_compaction_ledger, &params, take_page);
}

void detail_want_more(struct compaction_detail *d)
{
    if (d->more && !d->waiting)
        ask(d);
}

/* What is left of a tool result stands for it; the transcript has the whole. */
static void add_shortened(struct compaction_detail *d, const struct message *m)
{
    struct dropped_message made = {.role = m->role, .seq = m->seq, .turn = m->turn};
    buf_init(&made.text, 0);
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        buf_addstr(&made.text, made.text.len > 0 ? "\n\n" : "");
        if (b->name && (b->type == BLOCK_TOOL_RESULT || b->type == BLOCK_TOOL_CALL))
            buf_addf(&made.text, "%s:\n", b->name);
        buf_addstr(&made.text, b->text ? b->text : "");
    }
    vec_push(&d->shortened.items, made);
}

static void find_shortened(struct compaction_detail *d)
{
    const struct compaction *c = &d->completed->compaction;
    struct rebuild rebuild;
    struct error fault;
    if (!c->history || c->messages_before <= 0 ||
        !rebuild_from_json(c->history, (size_t)c->messages_before, &rebuild, &fault))
        return;
    for (size_t i = 0; i < rebuild.parts.len; i++)
        if (rebuild.parts.items[i].rewrites)
            add_shortened(d, &rebuild.parts.items[i].made);
    rebuild_release(&rebuild);
}

/* Takes the event. */
static void take_completed(struct compaction_detail *d, struct event *ev)
{
    static const struct card_hints none;
    d->completed = ev;
    d->card = item_new(ITEM_COMPACTION, ev->seq);
    compaction_card_new(d->card, &none);
    compaction_card_end(d->card, ev);
    find_shortened(d);
}

static void take(struct compaction_detail *d, struct compaction_ledger *page)
{
    bool first = !d->completed;
    if (first) {
        take_completed(d, page->completed);
        page->completed = NULL;
    }
    d->quotes_forgotten |= page->quotes_forgotten;
    for (size_t i = 0; i < page->events.items.len; i++)
        dropped_apply(&d->dropped, page->events.items.items[i]);
    d->place += (int64_t)page->events.items.len;
    d->more = page->more && page->events.items.len > 0;
    list_entries(d);
    if (first && d->entries.len > 0 && d->entries.items[0].kind == DETAIL_SUMMARY) {
        outline_open(d->outline, 0);
        outline_choose(d->outline, 0);
    }
}

static bool take_page(struct view *view, struct operation_answer *a, const char *words)
{
    struct compaction_detail *d = of(view);
    d->waiting = false;
    if (!words) {
        take(d, a->result);
        return true;
    }
    d->more = false;
    d->failed = true;
    remark_set(&d->remark, STYLE_ERROR, words);
    list_entries(d);
    return true;
}

/* --- keys --- */

static void toggle(struct view *view)
{
    (void)outline_toggle(of(view)->outline);
}

static void jump(struct view *view)
{
    struct compaction_detail *d = of(view);
    const struct dropped_message *m = detail_message(d, outline_chosen(d->outline));
    if (m && m->seq > 0)
        view_jump(view, m->seq);
    else
        remark_set(&d->remark, STYLE_NOTE, _("This is not a message of the conversation."));
}

static void show_memory(struct view *view)
{
    struct compaction_detail *d = of(view);
    if (!d->completed || d->completed->compaction.entries_indexed > 0)
        view->host->show_memory(view->host->app, view);
    else
        remark_set(&d->remark, STYLE_NOTE, _("Memory has no entries from this compaction."));
}

static const struct view_key keys[] = {
    {ACTION_CANCEL, view_close}, {ACTION_CLEAR, view_close}, {ACTION_SEND, toggle},
    {ACTION_TOGGLE, toggle},     {ACTION_JUMP, jump},        {ACTION_CARD_MEMORY, show_memory},
    {ACTION_NONE, NULL}};

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct compaction_detail *d = of(view);
    if (action == ACTION_HELP)
        return false;
    if (!d->failed)
        remark_set(&d->remark, STYLE_NOTE, NULL);
    if (!view_run_key(view, keys, action, key))
        (void)outline_key(d->outline, action, key);
    return true;
}

static void click(struct view *view, int row, int col)
{
    struct compaction_detail *d = of(view);
    (void)col;
    (void)outline_click(d->outline, row - d->head_rows);
}

/* --- the view --- */

static void free_view(struct view *view)
{
    struct compaction_detail *d = of(view);
    outline_free(d->outline);
    vec_release(&d->entries);
    dropped_release(&d->shortened);
    dropped_release(&d->dropped);
    item_free(d->card);
    event_free(d->completed);
    rows_release(&d->rows);
    remark_release(&d->remark);
    free(d);
}

static const struct view_ops ops = {
    .layer = VIEW_COVER,
    .of_session = true,
    .free = free_view,
    .key = take_key,
    .click = click,
    .resize = detail_resize,
    .rows = detail_rows,
};

struct view *compaction_detail_new(const struct view_host *host, int64_t seq)
{
    struct compaction_detail *d = mem_alloc(sizeof *d);
    const struct outline_host outline = {entry_key, entry_text, detail_heading, d};
    d->view = (struct view){.ops = &ops, .host = host};
    d->seq = seq;
    d->outline = outline_new(&outline);
    d->width = d->height = 1;
    rows_init(&d->rows);
    ask(d);
    list_entries(d);
    return &d->view;
}
