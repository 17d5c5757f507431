#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/transcript/messages.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_view_private.h"

/* The whole entry, with what is said of it: who, when, and why it was found. */

enum { WORDS_NAMED = 6 /* of those that matched */ };

static void forget_whole(struct pane_preview *v)
{
    free(v->id);
    v->id = NULL;
    memory_entry_release(&v->whole);
}

void preview_release(struct pane_preview *v)
{
    forget_whole(v);
    styled_release(&v->text);
    vec_release(&v->starts);
}

/* --- its text --- */

static void add_part(struct buf *out, const char *text)
{
    if (out->len > 0)
        buf_addf(out, " %s ", glyph(GLYPH_DOT));
    buf_addstr(out, text);
}

static void add_figure(struct buf *out, const char *what, double figure)
{
    char *text = figure > 0 ? mem_printf("%s %.2f", what, figure) : NULL;
    if (text)
        add_part(out, text);
    free(text);
}

/* "matches: words 2.90, nearby 1.17": where the words of the query stand. */
static void write_matches(const struct memory_why *why, struct buf *out)
{
    const struct {
        const char *where;
        double figure;
    } places[] = {{why->passage ? _("best passage") : _("words"), why->words},
                  {_("close together"), why->proximity},
                  {_("neighbours"), why->before + why->after},
                  {_("nearby"), why->window},
                  {_("conversation"), why->session}};
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].figure > 0)
            buf_addf(&text, "%s%s %.2f", text.len > 0 ? ", " : "", places[i].where,
                     places[i].figure);
    if (text.len > 0) {
        char *matches = mem_printf(_("matches: %s"), text.data);
        add_part(out, matches);
        free(matches);
    }
    buf_release(&text);
}

/* "a short text × 0.80": what its rank is multiplied by; in words alone, what speaks for it. */
static void write_factors(const struct memory_why *why, bool figures, struct buf *out)
{
    const struct {
        const char *what;
        double factor;
    } rows[] = {{_("your own message"), why->user},
                {_("the query names who said it"), why->named},
                {_("a short text"), why->length},
                {_("a mere question"), why->asks}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *factor = mem_printf("%s ×", rows[i].what);
        if (figures && fabs(rows[i].factor - 1) > 0.004)
            add_figure(out, factor, rows[i].factor);
        else if (!figures && rows[i].factor > 1)
            add_part(out, rows[i].what);
        free(factor);
    }
}

static bool is_marked_before(const struct memory_hit *h, size_t index)
{
    const char *text = h->entry.content;
    struct memory_span mark = h->marks.items[index];
    for (size_t i = 0; i < index; i++)
        if (h->marks.items[i].len == mark.len &&
            strncasecmp(text + h->marks.items[i].start, text + mark.start, mark.len) == 0)
            return true;
    return false;
}

/* "contains ryokan, river · your own message" */
static void write_reasons(const struct memory_hit *h, struct buf *out)
{
    struct buf words = BUF_INIT, text = BUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < h->marks.len && count < WORDS_NAMED; i++) {
        if (is_marked_before(h, i))
            continue;
        buf_addstr(&words, count++ > 0 ? ", " : "");
        utf8_clean(&words, h->entry.content + h->marks.items[i].start, h->marks.items[i].len,
                   UTF8_ONE_LINE);
    }
    buf_addf(&text, _("contains %s"), count > 0 ? words.data : "");
    if (count > 0)
        add_part(out, text.data);
    else if (h->why.has_vector)
        add_part(out, _("similar in meaning"));
    buf_release(&words);
    buf_release(&text);
}

const char *pane_origin_words(enum memory_origin origin)
{
    static const char *const words[MEMORY_ORIGINS] = {[MEMORY_IMPORTED] = N_("imported"),
                                                      [MEMORY_DROPPED] = N_("compacted"),
                                                      [MEMORY_LEFT] = N_("earlier session")};
    return _(words[origin]);
}

/* What a search found is explained; what is only listed, newest first, is not. */
static void write_why(const struct memory_hit *h, bool figures, struct buf *out)
{
    const struct memory_why *why = &h->why;
    if (h->score <= 0)
        return;
    if (figures)
        add_figure(out, _("score"), h->score);
    if (why->exact)
        add_part(out, _("identical text"));
    if (figures)
        write_matches(why, out);
    else
        write_reasons(h, out);
    write_factors(why, figures, out);
    if (figures && why->held > 0) {
        char *text = mem_printf(_("covers %.0f %% of the query"), why->held * 100);
        add_part(out, text);
        free(text);
    }
    if (figures && why->has_vector) {
        char *text = mem_printf(_("vectors: cosine %.2f"), why->cosine);
        add_part(out, text);
        free(text);
    }
}

static void write_marks(const struct memory_entry *e, struct buf *out)
{
    if (e->pinned)
        add_part(out, _("pinned"));
    if (e->edited)
        add_part(out, _("edited by you"));
}

/* What a long answer answers stands above it, as a quotation. */
static void add_question(struct styled *out, const char *question)
{
    struct buf text = BUF_INIT;
    if (!question)
        return;
    buf_addstr(&text, "> ");
    utf8_clean(&text, question, strlen(question), UTF8_MULTILINE);
    buf_addstr(&text, "\n\n");
    styled_add(out, text.data, text.len, STYLE_DIM, 0);
    buf_release(&text);
}

static void add_line(struct styled *out, const struct buf *text, const char *end, enum style style)
{
    styled_add(out, text->data, text->len, style, 0);
    styled_addstr(out, end, style, 0);
}

/* Marks are places in the text that the search saw. */
static const struct memory_hit *marks_of(const struct memory_hit *h, const struct memory_entry *e)
{
    return strcmp(h->entry.content, e->content) == 0 ? h : NULL;
}

/* Where the first mark of the best part will be, in a text that goes on at `begin` with the
 * entry's. Cleaning may change how many bytes stand before it. */
static size_t place_found(const struct memory_hit *marks, size_t begin)
{
    size_t i = 0, count = marks ? marks->marks.len : 0;
    struct buf before = BUF_INIT;
    while (i < count && marks->marks.items[i].start < marks->passage.start)
        i++;
    if (i == count)
        return 0;
    utf8_clean(&before, marks->entry.content, marks->marks.items[i].start, UTF8_MULTILINE);
    begin += before.len;
    buf_release(&before);
    return begin;
}

static void make_text(struct memory_view *p)
{
    struct pane_preview *v = &p->preview;
    const struct memory_hit *h = pane_hit(p);
    struct buf line = BUF_INIT;
    styled_clear(&v->text);
    vec_clear(&v->starts);
    v->width = 0;
    if (!h)
        return;
    const struct memory_entry *e = preview_entry(p);
    pane_write_who(p, e, WHO_SESSION, &line);
    write_marks(e, &line);
    add_line(&v->text, &line, "\n", STYLE_HEADING);
    add_question(&v->text, h->question);
    v->found = place_found(marks_of(h, e), v->text.text.len);
    memory_marked_text(&v->text, e->content, marks_of(h, e), STYLE_OVERLAY);
    buf_clear(&line);
    write_why(h, p->preview.figures, &line);
    add_part(&line, pane_origin_words(e->origin));
    styled_addstr(&v->text, "\n\n", STYLE_OVERLAY, 0);
    add_line(&v->text, &line, "", STYLE_DIM);
    buf_release(&line);
}

const struct memory_entry *preview_entry(const struct memory_view *p)
{
    const struct memory_hit *h = pane_hit(p);
    const struct memory_entry *whole = &p->preview.whole;
    bool known = h && whole->id && h->entry.id && strcmp(whole->id, h->entry.id) == 0;
    return known ? whole : h ? &h->entry : NULL;
}

/* --- opening --- */

static void drop_whole(struct memory_view *p)
{
    view_withdraw(&p->view, p->preview.reading);
    p->preview.reading = 0;
    forget_whole(&p->preview);
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
    drop_whole(p);
    v->top = 0;
    v->untouched = true;
    if (!params.id)
        return;
    v->id = mem_strdup(params.id);
    v->reading = view_ask(&p->view, &operation_memory_read, &params, take_whole);
}

void preview_open(struct view *view)
{
    struct memory_view *p = pane_of(view);
    p->preview.open = true;
    p->place = IN_PREVIEW;
    ask_whole(p, pane_hit(p));
    make_text(p);
}

void preview_close(struct view *view)
{
    struct memory_view *p = pane_of(view);
    p->preview.open = false;
    if (p->place == IN_PREVIEW)
        p->place = IN_LIST;
    drop_whole(p);
}

void preview_toggle_figures(struct view *view)
{
    struct memory_view *p = pane_of(view);
    p->preview.figures = !p->preview.figures;
    if (p->preview.open)
        make_text(p);
    else if (pane_hit(p))
        preview_open(view);
}

void preview_follow(struct memory_view *p)
{
    const struct memory_hit *h = pane_hit(p);
    const char *shown = p->preview.id;
    if (!p->preview.open)
        return;
    if (!h) {
        preview_close(&p->view);
        return;
    }
    if (!shown || !h->entry.id || strcmp(shown, h->entry.id) != 0)
        ask_whole(p, h);
    make_text(p);
}

void preview_anew(struct memory_view *p)
{
    drop_whole(p);
}

/* --- its rows --- */

static size_t text_width(const struct memory_view *p)
{
    return p->layout.width > 3 ? (size_t)p->layout.width - 2 : 1;
}

/* Breaks it until row `row` is known; false: it has fewer rows. */
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

static size_t rows_in_view(const struct memory_view *p)
{
    return p->layout.lower_rows > 1 ? (size_t)p->layout.lower_rows - 1 : 1;
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

/* Bytes [from, to) with their looks. */
static void add_range(struct rows *out, const struct styled *s, size_t from, size_t to)
{
    size_t at = 0;
    for (size_t i = 0; i < s->spans.len && at < to; i++) {
        const struct span *span = &s->spans.items[i];
        size_t begin = at > from ? at : from, end = at + span->len < to ? at + span->len : to;
        if (begin < end)
            rows_add(out, s->text.data + begin, end - begin, (enum style)span->style, span->attrs);
        at += span->len;
    }
}

static void add_row(struct memory_view *p, struct rows *out, size_t row)
{
    struct pane_preview *v = &p->preview;
    size_t width = (size_t)p->layout.width, used = 1;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY, 0);
    if (know_row(p, row)) {
        size_t from = v->starts.items[row];
        struct wrap_piece piece =
            wrap_next(v->text.text.data, v->text.text.len, from, text_width(p), WRAP_WORDS);
        size_t len = utf8_cut_width(v->text.text.data + from, piece.end - from, text_width(p));
        add_range(out, &v->text, from, from + len);
        used += utf8_width(v->text.text.data + from, len);
    }
    message_row_field(out, "", used < width ? width - used : 0, STYLE_OVERLAY);
}

/* Whether there is more of it is seen by the arrows at the line's end. */
static void add_title(struct memory_view *p, struct rows *out)
{
    size_t width = (size_t)p->layout.width, used = 0;
    bool here = p->focused && p->place == IN_PREVIEW;
    bool more = know_row(p, p->preview.top + rows_in_view(p));
    rows_begin(out);
    used += rows_add_cut(out, here ? glyph(GLYPH_POINTER) : glyph(GLYPH_LINE), width,
                         here ? STYLE_PROMPT : STYLE_RULE);
    while (used + 2 < width) {
        rows_addstr(out, glyph(GLYPH_LINE), STYLE_RULE, 0);
        used++;
    }
    if (used < width)
        used += rows_add_cut(out, more ? glyph(GLYPH_DOWN) : glyph(GLYPH_LINE), width - used,
                             more ? STYLE_PROMPT : STYLE_RULE);
    message_row_field(out, "", width - used, STYLE_RULE);
}

/* A wider or a taller view may leave it scrolled too far. */
static void stay_within(struct memory_view *p)
{
    struct pane_preview *v = &p->preview;
    while (v->top > 0 && !know_row(p, v->top + rows_in_view(p) - 1))
        v->top--;
}

/* Of a long entry the beginning may have nothing of what was looked for. */
static void show_found(struct memory_view *p)
{
    struct pane_preview *v = &p->preview;
    size_t row = 0, room = rows_in_view(p), end;
    (void)know_row(p, 0);
    while (vec_last(&v->starts) <= v->found && know_row(p, v->starts.len))
        ;
    for (end = v->starts.len; end - row > 1;) {
        size_t middle = row + (end - row) / 2;
        if (v->starts.items[middle] <= v->found)
            row = middle;
        else
            end = middle;
    }
    v->top = row < room ? 0 : row - room / 3;
}

void preview_rows(struct memory_view *p, struct rows *out)
{
    if (p->preview.untouched)
        show_found(p);
    stay_within(p);
    add_title(p, out);
    for (int i = 1; i < p->layout.lower_rows; i++)
        add_row(p, out, p->preview.top + (size_t)i - 1);
}

void edit_release(struct pane_edit *e)
{
    free(e->id);
    free(e->original);
    editor_free(e->editor);
    *e = (struct pane_edit){0};
}

static void clear(struct pane_edit *e)
{
    free(e->id);
    free(e->original);
    e->id = e->original = NULL;
    e->reading = 0;
    e->saving = false;
    editor_start(e->editor, NULL);
}

static bool is_changed(const struct pane_edit *e)
{
    return e->original && strcmp(e->original, editor_text(e->editor)) != 0;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* --- beginning --- */

/* Keys wait for it, so the person is where he was. */
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

/* What was changed and left comes back first, were it of another entry: nothing is lost. */
void edit_open(struct memory_view *p)
{
    const struct memory_read_params params = {.id = pane_hit(p)->entry.id};
    struct pane_edit *e = &p->edit;
    if (!params.id)
        return;
    bool same = e->id && strcmp(e->id, params.id) == 0;
    bool left = is_changed(e);
    if (left && !same)
        pane_say(p, STYLE_WARNING, _("another entry has unsaved changes: this one"));
    if (left || (same && e->original)) {
        p->place = IN_EDITOR;
        return;
    }
    edit_give_up(p);
    clear(e);
    e->id = mem_strdup(params.id);
    e->reading = view_ask(&p->view, &operation_memory_read, &params, take_text);
}

bool edit_waits(const struct memory_view *p)
{
    return p->edit.reading != 0;
}

void edit_give_up(struct memory_view *p)
{
    if (!edit_waits(p))
        return;
    view_withdraw(&p->view, p->edit.reading);
    clear(&p->edit);
}

/* --- ending --- */

static void go_back(struct memory_view *p)
{
    p->place = p->preview.open ? IN_PREVIEW : IN_LIST;
}

void edit_saved(struct memory_view *p, bool done)
{
    p->edit.saving = false;
    if (!done)
        return;
    if (p->place == IN_EDITOR)
        go_back(p);
    clear(&p->edit);
}

static void save(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct pane_edit *e = &p->edit;
    if (e->saving)
        return;
    if (is_blank(editor_text(e->editor))) {
        pane_say(p, STYLE_WARNING, _("an empty text cannot be saved"));
    } else if (!is_changed(e)) {
        go_back(p);
        clear(e);
    } else {
        e->saving = true;
        pane_save(p, e->id, editor_text(e->editor));
    }
}

static void leave(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct buf key = BUF_INIT, text = BUF_INIT;
    go_back(p);
    if (!is_changed(&p->edit)) {
        clear(&p->edit);
        return;
    }
    keymap_describe_first(view->host->keymap, ACTION_MEMORY_EDIT, &key);
    buf_addf(&text, _("not saved; %s continues editing"), key.len > 0 ? key.data : "-");
    pane_say(p, STYLE_NOTE, text.data);
    buf_release(&key);
    buf_release(&text);
}

static void take_back(struct view *view)
{
    struct pane_edit *e = &pane_of(view)->edit;
    if (!is_changed(e))
        leave(view);
    else if (!e->saving)
        editor_set(e->editor, e->original);
}

static void edit_outside(struct view *view)
{
    view->host->edit_outside(view->host->app, pane_of(view)->edit.editor);
}

static const struct view_key keys[] = {{ACTION_SEND, save},
                                       {ACTION_CANCEL, leave},
                                       {ACTION_CLEAR, take_back},
                                       {ACTION_EXTERNAL, edit_outside},
                                       {ACTION_NONE, NULL}};

/* While it is saved, its text is what was sent. */
bool edit_in_pane(struct view *view, enum action action, const struct key *key)
{
    struct memory_view *p = pane_of(view);
    struct pane_edit *e = &p->edit;
    int page = p->layout.lower_rows > 3 ? p->layout.lower_rows - 2 : 1;
    if (view_run_action(view, keys, action))
        return true;
    if (pane_passes(action))
        return false;
    if (editor_move(e->editor, action, page))
        return true;
    if (key->code == K_PASTE)
        editor_paste(e->editor, key->text, strlen(key->text));
    else
        (void)editor_take_key(e->editor, action, key);
    return true;
}

/* --- what it looks like --- */

void edit_rows(struct memory_view *p, struct rows *out)
{
    const char *title = edit_waits(p)    ? _("loading")
                        : p->edit.saving ? _("saving")
                                         : _("edit entry");
    size_t width = (size_t)p->layout.width;
    int height = p->layout.lower_rows - 1;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY_TITLE, 0);
    message_row_field(out, title, width - 1, STYLE_OVERLAY_TITLE);
    if (height < 1)
        return;
    struct editor_view view = editor_layout(p->edit.editor, width > 3 ? (int)width - 2 : 1, height);
    p->caret_row = p->layout.lower_top + 1 + view.caret_row;
    p->caret_col = 1 + view.caret_col;
    for (int i = 0; i < height; i++) {
        size_t at = view.top + (size_t)i, used = 1;
        rows_begin(out);
        rows_addstr(out, " ", STYLE_EDITOR, 0);
        if (at < view.row_count) {
            rows_append(out, view.rows, at);
            used += rows_width(view.rows, at);
        }
        message_row_field(out, "", used < width ? width - used : 0, STYLE_EDITOR);
    }
}
