#include "ui/text/format.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/i18n.h"

#define LEAST_USD 0.0001 /* that is shown with its digits */

char *format_exact(int64_t n)
{
    struct buf out = BUF_INIT;
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    const struct lconv *l = localeconv();
    const char *mark = l->thousands_sep;
    if (!*mark) /* locales without one ("C") get the comma, unless that is their decimal point */
        mark = strcmp(l->decimal_point, ",") == 0 ? "" : ",";
    for (int i = 0; i < len; i++) {
        if (i > 0 && digits[i - 1] != '-' && (len - i) % 3 == 0)
            buf_addstr(&out, mark);
        buf_addch(&out, digits[i]);
    }
    return buf_take(&out);
}

void format_short(struct buf *out, int64_t n)
{
    static const struct {
        double unit;
        char suffix;
    } units[] = {{1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double value = (double)n / units[i].unit;
        if (value < 0.9995)
            continue;
        buf_addf(out, value < 9.95 ? "%.1f%c" : "%.0f%c", value, units[i].suffix);
        return;
    }
    buf_addf(out, "%lld", (long long)n);
}

void format_age(struct buf *out, int64_t then_ms, int64_t now_ms)
{
    int64_t minutes = (now_ms - then_ms) / 60000;
    if (minutes < 1)
        buf_addstr(out, _("now"));
    else if (minutes < 60)
        buf_addf(out, _("%d min"), (int)minutes);
    else if (minutes < 24 * 60)
        buf_addf(out, _("%d h"), (int)(minutes / 60));
    else if (minutes < 30 * 24 * 60)
        buf_addf(out, _("%d d"), (int)(minutes / 60 / 24));
    else
        format_date(out, then_ms);
}

void format_date(struct buf *out, int64_t then_ms)
{
    char date[32];
    time_t seconds = (time_t)(then_ms / 1000);
    struct tm local;
    if (localtime_r(&seconds, &local) && strftime(date, sizeof date, "%F", &local) > 0)
        buf_addstr(out, date);
}

void format_duration(struct buf *out, int64_t ms)
{
    if (ms < 1000)
        buf_addf(out, _("%d ms"), (int)ms);
    else
        buf_addf(out, _("%.1f s"), (double)ms / 1000);
}

void format_cost(struct buf *out, double usd)
{
    if (usd >= 0.01 || usd <= 0)
        buf_addf(out, "$%.2f", usd);
    else if (usd < LEAST_USD)
        buf_addf(out, "<$%.4f", LEAST_USD);
    else
        buf_addf(out, "$%.2g", usd);
}

void format_time(struct buf *out, int64_t wall_ms)
{
    char text[32];
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm local;
    if (!localtime_r(&seconds, &local) ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local) == 0)
        buf_addch(out, '?');
    else
        buf_addstr(out, text);
}
