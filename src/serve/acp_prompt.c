/* Where there is no row: the number of base/err.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "rpc/peer.h"
#include "serve/acp_private.h"
#include "serve/acp_updates.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

static const struct {
    enum err_code code;
    int number;
} errors[] = {
    {ERR_SESSION_NOT_FOUND, ACP_NOT_FOUND},  {ERR_MEMORY_NOT_FOUND, ACP_NOT_FOUND},
    {ERR_SESSION_BUSY, RPC_INVALID_REQUEST}, {ERR_SESSION_STORE_ERROR, RPC_INTERNAL_ERROR},
    {ERR_AGENT_ERROR, RPC_INTERNAL_ERROR},   {ERR_CONFIG_ERROR, RPC_INTERNAL_ERROR},
    {ERR_FILE_ERROR, RPC_INTERNAL_ERROR},    {ERR_BUDGET_EXHAUSTED, RPC_INTERNAL_ERROR},
    {ERR_INTERRUPTED, ACP_CANCELLED},
};

int acp_error_code(enum err_code code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].number;
    return err_info(code)->rpc;
}

const char *acp_stop_reason(enum stop_reason reason)
{
    static const char *const words[] = {
        [STOP_END_TURN] = "end_turn",
        [STOP_MAX_TOKENS] = "max_tokens",
        [STOP_SEQUENCE] = "end_turn",
        [STOP_TOOL_USE] = "max_turn_requests", /* of an import: it still calls tools */
        [STOP_PAUSE] = "max_turn_requests",
        [STOP_MAX_CALLS] = "max_turn_requests",
        [STOP_REPEATED] = "max_turn_requests",
        [STOP_REFUSAL] = "refusal",
        [STOP_CONTEXT_EXCEEDED] = "max_tokens",
        [STOP_CANCELLED] = "cancelled",
        [STOP_OTHER] = "end_turn",
    };
    return words[reason];
}

/* Later calls with the same grant are denied without a question. */
#define REFUSED_ALWAYS "never"

static const struct acp_choice approvals[] = {
    {"once", "allow_once", N_("Allow"), ANSWER_ONCE},
    {"deny", "reject_once", N_("Deny"), ANSWER_DENY},
    {"session", "allow_always", N_("Allow for this session"), ANSWER_SESSION},
    {"project", "allow_always", N_("Allow always in this project"), ANSWER_PROJECT},
    {REFUSED_ALWAYS, "reject_always", N_("Deny for this session"), ANSWER_DENY},
};

static const struct acp_choice trusts[] = {
    {"deny", "reject_once", N_("Not now"), ANSWER_DENY},
    {"once", "allow_once", N_("Run them in this session"), ANSWER_ONCE},
    {"project", "allow_always", N_("Trust this directory"), ANSWER_PROJECT},
};

static const struct acp_choice drafts[] = {
    {"commit", "allow_once", N_("Use this summary"), DRAFT_COMMIT},
    {"refuse", "reject_once", N_("Leave the conversation as it is"), DRAFT_REFUSE},
    {"again", "reject_once", N_("Write another summary"), DRAFT_AGAIN},
};

const struct acp_choices acp_approval_choices = {approvals, sizeof approvals / sizeof *approvals};
const struct acp_choices acp_draft_choices = {drafts, sizeof drafts / sizeof *drafts};

int acp_choice_answer(struct acp_choices choices, const char *id)
{
    const struct acp_choice *chosen = NULL;
    for (size_t i = 0; id && i < choices.len && !chosen; i++)
        if (strcmp(choices.items[i].id, id) == 0)
            chosen = &choices.items[i];
    for (size_t i = 0; !chosen && i < choices.len; i++)
        if (strcmp(choices.items[i].kind, "reject_once") == 0)
            chosen = &choices.items[i];
    return chosen->answer;
}

/* --- addresses -------------------------------------------------------------------------------- */

static const char file_scheme[] = "file://";

/* Escapes of control characters, and what is no escape, stay as they are. */
char *acp_uri_to_path(const char *uri)
{
    AUTO(buf_release) struct buf path = BUF_INIT;
    if (strncmp(uri, file_scheme, strlen(file_scheme)) != 0)
        return mem_strdup(uri);
    const char *at = strchr(uri + strlen(file_scheme), '/'); /* behind a host */
    for (const char *c = at ? at : ""; *c; c++) {
        int byte = url_escaped_byte(c, strnlen(c, 3));
        buf_addch(&path, byte >= ' ' ? (char)byte : *c);
        c += byte >= ' ' ? 2 : 0;
    }
    return at && utf8_valid(path.data, path.len) ? buf_take(&path) : mem_strdup(uri);
}

char *acp_path_to_uri(const char *path)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out, file_scheme);
    while (*path) {
        size_t len = strcspn(path, "/");
        auto_free char *part = mem_strndup(path, len);
        auto_free char *escaped = url_escape(part);
        buf_addstr(&out, escaped);
        path += len;
        if (*path)
            buf_addch(&out, *path++);
    }
    return buf_take(&out);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* A prompt while it is read. */
struct reading {
    struct acp_prompt *out;
    struct buf written; /* what follows the files */
    size_t index;       /* of the block */
    struct error *e;
};

static bool refuse(struct reading *r, const char *why)
{
    return err_set(r->e, ERR_USAGE, "prompt[%zu]: %s", r->index, why);
}

static bool read_block(struct reading *r, const struct json *block)
{
    const struct json *resource = json_get(block, "resource");
    const char *type = json_get_string(block, "type");
    type = type ? type : "";
    bool embedded = strcmp(type, "resource") == 0;
    const struct json *of = embedded ? resource : block;
    const char *text = json_get_string(of, "text"), *uri = json_get_string(of, "uri");
    auto_free char *path = uri ? acp_uri_to_path(uri) : NULL;
    if (strcmp(type, "text") == 0) {
        if (!text)
            return refuse(r, "a text lacks its \"text\"; give a string");
        buf_addstr(&r->written, text);
    } else if (strcmp(type, "image") == 0) {
        struct acp_image image = {json_get_string(block, "data"),
                                  json_get_string(block, "mimeType")};
        if (!image.data || !image.media_type)
            return refuse(r, "an image needs \"data\" (base64) and \"mimeType\"");
        vec_push(&r->out->images, image);
    } else if (strcmp(type, "resource_link") == 0) {
        /* The model reads the file with a tool where it wants to. */
        if (!path)
            return refuse(r, "a resource_link lacks its \"uri\"");
        buf_addf(&r->written, "`%s`", path);
    } else if (embedded) {
        struct acp_image image = {json_get_string(resource, "blob"),
                                  json_get_string(resource, "mimeType")};
        if (!path || (!text && !image.data))
            return refuse(r, "a resource needs \"uri\" and \"text\" or \"blob\"");
        if (!text && (!image.media_type || strncmp(image.media_type, "image/", 6) != 0))
            return refuse(r, "a resource that is neither text nor an image cannot be sent");
        if (text) {
            attached_file_add(&r->out->text, path, text, strlen(text));
            buf_addf(&r->written, "`%s`", path);
        } else {
            vec_push(&r->out->images, image);
        }
    } else {
        return refuse(r, "give a block of type text, image, resource_link or resource");
    }
    return true;
}

bool acp_prompt_read(const struct json *blocks, struct acp_prompt *out, struct error *e)
{
    struct reading r = {.out = out, .written = BUF_INIT, .e = e};
    bool ok = true;
    *out = (struct acp_prompt){.text = BUF_INIT};
    if (json_type(blocks) != JSON_ARRAY || json_len(blocks) == 0)
        return err_set(e, ERR_USAGE, "\"prompt\" does not fit; give a list of content blocks");
    for (const struct json *b = json_first(blocks); ok && b; b = json_next(b), r.index++)
        ok = read_block(&r, b);
    buf_add(&out->text, r.written.data, r.written.len);
    buf_release(&r.written);
    return ok;
}

void acp_prompt_release(struct acp_prompt *p)
{
    buf_release(&p->text);
    vec_release(&p->images);
}

/* Prompts: what the client sends, what it is asked meanwhile, and how the turn ends. */

/* --- the answer to a prompt ------------------------------------------------------------------- */

void acp_end_prompt(struct acp_session *s, const char *stop_reason)
{
    auto_free char *result =
        mem_printf("{\"stopReason\":\"%s\"}", s->cancelled ? "cancelled" : stop_reason);
    struct rpc_call *call = s->prompt;
    s->prompt = NULL;
    s->cancelled = false;
    rpc_answer(call, result);
}

/* A cancelled prompt has not failed, whatever its turn ended with. */
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
    acp_tell_commands(s); /* servers that the turn started may have prompts */
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
    if (!w->attachments)
        w->attachments = json_new_array();
    json_push(w->attachments,
              json_pack("{type:'image' text:s media_type:s}", image->path, image->media_type));
    w->kept++;
    keep_next_image(s, w);
}

/* The turn begins behind the last. */
static void keep_next_image(struct acp_session *s, struct acp_sending *w)
{
    if (w->kept < w->prompt.images.len) {
        const struct session_image_params params = {.session = s->id,
                                                    .data = w->prompt.images.items[w->kept].data};
        acp_ask(s->acp, NULL, s, &operation_session_add_image, &params, image_kept)->sending = w;
        return;
    }
    auto_free char *attachments = w->attachments ? json_print(w->attachments) : NULL;
    const struct turn_start_params params = {.session = s->id,
                                             .text = w->prompt.text.data,
                                             .attachments = attachments,
                                             .origin = INPUT_TYPED};
    s->telling.told_input = true;
    acp_ask(s->acp, NULL, s, &operation_turn_start, &params, acp_answer_turn);
    acp_sending_free(w);
}

/* A prompt with images is never a command. */
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
    if (!acp_prompt_read(w->blocks, &w->prompt, &e)) {
        acp_fail(call, &e);
        acp_sending_free(w);
        return;
    }
    s->prompt = call;
    s->cancelled = false;
    /* Each time: an idle session is closed, and forgets it. */
    const struct session_client_params client = {.session = s->id,
                                                 .servers = s->servers,
                                                 .forms = a->client.forms,
                                                 .pages = a->client.pages};
    acp_ask(a, NULL, NULL, &operation_session_set_client, &client, NULL);
    if (w->prompt.images.len == 0 && acp_run_command(s, w->prompt.text.data))
        acp_sending_free(w);
    else
        keep_next_image(s, w);
}

/* The end of the turn answers the prompt. */
void acp_cancel_prompt(struct acp_session *s)
{
    const struct session_params params = {.session = s->id};
    if (!s->prompt || s->cancelled)
        return;
    s->cancelled = true;
    if (acp_stop_import(s))
        return;
    acp_forget_questions(s);
    acp_ask(s->acp, NULL, NULL, &operation_turn_interrupt, &params, NULL);
}

/* --- questions -------------------------------------------------------------------------------- */

static void free_question(struct acp_question *q)
{
    vec_drop(&q->session->questions, q);
    free(q->call);
    free(q->told);
    free(q->grant);
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

/* Tells the engine the answer of this option (NULL: the refusal), and the client what comes of it.
 */
static void decide(struct acp_question *q, const char *option)
{
    struct acp_session *s = q->session;
    int answer = acp_choice_answer(q->choices, option);
    if (option && q->grant && strcmp(option, REFUSED_ALWAYS) == 0) {
        vec_push(&s->refused, q->grant);
        q->grant = NULL;
    }
    if (q->call) {
        const struct approval_decide_params params = {
            .session = s->id, .call = q->call, .decision = (enum approval_answer)answer};
        const struct acp_open_call *open = acp_find_call(&s->telling, q->call);
        if (open && answer != ANSWER_DENY)
            acp_tell_status(&s->telling, open->told, "in_progress");
        if (q->told)
            acp_tell_status(&s->telling, q->told, answer == ANSWER_DENY ? "failed" : "completed");
        acp_ask(s->acp, NULL, NULL, &operation_approval_decide, &params, NULL);
    } else {
        const struct compaction_decide_params params = {.session = s->id,
                                                        .decision = (enum draft_answer)answer};
        acp_tell_status(&s->telling, q->told, answer == DRAFT_COMMIT ? "completed" : "failed");
        acp_ask(s->acp, NULL, NULL, &operation_compaction_decide, &params, NULL);
    }
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
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    struct acp_question *q = mem_alloc(sizeof *q);
    *q = (struct acp_question){
        .session = s, .choices = choices, .call = call, .told = told, .grant = mem_strdup(grant)};
    vec_push(&s->questions, q);
    json_out_open(&o, '{');
    json_out_pack(&o, "sessionId:s toolCall:r", s->id, tool_call);
    json_out_name(&o, "options");
    json_out_open(&o, '[');
    for (size_t i = 0; i < choices.len; i++) {
        const struct acp_choice *c = &choices.items[i];
        bool lasts = strcmp(c->kind, "allow_always") == 0 || strcmp(c->kind, "reject_always") == 0;
        auto_free char *allows = lasts && grant ? mem_printf("%s: %s", _(c->name), grant) : NULL;
        json_out_pack(&o, "{optionId:s name:s kind:s}", c->id, allows ? allows : _(c->name),
                      c->kind);
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    q->id = rpc_ask(s->acp->peer, "session/request_permission", buf.data, person_answered, q);
    if (q->id == 0)
        decide(q, NULL);
}

static void ask_approval(struct acp_session *s, const struct notice *n)
{
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    if (strcmp(n->detail, QUESTION_OF_PROJECT) == 0) { /* no call that the client knows */
        char *told = mem_printf("trust:%" PRId64, ++s->drafts);
        acp_tell_shown(&s->telling, told, _("Do you trust the programs of this project?"),
                       n->preview, &buf);
        ask_person(s, (struct acp_choices){trusts, sizeof trusts / sizeof *trusts}, NULL,
                   mem_strdup(n->text), told, buf.data);
        return;
    }
    for (size_t i = 0; n->grant && i < s->refused.len; i++) {
        if (strcmp(s->refused.items[i], n->grant) != 0)
            continue;
        const struct approval_decide_params no = {.session = s->id,
                                                  .call = n->text,
                                                  .decision = ANSWER_DENY,
                                                  .reason =
                                                      "such calls are declined in this session"};
        acp_ask(s->acp, NULL, NULL, &operation_approval_decide, &no, NULL);
        return;
    }
    const struct acp_open_call *open = acp_find_call(&s->telling, n->text);
    const struct acp_tool_call call = {.id = open ? open->told : n->text,
                                       .tool = n->name,
                                       .args = n->args,
                                       .directory = s->directory};
    acp_tell_preview(&s->telling, n->text, n->preview, &n->change);
    json_out_open(&o, '{');
    acp_tool_call_write(&o, &call);
    json_out_member(&o, "status", "pending");
    acp_tool_call_write_preview(&o, &call, n->preview, &n->change);
    json_out_close(&o, '}');
    struct acp_choices choices = acp_approval_choices;
    if (!n->grant) /* then no choice is about more than this call */
        choices.len -= 3;
    ask_person(s, choices, n->grant, mem_strdup(n->text), NULL, buf.data);
}

static acp_done form_taken;

static void decide_form(struct acp_session *s, int64_t number, const char *action,
                        const struct json *content)
{
    static const char *const words[] = {
        [ELICITATION_ACCEPT] = "accept", [ELICITATION_DECLINE] = "decline"};
    auto_free char *json = content ? json_print(content) : NULL;
    struct elicitation_decide_params params = {
        .session = s->id, .number = number, .action = ELICITATION_ACCEPT, .content = json};
    while (params.action < ELICITATION_CANCEL &&
           (!action || strcmp(action, words[params.action]) != 0))
        params.action++;
    struct acp_ask *ask = acp_ask(s->acp, NULL, s, &operation_elicitation_decide, &params,
                                  params.action == ELICITATION_ACCEPT ? form_taken : NULL);
    ask->number = number;
}

/* The client has sent what does not fit the form: the server gets no answer. */
static void form_taken(struct acp_ask *ask, const struct operation_answer *answer)
{
    if (answer->error.code == ERR_USAGE && ask->session) {
        acp_tell_notice(&ask->session->telling, "error", answer->error.text);
        decide_form(ask->session, ask->number, "cancel", NULL);
    }
}

static void form_answered(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_question *q = context;
    decide_form(q->session, q->form, fault ? "decline" : json_get_string(result, "action"),
                json_get(result, "content"));
    free_question(q);
}

/* A client that shows no forms declines them. */
static void ask_form(struct acp_session *s, const struct notice *n)
{
    static const char *const members[] = {"mode", "message", "requestedSchema", "url"};
    AUTO(json_free_local) struct json *form = json_parse(n->args, strlen(n->args), NULL);
    AUTO(json_free_local) struct json *params = json_new_object();
    const char *message = json_get_string(form, "message");
    bool page = json_get(form, "url");
    if (!(page ? s->acp->client.pages : s->acp->client.forms)) {
        decide_form(s, n->number, "decline", NULL);
        return;
    }
    json_set_string(params, "sessionId", s->id);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_get(form, members[i]) && strcmp(members[i], "message") != 0)
            json_set(params, members[i], json_clone(json_get(form, members[i])));
    if (!json_get(form, "mode"))
        json_set_string(params, "mode", "form");
    auto_free char *id = mem_printf("%" PRId64, n->number);
    auto_free char *said = mem_printf("%s: %s", n->name, message ? message : "");
    json_set_string(params, "message", said);
    if (page)
        json_set_string(params, "elicitationId", id);
    struct acp_question *q = mem_alloc(sizeof *q);
    *q = (struct acp_question){.session = s, .form = n->number};
    vec_push(&s->questions, q);
    auto_free char *json = json_print(params);
    q->id = rpc_ask(s->acp->peer, "elicitation/create", json, form_answered, q);
    if (q->id == 0)
        form_answered(q, NULL, NULL);
}

/* --- what the engine tells -------------------------------------------------------------------- */

static void on_provider(struct acp_session *s, const struct notice *n)
{
    struct acp_options *o = &s->options;
    acp_tell_usage(&s->telling, &n->meters);
    if (o->provider && n->provider && strcmp(o->provider, n->provider) == 0 && o->model &&
        n->model && strcmp(o->model, n->model) == 0)
        return;
    free(o->provider);
    free(o->model);
    o->provider = mem_strdup(n->provider);
    o->model = mem_strdup(n->model);
    acp_tell_options(s);
}

void acp_session_notice(struct acp_session *s, const struct notice *n)
{
    AUTO(buf_release) struct buf draft = BUF_INIT;
    char *told;
    switch (n->type) {
    case NOTICE_EVENT:
        acp_tell_event(&s->telling, n->event);
        break;
    case NOTICE_SESSION:
        acp_tell_info(&s->telling, &n->info);
        acp_tell_usage(&s->telling, &n->meters);
        break;
    case NOTICE_PROVIDER:
        on_provider(s, n);
        break;
    case NOTICE_APPROVAL:
        ask_approval(s, n);
        break;
    case NOTICE_ELICITATION:
        for (size_t i = s->questions.len; n->flag && i-- > 0;)
            if (s->questions.items[i]->form == n->number) {
                rpc_withdraw(s->acp->peer, s->questions.items[i]->id);
                free_question(s->questions.items[i]);
            }
        if (!n->flag)
            ask_form(s, n);
        break;
    case NOTICE_OUTPUT:
        acp_tell_output(&s->telling, n);
        break;
    case NOTICE_DRAFT:
        told = mem_printf("draft:%" PRId64, ++s->drafts);
        acp_tell_shown(&s->telling, told, _("Summary of the conversation"), n->text, &draft);
        ask_person(s, acp_draft_choices, NULL, NULL, told, draft.data);
        break;
    case NOTICE_ERROR:
        acp_tell_notice(&s->telling, "error", n->error.text);
        break;
    case NOTICE_BUSY: /* the turn may also end because another surface stopped it */
        if (!n->flag)
            acp_forget_questions(s);
        break;
    default:
        break;
    }
}
