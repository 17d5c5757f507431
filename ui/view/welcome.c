#include "ui/view/welcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"

static void add_line(struct rows *out, int width, const char *text, enum style style)
{
    rows_begin(out);
    rows_addstr(out, "  ", STYLE_TEXT, 0);
    size_t room = width > 2 ? (size_t)width - 2 : 0;
    rows_add_cut(out, text, room, style);
}

/* "Enter  send the message" for an action that has a key. */
static void add_key(struct rows *out, int width, const struct keymap *keymap, enum action action,
                    const char *what)
{
    struct buf line = BUF_INIT;
    keymap_describe_first(keymap, action, &line);
    if (line.len > 0) {
        do
            buf_addch(&line, ' ');
        while (utf8_width(line.data, line.len) < 10);
        buf_addstr(&line, what);
        add_line(out, width, line.data, STYLE_DIM);
    }
    buf_release(&line);
}

void welcome_rows(const struct keymap *keymap, int width, struct rows *out)
{
    rows_begin(out);
    add_line(out, width, _("Chat with a language model."), STYLE_TITLE);
    add_key(out, width, keymap, ACTION_SEND, _("sends the message"));
    add_key(out, width, keymap, ACTION_HELP, _("all keys and commands"));
    add_key(out, width, keymap, ACTION_SESSIONS, _("earlier sessions"));
    add_line(out, width, _("/         begins a command"), STYLE_DIM);
    rows_begin(out);
}
