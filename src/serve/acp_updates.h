/* Turns events of a session into updates of the Agent Client Protocol: events as they happen, and
 * the events of the log for a client that loads the session. Pure. */
#ifndef SERVE_ACP_UPDATES_H
#define SERVE_ACP_UPDATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/session_info.h"
#include "session/notice.h"

/* The capabilities of the client. */
struct acp_client {
    bool compaction;   /* session.compaction: compaction_update and compaction_summary_chunk */
    bool notices;      /* session.notices */
    bool forms, pages; /* elicitation.form, elicitation.url */
    /* It does for tools: fs.readTextFile, fs.writeTextFile, terminal. */
    bool reads, writes, terminals;
};

/* A tool call that was told and is not done. */
struct acp_open_call {
    char *id;   /* of the engine, not unique in a session */
    char *told; /* as the client knows it */
    char *tool, *args;
    bool terminal;     /* the client shows what it prints */
    struct buf output; /* so far; the last of it */
};

/* Where a session's telling stands. Zeroed at first, but for what says otherwise. */
struct acp_telling {
    const struct acp_client *client; /* set, and borrowed */
    const char *directory;           /* of the session; set, and borrowed; NULL: unknown */
    bool replays;                    /* set: events of the log; what is of the moment is left out */
    bool hints;                      /* set: below a compaction how to choose another mode */
    bool told_input; /* set: the client sent what the next run_started has, and knows it */

    /* One update, the JSON of its object. */
    void (*update)(void *context, const char *json); /* set */
    void *context;

    int64_t call;       /* number of the turn_started event */
    int part;           /* of what was said in it: a text, a line of ours … */
    const char *saying; /* kind of its update; NULL: none is open */
    size_t streamed_text, streamed_reasoning; /* bytes that no complete event has covered yet */
    VEC(struct acp_open_call) calls;          /* in the order in which they run */
    int64_t compaction; /* number of the compaction_started; 0: none is open */
    char *title;        /* that was told last; NULL: none */
    int64_t updated_ms; /* likewise */
};
void acp_telling_release(struct acp_telling *t);

/* Tells the client an event, unless the protocol has nothing for it. */
void acp_tell_event(struct acp_telling *t, const struct event *ev);

/* The open call of this id, which is the engine's; NULL: there is none. */
struct acp_open_call *acp_find_call(const struct acp_telling *t, const char *id);

/* Tells the preview of an open call. */
void acp_tell_preview(struct acp_telling *t, const char *id, const char *preview,
                      const struct file_change *change);

/* The call that runs does so in this terminal of the client. */
void acp_tell_terminal(struct acp_telling *t, const char *terminal);

/* Tells the last of the output of a call that runs, by a NOTICE_OUTPUT. */
void acp_tell_output(struct acp_telling *t, const struct notice *n);

/* A text about which a person is asked, and which is of no tool, is a tool call to the client, of
 * the id `told`. `out` gets its object. */
void acp_tell_shown(struct acp_telling *t, const char *told, const char *title, const char *text,
                    struct buf *out);

/* The call of the id `told` has this status. */
void acp_tell_status(struct acp_telling *t, const char *told, const char *status);

/* Title and date of the session, where they are others than those that were told last. */
void acp_tell_info(struct acp_telling *t, const struct session_info *info);

/* How full the window is, and what it cost; nothing where the window is unknown. */
void acp_tell_usage(struct acp_telling *t, const struct meters *meters);

/* A text of the program's own: a message of its own. */
void acp_tell_line(struct acp_telling *t, const char *text);

/* The same as a notice to clients that know them. `severity`: "info", "warning" or "error". */
void acp_tell_notice(struct acp_telling *t, const char *severity, const char *text);

/* Tool calls as a client of the Agent Client Protocol shows them. Pure. */

/* A tool call. Texts are borrowed. */
struct acp_tool_call {
    const char *id; /* unique in the session */
    const char *tool;
    const char *args;      /* as the model wrote them, perhaps no JSON */
    const char *directory; /* of the session: what paths are relative to; NULL: unknown */
};

/* Members of an object that is open: toolCallId, title, kind, locations, rawInput. */
void acp_tool_call_write(struct json_out *o, const struct acp_tool_call *call);

/* The member content, for a person who decides whether the call runs: the change if it is known,
 * else the preview (NULL: none, and nothing is written). */
void acp_tool_call_write_preview(struct json_out *o, const struct acp_tool_call *call,
                                 const char *preview, const struct file_change *change);

#endif
