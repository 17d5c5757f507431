#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/wrap.h"
#include "ui/view/sessions_private.h"

enum {
    MESSAGE_ROWS = 3, /* that a message may have */
    KEY_ROWS = 2,     /* that the keys may have, where there is room for a preview */
    ROOMY_ROWS = 6
};

/* --- keys --- */

struct hint {
    enum action action;
    const char *text; /* for gettext */
};

/* The most important first: what has no room is left to F1. */
static const struct hint list_hints[] = {
    {ACTION_SEND, N_("resume")},           {ACTION_HELP, N_("help")},
    {ACTION_SESSION_READ, N_("read")},     {ACTION_SESSION_RENAME, N_("rename")},
    {ACTION_SESSION_DELETE, N_("delete")}, {ACTION_SESSION_ARCHIVE, N_("archive")},
    {ACTION_SESSION_FORK, N_("fork")},     {ACTION_SESSION_LABEL, N_("label")},
    {ACTION_SESSION_EXPORT, N_("export")}, {ACTION_COMPLETE, N_("preview")},
    {ACTION_CANCEL, N_("close")}};

static const struct hint preview_hints[] = {{ACTION_COMPLETE, N_("list")},
                                            {ACTION_SEND, N_("resume")},
                                            {ACTION_SESSION_READ, N_("read")},
                                            {ACTION_CANCEL, N_("list")}};

static const struct hint input_hints[] = {{ACTION_SEND, N_("save")}, {ACTION_CANCEL, N_("cancel")}};

static bool is_useful(const struct sessions *s, enum action action)
{
    if (action == ACTION_COMPLETE && s->layout.place == PREVIEW_NONE)
        return false;
    return action == ACTION_CANCEL || action == ACTION_HELP || s->input != INPUT_NONE ||
           sessions_selected_id(s);
}

static const char *hint_word(const struct sessions *s, const struct hint *h)
{
    struct sessions_entry e = sessions_entry(s, s->selected);
    bool archived = e.session ? e.session->archived_ms > 0 : e.hit && e.hit->archived;
    if (h->action == ACTION_SESSION_ARCHIVE && archived)
        return _("unarchive");
    return _(h->text);
}

struct hints {
    const struct hint *items;
    size_t count;
    bool all; /* also those that are of no use at the moment */
};

static struct hints hints_of(const struct sessions *s)
{
    if (s->input != INPUT_NONE)
        return (struct hints){input_hints, sizeof input_hints / sizeof *input_hints, false};
    if (s->in_preview)
        return (struct hints){preview_hints, sizeof preview_hints / sizeof *preview_hints, false};
    return (struct hints){list_hints, sizeof list_hints / sizeof *list_hints, false};
}

/* "Alt-r rename"; returns the bytes of the key's name, 0 if the hint is not to be shown. */
static size_t write_hint(const struct sessions *s, const struct hint *h, bool all, struct buf *out)
{
    buf_clear(out);
    if (all || is_useful(s, h->action))
        keymap_describe_first(s->view.host->keymap, h->action, out);
    size_t key = out->len;
    if (key > 0)
        buf_addf(out, " %s", hint_word(s, h));
    return key;
}

/* A row of hints from `*next` on, to `out` if it is not NULL. In the last row what has no room is
 * left out; in another it waits for the next. */
static void lay_out_keys(const struct sessions *s, const struct hints *hints, size_t width,
                         size_t *next, bool last, struct rows *out)
{
    size_t used = 0;
    struct buf text = BUF_INIT;
    for (; *next < hints->count; ++*next) {
        size_t key = write_hint(s, &hints->items[*next], hints->all, &text);
        size_t gap = used > 0 ? 2 : 1, columns = gap + utf8_width(text.data, text.len);
        bool fits = key > 0 && used + columns <= width;
        if (key > 0 && !fits && !last && used > 0)
            break;
        if (!fits)
            continue;
        used += columns;
        if (out) {
            sessions_pad(out, gap, STYLE_DIM);
            rows_add(out, text.data, key, STYLE_PROMPT, 0);
            rows_add(out, text.data + key, text.len - key, STYLE_DIM, 0);
        }
    }
    if (out)
        sessions_pad(out, width - used, STYLE_OVERLAY);
    buf_release(&text);
}

/* The same whatever is selected or asked for, so that nothing jumps. */
static int key_rows(const struct sessions *s, size_t width)
{
    const struct hints hints = {list_hints, sizeof list_hints / sizeof *list_hints, true};
    size_t next = 0;
    int count = 0;
    do
        lay_out_keys(s, &hints, width, &next, false, NULL);
    while (++count < KEY_ROWS && next < hints.count);
    return count;
}

static void draw_keys(struct sessions *s)
{
    const struct hints hints = hints_of(s);
    size_t next = 0;
    for (int row = 0; row < s->layout.hint_rows; row++) {
        rows_begin(&s->rows);
        lay_out_keys(s, &hints, (size_t)s->layout.width, &next, row + 1 == s->layout.hint_rows,
                     &s->rows);
    }
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
            sessions_pad(&s->rows, width, STYLE_OVERLAY);
            continue;
        }
        char *line = message_row(&wrapped, (size_t)i, i + 1 == s->layout.hint_rows);
        rows_addstr(&s->rows, " ", style, 0);
        used = 1 + rows_add_cut(&s->rows, line, width - 1, style);
        sessions_pad(&s->rows, width - used, STYLE_OVERLAY);
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
