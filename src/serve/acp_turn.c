/* Prompts: what the client sends, what it is asked meanwhile, and how the turn ends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "serve/acp_private.h"
#include "serve/acp_prompt.h"
#include "serve/acp_tool_call.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

/* --- the answer to a prompt ------------------------------------------------------------------- */

void acp_end_prompt(struct acp_session *s, const char *stop_reason)
{
    char *result = mem_printf("{\"stopReason\":\"%s\"}", s->cancelled ? "cancelled" : stop_reason);
    struct rpc_call *call = s->prompt;
    s->prompt = NULL;
    s->cancelled = false;
    rpc_answer(call, result);
    free(result);
}

/* What was called off has not failed, whatever became of it. */
void acp_fail_prompt(struct acp_session *s, const struct error *e)
{
    struct rpc_call *call = s->prompt;
    if (s->cancelled || e->code == ERR_INTERRUPTED) {
        acp_end_prompt(s, "cancelled");
        return;
    }
    s->prompt = NULL;
    acp_fail(call, e);
}

void acp_answer_turn(struct acp_ask *ask, const struct operation_answer *answer)
{
    const struct turn_result *turn = answer->result;
    struct acp_session *s = ask->session;
    if (!s || !s->prompt)
        return;
    s->telling.told_input = false;
    if (answer->error.code != ERR_OK)
        acp_fail_prompt(s, &answer->error);
    else if (turn->fault.code != ERR_OK)
        acp_fail_prompt(s, &turn->fault);
    else
        acp_end_prompt(s, acp_stop_reason(turn->stop_reason));
}

/* --- prompts ---------------------------------------------------------------------------------- */

/* A prompt whose images are kept with the session, one after the other, before it is sent. */
struct acp_sending {
    struct acp_prompt prompt;
    struct json *blocks;      /* that the images borrow from */
    struct json *attachments; /* array of image blocks; NULL: none yet */
    size_t kept;
};

void acp_sending_free(struct acp_sending *w)
{
    if (!w)
        return;
    acp_prompt_release(&w->prompt);
    json_free(w->blocks);
    json_free(w->attachments);
    free(w);
}

static void start_turn(struct acp_session *s, const struct acp_sending *w)
{
    char *attachments = w->attachments ? json_print(w->attachments) : NULL;
    const struct turn_start_params params = {.session = s->id,
                                             .text = w->prompt.text.data,
                                             .attachments = attachments,
                                             .origin = INPUT_TYPED};
    s->telling.told_input = true;
    acp_ask(s->acp, NULL, s, &operation_turn_start, &params, acp_answer_turn);
    free(attachments);
}

static void keep_next_image(struct acp_session *s, struct acp_sending *w);

static void image_kept(struct acp_ask *ask, const struct operation_answer *answer)
{
    struct acp_sending *w = ask->sending;
    struct acp_session *s = ask->session;
    const struct session_image *image = answer->result;
    if (!s || !s->prompt)
        return;
    if (s->cancelled || answer->error.code != ERR_OK) {
        acp_fail_prompt(s, &answer->error);
        return;
    }
    ask->sending = NULL;
    struct json *block = json_new_object();
    json_set_string(block, "type", "image");
    json_set_string(block, "text", image->path);
    json_set_string(block, "media_type", image->media_type);
    if (!w->attachments)
        w->attachments = json_new_array();
    json_push(w->attachments, block);
    w->kept++;
    keep_next_image(s, w);
}

/* The turn begins behind the last. */
static void keep_next_image(struct acp_session *s, struct acp_sending *w)
{
    if (w->kept == w->prompt.images.len) {
        start_turn(s, w);
        acp_sending_free(w);
        return;
    }
    const struct session_image_params params = {.session = s->id,
                                                .data = w->prompt.images.items[w->kept].data};
    acp_ask(s->acp, NULL, s, &operation_session_add_image, &params, image_kept)->sending = w;
}

/* Images are the model's to see: there is no command with one. */
static void send_prompt(struct acp_session *s, struct acp_sending *w)
{
    if (w->prompt.images.len == 0 && acp_run_command(s, w->prompt.text.data))
        acp_sending_free(w);
    else
        keep_next_image(s, w);
}

void acp_session_prompt(struct acp *a, struct rpc_call *call, const struct json *params)
{
    struct error e;
    struct acp_session *s = acp_need_session(a, call, params);
    if (!s)
        return;
    if (s->prompt) {
        acp_refuse(call, ERR_SESSION_BUSY,
                   "a prompt is being answered in that session; wait for its end, or cancel it");
        return;
    }
    struct acp_sending *w = mem_alloc(sizeof *w);
    w->blocks = json_clone(json_get(params, "prompt"));
    if (acp_prompt_read(w->blocks, &w->prompt, &e)) {
        s->prompt = call;
        s->cancelled = false;
        send_prompt(s, w);
    } else {
        acp_fail(call, &e);
        acp_sending_free(w);
    }
}

static void nothing_more(struct acp_ask *ask, const struct operation_answer *answer)
{
    (void)ask, (void)answer;
}

/* What runs tells by its end that it was called off. */
void acp_cancel_prompt(struct acp_session *s)
{
    const struct session_params params = {.session = s->id};
    if (!s->prompt || s->cancelled)
        return;
    s->cancelled = true;
    acp_forget_questions(s);
    acp_ask(s->acp, NULL, NULL, &operation_turn_interrupt, &params, nothing_more);
}

/* --- questions -------------------------------------------------------------------------------- */

static void write_choices(struct json_out *o, struct acp_choices choices, const char *grant)
{
    json_out_name(o, "options");
    json_out_open(o, '[');
    for (size_t i = 0; i < choices.len; i++) {
        const struct acp_choice *c = &choices.items[i];
        char *allows =
            c->answer == ANSWER_SESSION && grant ? mem_printf("%s: %s", _(c->name), grant) : NULL;
        json_out_open(o, '{');
        json_out_member(o, "optionId", c->id);
        json_out_member(o, "name", allows ? allows : _(c->name));
        json_out_member(o, "kind", c->kind);
        json_out_close(o, '}');
        free(allows);
    }
    json_out_close(o, ']');
}

static void free_question(struct acp_question *q)
{
    struct acp_session *s = q->session;
    size_t i = 0;
    while (s->questions.items[i] != q)
        i++;
    vec_remove(&s->questions, i, 1);
    free(q->call);
    free(q->told);
    free(q);
}

void acp_forget_questions(struct acp_session *s)
{
    while (s->questions.len > 0) {
        struct acp_question *q = s->questions.items[0];
        rpc_withdraw(s->acp->peer, q->id);
        free_question(q);
    }
    vec_release(&s->questions);
}

static void decide_call(struct acp_question *q, int answer)
{
    struct acp_session *s = q->session;
    const struct approval_decide_params params = {
        .session = s->id, .call = q->call, .decision = (enum approval_answer)answer};
    if (answer != ANSWER_DENY)
        acp_tell_running(&s->telling, q->call);
    acp_ask(s->acp, NULL, NULL, &operation_approval_decide, &params, nothing_more);
}

static void decide_draft(struct acp_question *q, int answer)
{
    struct acp_session *s = q->session;
    const struct compaction_decide_params params = {.session = s->id,
                                                    .decision = (enum draft_answer)answer};
    acp_tell_draft_decided(&s->telling, q->told, answer == DRAFT_COMMIT);
    acp_ask(s->acp, NULL, NULL, &operation_compaction_decide, &params, nothing_more);
}

static void decide(struct acp_question *q, const char *option)
{
    (q->call ? decide_call : decide_draft)(q, acp_choice_answer(q->choices, option));
    free_question(q);
}

/* A client that cannot ask, or does not, has not allowed anything. */
static void person_answered(void *context, const struct json *result, const struct rpc_fault *fault)
{
    const struct json *outcome = json_get(result, "outcome");
    const char *word = json_get_string(outcome, "outcome");
    bool selected = word && strcmp(word, "selected") == 0;
    (void)fault;
    decide(context, selected ? json_get_string(outcome, "optionId") : NULL);
}

/* Takes call and told. `tool_call` is the JSON of its object; `grant`: as in the notice. */
static void ask_person(struct acp_session *s, struct acp_choices choices, const char *grant,
                       char *call, char *told, const char *tool_call)
{
    struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    struct acp_question *q = mem_alloc(sizeof *q);
    *q = (struct acp_question){.session = s, .choices = choices, .call = call, .told = told};
    vec_push(&s->questions, q);
    json_out_open(&o, '{');
    json_out_member(&o, "sessionId", s->id);
    json_out_name(&o, "toolCall");
    json_out_raw(&o, tool_call);
    write_choices(&o, choices, grant);
    json_out_close(&o, '}');
    q->id = rpc_ask(s->acp->peer, "session/request_permission", buf.data, person_answered, q);
    if (q->id == 0)
        decide(q, NULL);
    buf_release(&buf);
}

static void hear_approval(struct acp_session *s, const struct notice *n)
{
    struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    const struct acp_open_call *open = acp_find_call(&s->telling, n->text);
    const struct acp_tool_call call = {.id = open ? open->told : n->text,
                                       .tool = n->name,
                                       .args = n->args,
                                       .directory = s->directory};
    acp_tell_preview(&s->telling, n->text, n->preview);
    json_out_open(&o, '{');
    acp_tool_call_write(&o, &call);
    json_out_member(&o, "status", "pending");
    acp_tool_call_write_preview(&o, &call, n->preview);
    json_out_close(&o, '}');
    ask_person(s, acp_approval_choices(n->grant != NULL), n->grant, mem_strdup(n->text), NULL,
               buf.data);
    buf_release(&buf);
}

static void hear_change(struct acp_session *s, const struct notice *n)
{
    acp_tell_preview(&s->telling, n->text, n->preview);
}

static void hear_draft(struct acp_session *s, const struct notice *n)
{
    struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    char *told = mem_printf("draft:%" PRId64, ++s->drafts);
    acp_write_draft(&o, told, n->text);
    acp_tell_draft(&s->telling, told, n->text);
    ask_person(s, acp_draft_choices(), NULL, NULL, told, buf.data);
    buf_release(&buf);
}

/* --- what the engine tells -------------------------------------------------------------------- */

static void hear_event(struct acp_session *s, const struct notice *n)
{
    acp_tell_event(&s->telling, n->event);
}

static void hear_session(struct acp_session *s, const struct notice *n)
{
    acp_tell_info(&s->telling, &n->info);
    acp_tell_usage(&s->telling, &n->meters);
}

static void take_text(char **text, const char *with)
{
    free(*text);
    *text = mem_strdup(with);
}

static void hear_provider(struct acp_session *s, const struct notice *n)
{
    struct acp_options *o = &s->options;
    bool same = o->provider && n->provider && strcmp(o->provider, n->provider) == 0 && o->model &&
                n->model && strcmp(o->model, n->model) == 0;
    acp_tell_usage(&s->telling, &n->meters);
    if (same)
        return;
    take_text(&o->provider, n->provider);
    take_text(&o->model, n->model);
    acp_tell_options(s);
}

static void hear_error(struct acp_session *s, const struct notice *n)
{
    acp_tell_notice(&s->telling, "error", n->error.text);
}

/* It may also end because another surface stopped it. */
static void hear_busy(struct acp_session *s, const struct notice *n)
{
    if (!n->flag)
        acp_forget_questions(s);
}

void acp_hear(struct acp_session *s, const struct notice *n)
{
    static void (*const hearers[NOTICE_TYPES])(struct acp_session *, const struct notice *) = {
        [NOTICE_EVENT] = hear_event,       [NOTICE_SESSION] = hear_session,
        [NOTICE_PROVIDER] = hear_provider, [NOTICE_APPROVAL] = hear_approval,
        [NOTICE_DRAFT] = hear_draft,       [NOTICE_ERROR] = hear_error,
        [NOTICE_BUSY] = hear_busy,         [NOTICE_CHANGE] = hear_change,
    };
    if (s->loading.call && n->type == NOTICE_EVENT)
        s->loading.missed = true;
    else if (hearers[n->type])
        hearers[n->type](s, n);
}
