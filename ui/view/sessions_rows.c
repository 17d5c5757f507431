#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/browser.h"
#include "ui/view/sessions_private.h"

enum {
    GAP = 2,              /* columns between fields */
    FIELD_COLUMNS = 24,   /* of a field at most */
    FIELD_LEAST = 10,     /* of a field that was cut, at least */
    TITLE_LEAST = 24,     /* of a long title beside the fields */
    REST_COLUMNS = 16,    /* of the last line of a session, at least */
    WIDE = 60,            /* columns, from which on a found text has half of them */
    MESSAGE_ROWS = 3,     /* of a message in the foot, at most */
    KEY_ROWS = 2,         /* of the keys at most, where there is room for a preview */
    ROOMY_ROWS = 6,       /* of the screen, from which on a message may take several rows */
    BELOW_ROWS = 15,      /* of the screen, from which on there is a preview at any width */
    BESIDE_COLUMNS = 160, /* from which on the preview is beside the list */
    BESIDE_LOW = 100,     /* the same where there is no room below the list */
    LIST_COLUMNS = 114,   /* that show all of a session */
    PART_COLUMNS = 8,     /* of a part of the preview's header, at least */
    ASKED_COLUMNS = 40    /* of a title in a question */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* --- fields behind a title or a found text, the most important first --- */

enum { STATE, AGE, MESSAGES, TOKENS, MODEL, LABELS, FIELDS };

/* Columns; 0: the field is not shown. */
struct columns {
    size_t main; /* of a title or of a found text */
    size_t fields[FIELDS];
};

/* "from:claude #label #label" */
static void write_labels(const struct session_info *info, struct buf *out)
{
    if (info->imported)
        buf_addf(out, "%sfrom:%s", out->len > 0 ? " " : "", info->imported);
    for (const char *at = info->labels; at && *(at += strspn(at, " ")); at += strcspn(at, " "))
        buf_addf(out, "%s#%.*s", out->len > 0 ? " " : "", (int)strcspn(at, " "), at);
}

static void write_field(const struct sessions *s, const struct session_info *info, size_t field,
                        struct buf *out)
{
    const struct view_host *host = s->view.host;
    const struct usage *u = &info->usage;
    bool waits = false, works = host->works && host->works(host->app, info->id, &waits);
    const char *const states[] = {strcmp(info->id, host->session->id) == 0 ? _("open") : NULL,
                                  works ? waits ? _("waits for you") : _("working") : NULL,
                                  info->archived_ms > 0 ? _("archived") : NULL};
    switch (field) {
    case STATE:
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            if (states[i])
                buf_addf(out, "%s%s", out->len > 0 ? ", " : "", states[i]);
        break;
    case AGE:
        format_age(out, info->updated_ms, clock_wall_ms());
        break;
    case MESSAGES:
        buf_addf(out, ngettext("%lld message", "%lld messages", (unsigned long)info->messages),
                 (long long)info->messages);
        break;
    case TOKENS:
        if (!usage_known(u))
            break;
        buf_addstr(out, u->estimated ? "~" : "");
        format_short(out, (u->input > 0 ? u->input : 0) + (u->output > 0 ? u->output : 0));
        buf_addstr(out, _(" tokens"));
        break;
    case MODEL:
        buf_addstr(out, info->model ? info->model : "");
        break;
    default:
        write_labels(info, out);
    }
}

/* Clean; the caller frees. A found place has the speaker, its age, the session, whether that is
 * archived. */
static char *field_text(const struct sessions *s, struct sessions_entry e, size_t field)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    if (e.session)
        write_field(s, e.session, field, &out);
    else if (e.hit && field == 1)
        format_age(&out, e.hit->at_ms, clock_wall_ms());
    else if (e.hit && field == 0)
        buf_addstr(&out, e.hit->role == ROLE_USER        ? _("you")
                         : e.hit->role == ROLE_ASSISTANT ? _("tiro")
                                                         : _("tool"));
    else if (e.hit && field == 2)
        buf_addstr(&out, e.hit->title && *e.hit->title ? e.hit->title : _("(untitled)"));
    else if (e.hit && field == 3 && e.hit->archived)
        buf_addstr(&out, _("archived"));
    return utf8_clean_line(out.data);
}

/* --- lines: the sessions, how many more there are, a heading, the places found --- */

enum line_kind { LINE_SESSION, LINE_MORE, LINE_HEADING, LINE_HIT, LINE_NONE };
struct line {
    enum line_kind kind;
    size_t entry; /* of LINE_SESSION and LINE_HIT */
};

static struct line line_at(const struct sessions *s, size_t line)
{
    size_t listed = s->list.items.len, found = s->hits.items.len;
    if (line < listed)
        return (struct line){LINE_SESSION, line};
    line -= listed;
    if (listed > 0 && s->matching > (int64_t)listed && line-- == 0)
        return (struct line){LINE_MORE, 0};
    if (found > 0 && line-- == 0)
        return (struct line){LINE_HEADING, 0};
    return (struct line){line < found ? LINE_HIT : LINE_NONE, listed + line};
}

size_t sessions_list_at(const struct sessions *s, int row)
{
    if (row < 0 || row >= s->layout.list_rows)
        return SIZE_MAX;
    struct line line = line_at(s, s->top + (size_t)row);
    return line.kind == LINE_SESSION || line.kind == LINE_HIT ? line.entry : SIZE_MAX;
}

/* The last session brings the line that counts those behind it, the first found place its heading.
 */
static void keep_in_view(struct sessions *s)
{
    size_t rows = s->layout.list_rows > 0 ? (size_t)s->layout.list_rows : 1;
    size_t count = sessions_count(s), listed = s->list.items.len, at = s->selected;
    size_t more = listed > 0 && s->matching > (int64_t)listed,
           lines = count + more + (count > listed);
    size_t line = at < listed ? at : at + more + 1, from = line, to = line;
    if (rows > 1 && more > 0 && at + 1 == listed)
        to++;
    if (count > 0 && at == listed && line > 0)
        from--;
    s->top = moves_keep_in_view(s->top, from, to, lines, rows);
}

/* --- columns: as wide as the widest text in view --- */

/* The widest of each field; whether any session has a last line. */
static struct columns measure(const struct sessions *s, enum line_kind kind, bool *last_line)
{
    struct columns c = {0};
    *last_line = false;
    for (size_t row = 0; row < (size_t)s->layout.list_rows; row++) {
        struct line line = line_at(s, s->top + row);
        if (line.kind != kind)
            continue;
        struct sessions_entry e = sessions_entry(s, line.entry);
        for (size_t f = 0; f < FIELDS; f++) {
            auto_free char *text = field_text(s, e, f);
            c.fields[f] = most(c.fields[f], least(utf8_width(text, strlen(text)), FIELD_COLUMNS));
        }
        if (!e.session)
            continue;
        auto_free char *title = sessions_title(e.session);
        c.main = most(c.main, utf8_width(title, strlen(title)));
        *last_line = *last_line || (e.session->last_line && *e.session->last_line);
    }
    return c;
}

/* Columns of a field in that room. Model and labels may be cut, but not below their least. */
static size_t fit_field(size_t field, size_t wanted, size_t room)
{
    size_t columns = room > GAP ? least(wanted, room - GAP) : 0;
    bool cut = (field == MODEL || field == LABELS) && columns >= FIELD_LEAST;
    return columns == wanted || cut ? columns : 0;
}

/* A field without room is left out, and so are all behind it. Returns the columns used. */
static size_t drop_fields(struct columns *c, size_t room)
{
    size_t used = 0;
    bool full = false;
    for (size_t f = 0; f < FIELDS; f++) {
        size_t columns = full ? 0 : fit_field(f, c->fields[f], room - used);
        full = columns < c->fields[f];
        c->fields[f] = columns;
        used += columns > 0 ? GAP + columns : 0;
    }
    return used;
}

/* The fields of a session come before the length of its title, and the last line before the labels.
 */
static struct columns fit_columns(const struct sessions *s, enum line_kind kind, size_t width)
{
    bool last_line;
    struct columns c = measure(s, kind, &last_line);
    if (kind == LINE_HIT) {
        c.main = width - drop_fields(&c, width - (width > WIDE ? width / 2 : width * 3 / 5));
        return c;
    }
    size_t title = least(c.main, most(TITLE_LEAST, width / 4)), room = width - title;
    size_t labels = c.fields[LABELS], rest = last_line ? REST_COLUMNS : 0;
    c.fields[LABELS] = 0;
    size_t used = drop_fields(&c, room);
    rest = used + rest <= room ? rest : 0;
    c.fields[LABELS] = fit_field(LABELS, labels, room - used - rest);
    used += c.fields[LABELS] > 0 ? GAP + c.fields[LABELS] : 0;
    size_t spare = width - used;
    rest = rest > 0 ? most(rest, spare / 3) : 0;
    c.main = least(c.main, most(title, spare - rest));
    return c;
}

/* --- the list --- */

/* The part around the match, so that the match is seen. */
static void add_snippet(struct rows *out, const struct search_hit *hit, size_t columns,
                        enum style style)
{
    const char *text = hit->snippet ? hit->snippet : "";
    size_t len = strlen(text), match = least(hit->match, len);
    size_t end = match + least(hit->len, len - match), from = 0, used = 0;
    if (utf8_width(text, end) >= columns)
        for (from = match; from > 0 && utf8_width(text + from, match - from) < columns / 3;)
            from = utf8_prev(text, len, from);
    if (from > 0)
        used += rows_add_cut(out, glyph(GLYPH_ELLIPSIS), columns, style);
    const size_t borders[] = {from, match, end, len};
    for (size_t i = 0; i + 1 < sizeof borders / sizeof *borders; i++) {
        auto_free char *part = mem_strndup(text + borders[i], borders[i + 1] - borders[i]);
        auto_free char *clean = utf8_clean_line(part);
        used += rows_add_cut(out, clean, columns - used, i == 1 ? STYLE_MATCH : style);
    }
    rows_pad(out, columns - used, style);
}

/* The end " (fork)" stays when a title is cut, as it tells the fork from its session. */
static void add_title(struct rows *out, const struct session_info *info, size_t columns,
                      enum style style)
{
    auto_free char *title = sessions_title(info);
    size_t len = strlen(title), base = len;
    const char *mark = *info->parent ? strrchr(title, '(') : NULL;
    if (mark && mark > title)
        base = (size_t)(mark - title) - 1;
    size_t end = utf8_width(title + base, len - base);
    bool parted = base < len && utf8_width(title, len) > columns && end < columns / 2;
    auto_free char *beginning = mem_strndup(title, parted ? base : len);
    size_t used = rows_add_cut(out, beginning, parted ? columns - end : columns, style);
    used += parted ? rows_add_cut(out, title + base, columns - used, style) : 0;
    rows_pad(out, columns - used, style);
}

static void add_entry(const struct sessions *s, struct rows *out, size_t entry,
                      const struct columns *c)
{
    struct sessions_entry e = sessions_entry(s, entry);
    bool selected = entry == s->selected;
    size_t left = (size_t)s->layout.list_cols - 1 - c->main;
    enum style main = selected ? STYLE_SELECTED : STYLE_OVERLAY;
    enum style side = selected ? STYLE_SELECTED : STYLE_DIM;
    rows_addstr(out, selected ? glyph(GLYPH_POINTER) : " ", main, 0);
    if (e.session)
        add_title(out, e.session, c->main, main);
    else
        add_snippet(out, e.hit, c->main, main);
    for (size_t f = 0; f < FIELDS; f++) {
        if (c->fields[f] == 0)
            continue;
        auto_free char *text = field_text(s, e, f);
        rows_pad(out, GAP, side);
        message_row_field(out, text, c->fields[f], side);
        left -= GAP + c->fields[f];
    }
    auto_free char *last = utf8_clean_line(e.session ? e.session->last_line : NULL);
    if (*last && left >= REST_COLUMNS) {
        auto_free char *text = mem_printf(" %s %s", glyph(GLYPH_DASH), last);
        left -= rows_add_cut(out, text, left, side);
    }
    rows_pad(out, left, side);
}

/* A line that is no entry: a count, a heading, or the words of an empty list. */
static char *line_text(const struct sessions *s, struct line line, int row, enum style *style)
{
    size_t found = s->hits.items.len;
    *style = STYLE_DIM;
    if (line.kind == LINE_MORE) {
        auto_free char *count = format_exact(s->matching - (int64_t)s->list.items.len);
        return mem_printf(_("%s more; type to narrow them down"), count);
    }
    if (line.kind == LINE_HEADING) {
        *style = STYLE_HEADING;
        return s->more_hits
                   ? mem_printf(ngettext("In the transcripts: %zu match, and more",
                                         "In the transcripts: %zu matches, and more", found),
                                found)
                   : mem_printf(ngettext("In the transcripts: %zu match",
                                         "In the transcripts: %zu matches", found),
                                found);
    }
    if (row > 0 || sessions_count(s) > 0)
        return NULL;
    return mem_strdup(s->list_question.id || s->search_question.id ? _("loading")
                      : *editor_text(s->query)                     ? _("no matches")
                                               : _("No session was saved yet."));
}

/* --- the foot: the keys, or a message --- */

/* The most important first: those without room are left to F1. */
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
    {ACTION_SESSION_PROJECT, NULL,
     N_("all projects|those of other projects, too; again: of this one alone")},
    {ACTION_COMPLETE, NULL, N_("preview")},
    {ACTION_CANCEL, NULL, N_("close")},
    {ACTION_SESSIONS, NULL, N_("|close")},
    {ACTION_NONE, "from:claude", N_("|only what was said to that agent; from:tiro: here")},
    {ACTION_FIND_NEWER, NULL, N_("|preview")}};

static const struct hint preview_hints[] = {
    {ACTION_COMPLETE, NULL, N_("list")},
    {ACTION_SEND, NULL, N_("resume")},
    {ACTION_SESSION_READ, NULL, N_("read|open it without continuing it")},
    {ACTION_CANCEL, NULL, N_("list")}};

static const struct hint input_hints[] = {{ACTION_SEND, NULL, N_("save")},
                                          {ACTION_CANCEL, NULL, N_("cancel")}};

enum { LIST_HINTS = sizeof list_hints / sizeof *list_hints }; /* the longest table */

/* The message in place of the keys; NULL: none. The caller frees. */
static char *foot_text(const struct sessions *s)
{
    if (s->input != INPUT_DELETE)
        return mem_strdup(s->remark.text);
    auto_free char *title = sessions_title(&s->target);
    size_t len = strlen(title), cut = utf8_cut_width(title, len, ASKED_COLUMNS);
    return mem_printf(_("Delete \"%.*s%s\" for good? y/n"), (int)cut, title,
                      cut < len ? glyph(GLYPH_ELLIPSIS) : "");
}

static void add_foot(struct sessions *s)
{
    bool asks = s->input == INPUT_DELETE;
    auto_free char *text = foot_text(s);
    if (s->layout.hint_rows == 0)
        return;
    if (!text) {
        /* keys that do nothing now are left out */
        static const struct hint_table list = {list_hints, LIST_HINTS, 0, NULL};
        struct hint useful[LIST_HINTS];
        unsigned common = COMMON_MOVE | COMMON_EMACS | COMMON_CLOSE | COMMON_WRITE;
        struct hint_table all = s->input != INPUT_NONE ? HINTS(input_hints, COMMON_WRITE)
                                : s->in_preview
                                    ? HINTS(preview_hints, common | COMMON_VI | COMMON_SPACE)
                                    : HINTS(list_hints, common);
        size_t count = 0;
        struct sessions_entry e = sessions_entry(s, s->selected);
        bool archived = e.session ? e.session->archived_ms > 0 : e.hit && e.hit->archived;
        for (size_t i = 0; i < all.count; i++) {
            struct hint h = all.hints[i];
            bool general = h.action == ACTION_CANCEL || h.action == ACTION_SESSIONS ||
                           h.action == ACTION_SESSION_ARCHIVED ||
                           h.action == ACTION_SESSION_PROJECT || h.action == ACTION_HELP ||
                           s->input != INPUT_NONE;
            if (((h.action == ACTION_COMPLETE || h.action == ACTION_FIND_NEWER) &&
                 s->layout.place == PREVIEW_NONE) ||
                (!general && !sessions_selected_id(s)))
                continue;
            if (h.action == ACTION_SESSION_ARCHIVE && archived)
                h.text = N_("unarchive");
            useful[count++] = h;
        }
        hints_rows(&s->rows, s->view.host->keymap,
                   (struct hint_table){useful, count, all.common, s->in_preview ? &list : NULL},
                   (size_t)s->layout.width, s->layout.hint_rows);
        return;
    }
    struct remark_end end = remark_rows(&s->rows, text, asks ? STYLE_WARNING : s->remark.style,
                                        (size_t)s->layout.width, s->layout.hint_rows);
    if (asks) {
        s->view.caret = (struct view_caret){true, s->layout.hint_top + end.row, end.col};
    }
}

/* --- places --- */

/* The keys take the same rows whatever is selected or asked for, so that nothing jumps. */
static void lay_out(struct sessions *s, int width, int height)
{
    auto_free char *text = foot_text(s);
    int hints = 1,
        lines = text && height >= ROOMY_ROWS ? remark_lines(text, (size_t)width, MESSAGE_ROWS) : 0;
    size_t next = 0;
    for (int i = 1; i <= KEY_ROWS && next < LIST_HINTS && height >= BELOW_ROWS; i++) {
        next += hints_part(NULL, s->view.host->keymap, list_hints + next, LIST_HINTS - next,
                           (size_t)width, false);
        hints = i;
    }
    hints = lines > hints ? lines : hints;
    int before_cols = s->layout.preview_cols, before_rows = s->layout.preview_rows;
    struct sessions_layout l = {.width = width, .height = height, .list_cols = width};
    l.hint_rows = height > hints ? hints : 0;
    l.hint_top = height - l.hint_rows;
    l.list_rows = l.hint_top - 1;
    l.preview_top = 1;
    if (width >= (height >= BELOW_ROWS ? BESIDE_COLUMNS : BESIDE_LOW)) {
        l.place = PREVIEW_RIGHT;
        l.list_cols = width * 11 / 20;
        if (width >= BESIDE_COLUMNS && l.list_cols < LIST_COLUMNS)
            l.list_cols = LIST_COLUMNS;
        l.preview_left = l.list_cols + 2; /* a line and a blank between */
        l.preview_rows = l.list_rows;
    } else if (height >= BELOW_ROWS) {
        l.place = PREVIEW_BELOW;
        l.preview_rows = height / 3;
        l.list_rows -= l.preview_rows;
        l.preview_top = 1 + l.list_rows;
    }
    l.preview_cols = width - l.preview_left;
    s->layout = l;
    if (l.place == PREVIEW_NONE)
        s->in_preview = false;
    else if (l.preview_cols != before_cols || l.preview_rows != before_rows)
        transcript_resize(s->preview, l.preview_cols, l.preview_rows - 1);
}

/* --- the row of the query, or of the line that is asked for --- */

static void add_query(struct sessions *s)
{
    static const char *const prompts[] = {[INPUT_TITLE] = N_("Title: "),
                                          [INPUT_LABELS] = N_("Labels: "),
                                          [INPUT_FILE] = N_("Export to: "),
                                          [INPUT_DELETE] = NULL};
    const char *prompt = prompts[s->input];
    bool here = !s->everywhere && !*editor_text(s->query) && s->view.host->session->directory;
    bool narrowed = *editor_text(s->query) && s->all >= s->matching;
    auto_free char *matching = format_exact(s->matching), *all = format_exact(s->all);
    auto_free char *count = narrowed ? mem_printf(_("%s of %s"), matching, all)
                            : here   ? mem_printf(_("%s in this project"), matching)
                                     : NULL;
    const struct browser_line line = {.title = prompt ? _(prompt) : _("Sessions"),
                                      .prompt = prompt ? NULL : " / ",
                                      .right = prompt || !s->listed ? NULL
                                               : count              ? count
                                                                    : matching,
                                      .editor = prompt ? s->line : s->query};
    int caret = browser_line_row(&s->rows, &line, (size_t)s->layout.width);
    s->view.caret = (struct view_caret){true, 0, caret};
}

/* --- the preview --- */

/* "Title - #label - directory - model", with a line to its end. */
static void add_header(struct sessions *s)
{
    enum style style = s->in_preview ? STYLE_OVERLAY_TITLE : STYLE_HEADING;
    size_t width = (size_t)s->layout.preview_cols, used = 0;
    const struct session_info *info = &s->previewed;
    AUTO(buf_release) struct buf labels = BUF_INIT;
    auto_free char *title = *info->id ? sessions_title(info) : mem_strdup("");
    write_labels(info, &labels);
    const char *const parts[] = {labels.data, info->directory, info->model};
    if (s->in_preview)
        used += rows_add_cut(&s->rows, glyph(GLYPH_POINTER), width, style);
    used += rows_add_cut(&s->rows, title, width - used, style);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        auto_free char *part = utf8_clean_line(parts[i]);
        auto_free char *text = mem_printf(" %s %s", glyph(GLYPH_DOT), part);
        if (*part && width - used >= PART_COLUMNS)
            used += rows_add_cut(&s->rows, text, width - used, STYLE_DIM);
    }
    if (used < width)
        used += rows_add_cut(&s->rows, " ", 1, STYLE_RULE);
    for (; used < width; used++)
        rows_addstr(&s->rows, glyph(GLYPH_LINE), STYLE_RULE, 0);
}

/* Row `row` of the preview, added to the row that is begun. */
static void add_preview_row(struct sessions *s, const struct transcript_row *rows, size_t count,
                            int row)
{
    size_t width = (size_t)s->layout.preview_cols, used = 0, at = (size_t)row - 1;
    if (row == 0) {
        add_header(s);
        return;
    }
    if (at < count) {
        rows_append(&s->rows, rows[at].rows, rows[at].index);
        used = rows_width(rows[at].rows, rows[at].index);
    } else if (at == 0 && sessions_selected_id(s)) {
        const char *text = *s->previewed.id ? _("This session has no messages.") : _("loading");
        used = rows_add_cut(&s->rows, text, width, STYLE_DIM);
    }
    rows_pad(&s->rows, used < width ? width - used : 0, STYLE_OVERLAY);
}

const struct rows *sessions_rows(struct view *view)
{
    struct sessions *s = (struct sessions *)view;
    lay_out(s, view->width, view->height);
    sessions_ask(s); /* there may be a preview now */
    const struct sessions_layout *l = &s->layout;
    size_t width = (size_t)l->list_cols, previewed = 0;
    const struct transcript_row *preview =
        l->place != PREVIEW_NONE ? transcript_rows(s->preview, &previewed) : NULL;
    rows_clear(&s->rows);
    keep_in_view(s);
    const struct columns of_sessions = fit_columns(s, LINE_SESSION, width - 1);
    const struct columns of_hits = fit_columns(s, LINE_HIT, width - 1);
    add_query(s);
    for (int row = 0; row < l->list_rows; row++) {
        struct line line = line_at(s, s->top + (size_t)row);
        enum style style;
        rows_begin(&s->rows);
        if (line.kind == LINE_SESSION || line.kind == LINE_HIT) {
            add_entry(s, &s->rows, line.entry, line.kind == LINE_HIT ? &of_hits : &of_sessions);
        } else {
            auto_free char *text = line_text(s, line, row, &style);
            rows_addstr(&s->rows, " ", text ? style : STYLE_OVERLAY, 0);
            message_row_field(&s->rows, text ? text : "", width - 1, text ? style : STYLE_OVERLAY);
        }
        if (l->place != PREVIEW_RIGHT)
            continue;
        rows_addstr(&s->rows, glyph(GLYPH_BAR), STYLE_RULE, 0);
        rows_addstr(&s->rows, " ", STYLE_OVERLAY, 0);
        add_preview_row(s, preview, previewed, row);
    }
    for (int row = 0; l->place == PREVIEW_BELOW && row < l->preview_rows; row++) {
        rows_begin(&s->rows);
        add_preview_row(s, preview, previewed, row);
    }
    add_foot(s);
    return &s->rows;
}
