#include "chat/attached_file.h"

#include <string.h>

enum { FENCE_LEAST = 3 };

static const char white[] = " \t\r\n";

static size_t longest_run(const char *text, size_t len, char c)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < len; i++) {
        run = text[i] == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void add_fence(struct buf *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_addch(out, '`');
}

void attached_file_fence(struct buf *out, const char *text, size_t len)
{
    size_t run = longest_run(text, len, '`');
    size_t fence = run < FENCE_LEAST ? FENCE_LEAST : run + 1;
    add_fence(out, fence);
    buf_addch(out, '\n');
    buf_add(out, text, len);
    if (len > 0 && text[len - 1] != '\n')
        buf_addch(out, '\n');
    add_fence(out, fence);
    buf_addch(out, '\n');
}

void attached_file_add(struct buf *out, const char *path, const char *text, size_t len)
{
    buf_addf(out, "%s:\n", path);
    attached_file_fence(out, text, len);
    buf_addch(out, '\n');
}

/* The next line; at the end of the text, that. */
static const char *line_after(const char *at)
{
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* Backticks of a line that has nothing else; 0: it is no fence. */
static size_t fence_of(const char *line)
{
    size_t len = strspn(line, "`");
    return len >= FENCE_LEAST && (line[len] == '\n' || line[len] == '\0') ? len : 0;
}

/* Behind the file that the text begins with; NULL: it begins with none. */
static const char *file_end(const char *text)
{
    size_t name = strcspn(text, "\n");
    const char *at = line_after(text);
    size_t fence = fence_of(at);
    if (name < 2 || text[name - 1] != ':' || fence == 0)
        return NULL;
    for (at = line_after(at); *at; at = line_after(at))
        if (fence_of(at) == fence)
            return line_after(at);
    return NULL;
}

const char *attached_files_end(const char *message)
{
    const char *at = message + strspn(message, white), *end;
    while ((end = file_end(at)))
        at = end + strspn(end, white);
    return at;
}

const char *attached_files_skip(const char *message)
{
    const char *typed = attached_files_end(message);
    return *typed ? typed : message;
}
