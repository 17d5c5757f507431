#include "ui/transcript/message_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "ui/term/rows.h"

enum {
    LINE_BYTES = 600, /* of a first line, more than any screen is wide */
    TURN_COLUMNS = 9, /* with the blank behind it */
    TEXT_LEAST = 16   /* columns that a turn leaves to the text, or it is left out */
};

const char *message_row_who(enum role role)
{
    static const char *const names[] = {[ROLE_SYSTEM] = N_("system"),
                                        [ROLE_USER] = N_("you"),
                                        [ROLE_ASSISTANT] = N_("tiro"),
                                        [ROLE_TOOL] = N_("tool")};
    return (size_t)role < sizeof names / sizeof *names ? _(names[role]) : "";
}

const char *message_row_speaker(const struct memory_entry *e)
{
    bool named = e->speaker && *e->speaker && strcmp(e->speaker, role_name(e->role)) != 0;
    return named ? e->speaker : message_row_who(e->role);
}

void message_row_field(struct rows *out, const char *text, size_t columns, enum style style)
{
    size_t used = rows_add_cut(out, text, columns, style);
    rows_pad(out, columns - used, style);
}

void message_row_figure(struct rows *out, const char *text, size_t columns, enum style style)
{
    size_t width = utf8_width(text, strlen(text));
    rows_pad(out, width < columns ? columns - width : 0, style);
    (void)rows_add_cut(out, text, columns, style);
}

/* The caller frees. */
static char *first_line(const char *text)
{
    struct buf clean = BUF_INIT;
    text += strspn(text, " \t\r\n");
    size_t len = strnlen(text, LINE_BYTES + 4), line = 0;
    while (line < len && text[line] != '\n' && text[line] != '\r')
        line++;
    utf8_clean(&clean, text, utf8_cut_bytes(text, line, LINE_BYTES), UTF8_ONE_LINE);
    return buf_take(&clean);
}

void message_row_add(struct rows *out, const struct message_row *m, size_t who_columns,
                     size_t columns)
{
    enum style main = m->chosen ? STYLE_SELECTED : STYLE_OVERLAY;
    enum style side = m->chosen ? STYLE_SELECTED : STYLE_DIM;
    struct buf turn = BUF_INIT;
    char *line = first_line(m->text);
    size_t before = 2 + who_columns + 1;
    bool has_turn = m->turn > 0 && before + TURN_COLUMNS + TEXT_LEAST <= columns;
    before += has_turn ? TURN_COLUMNS : 0;
    buf_addf(&turn, _("turn %d"), m->turn);
    buf_truncate(&turn, utf8_cut_width(turn.data, turn.len, TURN_COLUMNS - 1));
    const char *mark = !m->opens ? " " : glyph(m->open ? GLYPH_UNFOLDED : GLYPH_FOLDED);
    if (before < columns) {
        rows_addstr(out, mark, side, 0);
        rows_addstr(out, " ", side, 0);
        message_row_field(out, m->who, who_columns, main);
        rows_addstr(out, " ", side, 0);
        if (has_turn)
            message_row_field(out, turn.data, TURN_COLUMNS, side);
        columns -= before;
    }
    message_row_field(out, line, columns, main);
    buf_release(&turn);
    free(line);
}
