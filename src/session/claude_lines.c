#include "session/claude_lines.h"

#include "base/clock.h"
#include "import/source.h"

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
        import_add_content(&out->text, content, NULL);
        return;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_get_bool(v, others[i], false))
            return;
    if (is(json_get_string(message, "model"), "<synthetic>")) /* an error of the program */
        return;
    out->role = is(type, "user") ? ROLE_USER : ROLE_ASSISTANT;
    if (is(type, "user") || is(type, "assistant"))
        import_claude_said(&out->text, content, false);
    if (is(type, "user") && out->text.len == 0) {
        out->role = ROLE_TOOL;
        for (const struct json *b = import_blocks(content); b; b = json_next(b))
            if (is(json_get_string(b, "type"), "tool_result"))
                import_claude_said(&out->text, json_get(b, "content"), false);
    }
    out->kind = out->text.len > 0 ? CLAUDE_SAID : CLAUDE_NOTHING;
}
