#include "base/rfc3339.h"

#include <inttypes.h>
#include <stdio.h>

#define DAY_MS INT64_C(86400000)

enum { MINUTE_MS = 60000, SECOND_MS = 1000 };

struct reader {
    const char *at;
    bool ok;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int read_digits(struct reader *r, int count, int least, int most)
{
    int n = 0;
    for (int i = 0; i < count && r->ok; i++) {
        r->ok = is_digit(*r->at);
        if (r->ok)
            n = n * 10 + (*r->at++ - '0');
    }
    r->ok = r->ok && n >= least && n <= most;
    return n;
}

static bool next_is(struct reader *r, char a, char b)
{
    bool is = r->ok && *r->at && (*r->at == a || *r->at == b);
    r->at += is;
    return is;
}

static void want(struct reader *r, char c)
{
    r->ok = next_is(r, c, c);
}

/* --- dates ------------------------------------------------------------------------------------ */

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Of the Gregorian calendar before this year, from year 0 on, which was a leap year. */
static int64_t days_before_year(int year)
{
    int64_t last = year - 1;
    return year == 0 ? 0 : 365 * (int64_t)year + last / 4 - last / 100 + last / 400 + 1;
}

static int64_t days_from_epoch(int year, int month, int day)
{
    int64_t days = days_before_year(year) - days_before_year(1970) + day - 1;
    for (int m = 1; m < month; m++)
        days += month_days(year, m);
    return days;
}

static int64_t read_date(struct reader *r)
{
    int year = read_digits(r, 4, 0, 9999);
    want(r, '-');
    int month = read_digits(r, 2, 1, 12);
    want(r, '-');
    int day = read_digits(r, 2, 1, r->ok ? month_days(year, month) : 31);
    return r->ok ? days_from_epoch(year, month, day) * DAY_MS : 0;
}

/* --- times of a day --------------------------------------------------------------------------- */

/* Of a second; what is finer than the clock is cut off. */
static int read_fraction(struct reader *r)
{
    int ms = 0, unit = 100;
    r->ok = r->ok && is_digit(*r->at);
    for (; r->ok && is_digit(*r->at); r->at++, unit /= 10)
        ms += (*r->at - '0') * unit;
    return ms;
}

static int64_t read_time(struct reader *r)
{
    int64_t ms = read_digits(r, 2, 0, 23) * (int64_t)60;
    want(r, ':');
    ms = (ms + read_digits(r, 2, 0, 59)) * MINUTE_MS;
    if (!next_is(r, ':', ':'))
        return ms;
    ms += read_digits(r, 2, 0, 60) * (int64_t)SECOND_MS; /* 60: a leap second */
    return next_is(r, '.', ',') ? ms + read_fraction(r) : ms;
}

/* How far it is ahead of UTC. */
static int64_t read_zone(struct reader *r)
{
    bool ahead = *r->at == '+';
    if (!*r->at || next_is(r, 'Z', 'z') || !next_is(r, '+', '-'))
        return 0;
    int64_t minutes = read_digits(r, 2, 0, 23) * (int64_t)60;
    (void)next_is(r, ':', ':');
    minutes += read_digits(r, 2, 0, 59);
    return (ahead ? minutes : -minutes) * MINUTE_MS;
}

/* A year has four digits; a zone at either end leads beyond. */
static int64_t clamp(int64_t ms)
{
    const int64_t first = days_from_epoch(0, 1, 1) * DAY_MS;
    const int64_t last = (days_from_epoch(9999, 12, 31) + 1) * DAY_MS - 1;
    return ms < first ? first : ms > last ? last : ms;
}

bool rfc3339_parse(const char *text, int64_t *wall_ms)
{
    struct reader r = {.at = text, .ok = true};
    int64_t ms = read_date(&r);
    if (next_is(&r, 'T', 't') || next_is(&r, ' ', ' ')) {
        ms += read_time(&r);
        ms -= read_zone(&r);
    }
    if (!r.ok || *r.at)
        return false;
    *wall_ms = clamp(ms);
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int year_of(int64_t days)
{
    int year = (int)((days - days_from_epoch(0, 1, 1)) / 366);
    while (year < 9999 && days_from_epoch(year + 1, 1, 1) <= days)
        year++;
    return year;
}

void rfc3339_format(int64_t wall_ms, char out[25])
{
    int64_t ms = clamp(wall_ms) - clamp(INT64_MIN);
    int64_t days = ms / DAY_MS + days_from_epoch(0, 1, 1);
    unsigned rest = (unsigned)(ms % DAY_MS);
    int year = year_of(days), month = 1;
    int64_t day = days - days_from_epoch(year, 1, 1);
    for (; day >= month_days(year, month); month++)
        day -= month_days(year, month);
    char text[64];
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02u:%02u:%02u.%03uZ", year, month, (int)day + 1,
             rest / 3600000, rest / MINUTE_MS % 60, rest / SECOND_MS % 60, rest % SECOND_MS);
    snprintf(out, 25, "%.24s", text);
}
