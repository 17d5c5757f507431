#include "ui/view/context_view.h"

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

enum { WHO_MOST = 12, PAGE_EVENTS = 200 };

/* Entries of the outline; `index` is of a message. */
enum detail_kind {
    DETAIL_SUMMARY,
    DETAIL_SHORTENED_HEADING,
    DETAIL_SHORTENED,
    DETAIL_DROPPED_HEADING,
    DETAIL_DROPPED,
    DETAIL_MORE /* messages that are asked for */
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
    bool quotes_forgotten; /* its summary quotes a deleted entry of memory */
    int64_t place;         /* of the next page */
    struct remark remark;
    int head_rows; /* above the outline, as drawn last */
    struct rows rows;
};

/* --- entries ---------------------------------------------------------------------------------- */

/* NULL: the entry is no message. */
static const struct dropped_message *message_of(const struct compaction_detail *d, size_t entry)
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
    const struct dropped_message *m = message_of(d, entry);
    return m ? m->seq : -1 - (int64_t)d->entries.items[entry].kind;
}

static struct outline_text entry_text(void *detail, size_t entry)
{
    const struct compaction_detail *d = detail;
    const struct dropped_message *m = message_of(d, entry);
    if (d->entries.items[entry].kind == DETAIL_SUMMARY)
        return (struct outline_text){d->completed->text, true};
    return (struct outline_text){m && m->text.len > 0 ? m->text.data : NULL, false};
}

/* A message, or the heading of those that follow. */
static void entry_heading(void *detail, size_t entry, const struct outline_look *look,
                          struct rows *out)
{
    const struct compaction_detail *d = detail;
    const struct compaction *c = d->completed ? &d->completed->compaction : NULL;
    const struct dropped_message *m = message_of(d, entry);
    enum detail_kind kind = d->entries.items[entry].kind;
    size_t who = 0;
    for (int r = ROLE_USER; m && r <= ROLE_TOOL; r++) {
        const char *name = message_row_who((enum role)r);
        size_t width = utf8_width(name, strlen(name));
        who = width > who ? width : who;
    }
    if (m) {
        const struct message_row row = {
            message_row_who(m->role), m->turn,    m->text.data + m->said,
            m->text.len > 0,          look->open, look->chosen};
        message_row_add(out, &row, who < WHO_MOST ? who : WHO_MOST, look->columns);
        return;
    }
    int64_t listed = (int64_t)d->dropped.items.len, count = (int64_t)d->shortened.items.len;
    bool all_known = !d->more && !d->waiting;
    if (kind == DETAIL_DROPPED_HEADING) /* pages may be missing yet */
        count = all_known || c->messages_dropped < listed ? listed : c->messages_dropped;
    unsigned long n = (unsigned long)count;
    auto_free char *figure = format_exact(count);
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (kind == DETAIL_SUMMARY) {
        buf_addf(&text, "%s %s", glyph(look->open ? GLYPH_UNFOLDED : GLYPH_FOLDED), _("Summary"));
    } else if (kind == DETAIL_SHORTENED_HEADING) {
        buf_addf(&text, ngettext("%s message shortened", "%s messages shortened", n), figure);
    } else if (kind == DETAIL_DROPPED_HEADING) {
        const char *mode = c->effective_mode;
        bool summarised = d->completed->text && *d->completed->text &&
                          !(mode && strcmp(mode, "recency_preserving") == 0); /* marks only */
        buf_addf(&text,
                 summarised ? ngettext("%s message summarised", "%s messages summarised", n)
                            : ngettext("%s message dropped", "%s messages dropped", n),
                 figure);
    } else {
        buf_addstr(&text, _("loading"));
    }
    message_row_field(out, text.data, look->columns,
                      look->chosen          ? STYLE_SELECTED
                      : kind == DETAIL_MORE ? STYLE_DIM
                                            : STYLE_HEADING);
}

static void list_entries(struct compaction_detail *d)
{
    const struct {
        enum detail_kind heading, kind;
        size_t count;
    } parts[] = {{DETAIL_SHORTENED_HEADING, DETAIL_SHORTENED, d->shortened.items.len},
                 {DETAIL_DROPPED_HEADING, DETAIL_DROPPED, d->dropped.items.len}};
    vec_clear(&d->entries);
    if (d->completed && d->completed->text && *d->completed->text)
        vec_push(&d->entries, (struct detail_entry){DETAIL_SUMMARY, 0});
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        if (parts[p].count > 0)
            vec_push(&d->entries, (struct detail_entry){parts[p].heading, 0});
        for (size_t i = 0; i < parts[p].count; i++)
            vec_push(&d->entries, (struct detail_entry){parts[p].kind, i});
    }
    if (d->waiting || d->more)
        vec_push(&d->entries, (struct detail_entry){DETAIL_MORE, 0});
    outline_fill(d->outline, d->entries.len);
}

/* --- pages ------------------------------------------------------------------------------------ */

/* Lists the messages that the compaction rewrote, as they are since; of a tool result that is what
 * is left of it. */
static void find_shortened(struct compaction_detail *d)
{
    const struct compaction *c = &d->completed->compaction;
    struct rebuild rebuild;
    struct error fault;
    if (!c->history || c->messages_before <= 0 ||
        !rebuild_from_json(c->history, (size_t)c->messages_before, &rebuild, &fault))
        return;
    for (size_t i = 0; i < rebuild.parts.len; i++) {
        const struct message *m = &rebuild.parts.items[i].made;
        struct dropped_message made = {.role = m->role, .seq = m->seq, .turn = m->turn};
        if (!rebuild.parts.items[i].rewrites)
            continue;
        buf_init(&made.text, 0);
        for (size_t k = 0; k < m->blocks.len; k++) {
            const struct block *b = &m->blocks.items[k];
            buf_addstr(&made.text, made.text.len > 0 ? "\n\n" : "");
            if (b->name && (b->type == BLOCK_TOOL_RESULT || b->type == BLOCK_TOOL_CALL))
                buf_addf(&made.text, "%s:\n", b->name);
            buf_addstr(&made.text, b->text ? b->text : "");
        }
        vec_push(&d->shortened.items, made);
    }
    rebuild_release(&rebuild);
}

static bool take_page(struct view *view, struct operation_answer *a, const char *words)
{
    struct compaction_detail *d = (struct compaction_detail *)view;
    struct compaction_ledger *page = a->result;
    bool first = !words && !d->completed;
    d->waiting = false;
    if (words) {
        d->more = false;
        d->failed = true;
        remark_set(&d->remark, STYLE_ERROR, words);
        list_entries(d);
        return true;
    }
    if (first) {
        struct event *ev = page->completed;
        page->completed = NULL;
        d->completed = ev;
        d->card = item_new(ITEM_COMPACTION, ev->seq);
        compaction_card_apply(d->card, ev);
        find_shortened(d);
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
    return true;
}

static void ask(struct compaction_detail *d)
{
    const struct compaction_ledger_params params = {.session = d->view.host->session->id,
                                                    .seq = d->seq,
                                                    .place = d->place,
                                                    .limit = PAGE_EVENTS};
    d->waiting = true;
    (void)view_ask(&d->view, &operation_compaction_ledger, &params, take_page);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The outcome has at most a third of the screen. */
static void add_head(struct compaction_detail *d)
{
    size_t width = (size_t)d->view.width;
    int most = d->view.height / 3;
    struct rows card;
    rows_init(&card);
    rows_begin(&d->rows);
    rows_addstr(&d->rows, " ", STYLE_OVERLAY_TITLE, 0);
    size_t used = 1 + rows_add_cut(&d->rows, _("Compaction"), width - 1, STYLE_OVERLAY_TITLE);
    rows_pad(&d->rows, width - used, STYLE_OVERLAY);
    if (d->card)
        compaction_card_rows(&card, d->card, d->view.width);
    for (size_t i = 0; i < card.list.len && (int)i < most; i++) {
        rows_copy(&d->rows, &card, i);
        rows_pad(&d->rows, width - rows_width(&card, i), STYLE_OVERLAY);
    }
    rows_release(&card);
    if (d->quotes_forgotten && most > 1)
        remark_row(&d->rows, _("this summary quotes a memory entry that you deleted"),
                   STYLE_WARNING, width);
}

static const struct rows *rows(struct view *view)
{
    static const struct hint hints[] = {
        {ACTION_SEND, NULL, N_("unfold")},
        {ACTION_CANCEL, NULL, N_("close")},
        {ACTION_JUMP, NULL, N_("jump|show the message in the conversation")},
        {ACTION_CARD_MEMORY, NULL, N_("memory entries|show what memory keeps of it")},
        {ACTION_PAGE_DOWN, NULL, N_("page")},
        {ACTION_HELP, NULL, N_("help")}};
    struct compaction_detail *d = (struct compaction_detail *)view;
    size_t width = (size_t)d->view.width;
    rows_clear(&d->rows);
    add_head(d);
    d->head_rows = (int)d->rows.list.len;
    int foot = d->view.height > d->head_rows + 1;
    if (d->view.height > d->head_rows) {
        outline_resize(d->outline, d->view.width, d->view.height - d->head_rows - foot);
        outline_rows(d->outline, &d->rows);
    }
    if (foot && d->remark.text)
        remark_row(&d->rows, d->remark.text, d->remark.style, width);
    else if (foot)
        hints_rows(&d->rows, view->host->keymap, HINTS(hints, COMMON_OUTLINE), width, 1);
    size_t chosen = outline_chosen(d->outline);
    bool near_end = chosen != SIZE_MAX && chosen + 2 * (size_t)d->view.height >= d->entries.len;
    if (near_end && d->more && !d->waiting)
        ask(d);
    return &d->rows;
}

/* --- keys ------------------------------------------------------------------------------------- */

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct compaction_detail *d = (struct compaction_detail *)view;
    const struct dropped_message *m = message_of(d, outline_chosen(d->outline));
    if (!d->failed)
        remark_set(&d->remark, STYLE_NOTE, NULL);
    if (action == ACTION_HELP)
        return false;
    switch (view_action(view, action, key)) {
    case ACTION_CANCEL:
    case ACTION_CLEAR:
        view_close(view);
        break;
    case ACTION_SEND:
    case ACTION_TOGGLE:
        (void)outline_toggle(d->outline);
        break;
    case ACTION_JUMP:
        if (m && m->seq > 0)
            view->host->show_message(view->host->app, view, NULL, m->seq);
        else
            remark_set(&d->remark, STYLE_NOTE, _("This is not a message of the conversation."));
        break;
    case ACTION_CARD_MEMORY:
        if (d->completed && d->completed->compaction.entries_indexed <= 0) {
            remark_set(&d->remark, STYLE_NOTE, _("Memory has no entries from this compaction."));
            break;
        }
        const struct view_host *host = view->host;
        view_close(view);
        host->act(host->app, ACTION_CARD_MEMORY);
        break;
    default:
        (void)outline_key(d->outline, action, key);
    }
    return true;
}

static void click(struct view *view, int row, int col)
{
    (void)col;
    (void)outline_click(((struct compaction_detail *)view)->outline,
                        row - ((struct compaction_detail *)view)->head_rows);
}

/* --- the view --------------------------------------------------------------------------------- */

static void free_view(struct view *view)
{
    struct compaction_detail *d = (struct compaction_detail *)view;
    outline_free(d->outline);
    vec_release(&d->entries);
    dropped_release(&d->shortened);
    dropped_release(&d->dropped);
    item_free(d->card);
    event_free(d->completed);
    rows_release(&d->rows);
    free(d->remark.text);
    free(d);
}

struct view *compaction_detail_new(const struct view_host *host, int64_t seq)
{
    static const struct view_ops ops = {
        .layer = VIEW_COVER,
        .of_session = true,
        .free = free_view,
        .key = take_key,
        .click = click,
        .rows = rows,
    };
    struct compaction_detail *d = mem_alloc(sizeof *d);
    *d = (struct compaction_detail){.view = {.ops = &ops, .host = host}, .seq = seq};
    d->outline = outline_new(&(struct outline_host){entry_key, entry_text, entry_heading, d});
    rows_init(&d->rows);
    ask(d);
    list_entries(d);
    return &d->view;
}
