#include "base/clock.h"

#include <stdatomic.h>
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
