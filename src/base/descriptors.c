#include "base/descriptors.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

static struct rlimit before;
static bool raised;

void descriptors_raise(size_t want)
{
    struct rlimit limit;
    if (raised || getrlimit(RLIMIT_NOFILE, &before) != 0 || before.rlim_cur == RLIM_INFINITY ||
        before.rlim_cur >= want)
        return;
    limit = before;
    limit.rlim_cur =
        limit.rlim_max == RLIM_INFINITY || limit.rlim_max > want ? (rlim_t)want : limit.rlim_max;
    raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

size_t descriptors_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return _POSIX_OPEN_MAX;
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > SIZE_MAX ? SIZE_MAX
                                                                        : (size_t)limit.rlim_cur;
}

void descriptors_lower(void)
{
    if (raised)
        (void)setrlimit(RLIMIT_NOFILE, &before);
}
