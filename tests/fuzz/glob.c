/* A pattern of a model (the first line) and a path (the second): the time is bounded, and a pattern
 * without signs means itself. */
#include <stdlib.h>
#include <string.h>

#include "agent/pattern.h"
#include "tests/fuzz/fuzz.h"

int fuzz_glob(const uint8_t *data, size_t size)
{
    char *pattern = fuzz_text(data, size);
    struct glob g;
    struct error e = {0};
    char *path = pattern + strcspn(pattern, "\n");
    if (*path)
        *path++ = '\0';
    if (!glob_read(&g, pattern, &e)) {
        fuzz_check_error(&e);
        free(pattern);
        return 0;
    }
    bool matches = glob_matches(&g, path);
    if (!strpbrk(pattern, "*?[{\\")) {
        const char *slash = strrchr(path, '/');
        FUZZ_CHECK(matches ==
                   (strcmp(pattern, slash && !strchr(pattern, '/') ? slash + 1 : path) == 0));
    }
    glob_release(&g);
    free(pattern);
    return 0;
}
