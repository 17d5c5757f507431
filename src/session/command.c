#include "session/command.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/conversation_operations.h"
#include "session/notice.h"
#include "session/session_operations.h"

struct command *command_new(enum command_type type, const char *text)
{
    struct command *c = mem_alloc(sizeof *c);
    c->type = type;
    c->text = mem_strdup(text);
    return c;
}

void command_free(struct command *c)
{
    if (!c)
        return;
    free(c->text);
    free(c->name);
    free(c->attachments);
    free(c->session);
    free(c);
}

/* --- as requests: until nobody sends commands any more -----------------------------------------
 */

static struct operation_request *request(struct command *c)
{
    const char *session = c->name ? c->name : "";
    switch (c->type) {
#define MAKE(row, ...) return operation_request_new(&operation_##row, &(__VA_ARGS__))
    case COMMAND_START_TURN:
        MAKE(turn_start, (struct turn_start_params){c->text, c->attachments});
    case COMMAND_RETRY:
        MAKE(turn_retry, (struct turn_retry_params){c->text});
    case COMMAND_NEW:
        MAKE(session_create, (struct session_create_params){c->name, c->text});
    case COMMAND_RESUME:
        MAKE(session_open, (struct session_open_params){c->text ? c->text : "last", false});
    case COMMAND_OPEN:
        MAKE(session_open, (struct session_open_params){c->text ? c->text : "last", true});
    case COMMAND_FORK:
        MAKE(session_fork,
             (struct session_fork_params){session, c->number < 0 ? 0 : c->number, c->number < 0});
    case COMMAND_RENAME:
        MAKE(session_rename, (struct session_rename_params){session, c->text ? c->text : ""});
    case COMMAND_LABEL:
        MAKE(session_label, (struct session_label_params){session, c->text ? c->text : ""});
    case COMMAND_ARCHIVE:
        if (c->number)
            MAKE(session_unarchive, (struct session_params){session});
        MAKE(session_archive, (struct session_params){session});
    case COMMAND_DELETE:
        MAKE(session_delete, (struct session_params){session});
    case COMMAND_ANSWER:
        MAKE(approval_decide,
             (struct approval_decide_params){c->name, (enum approval_answer)c->number});
    case COMMAND_COMPACT:
        MAKE(compaction_run, (struct compaction_run_params){c->name, c->text, c->number == 1});
    case COMMAND_PIN:
        if (c->limit)
            MAKE(compaction_pin, (struct compaction_pin_params){c->number});
        MAKE(compaction_unpin, (struct compaction_pin_params){c->number});
    case COMMAND_DRAFT:
        MAKE(compaction_decide,
             (struct compaction_decide_params){(enum draft_answer)c->number, c->text});
    case COMMAND_SET_MODEL:
        MAKE(session_set_model, (struct session_model_params){c->name, c->text});
    case COMMAND_SET_SYSTEM:
        MAKE(session_set_system, (struct session_text_params){c->text});
    case COMMAND_SAVE_DRAFT:
        MAKE(session_set_draft, (struct session_text_params){c->text});
    case COMMAND_UNCOMPACT:
        return operation_request_new(&operation_compaction_undo, NULL);
    case COMMAND_CONTEXT:
        return operation_request_new(&operation_context_read, NULL);
    case COMMAND_MODELS:
        return operation_request_new(&operation_models_list, NULL);
    case COMMAND_REPORT:
        return operation_request_new(&operation_doctor_report, NULL);
    default:
        return operation_request_new(&operation_turn_interrupt, NULL);
    }
}

struct operation_request *command_request(struct command *c)
{
    struct operation_request *r = request(c);
    r->command = c;
    return r;
}

static struct notice *done(const struct command *c, const char *id)
{
    struct notice *n = notice_new(NOTICE_DONE);
    n->command = c->type;
    n->text = mem_strdup(id);
    n->number = c->number;
    return n;
}

#define MOVE(to, from)                                                                             \
    ((to).items = (from).items, (to).len = (from).len, (to).cap = (from).cap, (from).items = NULL, \
     (from).len = (from).cap = 0)

static struct notice *models(const struct command *c, struct models_result *m)
{
    struct notice *n = notice_new(NOTICE_MODELS);
    n->command = c->type;
    n->error = m->fault;
    MOVE(n->texts, m->models);
    MOVE(n->offers, m->providers);
    return n;
}

static struct notice *report(struct report_result *r)
{
    struct notice *n = notice_new(NOTICE_REPORT);
    n->error = r->fault;
    MOVE(n->facts, r->facts);
    return n;
}

static struct notice *answered(const struct command *c, struct operation_answer *a)
{
    struct notice *n = NULL;
    switch (c->type) {
    case COMMAND_RENAME:
    case COMMAND_LABEL:
    case COMMAND_ARCHIVE:
    case COMMAND_DELETE:
        return done(c, ((struct session_changed *)a->result)->id);
    case COMMAND_FORK:
        return done(c, ((struct session_info *)a->result)->id);
    case COMMAND_CONTEXT:
        n = notice_new(NOTICE_CONTEXT);
        n->context = *(struct context *)a->result;
        *(struct context *)a->result = (struct context){0};
        return n;
    case COMMAND_MODELS:
        return models(c, a->result);
    case COMMAND_REPORT:
        return report(a->result);
    default:
        return NULL;
    }
}

struct notice *command_answered(struct operation_answer *a)
{
    struct command *c = a->request->command;
    bool late = (c->type == COMMAND_ANSWER || c->type == COMMAND_DRAFT) &&
                a->error.code == ERR_SESSION_NOT_RUNNING;
    struct notice *n = late                      ? NULL
                       : a->error.code != ERR_OK ? notice_fault(c, &a->error)
                                                 : answered(c, a);
    if (n && n->type == NOTICE_ERROR && c->type == COMMAND_COMPACT)
        n->name = mem_strdup(c->name);
    operation_answer_free(a);
    return n;
}
