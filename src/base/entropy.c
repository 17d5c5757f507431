#include "base/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/die.h"

static pthread_mutex_t seeded_lock = PTHREAD_MUTEX_INITIALIZER;
static bool seeded;
static uint64_t seeded_state;

/* A device rather than getrandom(): every POSIX system has it. */
static void fill_from_system(unsigned char *out, size_t len)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("cannot open /dev/urandom");
    while (len) {
        ssize_t got = read(fd, out, len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            die("cannot read /dev/urandom");
        out += got;
        len -= (size_t)got;
    }
    close(fd);
}

/* splitmix64 */
static uint64_t seeded_next(void)
{
    uint64_t z = seeded_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void fill_from_seed(unsigned char *out, size_t len)
{
    while (len) {
        uint64_t word = seeded_next();
        size_t part = len < sizeof word ? len : sizeof word;
        memcpy(out, &word, part);
        out += part;
        len -= part;
    }
}

void entropy_fill(void *out, size_t len)
{
    pthread_mutex_lock(&seeded_lock);
    bool from_seed = seeded;
    if (from_seed)
        fill_from_seed(out, len);
    pthread_mutex_unlock(&seeded_lock);
    if (!from_seed)
        fill_from_system(out, len);
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
