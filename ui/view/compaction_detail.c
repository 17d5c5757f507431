#include "ui/view/compaction_detail.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/rebuild.h"
#include "session/session_operations.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/compaction_card.h"
#include "ui/transcript/item.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/outline.h"
#include "ui/view/view.h"

/* What an entry of the outline is; `index` is of a message. */
enum detail_kind {
    DETAIL_SUMMARY,
    DETAIL_SHORTENED_HEADING,
    DETAIL_SHORTENED,
    DETAIL_DROPPED_HEADING,
    DETAIL_DROPPED,
    DETAIL_MORE /* is being asked for, or could not be had */
};
struct detail_entry {
    enum detail_kind kind;
    size_t index;
};

struct compaction_detail {
    struct view view;
    int64_t seq;
    struct event *completed; /* NULL: not known yet */
    struct item *card;       /* with its outcome; NULL likewise */
    struct dropped shortened, dropped;
    VEC(struct detail_entry) entries;
    struct outline *outline;
    bool waiting, more, failed;
    bool quotes_forgotten; /* its summary */
    int64_t place;         /* of the next page */

    struct remark remark;

    int width, height;
    int head_rows; /* above the outline, as drawn last */
    struct rows rows;
};

/* NULL: the entry is no message. */
static const struct dropped_message *detail_message(const struct compaction_detail *d,
                                                    size_t entry);

/* Asks for the next page, if there is one and none is on its way. */
static void detail_want_more(struct compaction_detail *d);

/* compaction_detail_rows.c */
static void detail_resize(struct view *view, int width, int height);
static const struct rows *detail_rows(struct view *view);
static void detail_heading(void *detail, size_t entry, const struct outline_look *look,
                           struct rows *out);

enum { WHO_MOST = 12 };

/* --- entries --- */

static size_t who_columns(void)
{
    size_t columns = 0;
    for (int r = ROLE_USER; r <= ROLE_TOOL; r++) {
        const char *who = message_row_who((enum role)r);
        size_t width = utf8_width(who, strlen(who));
        columns = width > columns ? width : columns;
    }
    return columns < WHO_MOST ? columns : WHO_MOST;
}

/* Those that are listed may be but the first pages of all. */
static int64_t dropped_count(const struct compaction_detail *d)
{
    int64_t listed = (int64_t)d->dropped.items.len, all = d->completed->compaction.messages_dropped;
    return d->more || d->waiting ? (all > listed ? all : listed) : listed;
}

static bool is_summarised(const struct compaction_detail *d)
{
    const char *mode = d->completed->compaction.effective_mode;
    bool only_marked = mode && strcmp(mode, "recency_preserving") == 0;
    return !only_marked && d->completed->text && *d->completed->text;
}

static void write_dropped(const struct compaction_detail *d, unsigned long count,
                          const char *figure, struct buf *out)
{
    if (is_summarised(d))
        buf_addf(out, ngettext("%s message summarised", "%s messages summarised", count), figure);
    else
        buf_addf(out, ngettext("%s message dropped", "%s messages dropped", count), figure);
}

static void write_heading(const struct compaction_detail *d, enum detail_kind kind, struct buf *out)
{
    int64_t count = kind == DETAIL_SHORTENED_HEADING ? (int64_t)d->shortened.items.len
                    : kind == DETAIL_DROPPED_HEADING ? dropped_count(d)
                                                     : 0;
    struct buf figure = BUF_INIT;
    format_exact(&figure, count);
    if (kind == DETAIL_SUMMARY)
        buf_addstr(out, _("Summary"));
    else if (kind == DETAIL_SHORTENED_HEADING)
        buf_addf(out,
                 ngettext("%s message shortened", "%s messages shortened", (unsigned long)count),
                 figure.data);
    else if (kind == DETAIL_DROPPED_HEADING)
        write_dropped(d, (unsigned long)count, figure.data, out);
    else
        buf_addstr(out, _("loading"));
    buf_release(&figure);
}

static void add_heading(const struct compaction_detail *d, enum detail_kind kind,
                        const struct outline_look *look, struct rows *out)
{
    enum style style = look->chosen          ? STYLE_SELECTED
                       : kind == DETAIL_MORE ? STYLE_DIM
                                             : STYLE_HEADING;
    struct buf text = BUF_INIT;
    if (kind == DETAIL_SUMMARY)
        buf_addf(&text, "%s ", glyph(look->open ? GLYPH_UNFOLDED : GLYPH_FOLDED));
    write_heading(d, kind, &text);
    message_row_field(out, text.data, look->columns, style);
    buf_release(&text);
}

static void detail_heading(void *detail, size_t entry, const struct outline_look *look,
                           struct rows *out)
{
    const struct compaction_detail *d = detail;
    const struct dropped_message *m = detail_message(d, entry);
    if (!m) {
        add_heading(d, d->entries.items[entry].kind, look, out);
        return;
    }
    const struct message_row row = {message_row_who(m->role), m->turn,    m->text.data + m->said,
                                    m->text.len > 0,          look->open, look->chosen};
    message_row_add(out, &row, who_columns(), look->columns);
}

/* --- head and hints --- */

static void draw_title(struct compaction_detail *d)
{
    rows_begin(&d->rows);
    rows_addstr(&d->rows, " ", STYLE_OVERLAY_TITLE, 0);
    size_t used =
        1 + rows_add_cut(&d->rows, _("Compaction"), (size_t)d->width - 1, STYLE_OVERLAY_TITLE);
    message_row_field(&d->rows, "", (size_t)d->width - used, STYLE_OVERLAY);
}

/* At most a third of the screen. */
static void draw_outcome(struct compaction_detail *d)
{
    struct rows card;
    int most = d->height / 3;
    rows_init(&card);
    if (d->card)
        compaction_card_rows(&card, d->card, d->width);
    for (size_t i = 0; i < card.list.len && (int)i < most; i++) {
        size_t used = rows_width(&card, i);
        rows_copy(&d->rows, &card, i);
        message_row_field(&d->rows, "", (size_t)d->width - used, STYLE_OVERLAY);
    }
    rows_release(&card);
    if (d->quotes_forgotten && most > 1)
        remark_row(&d->rows, _("this summary quotes a memory entry that you deleted"),
                   STYLE_WARNING, (size_t)d->width);
}

static void draw_hints(struct compaction_detail *d)
{
    static const struct hint hints[] = {
        {ACTION_SEND, NULL, N_("unfold")},
        {ACTION_CANCEL, NULL, N_("close")},
        {ACTION_JUMP, NULL, N_("jump|show the message in the conversation")},
        {ACTION_CARD_MEMORY, NULL, N_("memory entries|show what memory keeps of it")},
        {ACTION_PAGE_DOWN, NULL, N_("page")},
        {ACTION_HELP, NULL, N_("help")}};
    size_t width = (size_t)d->width;
    if (d->remark.text)
        remark_row(&d->rows, d->remark.text, d->remark.style, width);
    else
        hints_rows(&d->rows, d->view.host->keymap, HINTS(hints), width, 1);
}

static void detail_resize(struct view *view, int width, int height)
{
    struct compaction_detail *d = (struct compaction_detail *)view;
    d->width = width > 2 ? width : 2;
    d->height = height > 1 ? height : 1;
}

static void want_what_comes_near(struct compaction_detail *d)
{
    size_t chosen = outline_chosen(d->outline);
    if (chosen != SIZE_MAX && chosen + 2 * (size_t)d->height >= d->entries.len)
        detail_want_more(d);
}

static const struct rows *detail_rows(struct view *view)
{
    struct compaction_detail *d = (struct compaction_detail *)view;
    rows_clear(&d->rows);
    draw_title(d);
    draw_outcome(d);
    d->head_rows = (int)d->rows.list.len;
    int last = d->height > d->head_rows + 1;
    if (d->height > d->head_rows) {
        outline_resize(d->outline, d->width, d->height - d->head_rows - last);
        outline_rows(d->outline, &d->rows);
    }
    if (last)
        draw_hints(d);
    want_what_comes_near(d);
    return &d->rows;
}

enum { PAGE_EVENTS = 200 };

static struct compaction_detail *of(struct view *view)
{
    return (struct compaction_detail *)view;
}

/* --- entries --- */

static const struct dropped_message *detail_message(const struct compaction_detail *d, size_t entry)
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

static void detail_want_more(struct compaction_detail *d)
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
    compaction_card_apply(d->card, ev);
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
