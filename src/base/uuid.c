#include "base/uuid.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"

/* RFC 9562, section 6.2, method 1: rand_a counts within one millisecond. Its first value is random
 * with the top bit clear, which leaves room to count; past its end the millisecond moves on. */
enum { COUNTER_BITS = 12, COUNTER_END = 1 << COUNTER_BITS };

static pthread_mutex_t uuid_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_ms;
static unsigned last_counter;

static void next_stamp(unsigned fresh, uint64_t *ms, unsigned *counter)
{
    uint64_t now = (uint64_t)clock_wall_ms() & 0xffffffffffffu;
    pthread_mutex_lock(&uuid_lock);
    if (now > last_ms) {
        last_ms = now;
        last_counter = fresh;
    } else if (++last_counter == COUNTER_END) {
        last_ms++;
        last_counter = fresh;
    }
    *ms = last_ms;
    *counter = last_counter;
    pthread_mutex_unlock(&uuid_lock);
}

void uuid_new(char out[UUID_LEN + 1])
{
    unsigned char random[10];
    entropy_fill(random, sizeof random);
    unsigned fresh = ((unsigned)random[8] << 8 | random[9]) & (COUNTER_END / 2 - 1);
    uint64_t ms;
    unsigned counter;
    next_stamp(fresh, &ms, &counter);

    unsigned variant = 0x8000u | (((unsigned)random[0] << 8 | random[1]) & 0x3fffu);
    snprintf(out, UUID_LEN + 1, "%08x-%04x-7%03x-%04x-%02x%02x%02x%02x%02x%02x",
             (unsigned)(ms >> 16), (unsigned)(ms & 0xffffu), counter & (COUNTER_END - 1), variant,
             random[2], random[3], random[4], random[5], random[6], random[7]);
}

bool uuid_valid(const char *s)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (!s || strlen(s) != UUID_LEN)
        return false;
    for (size_t i = 0; i < UUID_LEN; i++) {
        bool fits = shape[i] == '-' ? s[i] == '-' : strchr("0123456789abcdef", s[i]) != NULL;
        if (!fits)
            return false;
    }
    return true;
}
