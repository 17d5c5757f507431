#include "serve/acp_tool_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "serve/acp_difference.h"

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
