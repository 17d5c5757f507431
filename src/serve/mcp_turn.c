/* tiro_run, tiro_resume and tiro_compact: a session is begun or found, and a turn or a compaction
 * runs in it. A client that gave a token is told the progress; one that cancels interrupts it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/authority.h"
#include "serve/mcp_private.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

struct run_params {
    char *prompt;
    struct session_create_params session;
};
struct resume_params {
    char *prompt;       /* NULL: of tiro_compact */
    char *mode, *focus; /* … alone */
    struct session_params session;
};

#define PROMPT(S)                                                                                  \
    SHAPE_FIELD(PROMPT_MEMBER, STRING, REQUIRED, SHAPE_AT_TEXT(S, prompt), .least = 1,             \
                .help = "The message.")
#define CHOICE(member, what)                                                                       \
    SHAPE_FIELD(#member, STRING, OPTIONAL, SHAPE_AT_TEXT(struct run_params, session.member),       \
                .help = what)

static const struct shape_field run_fields[] = {
    PROMPT(struct run_params),
    CHOICE(provider, "Absent: the present one."),
    CHOICE(model, "Absent: as configured, or the provider's own."),
    CHOICE(directory, "Absolute path of its working directory; absent: the program's."),
    CHOICE(system, "System prompt; absent: the configured one."),
    CHOICE(labels, "Words parted by blanks."),
    SHAPE_FIELD("tools", ENUM, OPTIONAL,
                SHAPE_AT(enum tools_offer, struct run_params, session.tools),
                .names = &tools_offer_names, .absent = TOOLS_CONFIGURED,
                .help = "Which tools the model may use; those that would ask are denied."),
    {0},
};
const struct shape mcp_run_shape = {
    .name = "parameters", .size = sizeof(struct run_params), .fields = run_fields, .closed = true};

#define RESUMED                                                                                    \
    SHAPE_FIELD(SESSION_MEMBER, STRING, REQUIRED,                                                  \
                SHAPE_AT_TEXT(struct resume_params, session.session), .least = 1,                  \
                .help = "Id, title, unique part of an id, \"last\" or \"~N\".")

static const struct shape_field resume_fields[] = {RESUMED, PROMPT(struct resume_params), {0}};
const struct shape mcp_resume_shape = {.name = "parameters",
                                       .size = sizeof(struct resume_params),
                                       .fields = resume_fields,
                                       .closed = true};

static const struct shape_field compact_fields[] = {
    RESUMED,
    SHAPE_FIELD("mode", STRING, OPTIONAL, SHAPE_AT_TEXT(struct resume_params, mode),
                .help = "handoff, structured, recency_preserving, deterministic or llm_replace; "
                        "absent: the configured one."),
    SHAPE_FIELD("focus", STRING, OPTIONAL, SHAPE_AT_TEXT(struct resume_params, focus),
                .help = "What to keep above all."),
    {0},
};
const struct shape mcp_compact_shape = {.name = "parameters",
                                        .size = sizeof(struct resume_params),
                                        .fields = compact_fields,
                                        .closed = true};

struct turn {
    char *prompt;       /* NULL: a compaction */
    char *mode, *focus; /* … of it */
    char *token; /* of progress, JSON; NULL: nobody wants to know */
    int64_t progress;
    char session[UUID_LEN + 1]; /* "": it has not begun */
};

static struct turn *turn_of(const struct mcp_call *c)
{
    return c->state;
}

static void free_turn(struct mcp_call *c)
{
    free(turn_of(c)->prompt);
    free(turn_of(c)->mode);
    free(turn_of(c)->focus);
    free(turn_of(c)->token);
    free(turn_of(c));
}

/* --- interrupting ----------------------------------------------------------------------------- */

static void ignore(void *context, const struct operation_answer *a)
{
    (void)context;
    (void)a;
}

/* Its answer ends the call; what came until then is kept in the session. */
static void interrupt(struct mcp_call *c)
{
    const struct session_params session = {.session = turn_of(c)->session};
    if (!*session.session)
        mcp_call_free(c);
    else
        server_ask(c->mcp->server, &operation_turn_interrupt, &session, ignore, NULL);
}

static const struct mcp_work work = {.lasts = true, .cancel = interrupt, .free = free_turn};

/* Its turn, or what is to become one, is of this session. */
static bool runs_in(const struct mcp_call *c, const char *session)
{
    return c->work == &work && strcmp(turn_of(c)->session, session) == 0;
}

/* --- progress --------------------------------------------------------------------------------- */

/* What happened, in a few words; NULL: it is not worth telling. The caller frees. */
static char *words_of(const struct event *ev)
{
    switch (ev->type) {
    case EVENT_CALL_STARTED:
        return mem_strdup("asking the model");
    case EVENT_TOOL_CALL_REQUESTED:
        return mem_printf("calling %s", ev->name ? ev->name : "a tool");
    case EVENT_TOOL_EXECUTION_COMPLETED:
        return mem_strdup("the tool has run");
    case EVENT_RETRYING:
        return mem_strdup("trying again");
    case EVENT_COMPACTION_STARTED:
        return mem_strdup("shortening the conversation");
    default:
        return NULL;
    }
}

static void tell_progress(struct mcp_call *c, const char *words)
{
    struct turn *t = turn_of(c);
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_name(&o, "progressToken");
    json_out_raw(&o, t->token);
    json_out_int(&o, "progress", ++t->progress);
    json_out_member(&o, "message", words);
    json_out_close(&o, '}');
    mcp_notify(c->link, "notifications/progress", text.data);
    buf_release(&text);
}

static void tell_event(struct mcp *m, const struct notice *n)
{
    char *words = words_of(n->event);
    for (size_t i = 0; words && i < m->calls.len; i++) {
        struct mcp_call *c = m->calls.items[i];
        if (runs_in(c, n->session) && c->rpc && turn_of(c)->token)
            tell_progress(c, words);
    }
    free(words);
}

/* --- questions -------------------------------------------------------------------------------- */

static bool runs_here(const struct mcp *m, const char *session)
{
    for (size_t i = 0; i < m->calls.len; i++)
        if (runs_in(m->calls.items[i], session))
            return true;
    return false;
}

/* There is no person to ask: what needs leave runs if it was allowed at start. */
static void deny(struct mcp *m, const struct notice *n)
{
    const struct approval_decide_params no = {
        .session = n->session, .call = n->text, .decision = ANSWER_DENY};
    server_ask(m->server, &operation_approval_decide, &no, ignore, NULL);
}

static void commit(struct mcp *m, const struct notice *n)
{
    const struct compaction_decide_params yes = {.session = n->session, .decision = DRAFT_COMMIT};
    server_ask(m->server, &operation_compaction_decide, &yes, ignore, NULL);
}

void mcp_turn_notice(struct mcp *m, const struct notice *n)
{
    if (n->type == NOTICE_EVENT)
        tell_event(m, n);
    else if (n->type == NOTICE_APPROVAL && runs_here(m, n->session))
        deny(m, n);
    else if (n->type == NOTICE_DRAFT && runs_here(m, n->session))
        commit(m, n);
}

/* --- the turn --------------------------------------------------------------------------------- */

static void on_turn(struct mcp_call *c, const struct operation_answer *a)
{
    const struct turn_result *result = a->result;
    if (a->error.code != ERR_OK)
        mcp_tool_fail(c, &a->error, NULL, NULL);
    else if (result->fault.code != ERR_OK)
        mcp_tool_fail(c, &result->fault, operation_turn_start.result, result);
    else
        mcp_tool_send(c, operation_turn_start.result, result, NULL);
}

static void on_compaction(struct mcp_call *c, const struct operation_answer *a)
{
    const struct compaction_result *result = a->result;
    if (a->error.code != ERR_OK)
        mcp_tool_fail(c, &a->error, NULL, NULL);
    else if (result->fault.code != ERR_OK)
        mcp_tool_fail(c, &result->fault, operation_compaction_run.result, result);
    else
        mcp_tool_send(c, operation_compaction_run.result, result, NULL);
}

static void on_session(struct mcp_call *c, const struct operation_answer *a)
{
    struct turn *t = turn_of(c);
    if (a->error.code != ERR_OK) {
        mcp_tool_fail(c, &a->error, NULL, NULL);
        return;
    }
    const struct session_info *session = a->result;
    memcpy(t->session, session->id, sizeof t->session);
    if (t->prompt)
        mcp_ask(c, &operation_turn_start,
                &(struct turn_start_params){
                    .session = t->session, .text = t->prompt, .origin = INPUT_PROGRAM},
                on_turn);
    else
        mcp_ask(c, &operation_compaction_run,
                &(struct compaction_run_params){
                    .session = t->session, .mode = t->mode, .focus = t->focus},
                on_compaction);
}

/* What was put away, or opened to be read, is resumed. */
static void on_found(struct mcp_call *c, const struct operation_answer *a)
{
    if (a->error.code != ERR_OK) {
        mcp_tool_fail(c, &a->error, NULL, NULL);
        return;
    }
    const struct session_open_params params = {.session = ((struct session_info *)a->result)->id};
    mcp_ask(c, &operation_session_open, &params, on_session);
}

/* `begun` is copied; its texts are taken. */
static void begin(struct mcp_call *c, const struct operation *o, const void *params,
                  void (*answered)(struct mcp_call *c, const struct operation_answer *a),
                  struct turn begun)
{
    struct turn *t = mem_alloc(sizeof *t);
    *t = begun;
    c->work = &work;
    c->state = t;
    mcp_ask(c, o, params, answered);
}

void mcp_turn_run(struct mcp_call *c, void *params, const char *token)
{
    struct run_params *p = params;
    struct error e;
    if (authority_gives(c->mcp->server, mcp_authority(c->mcp), &operation_session_create,
                        &p->session, &e))
        begin(c, &operation_session_create, &p->session, on_session,
              (struct turn){.prompt = mem_strdup(p->prompt), .token = mem_strdup(token)});
    else
        mcp_tool_fail(c, &e, NULL, NULL);
    shape_release(&mcp_run_shape, p);
    free(p);
}

void mcp_turn_resume(struct mcp_call *c, void *params, const char *token)
{
    struct resume_params *p = params;
    begin(c, &operation_session_read, &p->session, on_found,
          (struct turn){.prompt = mem_strdup(p->prompt),
                        .mode = mem_strdup(p->mode),
                        .focus = mem_strdup(p->focus),
                        .token = mem_strdup(token)});
    shape_release(p->prompt ? &mcp_resume_shape : &mcp_compact_shape, p);
    free(p);
}
