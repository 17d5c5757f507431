#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* timegm() */
#endif
#include "base/clock.h"

#include <ctype.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* NULL: the system's clock is read. */
static _Atomic(int64_t (*)(void)) wall_clock, mono_clock;

static int64_t read_clock(_Atomic(int64_t (*)(void)) *replaced, clockid_t id)
{
    int64_t (*replacement)(void) = atomic_load(replaced);
    if (replacement)
        return replacement();
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
    return read_clock(&wall_clock, CLOCK_REALTIME);
}

int64_t clock_mono_ms(void)
{
    return read_clock(&mono_clock, CLOCK_MONOTONIC);
}

void clock_replace(int64_t (*wall)(void), int64_t (*mono)(void))
{
    atomic_store(&wall_clock, wall);
    atomic_store(&mono_clock, mono);
}

/* --- times as text ---------------------------------------------------------------------------- */

/* The years 0000 to 9999, which four digits can write. */
#define FIRST_MS INT64_C(-62167219200000)
#define LAST_MS INT64_C(253402300799999)

enum { MINUTE_MS = 60000, SECOND_MS = 1000 };

struct reader {
    const char *at;
    bool ok;
};

static int read_digits(struct reader *r, int count, int least, int most)
{
    int n = 0;
    for (int i = 0; i < count && r->ok; i++) {
        r->ok = isdigit((unsigned char)*r->at);
        if (r->ok)
            n = n * 10 + (*r->at++ - '0');
    }
    r->ok = r->ok && n >= least && n <= most;
    return n;
}

/* Skips the next character if it is one of these. */
static bool next_is(struct reader *r, const char *chars)
{
    bool is = r->ok && *r->at && strchr(chars, *r->at);
    r->at += is;
    return is;
}

static int64_t read_time(struct reader *r)
{
    int64_t ms = read_digits(r, 2, 0, 23) * (int64_t)60;
    r->ok = next_is(r, ":");
    ms = (ms + read_digits(r, 2, 0, 59)) * MINUTE_MS;
    if (!next_is(r, ":"))
        return ms;
    ms += read_digits(r, 2, 0, 60) * (int64_t)SECOND_MS; /* 60: a leap second */
    if (!next_is(r, ".,"))
        return ms;
    r->ok = r->ok && isdigit((unsigned char)*r->at);
    for (int unit = 100; r->ok && isdigit((unsigned char)*r->at); r->at++, unit /= 10)
        ms += (*r->at - '0') * unit; /* digits below a millisecond are dropped */
    return ms;
}

static int64_t clamp(int64_t ms)
{
    return ms < FIRST_MS ? FIRST_MS : ms > LAST_MS ? LAST_MS : ms;
}

bool rfc3339_parse(const char *text, int64_t *wall_ms)
{
    struct reader r = {.at = text, .ok = true};
    struct tm date = {.tm_year = read_digits(&r, 4, 0, 9999) - 1900};
    r.ok = next_is(&r, "-");
    date.tm_mon = read_digits(&r, 2, 1, 12) - 1;
    r.ok = next_is(&r, "-");
    int day = date.tm_mday = read_digits(&r, 2, 1, 31);
    int64_t ms = timegm(&date) * (int64_t)SECOND_MS;
    r.ok = r.ok && date.tm_mday == day; /* timegm() moves the 31st of April to another day */
    if (next_is(&r, "Tt ")) {
        ms += read_time(&r);
        int sign = *r.at == '+' ? -1 : 1;
        if (!next_is(&r, "Zz") && next_is(&r, "+-")) {
            int minutes = read_digits(&r, 2, 0, 23) * 60;
            (void)next_is(&r, ":");
            minutes += read_digits(&r, 2, 0, 59);
            ms += sign * minutes * MINUTE_MS;
        }
    }
    if (!r.ok || *r.at)
        return false;
    *wall_ms = clamp(ms);
    return true;
}

/* Writes `count` digits and the character after them. */
static char *put_digits(char *at, int n, int count, char next)
{
    for (int i = count; i-- > 0; n /= 10)
        at[i] = (char)('0' + n % 10);
    at[count] = next;
    return at + count + 1;
}

void rfc3339_format(int64_t wall_ms, char out[25])
{
    int64_t ms = clamp(wall_ms) - FIRST_MS;
    time_t seconds = (time_t)((ms + FIRST_MS - ms % SECOND_MS) / SECOND_MS);
    struct tm t;
    gmtime_r(&seconds, &t);
    out = put_digits(out, t.tm_year + 1900, 4, '-');
    out = put_digits(out, t.tm_mon + 1, 2, '-');
    out = put_digits(out, t.tm_mday, 2, 'T');
    out = put_digits(out, t.tm_hour, 2, ':');
    out = put_digits(out, t.tm_min, 2, ':');
    out = put_digits(out, t.tm_sec, 2, '.');
    *put_digits(out, (int)(ms % SECOND_MS), 3, 'Z') = '\0';
}

bool rfc3339_parse_exact(const char *text, int64_t *wall_ms)
{
    char again[25];
    if (!rfc3339_parse(text, wall_ms))
        return false;
    rfc3339_format(*wall_ms, again);
    return strcmp(again, text) == 0;
}
