#include "chat/extract.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

/* --- file paths in texts, told from other words by how they look ------------------------------ */

struct path_set {
    VEC(char *) items; /* owned, no two alike */
    size_t max;
};

#define PATH_BYTES 200 /* what is longer is none */
#define EXTENSION_CHARS 8

static bool is_ascii_alnum(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters of other scripts, but not their punctuation and not what no character was. */
static bool is_letter(uint32_t cp)
{
    return cp >= 0xC0 && !(cp >= 0x2000 && cp <= 0x2BFF) && !(cp >= 0x3000 && cp <= 0x303F) &&
           cp != 0xFFFD && !(cp >= 0xFF00 && cp <= 0xFF0F);
}

/* Bytes of the character at the beginning that a path may have, 0 where it may not. */
static size_t path_char(const char *s, size_t len)
{
    unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return is_ascii_alnum(c) || (c && strchr("._-/~+@", c));
    uint32_t cp;
    size_t used = utf8_decode(s, len, &cp);
    return is_letter(cp) ? used : 0;
}

static bool begins_with(const char *s, size_t len, const char *start)
{
    return len > strlen(start) && strncmp(s, start, strlen(start)) == 0;
}

/* "main.c", ".clang-format" has none, and neither has "3.5". */
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

static size_t count_slashes(const char *s, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += s[i] == '/';
    return count;
}

/* "and/or" is none, nor is what follows the colon of a URL. */
static bool is_path(const char *s, size_t len, bool names)
{
    size_t slashes = count_slashes(s, len);
    if (len < 3 || len > PATH_BYTES || begins_with(s, len, "//"))
        return false;
    if (slashes == 0)
        return names && has_extension(s, len);
    return slashes > 1 || has_extension(s, len) || begins_with(s, len, "./") ||
           begins_with(s, len, "~/");
}

static bool is_in(const struct path_set *s, const char *path, size_t len)
{
    for (size_t i = 0; i < s->items.len; i++)
        if (strlen(s->items.items[i]) == len && memcmp(s->items.items[i], path, len) == 0)
            return true;
    return false;
}

static size_t run_length(const char *s, size_t len)
{
    size_t run = 0;
    for (size_t used; run < len && (used = path_char(s + run, len - run)) > 0;)
        run += used;
    return run;
}

/* Where the run begins that holds the next slash; `len`: there is none. */
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

/* Adds the paths of a text until the set is full. `names`: a file's name alone counts as well, as
 * it does in the arguments of a tool. */
static void path_set_add(struct path_set *s, const char *text, bool names)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len && s->items.len < s->max;) {
        if (!names && (at = run_with_slash(text, len, at)) == len)
            break;
        size_t run = run_length(text + at, len - at);
        size_t path = run;
        while (path > 0 && text[at + path - 1] == '.')
            path--;
        if (is_path(text + at, path, names) && !is_in(s, text + at, path))
            vec_push(&s->items, mem_strndup(text + at, path));
        at += run > 0 ? run : 1;
    }
}

#define LINE_BYTES 160
#define WORK_BYTES 200
#define NAME_BYTES 64
#define REQUESTS 3
#define PENDING 3
#define NAMES 32
#define PATHS 8
#define FIRST 3
#define LAST 5

struct said {
    const struct message *const *items;
    size_t len;
    struct message_source *source;
};

struct names {
    VEC(char *) items;
};

static const struct message *open_message(const struct said *said, size_t i, struct message *room)
{
    return message_whole(said->source, said->items[i], room);
}

static void add_heading(struct buf *out, const char *heading)
{
    buf_addf(out, "\n\n## %s\n\n", heading);
}

static void end_section(struct buf *out, size_t start)
{
    if (out->len == start)
        buf_addstr(out, EXTRACT_NONE "\n");
    buf_truncate(out, out->len - 1);
}

/* ---- a message as one line ---- */

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

/* Somewhat more than will be shown, as cleaning and joining blanks changes the length. */
static void add_piece(struct buf *out, const char *text, size_t max)
{
    if (out->len > 0)
        buf_addch(out, ' ');
    utf8_add_cut(out, text, strlen(text), max * 4);
}

static void add_block(struct buf *out, const struct block *b, size_t max)
{
    static const char *const before[] = {[BLOCK_TOOL_CALL] = "[called ",
                                         [BLOCK_TOOL_RESULT] = "[result of ",
                                         [BLOCK_IMAGE] = "[image "};
    if (b->type == BLOCK_REASONING || out->len > max * 4)
        return;
    if (b->type == BLOCK_TEXT) {
        add_piece(out, or_empty(b->text), max);
        return;
    }
    const char *name = or_empty(b->type == BLOCK_IMAGE ? b->text : b->name);
    add_piece(out, before[b->type], NAME_BYTES);
    utf8_add_cut(out, name, strlen(name), NAME_BYTES);
    buf_addch(out, ']');
    if (b->type == BLOCK_TOOL_RESULT)
        add_piece(out, or_empty(b->text), max);
}

/* Runs of blanks become one. */
static void squeeze(struct buf *b)
{
    size_t len = 0;
    for (size_t i = 0; i < b->len; i++)
        if (b->data[i] != ' ' || (len > 0 && b->data[len - 1] != ' '))
            b->data[len++] = b->data[i];
    buf_truncate(b, len);
    buf_trim_end(b, " ");
}

static void add_one_line(struct buf *out, const char *text, size_t len, size_t max)
{
    struct buf line = BUF_INIT;
    utf8_clean(&line, text, len, UTF8_ONE_LINE);
    squeeze(&line);
    utf8_add_cut(out, line.data, line.len, max);
    buf_release(&line);
}

static void add_message(struct buf *out, const struct said *said, size_t index, size_t max)
{
    struct buf raw = BUF_INIT;
    struct message room;
    const struct message *m = open_message(said, index, &room);
    for (size_t i = 0; i < m->blocks.len; i++)
        add_block(&raw, &m->blocks.items[i], max);
    add_one_line(out, raw.data, raw.len, max);
    buf_release(&raw);
    message_release(&room);
}

/* ---- sections ---- */

static void add_names(struct buf *out, const struct names *sorted)
{
    char *const *names = sorted->items.items;
    size_t shown = 0;
    for (size_t i = 0; i < sorted->items.len; i++) {
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
}

static void add_tools(struct buf *out, const struct said *said)
{
    struct names names = {0};
    for (size_t i = 0; i < said->len; i++) {
        struct message room;
        const struct message *m = open_message(said, i, &room);
        for (size_t b = 0; b < m->blocks.len; b++)
            if (m->blocks.items[b].type == BLOCK_TOOL_CALL && m->blocks.items[b].name)
                vec_push(&names.items, mem_strdup(m->blocks.items[b].name));
        message_release(&room);
    }
    vec_sort(&names.items, vec_text_order);
    add_names(out, &names);
    vec_free_each(&names.items);
}

/* Index of the `want`-th message of the role from the end; the first one where there are fewer. */
static size_t last_of_role(const struct said *said, enum role role, size_t want)
{
    size_t first = said->len;
    for (size_t i = said->len; i > 0 && want > 0; i--) {
        if (said->items[i - 1]->role == role) {
            first = i - 1;
            want--;
        }
    }
    return first;
}

static void add_requests(struct buf *out, const struct said *said)
{
    for (size_t i = last_of_role(said, ROLE_USER, REQUESTS); i < said->len; i++) {
        if (said->items[i]->role != ROLE_USER)
            continue;
        buf_addstr(out, "- ");
        add_message(out, said, i, LINE_BYTES);
        buf_addch(out, '\n');
    }
}

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins_with_word(const char *s, const char *word)
{
    while (*word && ascii_lower(*s) == *word) {
        s++;
        word++;
    }
    return !*word;
}

/* Where a text first speaks of work that is left, or NULL. */
static const char *find_pending(const char *text)
{
    static const char *const words[UCHAR_MAX + 1] = {
        ['t'] = "todo",      ['T'] = "todo",      ['n'] = "next",      ['N'] = "next",
        ['p'] = "pending",   ['P'] = "pending",   ['f'] = "follow up", ['F'] = "follow up",
        ['r'] = "remaining", ['R'] = "remaining",
    };
    for (; *text; text++) {
        const char *word = words[(unsigned char)*text];
        if (word && begins_with_word(text, word))
            return text;
    }
    return NULL;
}

/* The text of a message that speaks of it, or NULL. */
static const char *pending_text(const struct message *m, const char **where)
{
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (b->type == BLOCK_TEXT && b->text && (*where = find_pending(b->text)) != NULL)
            return b->text;
    }
    return NULL;
}

/* The line with the word; of a long one what follows the word. The caller frees. */
static char *pending_line(const char *text, const char *where)
{
    struct buf out = BUF_INIT;
    const char *line = where;
    while (line > text && line[-1] != '\n' && where - line < LINE_BYTES / 2)
        line--;
    if (line > text && line[-1] != '\n')
        line = where;
    size_t len = strcspn(line, "\n");
    add_one_line(&out, line, utf8_cut_bytes(line, len, (size_t)LINE_BYTES * 4), LINE_BYTES);
    return buf_take(&out);
}

static void add_pending(struct buf *out, const struct said *said)
{
    char *lines[PENDING]; /* newest first */
    size_t found = 0;
    for (size_t i = said->len; i > 0 && found < PENDING; i--) {
        struct message room;
        const char *where;
        const struct message *m = open_message(said, i - 1, &room);
        const char *text = pending_text(m, &where);
        if (text)
            lines[found++] = pending_line(text, where);
        message_release(&room);
    }
    while (found-- > 0) {
        buf_addf(out, "- %s\n", lines[found]);
        free(lines[found]);
    }
}

static void collect_paths(struct path_set *paths, const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if ((b->type == BLOCK_TEXT || b->type == BLOCK_TOOL_CALL) && b->text)
            path_set_add(paths, b->text, b->type == BLOCK_TOOL_CALL);
    }
}

/* The newest ones, sorted. */
static void add_paths(struct buf *out, const struct said *said)
{
    struct path_set paths = {.max = PATHS};
    for (size_t i = said->len; i > 0 && paths.items.len < PATHS; i--) {
        struct message room;
        collect_paths(&paths, open_message(said, i - 1, &room));
        message_release(&room);
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
        struct message room;
        char *text = message_text(open_message(said, i - 1, &room));
        size_t len = utf8_cut_bytes(text, strlen(text), (size_t)WORK_BYTES * 4);
        add_one_line(out, text, len, WORK_BYTES);
        free(text);
        message_release(&room);
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
        add_heading(out, extract_headings[i]);
        size_t start = out->len;
        add[i](out, &said);
        end_section(out, start);
    }
}
