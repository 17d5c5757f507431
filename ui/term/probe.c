#include "ui/term/probe.h"

#include <stdlib.h>
#include <string.h>

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
