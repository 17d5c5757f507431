#include "session/claude_lines.h"

#include <string.h>

#include "base/clock.h"

/* The program's words in the user's place: commands and their output, reminders, notes. */
static const char *const not_said[] = {
    "<command-", "<local-command-",           "<bash-",  "<system-reminder>",
    "<task-",    "[Request interrupted",      "Caveat:", "<user-prompt-submit-hook>",
    "<ide_",     "This session is being con", NULL};

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static void add_text(struct buf *out, const char *text)
{
    for (size_t i = 0; text && not_said[i]; i++)
        if (strncmp(text, not_said[i], strlen(not_said[i])) == 0)
            return;
    if (text && *text)
        buf_addf(out, "%s%s", out->len > 0 ? "\n\n" : "", text);
}

/* A text, or a list of blocks; only those of one type. */
static void add_content(struct buf *out, const struct json *content, const char *type)
{
    if (is(type, "text"))
        add_text(out, json_string(content));
    if (json_type(content) != JSON_ARRAY)
        return;
    for (const struct json *block = json_first(content); block; block = json_next(block)) {
        const struct json *result = json_get(block, "content");
        if (!is(json_get_string(block, "type"), type))
            continue;
        if (is(type, "text"))
            add_text(out, json_get_string(block, "text"));
        else if (json_string(result))
            add_text(out, json_string(result));
        else
            add_content(out, result, "text");
    }
}

bool claude_line_begins(const struct json *first)
{
    return json_get_string(first, "type") && !json_get(first, "role") &&
           !json_get(first, "session_id");
}

void claude_line_read(const struct json *v, struct claude_line *out)
{
    static const char *const others[] = {"isSidechain", "isMeta", "isVisibleInTranscriptOnly"};
    const struct json *message = json_get(v, "message");
    const struct json *content = json_get(message, "content");
    const char *type = json_get_string(v, "type"), *at = json_get_string(v, "timestamp");
    *out = (struct claude_line){.uuid = json_get_string(v, "uuid"),
                                .session = json_get_string(v, "sessionId"),
                                .text = BUF_INIT};
    if (!out->uuid || !out->session || !type)
        return;
    if (!at || !rfc3339_parse(at, &out->ms))
        out->ms = 0;
    if (is(type, "system") && is(json_get_string(v, "subtype"), "compact_boundary")) {
        const struct json *kept = json_get(json_get(v, "compactMetadata"), "preservedSegment");
        out->kind = CLAUDE_COMPACTED;
        out->head = json_get_string(kept, "headUuid");
        out->tail = json_get_string(kept, "tailUuid");
        return;
    }
    if (json_get_bool(v, "isCompactSummary", false)) {
        out->kind = CLAUDE_SUMMARY;
        if (json_string(content))
            buf_addstr(&out->text, json_string(content));
        else
            add_content(&out->text, content, "text");
        return;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_get_bool(v, others[i], false))
            return;
    if (is(json_get_string(message, "model"), "<synthetic>")) /* an error of the program */
        return;
    out->role = is(type, "user") ? ROLE_USER : ROLE_ASSISTANT;
    if (is(type, "user") || is(type, "assistant"))
        add_content(&out->text, content, "text");
    if (is(type, "user") && out->text.len == 0) {
        out->role = ROLE_TOOL;
        add_content(&out->text, content, "tool_result");
    }
    out->kind = out->text.len > 0 ? CLAUDE_SAID : CLAUDE_NOTHING;
}
