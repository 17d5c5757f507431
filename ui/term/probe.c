#include "ui/term/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static const char *behind(const char *text, const char *start)
{
    size_t len = strlen(start);
    return strncmp(text, start, len) == 0 ? text + len : NULL;
}

/* How light "rgb:RRRR/GGGG/BBBB" or "rgba:…" seems, each part of one to four hexadecimal digits: 0
 * to 1, by the weights of ITU-R BT.601. -1: it is no colour. */
static double luminance(const char *colour)
{
    static const double weights[] = {0.299, 0.587, 0.114};
    static const double most[] = {0, 0xf, 0xff, 0xfff, 0xffff};
    const char *at = behind(colour, "rgb:");
    double sum = 0;
    if (!at && !(at = behind(colour, "rgba:")))
        return -1;
    for (int i = 0; i < 3; i++) {
        char digits[5] = "";
        size_t count = strspn(at, "0123456789abcdefABCDEF");
        if (count < 1 || count > 4)
            return -1;
        memcpy(digits, at, count);
        at += count;
        if (i < 2 && *at++ != '/')
            return -1;
        sum += weights[i] * (double)strtol(digits, NULL, 16) / most[count];
    }
    return sum;
}

enum probe_news probe_take(struct probe *p, const char *answer)
{
    const char *rest;
    bool ground = false, light = false; /* the answer tells whether the background is light */
    if ((rest = behind(answer, "[?997;"))) {
        light = strcmp(rest, "2n") == 0;
        ground = light || strcmp(rest, "1n") == 0;
        if (ground && p->colour_told)
            return p->pending ? PROBE_NOTHING : PROBE_ASK;
    } else if ((rest = behind(answer, "[?"))) { /* the keyboard protocol's flags, DA1 */
        size_t len = strlen(rest);
        if (len > 0 && rest[len - 1] == 'u')
            p->kitty_keyboard = true;
        if (len == 0 || rest[len - 1] != 'c' || strspn(rest, "0123456789;") + 1 != len ||
            p->pending == 0)
            return PROBE_NOTHING;
        p->pending--;
        return PROBE_ENDED;
    } else if ((rest = behind(answer, "]99;"))) {
        p->osc99 = p->osc99 || strstr(rest, "p=?");
    } else if ((rest = behind(answer, "P>|"))) {
        size_t len = strlen(rest);
        if (len >= sizeof p->name)
            len = sizeof p->name - 1;
        memcpy(p->name, rest, len);
        p->name[len] = '\0';
    } else if ((rest = behind(answer, "]11;"))) {
        double brightness = luminance(rest);
        ground = brightness >= 0;
        light = brightness >= 0.5;
        p->colour_told = p->colour_told || ground;
    }
    if (!ground || (p->ground_known && p->light == light))
        return PROBE_NOTHING;
    p->ground_known = true;
    p->light = light;
    return PROBE_GROUND;
}

bool probe_is(const struct probe *p, const char *name)
{
    return behind(p->name, name) != NULL;
}

bool probe_reports_focus(const struct probe *p)
{
    return (p->kitty_keyboard || p->name[0]) && !probe_is(p, "tmux") && !probe_is(p, "screen");
}

/* --- notifications --- */

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

void notification_write(struct buf *out, enum notification how, const struct probe *terminal,
                        bool tmux, const char *text)
{
    static const struct {
        const char *name;
        enum notification how;
    } terminals[] = {{"kitty", NOTIFICATION_OSC99},  {"foot", NOTIFICATION_OSC777},
                     {"VTE", NOTIFICATION_OSC777},   {"contour", NOTIFICATION_OSC777},
                     {"WezTerm", NOTIFICATION_OSC9}, {"iTerm2", NOTIFICATION_OSC9},
                     {"ghostty", NOTIFICATION_OSC9}};
    AUTO(buf_release) struct buf bytes = BUF_INIT;
    int len = (int)utf8_cut_width(text, strlen(text), COLUMNS_MAX);
    bool guess = how == NOTIFICATION_AUTO;
    if (how == NOTIFICATION_OFF)
        return;
    if (guess && terminal->osc99) /* as it has answered; else by its name */
        how = NOTIFICATION_OSC99;
    for (size_t i = 0; how == NOTIFICATION_AUTO && i < sizeof terminals / sizeof *terminals; i++)
        if (probe_is(terminal, terminals[i].name))
            how = terminals[i].how;
    if (how == NOTIFICATION_OSC99) /* `o`: not while its window has the keyboard */
        buf_addf(&bytes, "\033]99;i=tiro:d=0:o=unfocused;" TITLE ST "\033]99;i=tiro:p=body;%.*s" ST,
                 len, text);
    else if (how == NOTIFICATION_OSC777)
        buf_addf(&bytes, "\033]777;notify;" TITLE ";%.*s" ST, len, text);
    else if (how != NOTIFICATION_BELL) /* not a number first: that would be ConEmu's progress */
        buf_addf(&bytes, "\033]9;" TITLE ": %.*s" ST, len, text);
    bool wraps = tmux && bytes.len > 0; /* tmux hands on a DCS of its own, with each ESC twice */
    buf_addstr(out, wraps ? "\033Ptmux;" : "");
    for (size_t i = 0; i < bytes.len; i++) {
        if (wraps && bytes.data[i] == '\033')
            buf_addch(out, '\033');
        buf_addch(out, bytes.data[i]);
    }
    buf_addstr(out, wraps ? ST : "");
    if (how == NOTIFICATION_BELL || how == NOTIFICATION_AUTO || (tmux && guess))
        buf_addch(out, '\a');
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
