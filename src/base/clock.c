#include "base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t system_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

static int64_t system_mono(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static _Atomic(int64_t (*)(void)) wall_clock = system_wall;
static _Atomic(int64_t (*)(void)) mono_clock = system_mono;

int64_t clock_wall_ms(void)
{
    return atomic_load(&wall_clock)();
}

int64_t clock_mono_ms(void)
{
    return atomic_load(&mono_clock)();
}

void clock_replace(int64_t (*wall)(void), int64_t (*mono)(void))
{
    atomic_store(&wall_clock, wall ? wall : system_wall);
    atomic_store(&mono_clock, mono ? mono : system_mono);
}

void clock_format(int64_t wall_ms, char out[25])
{
    const int64_t last_ms = 253402300799999; /* the end of the year 9999: four digits are enough */
    if (wall_ms < 0)
        wall_ms = 0;
    if (wall_ms > last_ms)
        wall_ms = last_ms;
    time_t seconds = (time_t)(wall_ms / 1000);
    unsigned ms = (unsigned)(wall_ms % 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t len = strftime(out, 25, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + len, 25 - len, ".%03uZ", ms);
}

/* Days from 1970-01-01 to this one of the Gregorian calendar. */
static int64_t days_until(int year, int month, int day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int last = month > 2 ? year : year - 1; /* the last year whose 29th of February is over */
    int leap_days = last / 4 - last / 100 + last / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    return (int64_t)365 * (year - 1970) + leap_days + before[month - 1] + day - 1;
}

static int number_at(const char *digits, int len)
{
    int n = 0;
    for (int i = 0; i < len; i++)
        n = 10 * n + (digits[i] - '0');
    return n;
}

static bool has_form(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    size_t i = 0;
    while (form[i] && (form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i]))
        i++;
    return !form[i] && !text[i];
}

/* What is no date (the 31st of April, 25 o'clock) is written otherwise than it was read. */
bool clock_parse(const char *text, int64_t *wall_ms)
{
    char again[25];
    if (!has_form(text))
        return false;
    int month = number_at(text + 5, 2);
    if (month < 1 || month > 12)
        return false;
    int64_t days = days_until(number_at(text, 4), month, number_at(text + 8, 2));
    int64_t minutes = days * 1440 + number_at(text + 11, 2) * 60 + number_at(text + 14, 2);
    *wall_ms = (minutes * 60 + number_at(text + 17, 2)) * 1000 + number_at(text + 20, 3);
    clock_format(*wall_ms, again);
    return strcmp(again, text) == 0;
}
