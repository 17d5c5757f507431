/* A line with its end, if it has one. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/json_pack.h"
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
    size_t len = strcspn(*at, "\n");
    len += (*at)[len] == '\n';
    *out = (struct line){*at, len};
    *at += len;
    return len > 0;
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

static bool undo_line(struct undoing *u, const struct line *l)
{
    const struct line rest = {l->text + 1, l->len - 1};
    char mark = *l->text;
    bool fits = true;
    if (mark == '@')
        fits = begin_hunk(u, l->text);
    else if (mark == '+' || mark == ' ')
        fits = is_next(u, &rest);
    else if (mark != '\\')
        fits = mark == '-';
    else if (u->last != '+' && u->before.len > 0 && u->before.data[u->before.len - 1] == '\n')
        buf_truncate(&u->before, u->before.len - 1); /* "\ No newline at end of file" */
    if (fits && (mark == '-' || mark == ' '))
        buf_add(&u->before, rest.text, rest.len);
    u->last = mark;
    return fits;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool acp_difference_undo(const char *difference, const char *after, char **before)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct undoing u = {.after = after, .line = 1, .before = BUF_INIT};
    struct line old, new, l;
    *before = NULL;
    if (strcmp(difference, "[no difference]\n") == 0) {
        *before = mem_strdup(after);
        return true;
    }
    if (!next_line(&difference, &old) || !starts(old.text, "--- ") ||
        !next_line(&difference, &new) || !starts(new.text, "+++ "))
        return false;
    if (starts(old.text, "--- /dev/null\n"))
        return true;
    bool any = false, fits = true;
    while (fits && next_line(&difference, &l)) {
        any = any || *l.text == '@';
        fits = any && undo_line(&u, &l);
    }
    buf_addstr(&u.before, u.after);
    text = u.before;
    if (any && fits)
        *before = buf_take(&text);
    return any && fits;
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

static void write_title(struct json_out *o, const struct tool_row *row, const char *tool,
                        const char *about)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    AUTO(buf_release) struct buf cut = BUF_INIT;
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *text = about ? about : tool;
    const char *title = about && row->title ? _(row->title) : PLACE;
    const char *place = strstr(title, PLACE);
    utf8_clean(&clean, text, strlen(text), UTF8_ONE_LINE);
    utf8_add_cut(&cut, clean.data, clean.len, TITLE_BYTES);
    buf_addstr(&out, title);
    if (place)
        buf_splice(&out, (size_t)(place - title), strlen(PLACE), cut.data, cut.len);
    json_out_member(o, "title", out.data);
}

/* The absolute form of a model's path. NULL: it cannot be told. The caller frees. */
static char *absolute(const struct acp_tool_call *call, const char *path)
{
    if (!path || *path == '/')
        return mem_strdup(path);
    return call->directory ? mem_printf("%s/%s", call->directory, path) : NULL;
}

static struct json *parse_args(const struct acp_tool_call *call)
{
    const char *args = call->args ? call->args : "";
    return json_parse_foreign(args, strlen(args), NULL);
}

void acp_tool_call_write(struct json_out *o, const struct acp_tool_call *call)
{
    const struct tool_row *row = find_row(call->tool);
    AUTO(json_free_local) struct json *args = parse_args(call);
    auto_free char *path = absolute(call, json_get_string(args, "path"));
    auto_free char *input = args ? json_print(args) : NULL;
    int64_t line = json_get_int(args, "offset", 0);
    json_out_member(o, "toolCallId", call->id);
    write_title(o, row, call->tool, row->member ? json_get_string(args, row->member) : NULL);
    json_out_member(o, "kind", row->kind);
    if (path && line >= 1 && line <= INT32_MAX)
        json_out_pack(o, "locations:[{path:s line:I}]", path, line);
    else if (path)
        json_out_pack(o, "locations:[{path:s}]", path);
    json_out_name(o, "rawInput");
    if (input)
        json_out_raw(o, input);
    else
        json_out_string(o, call->args ? call->args : "");
}

/* --- content ---------------------------------------------------------------------------------- */

void acp_tool_call_write_text(struct json_out *o, const char *text)
{
    json_out_pack(o, "content:[{type:'content' content:{type:'text' text:s}}]", text);
}

void acp_tool_call_write_terminal(struct json_out *o, const char *terminal)
{
    json_out_pack(o, "content:[{type:'terminal' terminalId:s}]", terminal);
}

/* A fence keeps a text that is no Markdown as it is. */
void acp_tool_call_write_result(struct json_out *o, const char *result)
{
    AUTO(buf_release) struct buf fenced = BUF_INIT;
    attached_file_fence(&fenced, result, strlen(result));
    acp_tool_call_write_text(o, fenced.data);
}

bool acp_tool_call_write_written(struct json_out *o, const struct acp_tool_call *call)
{
    AUTO(json_free_local) struct json *args = parse_args(call);
    AUTO(buf_release) struct buf shown = BUF_INIT;
    const char *content = json_get_string(args, "content");
    if (!content || strcmp(call->tool, "write_file") != 0)
        return false;
    utf8_reveal(&shown, content, strlen(content), UTF8_MULTILINE);
    acp_tool_call_write_result(o, shown.data);
    return true;
}

/* Writes a diff of the call's text and the text before it. Both show control characters as the
 * preview does. False: the preview is no difference that leads to that text. */
static bool write_change(struct json_out *o, const struct acp_tool_call *call,
                         const struct json *args, const char *preview)
{
    const char *content = json_get_string(args, "content");
    auto_free char *path = absolute(call, json_get_string(args, "path"));
    auto_free char *before = NULL;
    AUTO(buf_release) struct buf after = BUF_INIT;
    if (content)
        utf8_reveal(&after, content, strlen(content), UTF8_MULTILINE);
    if (!content || !path || !acp_difference_undo(preview, after.data, &before))
        return false;
    json_out_pack(o, "content:[{type:'diff' path:s oldText:s newText:s}]", path, before,
                  after.data);
    return true;
}

void acp_tool_call_write_preview(struct json_out *o, const struct acp_tool_call *call,
                                 const char *preview)
{
    AUTO(json_free_local) struct json *args = parse_args(call);
    bool edits = strcmp(find_row(call->tool)->kind, "edit") == 0;
    if (preview && (!edits || !write_change(o, call, args, preview)))
        acp_tool_call_write_result(o, preview);
}
