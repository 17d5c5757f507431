/* Where there is no row: the number of base/err.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/json_out.h"
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
        [STOP_TOOL_USE] = "max_turn_requests", /* it still calls tools: it was let no further */
        [STOP_PAUSE] = "max_turn_requests",
        [STOP_REFUSAL] = "refusal",
        [STOP_CONTEXT_EXCEEDED] = "max_tokens",
        [STOP_CANCELLED] = "cancelled",
        [STOP_OTHER] = "end_turn",
    };
    return words[reason];
}

static const struct acp_choice approval_choices[] = {
    {"once", "allow_once", N_("Allow"), ANSWER_ONCE},
    {"deny", "reject_once", N_("Deny"), ANSWER_DENY},
    {"session", "allow_always", N_("Allow for this session"), ANSWER_SESSION},
};

struct acp_choices acp_approval_choices(bool granting)
{
    size_t len = sizeof approval_choices / sizeof *approval_choices;
    return (struct acp_choices){approval_choices, granting ? len : len - 1};
}

static const struct acp_choice draft_choices[] = {
    {"commit", "allow_once", N_("Use this summary"), DRAFT_COMMIT},
    {"refuse", "reject_once", N_("Leave the conversation as it is"), DRAFT_REFUSE},
    {"again", "reject_once", N_("Write another summary"), DRAFT_AGAIN},
};

struct acp_choices acp_draft_choices(void)
{
    return (struct acp_choices){draft_choices, sizeof draft_choices / sizeof *draft_choices};
}

static const struct acp_choice *find_choice(struct acp_choices choices, const char *id)
{
    for (size_t i = 0; id && i < choices.len; i++)
        if (strcmp(choices.items[i].id, id) == 0)
            return &choices.items[i];
    return NULL;
}

int acp_choice_answer(struct acp_choices choices, const char *id)
{
    const struct acp_choice *chosen = find_choice(choices, id);
    for (size_t i = 0; !chosen && i < choices.len; i++)
        if (strcmp(choices.items[i].kind, "reject_once") == 0)
            chosen = &choices.items[i];
    return chosen->answer;
}

/* --- addresses -------------------------------------------------------------------------------- */

static const char file_scheme[] = "file://";

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, tolower((unsigned char)c));
    return c && at ? (int)(at - digits) : -1;
}

/* Escapes of control characters, and what is no escape, stay as they are. */
static char *unescape(const char *text)
{
    struct buf out = BUF_INIT;
    for (; *text; text++) {
        int high = *text == '%' ? hex_value(text[1]) : -1;
        int low = high >= 0 ? hex_value(text[2]) : -1;
        bool escaped = low >= 0 && high * 16 + low >= ' ';
        buf_addch(&out, escaped ? (char)(high * 16 + low) : *text);
        text += escaped ? 2 : 0;
    }
    return buf_take(&out);
}

char *acp_uri_to_path(const char *uri)
{
    if (strncmp(uri, file_scheme, strlen(file_scheme)) != 0)
        return mem_strdup(uri);
    const char *path = strchr(uri + strlen(file_scheme), '/'); /* behind a host */
    char *text = path ? unescape(path) : NULL;
    if (text && utf8_valid(text, strlen(text)))
        return text;
    free(text);
    return mem_strdup(uri);
}

char *acp_path_to_uri(const char *path)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out, file_scheme);
    while (*path) {
        size_t len = strcspn(path, "/");
        char *part = mem_strndup(path, len);
        char *escaped = url_escape(part);
        buf_addstr(&out, escaped);
        free(escaped);
        free(part);
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

static bool read_text(struct reading *r, const struct json *block)
{
    const char *text = json_get_string(block, "text");
    if (!text)
        return refuse(r, "a text lacks its \"text\"; give a string");
    buf_addstr(&r->written, text);
    return true;
}

static bool read_image(struct reading *r, const struct json *block)
{
    struct acp_image image = {json_get_string(block, "data"), json_get_string(block, "mimeType")};
    if (!image.data || !image.media_type)
        return refuse(r, "an image needs \"data\" (base64) and \"mimeType\"");
    vec_push(&r->out->images, image);
    return true;
}

/* The model reads the file with a tool where it wants to. */
static bool read_link(struct reading *r, const struct json *block)
{
    const char *uri = json_get_string(block, "uri");
    if (!uri)
        return refuse(r, "a resource_link lacks its \"uri\"");
    char *path = acp_uri_to_path(uri);
    buf_addf(&r->written, "`%s`", path);
    free(path);
    return true;
}

static bool is_image(const char *media_type)
{
    return media_type && strncmp(media_type, "image/", 6) == 0;
}

static bool read_resource(struct reading *r, const struct json *block)
{
    const struct json *resource = json_get(block, "resource");
    const char *uri = json_get_string(resource, "uri"), *text = json_get_string(resource, "text");
    struct acp_image image = {json_get_string(resource, "blob"),
                              json_get_string(resource, "mimeType")};
    if (!uri || (!text && !image.data))
        return refuse(r, "a resource needs \"uri\" and \"text\" or \"blob\"");
    if (!text && !is_image(image.media_type))
        return refuse(r, "a resource that is neither text nor an image cannot be sent");
    if (!text) {
        vec_push(&r->out->images, image);
        return true;
    }
    char *path = acp_uri_to_path(uri);
    attached_file_add(&r->out->text, path, text, strlen(text));
    buf_addf(&r->written, "`%s`", path);
    free(path);
    return true;
}

static bool read_block(struct reading *r, const struct json *block)
{
    static const struct {
        const char *type;
        bool (*read)(struct reading *r, const struct json *block);
    } types[] = {{"text", read_text},
                 {"image", read_image},
                 {"resource_link", read_link},
                 {"resource", read_resource}};
    const char *type = json_get_string(block, "type");
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0)
            return types[i].read(r, block);
    return refuse(r, "give a block of type text, image, resource_link or resource");
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
