#include "base/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

static pthread_mutex_t seeded_lock = PTHREAD_MUTEX_INITIALIZER;
static bool seeded;
static uint64_t seeded_state;

void entropy_fill(void *out, size_t len)
{
    pthread_mutex_lock(&seeded_lock);
    bool from_seed = seeded;
    for (size_t done = 0; from_seed && done < len; done += sizeof(uint64_t)) {
        uint64_t word = seeded_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
        word ^= word >> 31;
        memcpy((char *)out + done, &word, len - done < sizeof word ? len - done : sizeof word);
    }
    pthread_mutex_unlock(&seeded_lock);
    if (from_seed)
        return;
    /* Every POSIX system has the device; few have getrandom(). */
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("cannot open /dev/urandom");
    for (size_t done = 0; done < len;) {
        ssize_t got = read(fd, (char *)out + done, len - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            die("cannot read /dev/urandom");
        done += (size_t)got;
    }
    close(fd);
}

double entropy_unit(void)
{
    uint64_t word;
    entropy_fill(&word, sizeof word);
    return (double)(word >> 11) * 0x1p-53;
}

void entropy_seed(uint64_t seed)
{
    pthread_mutex_lock(&seeded_lock);
    seeded = true;
    seeded_state = seed;
    pthread_mutex_unlock(&seeded_lock);
}

/* --- UUIDs ------------------------------------------------------------------------------------ */

void uuid_new(char out[UUID_LEN + 1])
{
    /* RFC 9562, section 6.2, method 1: rand_a is a counter within one millisecond. It starts at a
     * random value with the top bit clear, which leaves room to count; when it overflows, the
     * millisecond is incremented. */
    enum { COUNTER_BITS = 12, COUNTER_END = 1 << COUNTER_BITS };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t last_ms;
    static unsigned last_counter;

    unsigned char random[10];
    entropy_fill(random, sizeof random);
    uint64_t now = (uint64_t)clock_wall_ms() & 0xffffffffffffu;
    pthread_mutex_lock(&lock);
    bool again = now <= last_ms;
    if (!again)
        last_ms = now;
    else if (++last_counter == COUNTER_END)
        last_ms++;
    if (!again || last_counter == COUNTER_END)
        last_counter = ((unsigned)random[8] << 8 | random[9]) & (COUNTER_END / 2 - 1);
    uint64_t ms = last_ms;
    unsigned counter = last_counter;
    pthread_mutex_unlock(&lock);

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
    for (size_t i = 0; i < UUID_LEN; i++)
        if (shape[i] == '-' ? s[i] != '-' : !strchr("0123456789abcdef", s[i]))
            return false;
    return true;
}

/* --- Base64 ----------------------------------------------------------------------------------- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const unsigned char *bytes, size_t len)
{
    char *out = mem_alloc((len + 2) / 3 * 4 + 1);
    char *p = out;
    for (size_t i = 0; i < len; i += 3) {
        unsigned b1 = i + 1 < len ? bytes[i + 1] : 0;
        unsigned b2 = i + 2 < len ? bytes[i + 2] : 0;
        unsigned group = (unsigned)bytes[i] << 16 | b1 << 8 | b2;
        *p++ = digits[group >> 18];
        *p++ = digits[group >> 12 & 63];
        *p++ = i + 1 < len ? digits[group >> 6 & 63] : '=';
        *p++ = i + 2 < len ? digits[group & 63] : '=';
    }
    *p = '\0';
    return out;
}

bool base64_decode(const char *text, struct buf *out)
{
    size_t len = strlen(text);
    if (len % 4 != 0)
        return false;
    for (const char *at = text; *at; at += 4) {
        unsigned bits = 0;
        size_t padding = at[3] != '=' ? 0 : at[2] != '=' ? 1 : 2;
        if (padding > 0 && at[4] != '\0')
            return false;
        for (size_t i = 0; i < 4; i++) {
            const char *digit = strchr(digits, at[i]);
            if (!digit && i < 4 - padding)
                return false;
            bits = bits << 6 | (digit ? (unsigned)(digit - digits) : 0);
        }
        const char bytes[] = {(char)(bits >> 16 & 0xff), (char)(bits >> 8 & 0xff),
                              (char)(bits & 0xff)};
        if (!buf_try_add(out, bytes, 3 - padding))
            return false;
    }
    return true;
}
