#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/text/wrap.h"
#include "ui/view/hints.h"
#include "ui/view/sessions_private.h"

char *sessions_title(const struct session_info *info)
{
    char *draft = session_title_of_draft(info);
    char *text = draft          ? mem_printf(_("Draft: %s"), draft)
                 : *info->title ? mem_strdup(info->title)
                                : mem_strdup(_("(untitled)"));
    char *clean = sessions_clean(text);
    free(text);
    free(draft);
    return clean;
}

/* Of the conversations that are not shown; NULL: none has it. */
static const char *doing_of(const struct sessions *s, const char *id)
{
    const struct view_host *host = s->view.host;
    bool waits;
    if (!host->works || !host->works(host->app, id, &waits))
        return NULL;
    return waits ? _("waits for you") : _("working");
}

static void write_state(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    bool open = strcmp(info->id, s->view.host->session->id) == 0;
    const char *words[] = {open ? _("open") : NULL, doing_of(s, info->id),
                           info->archived_ms > 0 ? _("archived") : NULL};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i])
            buf_addf(out, "%s%s", out->len > 0 ? ", " : "", words[i]);
}

static void write_age(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    (void)s;
    format_age(out, info->updated_ms, clock_wall_ms());
}

static void write_messages(const struct sessions *s, const struct session_info *info,
                           struct buf *out)
{
    (void)s;
    buf_addf(out, ngettext("%lld message", "%lld messages", (unsigned long)info->messages),
             (long long)info->messages);
}

void sessions_write_labels(const struct session_info *info, struct buf *out)
{
    for (const char *at = info->labels; at && *(at += strspn(at, " ")); at += strcspn(at, " "))
        buf_addf(out, "%s#%.*s", out->len > 0 ? " " : "", (int)strcspn(at, " "), at);
}

static void write_labels(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    (void)s;
    sessions_write_labels(info, out);
}

static void write_tokens(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    const struct usage *u = &info->usage;
    (void)s;
    if (!usage_known(u))
        return;
    buf_addstr(out, u->estimated ? "~" : "");
    format_short(out, (u->input > 0 ? u->input : 0) + (u->output > 0 ? u->output : 0));
    buf_addstr(out, _(" tokens"));
}

static void write_model(const struct sessions *s, const struct session_info *info, struct buf *out)
{
    (void)s;
    buf_addstr(out, info->model ? info->model : "");
}

static void (*const session_fields[SESSIONS_FIELDS])(const struct sessions *s,
                                                     const struct session_info *info,
                                                     struct buf *out) = {
    [SESSIONS_STATE] = write_state,       [SESSIONS_AGE] = write_age,
    [SESSIONS_MESSAGES] = write_messages, [SESSIONS_TOKENS] = write_tokens,
    [SESSIONS_MODEL] = write_model,       [SESSIONS_LABELS] = write_labels};

bool sessions_field_is_cut(size_t field)
{
    return field == SESSIONS_MODEL || field == SESSIONS_LABELS;
}

static void write_hit_title(const struct search_hit *hit, struct buf *out)
{
    buf_addstr(out, hit->title && *hit->title ? hit->title : _("(untitled)"));
}

static void write_who(const struct search_hit *hit, struct buf *out)
{
    buf_addstr(out, hit->role == ROLE_USER        ? _("you")
                    : hit->role == ROLE_ASSISTANT ? _("tiro")
                                                  : _("tool"));
}

static void write_hit_age(const struct search_hit *hit, struct buf *out)
{
    format_age(out, hit->at_ms, clock_wall_ms());
}

static void write_hit_state(const struct search_hit *hit, struct buf *out)
{
    buf_addstr(out, hit->archived ? _("archived") : "");
}

static void (*const hit_fields[])(const struct search_hit *hit, struct buf *out) = {
    write_who, write_hit_age, write_hit_title, write_hit_state};

enum { HIT_FIELDS = sizeof hit_fields / sizeof *hit_fields };

char *sessions_field(const struct sessions *s, struct sessions_entry entry, size_t field)
{
    struct buf out = BUF_INIT;
    if (entry.session && field < SESSIONS_FIELDS)
        session_fields[field](s, entry.session, &out);
    else if (entry.hit && field < HIT_FIELDS)
        hit_fields[field](entry.hit, &out);
    char *clean = sessions_clean(out.data);
    buf_release(&out);
    return clean;
}

enum {
    GAP = 2,            /* columns between fields */
    FIELD_COLUMNS = 24, /* that one may have */
    FIELD_LEAST = 10,   /* that one which may be cut keeps */
    TITLE_LEAST = 24,   /* that a long title keeps beside the fields */
    REST_COLUMNS = 16,  /* the least for the last line */
    WIDE = 60
};

/* --- lines: the sessions, how many more there are, a heading, the places found --- */

enum line_kind { LINE_SESSION, LINE_MORE, LINE_HEADING, LINE_HIT, LINE_NONE };
struct line {
    enum line_kind kind;
    size_t index; /* among the sessions or the hits */
};

static bool has_more(const struct sessions *s)
{
    return s->list.items.len > 0 && s->matching > (int64_t)s->list.items.len;
}

static struct line line_at(const struct sessions *s, size_t line)
{
    size_t listed = s->list.items.len, found = s->hits.items.len;
    if (line < listed)
        return (struct line){LINE_SESSION, line};
    line -= listed;
    if (has_more(s) && line-- == 0)
        return (struct line){LINE_MORE, 0};
    if (found > 0 && line-- == 0)
        return (struct line){LINE_HEADING, 0};
    return (struct line){line < found ? LINE_HIT : LINE_NONE, line};
}

static struct sessions_entry entry_at(const struct sessions *s, struct line line)
{
    size_t before = line.kind == LINE_HIT ? s->list.items.len : 0;
    return sessions_entry(s, before + line.index);
}

static size_t line_of_entry(const struct sessions *s, size_t entry)
{
    return entry < s->list.items.len ? entry : entry + has_more(s) + 1;
}

size_t sessions_list_at(const struct sessions *s, int row)
{
    if (row < 0 || row >= s->layout.list_rows)
        return SIZE_MAX;
    struct line line = line_at(s, s->top + (size_t)row);
    return line.kind == LINE_SESSION ? line.index
           : line.kind == LINE_HIT   ? s->list.items.len + line.index
                                     : SIZE_MAX;
}

/* --- columns: as wide as the widest of what is in view --- */

static size_t text_columns(char *text)
{
    size_t width = utf8_width(text, strlen(text));
    free(text);
    return width;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void widen(const struct sessions *s, enum line_kind kind, struct sessions_columns *c)
{
    for (size_t row = 0; row < (size_t)s->layout.list_rows; row++) {
        struct line line = line_at(s, s->top + row);
        if (line.kind != kind)
            continue;
        for (size_t f = 0; f < SESSIONS_FIELDS; f++) {
            size_t width = text_columns(sessions_field(s, entry_at(s, line), f));
            if (width > c->fields[f])
                c->fields[f] = least(width, FIELD_COLUMNS);
        }
        if (kind != LINE_SESSION)
            continue;
        size_t title = text_columns(sessions_title(&s->list.items.items[line.index]));
        c->main = title > c->main ? title : c->main;
    }
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What a field takes of the room; one that is cut below its least takes nothing. */
static size_t fit_field(size_t field, size_t wanted, size_t room)
{
    size_t columns = room > GAP ? least(wanted, room - GAP) : 0;
    bool fits = columns == wanted || (sessions_field_is_cut(field) && columns >= FIELD_LEAST);
    return fits ? columns : 0;
}

/* Fields that have no room are left out, and so are all behind them. */
static size_t drop_fields(struct sessions_columns *c, size_t room)
{
    size_t used = 0;
    bool full = false;
    for (size_t f = 0; f < SESSIONS_FIELDS; f++) {
        size_t columns = full ? 0 : fit_field(f, c->fields[f], room - used);
        full = columns < c->fields[f];
        c->fields[f] = columns;
        used += columns > 0 ? GAP + columns : 0;
    }
    return used;
}

static bool has_last_line(const struct sessions *s)
{
    for (size_t row = 0; row < (size_t)s->layout.list_rows; row++) {
        struct line line = line_at(s, s->top + row);
        const char *last =
            line.kind == LINE_SESSION ? s->list.items.items[line.index].last_line : NULL;
        if (last && *last)
            return true;
    }
    return false;
}

/* The fields come before the length of a title, and the last line before the labels. */
static struct sessions_columns find_session_columns(const struct sessions *s, size_t width)
{
    struct sessions_columns c = {0};
    widen(s, LINE_SESSION, &c);
    size_t title = least(c.main, most(TITLE_LEAST, width / 4)), room = width - title;
    size_t labels = c.fields[SESSIONS_LABELS], rest = has_last_line(s) ? REST_COLUMNS : 0;
    c.fields[SESSIONS_LABELS] = 0;
    size_t used = drop_fields(&c, room);
    rest = used + rest <= room ? rest : 0;
    c.fields[SESSIONS_LABELS] = fit_field(SESSIONS_LABELS, labels, room - used - rest);
    used += c.fields[SESSIONS_LABELS] > 0 ? GAP + c.fields[SESSIONS_LABELS] : 0;
    size_t spare = width - used;
    rest = rest > 0 ? most(rest, spare / 3) : 0;
    c.main = least(c.main, most(title, spare - rest));
    return c;
}

static struct sessions_columns find_hit_columns(const struct sessions *s, size_t width)
{
    struct sessions_columns c = {0};
    widen(s, LINE_HIT, &c);
    size_t half = width > WIDE ? width / 2 : width * 3 / 5;
    c.main = width - drop_fields(&c, width - half);
    return c;
}

/* With how many more there are, behind the last that is listed. */
static size_t last_line_of_entry(const struct sessions *s, size_t entry)
{
    return line_of_entry(s, entry) + (has_more(s) && entry + 1 == s->list.items.len);
}

static void keep_in_view(struct sessions *s)
{
    size_t rows = s->layout.list_rows > 0 ? (size_t)s->layout.list_rows : 1;
    size_t count = sessions_count(s);
    size_t line = line_of_entry(s, s->selected);
    size_t to = rows > 1 ? last_line_of_entry(s, s->selected) : line;
    /* with its heading */
    size_t from = count > 0 && s->selected == s->list.items.len && line > 0 ? line - 1 : line;
    size_t last = count > 0 ? last_line_of_entry(s, count - 1) : 0;
    s->top = moves_keep_in_view(s->top, from, to, last + 1, rows);
}

void sessions_list_view(struct sessions *s)
{
    size_t width = (size_t)s->layout.list_cols - 1;
    keep_in_view(s);
    s->list_columns = find_session_columns(s, width);
    s->hit_columns = find_hit_columns(s, width);
}

/* --- drawing --- */

static void add_padded(struct rows *out, const char *text, size_t columns, enum style style)
{
    size_t used = rows_add_cut(out, text, columns, style);
    rows_pad(out, columns - used, style);
}

/* Where to begin a snippet so that its match, which ends at `end`, is seen. */
static size_t snippet_start(const char *text, size_t match, size_t end, size_t columns)
{
    size_t from = match, len = strlen(text);
    if (utf8_width(text, end) < columns)
        return 0;
    while (from > 0 && utf8_width(text + from, match - from) < columns / 3)
        from = utf8_prev(text, len, from);
    return from;
}

static size_t add_piece(struct rows *out, const char *text, size_t len, size_t room,
                        enum style style)
{
    char *raw = mem_strndup(text, len), *clean = sessions_clean(raw);
    size_t used = rows_add_cut(out, clean, room, style);
    free(raw);
    free(clean);
    return used;
}

static void add_snippet(struct rows *out, const struct search_hit *hit, size_t columns,
                        enum style style)
{
    const char *text = hit->snippet ? hit->snippet : "";
    size_t len = strlen(text), match = least(hit->match, len);
    size_t end = match + least(hit->len, len - match);
    size_t from = snippet_start(text, match, end, columns), used = 0;
    if (from > 0)
        used += rows_add_cut(out, glyph(GLYPH_ELLIPSIS), columns, style);
    used += add_piece(out, text + from, match - from, columns - used, style);
    used += add_piece(out, text + match, end - match, columns - used, STYLE_MATCH);
    used += add_piece(out, text + end, len - end, columns - used, style);
    rows_pad(out, columns - used, style);
}

static void add_last_line(struct rows *out, const char *text, size_t room, enum style style)
{
    char *clean = sessions_clean(text);
    if (*clean && room >= REST_COLUMNS) {
        char *line = mem_printf(" %s %s", glyph(GLYPH_DASH), clean);
        room -= rows_add_cut(out, line, room, style);
        free(line);
    }
    rows_pad(out, room, style);
    free(clean);
}

/* Bytes in front of what tells a fork from its session: " (fork)" at the end. */
static size_t base_of(const struct session_info *info, const char *title)
{
    const char *mark = *info->parent ? strrchr(title, '(') : NULL;
    return mark && mark > title ? (size_t)(mark - title) - 1 : strlen(title);
}

static void add_title(struct rows *out, const struct session_info *info, size_t columns,
                      enum style style)
{
    char *title = sessions_title(info);
    size_t len = strlen(title), base = base_of(info, title);
    size_t end = utf8_width(title + base, len - base);
    bool parted = base < len && utf8_width(title, len) > columns && end < columns / 2;
    char *beginning = mem_strndup(title, parted ? base : len);
    size_t used = rows_add_cut(out, beginning, parted ? columns - end : columns, style);
    used += parted ? rows_add_cut(out, title + base, columns - used, style) : 0;
    rows_pad(out, columns - used, style);
    free(beginning);
    free(title);
}

static void draw_entry(const struct sessions *s, struct rows *out, struct line line, bool selected)
{
    size_t width = (size_t)s->layout.list_cols - 1;
    enum style main = selected ? STYLE_SELECTED : STYLE_OVERLAY;
    enum style side = selected ? STYLE_SELECTED : STYLE_DIM;
    const struct sessions_columns *c = line.kind == LINE_HIT ? &s->hit_columns : &s->list_columns;
    const struct session_info *info =
        line.kind == LINE_SESSION ? &s->list.items.items[line.index] : NULL;
    rows_addstr(out, selected ? glyph(GLYPH_POINTER) : " ", main, 0);
    if (info)
        add_title(out, info, c->main, main);
    else
        add_snippet(out, &s->hits.items.items[line.index], c->main, main);
    size_t used = c->main;
    for (size_t f = 0; f < SESSIONS_FIELDS; f++) {
        if (c->fields[f] == 0)
            continue;
        char *text = sessions_field(s, entry_at(s, line), f);
        rows_pad(out, GAP, side);
        add_padded(out, text, c->fields[f], side);
        used += GAP + c->fields[f];
        free(text);
    }
    add_last_line(out, info ? info->last_line : NULL, width - used, side);
}

static void draw_text(const struct sessions *s, struct rows *out, const char *text,
                      enum style style)
{
    rows_addstr(out, " ", style, 0);
    add_padded(out, text, (size_t)s->layout.list_cols - 1, style);
}

static void draw_more(const struct sessions *s, struct rows *out)
{
    struct buf count = BUF_INIT;
    format_exact(&count, s->matching - (int64_t)s->list.items.len);
    char *text = mem_printf(_("%s more; type to narrow them down"), count.data);
    draw_text(s, out, text, STYLE_DIM);
    free(text);
    buf_release(&count);
}

static void draw_heading(const struct sessions *s, struct rows *out)
{
    size_t found = s->hits.items.len;
    char *text = s->more_hits
                     ? mem_printf(ngettext("In the transcripts: %zu match, and more",
                                           "In the transcripts: %zu matches, and more", found),
                                  found)
                     : mem_printf(ngettext("In the transcripts: %zu match",
                                           "In the transcripts: %zu matches", found),
                                  found);
    draw_text(s, out, text, STYLE_HEADING);
    free(text);
}

static void draw_none(const struct sessions *s, struct rows *out)
{
    bool loading = s->list_question.id || s->search_question.id;
    draw_text(s, out,
              loading                  ? _("loading")
              : *editor_text(s->query) ? _("no matches")
                                       : _("No session was saved yet."),
              STYLE_DIM);
}

void sessions_list_row(const struct sessions *s, struct rows *out, int row)
{
    struct line line = line_at(s, s->top + (size_t)row);
    size_t entry = line.kind == LINE_HIT ? s->list.items.len + line.index : line.index;
    if (line.kind == LINE_MORE)
        draw_more(s, out);
    else if (line.kind == LINE_HEADING)
        draw_heading(s, out);
    else if (line.kind != LINE_NONE)
        draw_entry(s, out, line, entry == s->selected);
    else if (row == 0 && sessions_count(s) == 0)
        draw_none(s, out);
    else
        rows_pad(out, (size_t)s->layout.list_cols, STYLE_OVERLAY);
}

enum {
    MESSAGE_ROWS = 3, /* that a message may have */
    KEY_ROWS = 2,     /* that the keys may have, where there is room for a preview */
    ROOMY_ROWS = 6
};

/* --- keys --- */

/* The most important first: what has no room is left to F1. */
static const struct hint list_hints[] = {
    {ACTION_SEND, NULL, N_("resume")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_SESSION_READ, NULL, N_("read|open it without continuing it")},
    {ACTION_SESSION_RENAME, NULL, N_("rename")},
    {ACTION_SESSION_DELETE, NULL, N_("delete")},
    {ACTION_SESSION_ARCHIVE, NULL, N_("archive|take it out of this list; search still finds it")},
    {ACTION_SESSION_FORK, NULL, N_("fork|continue in a copy of it")},
    {ACTION_SESSION_LABEL, NULL, N_("label|change its labels")},
    {ACTION_SESSION_EXPORT, NULL, N_("export|write it to a file")},
    {ACTION_SESSION_ARCHIVED, NULL,
     N_("show archive|show archived sessions, too; again: no longer")},
    {ACTION_COMPLETE, NULL, N_("preview")},
    {ACTION_CANCEL, NULL, N_("close")}};

static const struct hint preview_hints[] = {
    {ACTION_COMPLETE, NULL, N_("list")},
    {ACTION_SEND, NULL, N_("resume")},
    {ACTION_SESSION_READ, NULL, N_("read|open it without continuing it")},
    {ACTION_CANCEL, NULL, N_("list")}};

static const struct hint input_hints[] = {{ACTION_SEND, NULL, N_("save")},
                                          {ACTION_CANCEL, NULL, N_("cancel")}};

enum { LIST_HINTS = sizeof list_hints / sizeof *list_hints }; /* the most */

static bool is_useful(const struct sessions *s, enum action action)
{
    if (action == ACTION_COMPLETE && s->layout.place == PREVIEW_NONE)
        return false;
    return action == ACTION_CANCEL || action == ACTION_SESSION_ARCHIVED || action == ACTION_HELP ||
           s->input != INPUT_NONE || sessions_selected_id(s);
}

static const char *hint_word(const struct sessions *s, const struct hint *h)
{
    struct sessions_entry e = sessions_entry(s, s->selected);
    bool archived = e.session ? e.session->archived_ms > 0 : e.hit && e.hit->archived;
    return h->action == ACTION_SESSION_ARCHIVE && archived ? N_("unarchive") : h->text;
}

struct hints {
    struct hint items[LIST_HINTS];
    size_t count;
};

static void add_useful(const struct sessions *s, const struct hint *hints, size_t count,
                       struct hints *out)
{
    for (size_t i = 0; i < count; i++)
        if (is_useful(s, hints[i].action))
            out->items[out->count++] =
                (struct hint){hints[i].action, NULL, hint_word(s, &hints[i])};
}

static struct hints hints_of(const struct sessions *s)
{
    struct hints out = {.count = 0};
    if (s->input != INPUT_NONE)
        add_useful(s, input_hints, sizeof input_hints / sizeof *input_hints, &out);
    else if (s->in_preview)
        add_useful(s, preview_hints, sizeof preview_hints / sizeof *preview_hints, &out);
    else
        add_useful(s, list_hints, LIST_HINTS, &out);
    return out;
}

/* The same whatever is selected or asked for, so that nothing jumps. */
static int key_rows(const struct sessions *s, size_t width)
{
    size_t next = 0;
    int count = 0;
    do
        next += hints_part(NULL, s->view.host->keymap, list_hints + next, LIST_HINTS - next, width,
                           false);
    while (++count < KEY_ROWS && next < LIST_HINTS);
    return count;
}

static void draw_keys(struct sessions *s)
{
    const struct hints hints = hints_of(s);
    hints_rows(&s->rows, s->view.host->keymap, (struct hint_table){hints.items, hints.count},
               (size_t)s->layout.width, s->layout.hint_rows);
}

/* --- messages, in place of the keys --- */

static char *hint_text(const struct sessions *s)
{
    if (s->input == INPUT_DELETE)
        return sessions_input_question(s);
    return mem_strdup(s->remark.text);
}

static void wrap_message(const char *text, enum style style, int width, struct rows *out)
{
    struct styled line;
    styled_init(&line);
    styled_addstr(&line, text, style, 0);
    wrap_text(out, &line, &(struct wrap_look){(size_t)width, WRAP_WORDS, NULL, NULL});
    styled_release(&line);
}

/* Row `index` of a message; the last one that is shown goes on, to be cut. */
static char *message_row(const struct rows *wrapped, size_t index, bool last)
{
    const struct row *row = &wrapped->list.items[index];
    struct buf text = BUF_INIT;
    buf_add(&text, wrapped->text.data + row->text, row->len);
    if (last && index + 1 < wrapped->list.len) {
        buf_addch(&text, ' ');
        buf_add(&text, wrapped->text.data + row[1].text, row[1].len);
    }
    return buf_take(&text);
}

static void draw_message(struct sessions *s, const char *text, enum style style)
{
    size_t width = (size_t)s->layout.width, used = 0;
    struct rows wrapped;
    rows_init(&wrapped);
    wrap_message(text, style, s->layout.width - 1, &wrapped);
    for (int i = 0; i < s->layout.hint_rows; i++) {
        rows_begin(&s->rows);
        if ((size_t)i >= wrapped.list.len) {
            rows_pad(&s->rows, width, STYLE_OVERLAY);
            continue;
        }
        char *line = message_row(&wrapped, (size_t)i, i + 1 == s->layout.hint_rows);
        rows_addstr(&s->rows, " ", style, 0);
        used = 1 + rows_add_cut(&s->rows, line, width - 1, style);
        rows_pad(&s->rows, width - used, STYLE_OVERLAY);
        s->caret_row = s->input == INPUT_DELETE ? s->layout.hint_top + i : s->caret_row;
        free(line);
    }
    if (s->input == INPUT_DELETE)
        s->caret_col = (int)(used < width ? used : width - 1);
    rows_release(&wrapped);
}

void sessions_draw_hints(struct sessions *s)
{
    char *text = hint_text(s);
    if (text && s->layout.hint_rows > 0)
        draw_message(s, text, s->input == INPUT_DELETE ? STYLE_WARNING : s->remark.style);
    else if (s->layout.hint_rows > 0)
        draw_keys(s);
    free(text);
}

/* A message that is longer than the screen is wide gets more than a row, if there are some. */
int sessions_hint_rows(const struct sessions *s, int width, int height)
{
    char *text = hint_text(s);
    struct rows rows;
    int count = height < SESSIONS_BELOW_ROWS ? 1 : key_rows(s, (size_t)width), lines = 0;
    rows_init(&rows);
    if (text && height >= ROOMY_ROWS) {
        wrap_message(text, STYLE_NOTE, width - 1, &rows);
        lines = rows.list.len < MESSAGE_ROWS ? (int)rows.list.len : MESSAGE_ROWS;
    }
    rows_release(&rows);
    free(text);
    return lines > count ? lines : count;
}

enum {
    BESIDE_COLUMNS = 160, /* from here on the preview is beside the list */
    BESIDE_LOW = 100,     /* the same where there is no room below it */
    LIST_COLUMNS = 114,   /* that all of a session is seen in */
    PART_COLUMNS = 8      /* that a part of the header needs */
};

/* --- places --- */

static struct sessions_layout lay_out(int width, int height, int hints)
{
    struct sessions_layout l = {.width = width, .height = height, .list_cols = width};
    l.hint_rows = height > hints ? hints : 0;
    l.hint_top = height - l.hint_rows;
    l.list_rows = l.hint_top - 1;
    l.preview_top = 1;
    if (width >= (height >= SESSIONS_BELOW_ROWS ? BESIDE_COLUMNS : BESIDE_LOW)) {
        l.place = PREVIEW_RIGHT;
        l.list_cols = width * 11 / 20;
        if (width >= BESIDE_COLUMNS && l.list_cols < LIST_COLUMNS)
            l.list_cols = LIST_COLUMNS;
        l.preview_left = l.list_cols + 2; /* a line and a blank between */
        l.preview_rows = l.list_rows;
    } else if (height >= SESSIONS_BELOW_ROWS) {
        l.place = PREVIEW_BELOW;
        l.preview_rows = height / 3;
        l.list_rows -= l.preview_rows;
        l.preview_top = 1 + l.list_rows;
    }
    l.preview_cols = width - l.preview_left;
    return l;
}

static void lay_out_for(struct sessions *s, int width, int height)
{
    int before_cols = s->layout.preview_cols, before_rows = s->layout.preview_rows;
    s->layout = lay_out(width, height, sessions_hint_rows(s, width, height));
    const struct sessions_layout *l = &s->layout;
    if (l->place == PREVIEW_NONE)
        s->in_preview = false;
    else if (l->preview_cols != before_cols || l->preview_rows != before_rows)
        transcript_resize(s->preview, l->preview_cols, l->preview_rows - 1);
}

void sessions_resize(struct view *view, int width, int height)
{
    struct sessions *s = sessions_of(view);
    lay_out_for(s, width > 2 ? width : 2, height > 1 ? height : 1);
    sessions_ask(s);
}

/* --- the row of the query, or of the line that is asked for --- */

static void add_count(const struct sessions *s, struct buf *out)
{
    bool filtered = *editor_text(s->query) != '\0';
    if (!s->listed)
        return;
    if (!filtered || s->all < s->matching) {
        format_exact(out, s->matching);
        return;
    }
    struct buf matching = BUF_INIT, all = BUF_INIT;
    format_exact(&matching, s->matching);
    format_exact(&all, s->all);
    buf_addf(out, _("%s of %s"), matching.data, all.data);
    buf_release(&matching);
    buf_release(&all);
}

static size_t add_line(struct sessions *s, struct editor *line, size_t used, size_t room)
{
    int caret;
    size_t columns = edit_line(&s->rows, line, room, &caret);
    s->caret_row = 0;
    s->caret_col = (int)used + caret;
    return columns;
}

static void draw_query(struct sessions *s)
{
    size_t width = (size_t)s->layout.width, used = 1, counted;
    const char *prompt = s->input == INPUT_NONE ? NULL : sessions_input_prompt(s);
    struct buf count = BUF_INIT;
    if (!prompt)
        add_count(s, &count);
    counted = count.len > 0 ? utf8_width(count.data, count.len) + 2 : 0;
    rows_begin(&s->rows);
    rows_addstr(&s->rows, " ", STYLE_OVERLAY_TITLE, 0);
    used += rows_add_cut(&s->rows, prompt ? prompt : _("Sessions"), width / 2, STYLE_OVERLAY_TITLE);
    if (!prompt)
        used += rows_add_cut(&s->rows, " / ", width - used, STYLE_PROMPT);
    counted = counted + 8 <= width - used ? counted : 0;
    used += add_line(s, prompt ? s->line : s->query, used, width - used - counted);
    rows_pad(&s->rows, used + counted < width ? width - used - counted : 0, STYLE_OVERLAY);
    if (counted > 0) {
        rows_addstr(&s->rows, " ", STYLE_OVERLAY, 0);
        rows_addstr(&s->rows, count.data, STYLE_DIM, 0);
        rows_addstr(&s->rows, " ", STYLE_OVERLAY, 0);
    }
    buf_release(&count);
}

/* --- the preview --- */

/* "#label #label"; the caller frees. */
static char *label_text(const struct session_info *info)
{
    struct buf text = BUF_INIT;
    sessions_write_labels(info, &text);
    char *clean = sessions_clean(text.data);
    buf_release(&text);
    return clean;
}

static size_t add_part(struct rows *rows, char *part, size_t room)
{
    char *text = mem_printf(" %s %s", glyph(GLYPH_DOT), part);
    size_t used = *part && room >= PART_COLUMNS ? rows_add_cut(rows, text, room, STYLE_DIM) : 0;
    free(text);
    free(part);
    return used;
}

/* "Title - #label - directory - model", with a line to its end. */
static void add_header(struct sessions *s)
{
    enum style style = s->in_preview ? STYLE_OVERLAY_TITLE : STYLE_HEADING;
    size_t width = (size_t)s->layout.preview_cols, used = 0;
    const struct session_info *info = &s->previewed;
    char *title = *info->id ? sessions_title(info) : mem_strdup("");
    if (s->in_preview)
        used += rows_add_cut(&s->rows, glyph(GLYPH_POINTER), width, style);
    used += rows_add_cut(&s->rows, title, width - used, style);
    free(title);
    used += add_part(&s->rows, label_text(info), width - used);
    used += add_part(&s->rows, sessions_clean(info->directory), width - used);
    used += add_part(&s->rows, sessions_clean(info->model), width - used);
    if (used < width)
        used += rows_add_cut(&s->rows, " ", 1, STYLE_RULE);
    for (; used < width; used++)
        rows_addstr(&s->rows, glyph(GLYPH_LINE), STYLE_RULE, 0);
}

static const char *empty_preview(const struct sessions *s)
{
    if (!sessions_selected_id(s))
        return "";
    return *s->previewed.id ? _("This session has no messages.") : _("loading");
}

struct preview {
    const struct transcript_row *rows;
    size_t count;
};

/* Row `row` of it, added to the row that is begun. */
static void add_preview_row(struct sessions *s, const struct preview *p, int row)
{
    size_t width = (size_t)s->layout.preview_cols, used = 0, at = (size_t)row - 1;
    if (row == 0) {
        add_header(s);
        return;
    }
    const struct transcript_row *rows = p->rows;
    if (at < p->count) {
        rows_append(&s->rows, rows[at].rows, rows[at].index);
        used = rows_width(rows[at].rows, rows[at].index);
    } else if (at == 0) {
        used = rows_add_cut(&s->rows, empty_preview(s), width, STYLE_DIM);
    }
    rows_pad(&s->rows, used < width ? width - used : 0, STYLE_OVERLAY);
}

static void draw_middle(struct sessions *s)
{
    const struct sessions_layout *l = &s->layout;
    struct preview p = {0};
    if (l->place != PREVIEW_NONE)
        p.rows = transcript_rows(s->preview, &p.count);
    for (int row = 0; row < l->list_rows; row++) {
        rows_begin(&s->rows);
        sessions_list_row(s, &s->rows, row);
        if (l->place != PREVIEW_RIGHT)
            continue;
        rows_addstr(&s->rows, glyph(GLYPH_BAR), STYLE_RULE, 0);
        rows_addstr(&s->rows, " ", STYLE_OVERLAY, 0);
        add_preview_row(s, &p, row);
    }
    for (int row = 0; l->place == PREVIEW_BELOW && row < l->preview_rows; row++) {
        rows_begin(&s->rows);
        add_preview_row(s, &p, row);
    }
}

const struct rows *sessions_rows(struct view *view)
{
    struct sessions *s = sessions_of(view);
    lay_out_for(s, s->layout.width, s->layout.height); /* a message may have come or gone */
    rows_clear(&s->rows);
    sessions_list_view(s);
    draw_query(s);
    draw_middle(s);
    sessions_draw_hints(s);
    return &s->rows;
}

bool sessions_caret(const struct view *view, int *row, int *col)
{
    const struct sessions *s = (const struct sessions *)view;
    *row = s->caret_row;
    *col = s->caret_col;
    return true;
}
