#include "ui/term/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static const char *behind(const char *text, const char *start)
{
    size_t len = strlen(start);
    return strncmp(text, start, len) == 0 ? text + len : NULL;
}

/* One to four hexadecimal digits as a part of 1; *text is moved behind them. -1: none. */
static double channel(const char **text)
{
    static const double most[] = {0, 0xf, 0xff, 0xfff, 0xffff};
    char digits[5] = "";
    size_t count = strspn(*text, "0123456789abcdefABCDEF");
    if (count < 1 || count > 4)
        return -1;
    memcpy(digits, *text, count);
    *text += count;
    return (double)strtol(digits, NULL, 16) / most[count];
}

/* "rgb:RRRR/GGGG/BBBB", with one to four digits each, or "rgba:" with one more: how light it seems,
 * 0 to 1 (the weights of ITU-R BT.601). -1: it is none. */
static double luminance(const char *colour)
{
    static const double weights[] = {0.299, 0.587, 0.114};
    const char *at = behind(colour, "rgb:");
    double sum = 0;
    if (!at)
        at = behind(colour, "rgba:");
    for (int i = 0; at && i < 3; i++) {
        double part = channel(&at);
        if (part < 0 || (i < 2 && *at++ != '/'))
            return -1;
        sum += part * weights[i];
    }
    return at ? sum : -1;
}

static enum probe_news set_ground(struct probe *p, bool light)
{
    bool news = !p->ground_known || p->light != light;
    p->ground_known = true;
    p->light = light;
    return news ? PROBE_GROUND : PROBE_NOTHING;
}

static enum probe_news take_device_attributes(struct probe *p, const char *rest)
{
    if (strspn(rest, "0123456789;") + 1 != strlen(rest) || p->pending == 0)
        return PROBE_NOTHING;
    p->pending--;
    return PROBE_ENDED;
}

static enum probe_news take_scheme(struct probe *p, const char *rest)
{
    bool light = strcmp(rest, "2n") == 0;
    if (!light && strcmp(rest, "1n") != 0)
        return PROBE_NOTHING;
    if (p->colour_told)
        return p->pending ? PROBE_NOTHING : PROBE_ASK;
    return set_ground(p, light);
}

static enum probe_news take_private(struct probe *p, const char *rest)
{
    const char *scheme = behind(rest, "997;");
    char final = *rest ? rest[strlen(rest) - 1] : '\0';
    if (scheme)
        return take_scheme(p, scheme);
    if (final == 'c')
        return take_device_attributes(p, rest);
    if (final == 'u')
        p->kitty_keyboard = true;
    return PROBE_NOTHING;
}

static enum probe_news take_colour(struct probe *p, const char *rest)
{
    double light = luminance(rest);
    if (light < 0)
        return PROBE_NOTHING;
    p->colour_told = true;
    return set_ground(p, light >= 0.5);
}

static enum probe_news take_notifications(struct probe *p, const char *rest)
{
    p->osc99 = p->osc99 || strstr(rest, "p=?");
    return PROBE_NOTHING;
}

static enum probe_news take_name(struct probe *p, const char *rest)
{
    size_t len = strlen(rest);
    if (len >= sizeof p->name)
        len = sizeof p->name - 1;
    memcpy(p->name, rest, len);
    p->name[len] = '\0';
    return PROBE_NOTHING;
}

enum probe_news probe_take(struct probe *p, const char *answer)
{
    static const struct {
        const char *start;
        enum probe_news (*take)(struct probe *p, const char *rest);
    } answers[] = {{"[?", take_private},
                   {"]11;", take_colour},
                   {"]99;", take_notifications},
                   {"P>|", take_name}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const char *rest = behind(answer, answers[i].start);
        if (rest)
            return answers[i].take(p, rest);
    }
    return PROBE_NOTHING;
}

bool probe_is(const struct probe *p, const char *name)
{
    return behind(p->name, name) != NULL;
}

bool probe_reports_focus(const struct probe *p)
{
    return (p->kitty_keyboard || p->name[0]) && !probe_is(p, "tmux") && !probe_is(p, "screen");
}

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
