#include "ui/text/edit_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"

/* Every byte stays where it is. */
static char *without_breaks(const char *text)
{
    char *copy = mem_strdup(text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return copy;
}

/* Where the last so many columns before `end` begin. */
static size_t last_columns(const char *text, size_t end, size_t columns)
{
    size_t from = 0, width = utf8_width(text, end);
    while (from < end && width > columns) {
        size_t next = utf8_next(text, end, from);
        width -= utf8_width(text + from, next - from);
        from = next;
    }
    return from;
}

/* The end is seen while the caret is in it; else a third of the room is for what follows the
 * caret, which itself needs a place behind the text. */
static size_t first_shown(const char *text, size_t caret, size_t columns, size_t sign)
{
    size_t len = strlen(text), room = columns > sign + 1 ? columns - sign - 1 : 0;
    if (utf8_width(text, len) < columns)
        return 0;
    size_t end = last_columns(text, len, room);
    return caret > end ? end : last_columns(text, caret, room - room / 3);
}

size_t edit_line(struct rows *out, const struct editor *e, size_t columns, int *caret)
{
    const char *sign = glyph(GLYPH_ELLIPSIS);
    size_t width = utf8_width(sign, strlen(sign)), used = 0, at = editor_caret(e);
    size_t sign_width = columns > width + 2 ? width : 0;
    char *text = without_breaks(editor_text(e));
    size_t from = first_shown(text, at, columns, sign_width);
    if (from > 0 && sign_width > 0) {
        rows_addstr(out, sign, STYLE_DIM, 0);
        used = sign_width;
    }
    *caret = (int)(used + utf8_width(text + from, at - from));
    size_t len = utf8_cut_width(text + from, strlen(text + from), columns - used);
    rows_add(out, text + from, len, STYLE_EDITOR, 0);
    used += utf8_width(text + from, len);
    free(text);
    return used;
}

static void paste(struct editor *e, const char *text, size_t most)
{
    struct buf line = BUF_INIT;
    size_t len = editor_len(e), room = len < most ? most - len : 0;
    utf8_clean(&line, text, utf8_cut_bytes(text, strlen(text), room), UTF8_ONE_LINE);
    editor_paste(e, line.data, line.len);
    buf_release(&line);
}

bool edit_line_key(struct editor *e, size_t most, enum action action, const struct key *key)
{
    bool grows = key->code == K_CHAR && action == ACTION_NONE;
    if (action == ACTION_CLEAR && editor_len(e) > 0)
        editor_set(e, "");
    else if (key->code == K_PASTE)
        paste(e, key->text, most);
    else if (action == ACTION_NEWLINE || (grows && editor_len(e) >= most))
        return true;
    else
        return editor_take_key(e, action, key);
    return true;
}
