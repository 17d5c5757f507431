/* The output of a command that gives a key: it is the first line without blanks around it, or there
 * is an error that shows nothing of it. */
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static size_t first_line(const char **text, size_t size)
{
    const char *newline = memchr(*text, '\n', size);
    size_t len = newline ? (size_t)(newline - *text) : size;
    for (; len > 0 && strchr(" \t\r", **text) && **text; len--)
        ++*text;
    while (len > 0 && (*text)[len - 1] && strchr(" \t\r", (*text)[len - 1]))
        len--;
    return len;
}

int fuzz_key_command(const uint8_t *data, size_t size)
{
    auto_free char *command = mem_printf("cat '%s'", fuzz_file("key", data, size));
    const char *line = (const char *)data;
    size_t len = size > 0 ? first_line(&line, size) : 0;
    char *key = NULL;
    struct error e = {0};
    if (key_command_run("api_key_command", command, 5000, NULL, &key, &e)) {
        FUZZ_CHECK(strlen(key) == len && memcmp(key, line, len) == 0);
    } else {
        fuzz_check_error(&e);
        FUZZ_CHECK(!key);
    }
    key_command_free(key);
    return 0;
}
