#include "ui/term/notification.h"

#include <string.h>

#include "base/utf8.h"

#define COLUMNS_MAX 160
#define TITLE "tiro"
#define ST "\033\\"

static const char *const words[] = {
#define X(id, word) word,
    NOTIFICATIONS(X)
#undef X
};

enum notification notification_by_word(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return (enum notification)i;
    return NOTIFICATION_AUTO;
}

/* AUTO: it does not tell. */
static enum notification known_by(const struct probe *terminal)
{
    static const struct {
        const char *name;
        enum notification how;
    } terminals[] = {{"kitty", NOTIFICATION_OSC99},  {"foot", NOTIFICATION_OSC777},
                     {"VTE", NOTIFICATION_OSC777},   {"contour", NOTIFICATION_OSC777},
                     {"WezTerm", NOTIFICATION_OSC9}, {"iTerm2", NOTIFICATION_OSC9},
                     {"ghostty", NOTIFICATION_OSC9}};
    if (terminal->osc99)
        return NOTIFICATION_OSC99;
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++)
        if (probe_is(terminal, terminals[i].name))
            return terminals[i].how;
    return NOTIFICATION_AUTO;
}

static void write_desktop(struct buf *out, enum notification how, const char *text)
{
    if (how == NOTIFICATION_OSC99) /* `o`: not while its window has the keyboard */
        buf_addf(out, "\033]99;i=tiro:d=0:o=unfocused;" TITLE ST "\033]99;i=tiro:p=body;%s" ST,
                 text);
    else if (how == NOTIFICATION_OSC777)
        buf_addf(out, "\033]777;notify;" TITLE ";%s" ST, text);
    else /* not a number first: that would be ConEmu's progress */
        buf_addf(out, "\033]9;" TITLE ": %s" ST, text);
}

/* tmux hands on what is in a DCS of its own, each ESC twice. */
static void wrap_for_tmux(struct buf *out, const struct buf *bytes)
{
    buf_addstr(out, "\033Ptmux;");
    for (size_t i = 0; i < bytes->len; i++) {
        if (bytes->data[i] == '\033')
            buf_addch(out, '\033');
        buf_addch(out, bytes->data[i]);
    }
    buf_addstr(out, ST);
}

void notification_write(struct buf *out, enum notification how, const struct probe *terminal,
                        bool tmux, const char *text)
{
    struct buf line = BUF_INIT, bytes = BUF_INIT;
    bool guess = how == NOTIFICATION_AUTO;
    if (how == NOTIFICATION_OFF)
        return;
    if (guess)
        how = known_by(terminal);
    buf_add(&line, text, utf8_cut_width(text, strlen(text), COLUMNS_MAX));
    if (how != NOTIFICATION_BELL)
        write_desktop(&bytes, how, line.data);
    if (tmux && bytes.len > 0)
        wrap_for_tmux(out, &bytes);
    else
        buf_add(out, bytes.data, bytes.len);
    if (how == NOTIFICATION_BELL || how == NOTIFICATION_AUTO || (tmux && guess))
        buf_addch(out, '\a');
    buf_release(&line);
    buf_release(&bytes);
}

bool notification_is_due(const struct config *config, enum focus focus, int64_t took_ms)
{
    int64_t after = config_integer(config, CONFIG_UI_NOTIFY_AFTER);
    bool off = notification_by_word(config_string(config, CONFIG_UI_NOTIFY)) == NOTIFICATION_OFF;
    return !off && after > 0 && took_ms >= after * 1000 && focus != FOCUS_HERE;
}

bool notification_saw(enum focus *focus, const struct key *key)
{
    bool told = key->code == K_FOCUS_IN || key->code == K_FOCUS_OUT;
    if (told)
        *focus = key->code == K_FOCUS_IN ? FOCUS_HERE : FOCUS_ELSEWHERE;
    else if (*focus == FOCUS_ELSEWHERE && key->code <= K_F)
        *focus = FOCUS_HERE;
    return told;
}
