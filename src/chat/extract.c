#include "chat/extract.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/image.h"

/* --- file paths in texts, recognised by their form -------------------------------------------- */

enum {
    PATH_BYTES = 200, /* a longer word is no path */
    EXTENSION_CHARS = 8,
    LINE_BYTES = 160,
    WORK_BYTES = 200,
    NAME_BYTES = 64,
    REQUESTS = 3,
    PENDING = 3,
    NAMES = 32,
    PATHS = 8,
    FIRST = 3,
    LAST = 5
};

struct texts {
    VEC(char *) items;
};

static bool is_ascii_alnum(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The bytes of the first character if a path may have it, else 0. */
static size_t path_char(const char *s, size_t len)
{
    unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return is_ascii_alnum(c) || (c && strchr("._-/~+@", c));
    uint32_t cp;
    size_t used = utf8_decode(s, len, &cp);
    /* Letters of other scripts, but neither their punctuation nor invalid bytes. */
    bool letter = cp >= 0xC0 && !(cp >= 0x2000 && cp <= 0x2BFF) &&
                  !(cp >= 0x3000 && cp <= 0x303F) && cp != 0xFFFD &&
                  !(cp >= 0xFF00 && cp <= 0xFF0F);
    return letter ? used : 0;
}

/* "main.c" has one; ".clang-format" and "3.5" have none. */
static bool has_extension(const char *name, size_t len)
{
    size_t dot = len;
    while (dot > 0 && name[dot - 1] != '.' && name[dot - 1] != '/')
        dot--;
    size_t chars = len - dot;
    if (dot < 2 || name[dot - 1] != '.' || name[dot - 2] == '/' || chars == 0 ||
        chars > EXTENSION_CHARS || !isalpha((unsigned char)name[dot]))
        return false;
    for (size_t i = dot; i < len; i++)
        if (!is_ascii_alnum((unsigned char)name[i]))
            return false;
    return true;
}

/* The beginning of the run of path characters that has the next slash; `len`: there is none. */
static size_t run_with_slash(const char *text, size_t len, size_t at)
{
    const char *slash = memchr(text + at, '/', len - at);
    size_t start = slash ? (size_t)(slash - text) : len;
    while (slash && start > at) {
        size_t before = start - 1;
        while (before > at && ((unsigned char)text[before] & 0xC0) == 0x80)
            before--;
        if (path_char(text + before, len - before) != start - before)
            break;
        start = before;
    }
    return start;
}

/* Adds the paths of a text until there are PATHS. `names`: a file name alone counts as well, as in
 * the arguments of a tool. Neither "and/or" nor the part of a URL after its colon is a path. */
static void collect_paths(struct texts *paths, const char *text, bool names)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len && paths->items.len < PATHS;) {
        if (!names && (at = run_with_slash(text, len, at)) == len)
            break;
        const char *path = text + at;
        size_t run = 0, slashes = 0;
        for (size_t used; at + run < len && (used = path_char(path + run, len - at - run));)
            run += used;
        size_t end = run;
        while (end > 0 && path[end - 1] == '.')
            end--;
        for (size_t i = 0; i < end; i++)
            slashes += path[i] == '/';
        bool extension = end >= 3 && has_extension(path, end);
        bool found = slashes == 0 ? names && extension
                                  : slashes > 1 || extension || strncmp(path, "./", 2) == 0 ||
                                        strncmp(path, "~/", 2) == 0;
        found = found && end >= 3 && end <= PATH_BYTES && strncmp(path, "//", 2) != 0;
        for (size_t i = 0; i < paths->items.len && found; i++)
            found = strlen(paths->items.items[i]) != end ||
                    memcmp(paths->items.items[i], path, end) != 0;
        if (found)
            vec_push(&paths->items, mem_strndup(path, end));
        at += run > 0 ? run : 1;
    }
}

/* --- a message as one line -------------------------------------------------------------------- */

struct said {
    const struct message *const *items;
    size_t len;
    struct message_source *source;
};

/* Adds more than is shown: cleaning and joining blanks changes the length. */
static void add_piece(struct buf *out, const char *text, size_t max)
{
    if (out->len > 0)
        buf_addch(out, ' ');
    utf8_add_cut(out, text ? text : "", text ? strlen(text) : 0, max * 4);
}

/* Cleaned, with single blanks. */
static void add_one_line(struct buf *out, const char *text, size_t len, size_t max)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    utf8_clean(&line, text, len, UTF8_ONE_LINE);
    size_t kept = 0;
    for (size_t i = 0; i < line.len; i++)
        if (line.data[i] != ' ' || (kept > 0 && line.data[kept - 1] != ' '))
            line.data[kept++] = line.data[i];
    buf_truncate(&line, kept);
    buf_trim_end(&line, " ");
    utf8_add_cut(out, line.data, line.len, max);
}

/* A text that the program added to the message: a skill's, or the surroundings. */
static bool is_added(const struct block *b)
{
    return b->type == BLOCK_TEXT && b->name && *b->name != '@';
}

static void add_message(struct buf *out, const struct said *said, size_t index, size_t max)
{
    static const char *const before[] = {[BLOCK_TOOL_CALL] = "[called ",
                                         [BLOCK_TOOL_RESULT] = "[result of "};
    AUTO(buf_release) struct buf raw = BUF_INIT;
    AUTO(message_release) struct message room = {0};
    const struct message *m = message_whole(said->source, said->items[index], &room);
    for (size_t i = 0; i < m->blocks.len && raw.len <= max * 4; i++) {
        const struct block *b = &m->blocks.items[i];
        if (is_added(b)) {
            continue;
        } else if (b->type == BLOCK_TEXT) {
            add_piece(&raw, b->text, max);
        } else if (b->type == BLOCK_IMAGE) {
            add_piece(&raw, "", 0);
            image_add_text(&raw, b);
        } else if (b->type != BLOCK_REASONING) {
            const char *name = b->name;
            add_piece(&raw, before[b->type], NAME_BYTES);
            utf8_add_cut(&raw, name ? name : "", name ? strlen(name) : 0, NAME_BYTES);
            buf_addch(&raw, ']');
            if (b->type == BLOCK_TOOL_RESULT)
                add_piece(&raw, b->text, max);
        }
    }
    add_one_line(out, raw.data, raw.len, max);
}

/* --- sections --------------------------------------------------------------------------------- */

/* The names of the called tools, sorted, once each. */
static void add_tools(struct buf *out, const struct said *said)
{
    struct texts tools = {0};
    for (size_t i = 0; i < said->len; i++) {
        AUTO(message_release) struct message room = {0};
        const struct message *m = message_whole(said->source, said->items[i], &room);
        for (size_t b = 0; b < m->blocks.len; b++)
            if (m->blocks.items[b].type == BLOCK_TOOL_CALL && m->blocks.items[b].name)
                vec_push(&tools.items, mem_strdup(m->blocks.items[b].name));
    }
    vec_sort(&tools.items, vec_text_order);
    char *const *names = tools.items.items;
    size_t shown = 0;
    for (size_t i = 0; i < tools.items.len; i++) {
        if (i > 0 && strcmp(names[i], names[i - 1]) == 0)
            continue;
        if (shown++ < NAMES) {
            buf_addstr(out, shown > 1 ? ", " : "");
            add_one_line(out, names[i], strlen(names[i]), NAME_BYTES);
        }
    }
    if (shown > NAMES)
        buf_addf(out, " (and %zu more)", shown - NAMES);
    if (shown > 0)
        buf_addch(out, '\n');
    vec_free_each(&tools.items);
}

/* The user's last messages. */
static void add_requests(struct buf *out, const struct said *said)
{
    size_t first = said->len;
    for (size_t i = said->len, found = 0; i > 0 && found < REQUESTS; i--)
        if (said->items[i - 1]->role == ROLE_USER) {
            first = i - 1;
            found++;
        }
    for (size_t i = first; i < said->len; i++) {
        if (said->items[i]->role != ROLE_USER)
            continue;
        buf_addstr(out, "- ");
        add_message(out, said, i, LINE_BYTES);
        buf_addch(out, '\n');
    }
}

/* The first word in the text for work that is left, or NULL. */
static const char *find_pending(const char *text)
{
    static const char *const words[UCHAR_MAX + 1] = {
        ['t'] = "todo",      ['T'] = "todo",      ['n'] = "next",      ['N'] = "next",
        ['p'] = "pending",   ['P'] = "pending",   ['f'] = "follow up", ['F'] = "follow up",
        ['r'] = "remaining", ['R'] = "remaining",
    };
    for (; *text; text++) {
        const char *word = words[(unsigned char)*text];
        size_t len = 0;
        while (word && word[len] &&
               (text[len] >= 'A' && text[len] <= 'Z' ? text[len] + ('a' - 'A') : text[len]) ==
                   word[len])
            len++;
        if (word && !word[len])
            return text;
    }
    return NULL;
}

/* The lines with a word for work that is left; of a long line the part from the word on. */
static void add_pending(struct buf *out, const struct said *said)
{
    struct buf lines[PENDING]; /* newest first */
    size_t found = 0;
    for (size_t i = said->len; i > 0 && found < PENDING; i--) {
        AUTO(message_release) struct message room = {0};
        const struct message *m = message_whole(said->source, said->items[i - 1], &room);
        const char *where = NULL;
        for (size_t k = 0; k < m->blocks.len && !where; k++) {
            const struct block *b = &m->blocks.items[k];
            const char *text = b->text;
            where = b->type == BLOCK_TEXT && !is_added(b) && text ? find_pending(text) : NULL;
            const char *line = where;
            while (where && line > text && line[-1] != '\n' && where - line < LINE_BYTES / 2)
                line--;
            if (where && line > text && line[-1] != '\n')
                line = where;
            if (!where)
                continue;
            struct buf *shown = &lines[found++];
            buf_init(shown, 0);
            size_t len = utf8_cut_bytes(line, strcspn(line, "\n"), (size_t)LINE_BYTES * 4);
            add_one_line(shown, line, len, LINE_BYTES);
        }
    }
    while (found-- > 0) {
        buf_addf(out, "- %s\n", lines[found].data);
        buf_release(&lines[found]);
    }
}

/* The newest paths, sorted. */
static void add_paths(struct buf *out, const struct said *said)
{
    struct texts paths = {0};
    for (size_t i = said->len; i > 0 && paths.items.len < PATHS; i--) {
        AUTO(message_release) struct message room = {0};
        const struct message *m = message_whole(said->source, said->items[i - 1], &room);
        for (size_t k = 0; k < m->blocks.len; k++) {
            const struct block *b = &m->blocks.items[k];
            bool said_text = b->type == BLOCK_TEXT && !is_added(b);
            if ((said_text || b->type == BLOCK_TOOL_CALL) && b->text)
                collect_paths(&paths, b->text, b->type == BLOCK_TOOL_CALL);
        }
    }
    vec_sort(&paths.items, vec_text_order);
    for (size_t i = 0; i < paths.items.len; i++)
        buf_addf(out, "- %s\n", paths.items.items[i]);
    vec_free_each(&paths.items);
}

static void add_work(struct buf *out, const struct said *said)
{
    size_t before = out->len;
    for (size_t i = said->len; i > 0 && out->len == before; i--) {
        if (said->items[i - 1]->role != ROLE_ASSISTANT)
            continue;
        AUTO(message_release) struct message room = {0};
        auto_free char *text = message_text(message_whole(said->source, said->items[i - 1], &room));
        size_t len = utf8_cut_bytes(text, strlen(text), (size_t)WORK_BYTES * 4);
        add_one_line(out, text, len, WORK_BYTES);
    }
    buf_addstr(out, out->len > before ? "\n" : "");
}

static void add_timeline(struct buf *out, const struct said *said)
{
    size_t count = said->len;
    for (size_t i = 0; i < count; i++) {
        if (i == FIRST && count > FIRST + LAST) {
            buf_addf(out, "- (%zu messages omitted)\n", count - FIRST - LAST);
            i = count - LAST;
        }
        buf_addf(out, "- %s: ", role_name(said->items[i]->role));
        add_message(out, said, i, LINE_BYTES);
        buf_addch(out, '\n');
    }
}

const char *const extract_headings[EXTRACT_SECTIONS] = {
    "Tools used", "Last requests", "Pending work", "Files", "Current work", "Timeline",
};

void extract_add(struct buf *out, const struct message *const *messages, size_t count,
                 struct message_source *source)
{
    static void (*const add[EXTRACT_SECTIONS])(struct buf * out, const struct said *said) = {
        add_tools, add_requests, add_pending, add_paths, add_work, add_timeline,
    };
    const struct said said = {messages, count, source};
    for (size_t i = 0; i < EXTRACT_SECTIONS; i++) {
        buf_addf(out, "\n\n## %s\n\n", extract_headings[i]);
        size_t start = out->len;
        add[i](out, &said);
        if (out->len == start)
            buf_addstr(out, EXTRACT_NONE "\n");
        buf_truncate(out, out->len - 1); /* its newline */
    }
}
