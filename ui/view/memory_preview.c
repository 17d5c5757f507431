/* The lower part of memory's tab: an entry in full with who, when and why it was found, or its text
 * in an editor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/transcript/messages.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_view_private.h"

enum { WORDS_NAMED = 6 /* of those that matched */ };

/* --- why it was found --- */

/* "contains ryokan, river": the words that matched, each once. */
static void write_words(const struct memory_hit *h, struct buf *out)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    const char *text = h->entry.content;
    size_t count = 0;
    for (size_t i = 0; i < h->marks.len && count < WORDS_NAMED; i++) {
        struct memory_span mark = h->marks.items[i];
        size_t same = 0;
        while (same < i &&
               (h->marks.items[same].len != mark.len ||
                strncasecmp(text + h->marks.items[same].start, text + mark.start, mark.len) != 0))
            same++;
        if (same < i)
            continue;
        buf_addstr(&words, count++ > 0 ? ", " : "");
        utf8_clean(&words, text + mark.start, mark.len, UTF8_ONE_LINE);
    }
    auto_free char *contains = count > 0 ? mem_printf(_("contains %s"), words.data) : NULL;
    if (contains)
        pane_add_part(out, contains);
    else if (h->why.has_vector)
        pane_add_part(out, _("similar in meaning"));
}

/* "matches: words 2.90, nearby 1.17": the places of the query's words, with their share. */
static void write_places(const struct memory_why *why, struct buf *out)
{
    const struct {
        const char *where;
        double figure;
    } places[] = {{why->passage ? _("best passage") : _("words"), why->words},
                  {_("close together"), why->proximity},
                  {_("neighbours"), why->before + why->after},
                  {_("nearby"), why->window},
                  {_("conversation"), why->session}};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].figure > 0)
            buf_addf(&text, "%s%s %.2f", text.len > 0 ? ", " : "", places[i].where,
                     places[i].figure);
    auto_free char *matches = text.len > 0 ? mem_printf(_("matches: %s"), text.data) : NULL;
    if (matches)
        pane_add_part(out, matches);
}

/* Only a match of a search is explained. Without figures: words, and factors above 1. */
static void write_why(const struct memory_hit *h, bool figures, struct buf *out)
{
    const struct memory_why *why = &h->why;
    const struct {
        const char *what;
        double factor; /* of the rank */
    } factors[] = {{_("your own message"), why->user},
                   {_("the query names who said it"), why->named},
                   {_("a short text"), why->length},
                   {_("a mere question"), why->asks}};
    if (h->score <= 0)
        return;
    auto_free char *score = mem_printf("%s %.2f", _("score"), h->score);
    if (figures)
        pane_add_part(out, score);
    if (why->exact)
        pane_add_part(out, _("identical text"));
    if (figures)
        write_places(why, out);
    else
        write_words(h, out);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double factor = factors[i].factor;
        auto_free char *text = mem_printf("%s × %.2f", factors[i].what, factor);
        if (figures && fabs(factor - 1) > 0.004 && factor > 0)
            pane_add_part(out, text);
        else if (!figures && factor > 1)
            pane_add_part(out, factors[i].what);
    }
    if (figures && why->held > 0) {
        auto_free char *text = mem_printf(_("covers %.0f %% of the query"), why->held * 100);
        pane_add_part(out, text);
    }
    if (figures && why->has_vector) {
        auto_free char *text = mem_printf(_("vectors: cosine %.2f"), why->cosine);
        pane_add_part(out, text);
    }
}

/* --- its text --- */

const struct memory_entry *preview_entry(const struct memory_view *p)
{
    const struct memory_hit *h = pane_hit(p);
    const struct memory_entry *whole = &p->preview.whole;
    bool known = h && whole->id && h->entry.id && strcmp(whole->id, h->entry.id) == 0;
    return known ? whole : h ? &h->entry : NULL;
}

/* Speaker and marks, the question that it answers, the text, and why it was found. */
static void make_text(struct memory_view *p)
{
    struct pane_preview *v = &p->preview;
    const struct memory_hit *h = pane_hit(p);
    const struct memory_entry *e = preview_entry(p);
    AUTO(buf_release) struct buf line = BUF_INIT;
    styled_clear(&v->text);
    vec_clear(&v->starts);
    v->width = 0;
    if (!h)
        return;
    pane_write_who(p, e, WHO_SESSION, &line);
    if (e->pinned)
        pane_add_part(&line, _("pinned"));
    if (e->edited)
        pane_add_part(&line, _("edited by you"));
    styled_add(&v->text, line.data, line.len, STYLE_HEADING, 0);
    styled_addstr(&v->text, "\n", STYLE_HEADING, 0);
    if (h->question) {
        buf_clear(&line);
        buf_addstr(&line, "> ");
        utf8_clean(&line, h->question, strlen(h->question), UTF8_MULTILINE);
        buf_addstr(&line, "\n\n");
        styled_add(&v->text, line.data, line.len, STYLE_DIM, 0);
    }
    /* marks are places in the text that the search saw */
    const struct memory_hit *marks = strcmp(h->entry.content, e->content) == 0 ? h : NULL;
    size_t first = 0, count = marks ? marks->marks.len : 0;
    while (first < count && marks->marks.items[first].start < marks->passage.start)
        first++;
    v->found = 0;
    if (first < count) { /* cleaning may change how many bytes stand before the match */
        AUTO(buf_release) struct buf before = BUF_INIT;
        utf8_clean(&before, marks->entry.content, marks->marks.items[first].start, UTF8_MULTILINE);
        v->found = v->text.text.len + before.len;
    }
    memory_marked_text(&v->text, e->content, marks, STYLE_OVERLAY);
    buf_clear(&line);
    write_why(h, v->figures, &line);
    pane_add_part(&line, e->from ? e->from : pane_origin_words(e->origin));
    styled_addstr(&v->text, "\n\n", STYLE_OVERLAY, 0);
    styled_add(&v->text, line.data, line.len, STYLE_DIM, 0);
}

/* --- opening --- */

void preview_forget(struct memory_view *p)
{
    struct pane_preview *v = &p->preview;
    view_withdraw(&p->view, v->reading);
    v->reading = 0;
    free(v->id);
    v->id = NULL;
    memory_entry_release(&v->whole);
}

static bool take_whole(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    struct memory_entry *e = a->result;
    p->preview.reading = 0;
    if (words)
        return pane_fail(p, words);
    memory_entry_release(&p->preview.whole);
    p->preview.whole = *e;
    *e = (struct memory_entry){0};
    make_text(p);
    return true;
}

static void ask_whole(struct memory_view *p, const struct memory_hit *h)
{
    struct pane_preview *v = &p->preview;
    const struct memory_read_params params = {.id = h->entry.id};
    preview_forget(p);
    v->top = 0;
    v->untouched = true;
    if (!params.id)
        return;
    v->id = mem_strdup(params.id);
    v->reading = view_ask(&p->view, &operation_memory_read, &params, take_whole);
}

void preview_open(struct memory_view *p)
{
    p->preview.open = true;
    p->place = IN_PREVIEW;
    ask_whole(p, pane_hit(p));
    make_text(p);
}

void preview_close(struct memory_view *p)
{
    p->preview.open = false;
    if (p->place == IN_PREVIEW)
        p->place = IN_LIST;
    preview_forget(p);
}

void preview_toggle_figures(struct memory_view *p)
{
    p->preview.figures = !p->preview.figures;
    if (p->preview.open) {
        make_text(p);
        preview_scroll(p, -MOVES_ALL); /* they stand at its top */
    } else if (pane_hit(p))
        preview_open(p);
}

void preview_follow(struct memory_view *p)
{
    const struct memory_hit *h = pane_hit(p);
    const char *shown = p->preview.id;
    if (!p->preview.open)
        return;
    if (!h) {
        preview_close(p);
        return;
    }
    if (!shown || !h->entry.id || strcmp(shown, h->entry.id) != 0)
        ask_whole(p, h);
    make_text(p);
}

/* --- its rows --- */

static size_t text_width(const struct memory_view *p)
{
    return p->layout.width > 3 ? (size_t)p->layout.width - 2 : 1;
}

static size_t rows_in_view(const struct memory_view *p)
{
    return p->layout.lower_rows > 1 ? (size_t)p->layout.lower_rows - 1 : 1;
}

/* Breaks the text until row `row` is known; false: it has fewer rows. */
static bool know_row(struct memory_view *p, size_t row)
{
    struct pane_preview *v = &p->preview;
    int width = (int)text_width(p);
    if (v->width != width) {
        vec_clear(&v->starts);
        v->width = width;
    }
    if (v->starts.len == 0)
        vec_push(&v->starts, 0);
    while (v->starts.len <= row && vec_last(&v->starts) < v->text.text.len) {
        struct wrap_piece piece = wrap_next(v->text.text.data, v->text.text.len,
                                            vec_last(&v->starts), (size_t)width, WRAP_WORDS);
        vec_push(&v->starts, piece.next);
    }
    return row < v->starts.len && v->starts.items[row] < v->text.text.len;
}

void preview_scroll(struct memory_view *p, long by)
{
    struct pane_preview *v = &p->preview;
    size_t room = rows_in_view(p);
    v->untouched = false;
    for (; by > 0 && know_row(p, v->top + room); by--)
        v->top++;
    v->top = by >= 0 ? v->top : (size_t)-by < v->top ? v->top - (size_t)-by : 0;
}

static void add_row(struct memory_view *p, struct rows *out, size_t row)
{
    struct pane_preview *v = &p->preview;
    const struct styled *s = &v->text;
    size_t width = (size_t)p->layout.width, used = 1;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY, 0);
    if (know_row(p, row)) {
        size_t from = v->starts.items[row], at = 0;
        struct wrap_piece piece =
            wrap_next(s->text.data, s->text.len, from, text_width(p), WRAP_WORDS);
        size_t len = utf8_cut_width(s->text.data + from, piece.end - from, text_width(p));
        size_t to = from + len;
        for (size_t i = 0; i < s->spans.len && at < to; i++) {
            const struct span *span = &s->spans.items[i];
            size_t begin = at > from ? at : from, end = at + span->len < to ? at + span->len : to;
            if (begin < end)
                rows_add(out, s->text.data + begin, end - begin, (enum style)span->style,
                         span->attrs);
            at += span->len;
        }
        used += utf8_width(s->text.data + from, len);
    }
    rows_pad(out, used < width ? width - used : 0, STYLE_OVERLAY);
}

void preview_rows(struct memory_view *p, struct rows *out)
{
    struct pane_preview *v = &p->preview;
    size_t room = rows_in_view(p), match = 0;
    (void)know_row(p, 0);
    if (v->untouched) { /* the beginning of a long entry may not have the match */
        while (vec_last(&v->starts) <= v->found && know_row(p, v->starts.len))
            ;
        for (size_t end = v->starts.len; end - match > 1;) {
            size_t middle = match + (end - match) / 2;
            if (v->starts.items[middle] <= v->found)
                match = middle;
            else
                end = middle;
        }
        v->top = match < room ? 0 : match - room / 3;
    }
    while (v->top > 0 && !know_row(p, v->top + room - 1)) /* the view became larger */
        v->top--;
    /* the row above the text: an arrow at its end says that the text goes on */
    size_t width = (size_t)p->layout.width, used = 0;
    bool here = p->focused && p->place == IN_PREVIEW;
    bool more = know_row(p, v->top + room);
    rows_begin(out);
    used += rows_add_cut(out, here ? glyph(GLYPH_POINTER) : glyph(GLYPH_LINE), width,
                         here ? STYLE_PROMPT : STYLE_RULE);
    for (; used + 2 < width; used++)
        rows_addstr(out, glyph(GLYPH_LINE), STYLE_RULE, 0);
    if (used < width)
        used += rows_add_cut(out, more ? glyph(GLYPH_DOWN) : glyph(GLYPH_LINE), width - used,
                             more ? STYLE_PROMPT : STYLE_RULE);
    rows_pad(out, width - used, STYLE_RULE);
    for (int i = 1; i < p->layout.lower_rows; i++)
        add_row(p, out, v->top + (size_t)i - 1);
}

/* --- the editor --- */

static void clear(struct pane_edit *e)
{
    struct editor *editor = e->editor;
    free(e->id);
    free(e->original);
    *e = (struct pane_edit){.editor = editor};
    editor_start(editor, NULL);
}

static bool is_changed(const struct pane_edit *e)
{
    return e->original && strcmp(e->original, editor_text(e->editor)) != 0;
}

/* Keys wait for it, so the place has not changed. */
static bool take_text(struct view *view, struct operation_answer *a, const char *words)
{
    struct memory_view *p = pane_of(view);
    const struct memory_entry *entry = a->result;
    if (words)
        return pane_fail(p, words);
    p->edit.reading = 0;
    editor_start(p->edit.editor, entry->content);
    p->edit.original = mem_strdup(editor_text(p->edit.editor));
    p->place = IN_EDITOR;
    ahead_replay(p);
    return true;
}

/* Unsaved changes come back first, even those of another entry, so that none is lost. */
void edit_open(struct memory_view *p)
{
    const struct memory_read_params params = {.id = pane_hit(p)->entry.id};
    struct pane_edit *e = &p->edit;
    if (!params.id)
        return;
    bool same = e->id && strcmp(e->id, params.id) == 0, unsaved = is_changed(e);
    if (unsaved && !same)
        remark_set(&p->remark, STYLE_WARNING, _("another entry has unsaved changes: this one"));
    if (unsaved || (same && e->original)) {
        p->place = IN_EDITOR;
        return;
    }
    edit_give_up(p);
    clear(e);
    e->id = mem_strdup(params.id);
    e->reading = view_ask(&p->view, &operation_memory_read, &params, take_text);
}

void edit_give_up(struct memory_view *p)
{
    if (p->edit.reading == 0)
        return;
    view_withdraw(&p->view, p->edit.reading);
    clear(&p->edit);
}

void edit_saved(struct memory_view *p, bool done)
{
    p->edit.saving = false;
    if (!done)
        return;
    if (p->place == IN_EDITOR)
        p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
    clear(&p->edit);
}

static void save(struct memory_view *p)
{
    struct pane_edit *e = &p->edit;
    if (e->saving)
        return;
    if (utf8_is_blank(editor_text(e->editor))) {
        remark_set(&p->remark, STYLE_WARNING, _("an empty text cannot be saved"));
    } else if (!is_changed(e)) {
        p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
        clear(e);
    } else {
        const struct memory_edit_params params = {.id = e->id, .content = editor_text(e->editor)};
        e->saving = true;
        view_ask(&p->view, &operation_memory_edit, &params, pane_take_change);
    }
}

bool edit_key(struct memory_view *p, enum action action, const struct key *key)
{
    const struct view_host *host = p->view.host;
    struct editor *editor = p->edit.editor;
    int page = p->layout.lower_rows > 3 ? p->layout.lower_rows - 2 : 1;
    if (action == ACTION_SEND) {
        save(p);
    } else if (action == ACTION_CANCEL || (action == ACTION_CLEAR && !is_changed(&p->edit))) {
        AUTO(buf_release) struct buf again = BUF_INIT;
        keymap_describe_first(host->keymap, ACTION_MEMORY_EDIT, &again);
        auto_free char *text =
            mem_printf(_("not saved; %s continues editing"), again.len > 0 ? again.data : "-");
        p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
        if (is_changed(&p->edit))
            remark_set(&p->remark, STYLE_NOTE, text);
        else
            clear(&p->edit);
    } else if (action == ACTION_CLEAR) {
        if (!p->edit.saving)
            editor_set(editor, p->edit.original);
    } else if (action == ACTION_EXTERNAL) {
        host->edit_outside(host->app, editor);
    } else if (pane_passes(action)) {
        return false;
    } else if (editor_move(editor, action, page)) {
        return true;
    } else if (key->code == K_PASTE) {
        editor_paste(editor, key->text, strlen(key->text));
    } else {
        (void)editor_take_key(editor, action, key);
    }
    return true;
}

void edit_rows(struct memory_view *p, struct rows *out)
{
    const char *title = p->edit.reading != 0 ? _("loading")
                        : p->edit.saving     ? _("saving")
                                             : _("edit entry");
    size_t width = (size_t)p->layout.width;
    int height = p->layout.lower_rows - 1;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY_TITLE, 0);
    message_row_field(out, title, width - 1, STYLE_OVERLAY_TITLE);
    if (height < 1)
        return;
    struct editor_view view = editor_layout(p->edit.editor, width > 3 ? (int)width - 2 : 1, height);
    p->view.caret =
        (struct view_caret){true, p->layout.lower_top + 1 + view.caret_row, 1 + view.caret_col};
    for (int i = 0; i < height; i++) {
        size_t at = view.top + (size_t)i, used = 1;
        rows_begin(out);
        rows_addstr(out, " ", STYLE_EDITOR, 0);
        if (at < view.row_count) {
            rows_append(out, view.rows, at);
            used += rows_width(view.rows, at);
        }
        rows_pad(out, used < width ? width - used : 0, STYLE_EDITOR);
    }
}
