/* Tool calls as a client of the Agent Client Protocol shows them. Pure. */
#ifndef SERVE_ACP_TOOL_CALL_H
#define SERVE_ACP_TOOL_CALL_H

#include <stdbool.h>

#include "base/json_out.h"

/* What is known of a call. Borrowed. */
struct acp_tool_call {
    const char *id; /* unique in the session */
    const char *tool;
    const char *args;      /* as the model wrote them, perhaps no JSON */
    const char *directory; /* of the session: what paths are relative to; NULL: unknown */
};

/* Members of an object that is open: toolCallId, title, kind, locations, rawInput. */
void acp_tool_call_write(struct json_out *o, const struct acp_tool_call *call);

/* The member content: what a person sees before the call runs. Of one that writes a file a diff,
 * else the preview (NULL: none is known, and nothing is written). */
void acp_tool_call_write_preview(struct json_out *o, const struct acp_tool_call *call,
                                 const char *preview);

/* The member content: a terminal of the client's. */
void acp_tool_call_write_terminal(struct json_out *o, const char *terminal);

/* The member content: a text for people, as Markdown. */
void acp_tool_call_write_text(struct json_out *o, const char *text);

/* The member content of a call that wrote a file, as its log tells it: what it wrote. No diff: the
 * log does not have what was there before. False, and nothing is written: it is another call. */
bool acp_tool_call_write_written(struct json_out *o, const struct acp_tool_call *call);

/* The member content: what the tool gave, as it is. */
void acp_tool_call_write_result(struct json_out *o, const char *result);

/* Members type and content of a text, of an object that is open. */
void acp_content_write_text(struct json_out *o, const char *text);

#endif
