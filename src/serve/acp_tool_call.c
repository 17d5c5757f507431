/* A line with its end, if it has one. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "serve/acp_updates.h"

struct line {
    const char *text;
    size_t len;
};

static bool next_line(const char **at, struct line *out)
{
    if (!**at)
        return false;
    size_t len = strcspn(*at, "\n");
    len += (*at)[len] == '\n';
    *out = (struct line){*at, len};
    *at += len;
    return true;
}

/* The two texts while the difference is gone through. */
struct undoing {
    const char *after; /* what of it is to come */
    size_t line;       /* number of its next line, from 1 */
    struct buf before;
    char last; /* mark of the last line of the difference */
};

static bool copy_until(struct undoing *u, size_t line)
{
    struct line l;
    for (; u->line < line; u->line++) {
        if (!next_line(&u->after, &l))
            return false;
        buf_add(&u->before, l.text, l.len);
    }
    return u->line == line;
}

/* "@@ -1,4 +1,6 @@": where the lines begin that follow. Where they have none of the new text, it is
 * the line before. */
static bool begin_hunk(struct undoing *u, const char *head)
{
    char *end;
    const char *plus = strchr(head, '+');
    if (!plus)
        return false;
    unsigned long line = strtoul(plus + 1, &end, 10);
    unsigned long count = *end == ',' ? strtoul(end + 1, NULL, 10) : 1;
    return copy_until(u, line + (count == 0));
}

/* The line stands in the new text; its end may lack there. */
static bool is_next(struct undoing *u, const struct line *l)
{
    struct line found;
    if (!next_line(&u->after, &found))
        return false;
    u->line++;
    bool shorter = l->len == found.len + 1 && l->text[l->len - 1] == '\n';
    return (l->len == found.len || shorter) && memcmp(l->text, found.text, found.len) == 0;
}

/* "\ No newline at end of file" is about the line before. */
static void drop_end(struct undoing *u)
{
    if (u->last != '+' && u->before.len > 0 && u->before.data[u->before.len - 1] == '\n')
        buf_truncate(&u->before, u->before.len - 1);
}

static bool undo_line(struct undoing *u, const struct line *l)
{
    const struct line rest = {l->text + 1, l->len - 1};
    char mark = *l->text;
    bool fits = true;
    if (mark == '@')
        fits = begin_hunk(u, l->text);
    else if (mark == '\\')
        drop_end(u);
    else if (mark == '+' || mark == ' ')
        fits = is_next(u, &rest);
    else
        fits = mark == '-';
    if (fits && (mark == '-' || mark == ' '))
        buf_add(&u->before, rest.text, rest.len);
    u->last = mark;
    return fits;
}

static bool undo(struct undoing *u, const char *difference)
{
    struct line l;
    bool any = false;
    while (next_line(&difference, &l)) {
        any = any || *l.text == '@';
        if (!any || !undo_line(u, &l))
            return false;
    }
    buf_addstr(&u->before, u->after);
    return any;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Both names, of which the first may say that there was none. */
static bool skip_names(const char **difference, bool *created)
{
    struct line old, new;
    return next_line(difference, &old) && starts(old.text, "--- ") && next_line(difference, &new) &&
           starts(new.text, "+++ ") && (*created = starts(old.text, "--- /dev/null\n"), true);
}

bool acp_difference_undo(const char *difference, const char *after, char **before)
{
    struct undoing u = {.after = after, .line = 1, .before = BUF_INIT};
    bool created = false;
    bool same = strcmp(difference, "[no difference]\n") == 0;
    *before = same ? mem_strdup(after) : NULL;
    if (same)
        return true;
    bool fits = skip_names(&difference, &created) && (created || undo(&u, difference));
    if (fits && !created)
        *before = buf_take(&u.before);
    buf_release(&u.before);
    return fits;
}

enum { TITLE_BYTES = 200 };
#define PLACE "%s" /* in a title, of what it is about */

/* How a tool is shown; a row whose member a call lacks has the tool's name as its title. */
struct tool_row {
    const char *tool;
    const char *kind;   /* of the protocol */
    const char *title;  /* NULL: the member as it is */
    const char *member; /* of the arguments */
};

static const struct tool_row rows[] = {
    {"read_file", "read", N_("Read %s"), "path"},
    {"list_directory", "read", N_("List %s"), "path"},
    {"search_files", "search", N_("Search files for %s"), "pattern"},
    {"write_file", "edit", N_("Write %s"), "path"},
    {"run_command", "execute", NULL, "command"},
    {"memory_search", "search", N_("Search memory for %s"), "query"},
    {"memory_read", "read", N_("Read in memory around %s"), "id"},
    {"learned_search", "search", N_("Search what was learned for %s"), "query"},
    {"rag_search", "search", N_("Search documents for %s"), "query"},
    {"rag_ingest", "edit", N_("Add %s to documents"), "filename"},
};

static const struct tool_row *find_row(const char *tool)
{
    static const struct tool_row other = {.kind = "other"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].tool, tool) == 0)
            return &rows[i];
    return &other;
}

/* --- title, kind, places ---------------------------------------------------------------------- */

static char *cleaned_line(const char *text)
{
    struct buf clean = BUF_INIT, cut = BUF_INIT;
    utf8_clean(&clean, text, strlen(text), UTF8_ONE_LINE);
    utf8_add_cut(&cut, clean.data, clean.len, TITLE_BYTES);
    buf_release(&clean);
    return buf_take(&cut);
}

static void write_title(struct json_out *o, const struct tool_row *row, const char *tool,
                        const char *about)
{
    char *text = cleaned_line(about ? about : tool);
    const char *title = about && row->title ? _(row->title) : PLACE;
    const char *place = strstr(title, PLACE);
    struct buf out = BUF_INIT;
    buf_addstr(&out, title);
    if (place)
        buf_splice(&out, (size_t)(place - title), strlen(PLACE), text, strlen(text));
    json_out_member(o, "title", out.data);
    buf_release(&out);
    free(text);
}

/* A path of a model's as a client wants it. NULL: it cannot be told. The caller frees. */
static char *absolute(const struct acp_tool_call *call, const char *path)
{
    if (!path || *path == '/')
        return mem_strdup(path);
    return call->directory ? mem_printf("%s/%s", call->directory, path) : NULL;
}

static void write_locations(struct json_out *o, const struct acp_tool_call *call,
                            const struct json *args)
{
    char *path = absolute(call, json_get_string(args, "path"));
    int64_t line = json_get_int(args, "offset", 0);
    if (!path)
        return;
    json_out_name(o, "locations");
    json_out_open(o, '[');
    json_out_open(o, '{');
    json_out_member(o, "path", path);
    if (line >= 1 && line <= INT32_MAX)
        json_out_int(o, "line", line);
    json_out_close(o, '}');
    json_out_close(o, ']');
    free(path);
}

void acp_tool_call_write(struct json_out *o, const struct acp_tool_call *call)
{
    const struct tool_row *row = find_row(call->tool);
    const char *args = call->args ? call->args : "";
    struct json *parsed = json_parse_foreign(args, strlen(args), NULL);
    json_out_member(o, "toolCallId", call->id);
    write_title(o, row, call->tool, row->member ? json_get_string(parsed, row->member) : NULL);
    json_out_member(o, "kind", row->kind);
    write_locations(o, call, parsed);
    json_out_name(o, "rawInput");
    if (parsed) {
        char *text = json_print(parsed);
        json_out_raw(o, text);
        free(text);
    } else {
        json_out_string(o, args);
    }
    json_free(parsed);
}

/* --- content ---------------------------------------------------------------------------------- */

void acp_content_write_text(struct json_out *o, const char *text)
{
    json_out_member(o, "type", "text");
    json_out_member(o, "text", text);
}

void acp_tool_call_write_text(struct json_out *o, const char *text)
{
    json_out_name(o, "content");
    json_out_open(o, '[');
    json_out_open(o, '{');
    json_out_member(o, "type", "content");
    json_out_name(o, "content");
    json_out_open(o, '{');
    acp_content_write_text(o, text);
    json_out_close(o, '}');
    json_out_close(o, '}');
    json_out_close(o, ']');
}

void acp_tool_call_write_terminal(struct json_out *o, const char *terminal)
{
    json_out_name(o, "content");
    json_out_open(o, '[');
    json_out_open(o, '{');
    json_out_member(o, "type", "terminal");
    json_out_member(o, "terminalId", terminal);
    json_out_close(o, '}');
    json_out_close(o, ']');
}

/* What is no Markdown: a fence keeps it as it is. */
static void write_fenced(struct json_out *o, const char *text)
{
    struct buf fenced = BUF_INIT;
    attached_file_fence(&fenced, text, strlen(text));
    acp_tool_call_write_text(o, fenced.data);
    buf_release(&fenced);
}

void acp_tool_call_write_result(struct json_out *o, const char *result)
{
    write_fenced(o, result);
}

bool acp_tool_call_write_written(struct json_out *o, const struct acp_tool_call *call)
{
    const char *text = call->args ? call->args : "";
    struct json *args = json_parse_foreign(text, strlen(text), NULL);
    const char *content = json_get_string(args, "content");
    bool wrote = content && strcmp(call->tool, "write_file") == 0;
    struct buf shown = BUF_INIT;
    if (wrote) {
        utf8_reveal(&shown, content, strlen(content), UTF8_MULTILINE);
        write_fenced(o, shown.data);
    }
    buf_release(&shown);
    json_free(args);
    return wrote;
}

static void write_diff(struct json_out *o, const char *path, const char *before, const char *after)
{
    json_out_name(o, "content");
    json_out_open(o, '[');
    json_out_open(o, '{');
    json_out_member(o, "type", "diff");
    json_out_member(o, "path", path);
    json_out_member(o, "oldText", before);
    json_out_member(o, "newText", after);
    json_out_close(o, '}');
    json_out_close(o, ']');
}

/* A preview has nothing that cannot be seen; neither has what it leads to. */
static bool write_change(struct json_out *o, const struct acp_tool_call *call,
                         const struct json *args, const char *preview)
{
    const char *content = json_get_string(args, "content");
    char *path = absolute(call, json_get_string(args, "path"));
    char *before = NULL;
    struct buf after = BUF_INIT;
    if (content)
        utf8_reveal(&after, content, strlen(content), UTF8_MULTILINE);
    bool told = content && path && acp_difference_undo(preview, after.data, &before);
    if (told)
        write_diff(o, path, before, after.data);
    buf_release(&after);
    free(before);
    free(path);
    return told;
}

void acp_tool_call_write_preview(struct json_out *o, const struct acp_tool_call *call,
                                 const char *preview)
{
    if (!preview)
        return;
    const char *text = call->args ? call->args : "";
    struct json *args = json_parse_foreign(text, strlen(text), NULL);
    if (strcmp(find_row(call->tool)->kind, "edit") != 0 || !write_change(o, call, args, preview))
        write_fenced(o, preview);
    json_free(args);
}
