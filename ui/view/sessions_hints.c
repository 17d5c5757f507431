#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/wrap.h"
#include "ui/view/hints.h"
#include "ui/view/sessions_private.h"

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
    hints_rows(&s->rows, s->view.host->keymap, hints.items, hints.count, (size_t)s->layout.width,
               s->layout.hint_rows);
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
