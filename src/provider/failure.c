#include "provider/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "chat/usage.h"

#define FIRST_WAIT_MS 500
#define LONGEST_WAIT_MS 30000
#define LONGEST_LOADING_WAIT_MS 5000
/* About five minutes at the waits above: a large model from a slow disk. */
#define LOADING_RETRIES 60

void failure_clear(struct failure *f)
{
    *f =
        (struct failure){.retry_after_ms = -1, .prompt_tokens = -1, .window = -1, .body_bytes = -1};
}

bool failure_set(struct failure *f, enum failure_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->kind = kind;
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
    size_t len = strlen(f->text);
    f->text[len - utf8_incomplete_tail(f->text, len)] = '\0';
    return false;
}

/* The first that fits. */
static const struct {
    enum failure_kind kind;
    int lowest, highest; /* statuses */
    const char *text;
} advices[] = {
    {FAILURE_STATUS, 300, 399, "check the base URL"},
    {FAILURE_STATUS, 401, 403, "check the API key and its access to this model"},
    {FAILURE_STATUS, 408, 409, "try again"},
    {FAILURE_STATUS, 429, 429, "wait a while, or choose another model"},
    {FAILURE_STATUS, 500, 599, "the server failed: try again later"},
    {FAILURE_STATUS, 400, 499, "change the message, or choose another model"},
    {FAILURE_CONNECT, 0, 999, "check that the server is running, and the base URL"},
    {FAILURE_STALL, 0, 999, "try again, or raise stall_timeout in [provider]"},
    {FAILURE_PROTOCOL, 0, 999, "check the base URL"},
    {FAILURE_TOO_LARGE, 0, 999, "ask for less at once"},
    {FAILURE_OVERFLOW, 0, 999, "start a new session, or choose a model with a larger window"},
    {FAILURE_QUOTA, 0, 999, "add credit, or use another key or provider"},
    {FAILURE_LOADING, 0, 999, "try again once it is loaded"},
    {FAILURE_SETUP, 0, 999, "'tiro config show' lists the settings and where each is set"},
};

bool failure_error(const struct failure *f, struct error *e)
{
    if (err_advice(f->text))
        return err_set(e, ERR_AGENT_ERROR, "%s", f->text);
    enum failure_kind kind = f->kind == FAILURE_STREAM ? FAILURE_STATUS : f->kind;
    const char *advice = "try again";
    for (size_t i = sizeof advices / sizeof *advices; i-- > 0;)
        if (advices[i].kind == kind && f->status >= advices[i].lowest &&
            f->status <= advices[i].highest)
            advice = advices[i].text;
    size_t len = strlen(f->text), room = sizeof e->text - strlen("…; ") - strlen(advice) - 1;
    bool cut = len > room;
    if (cut)
        len = utf8_cut_bytes(f->text, len, room);
    return err_set(e, ERR_AGENT_ERROR, "%.*s%s; %s", (int)len, f->text, cut ? "…" : "", advice);
}

int failure_retry_limit(const struct failure *f, int max_retries)
{
    bool patient = f->kind == FAILURE_LOADING && max_retries > 0 && max_retries < LOADING_RETRIES;
    return patient ? LOADING_RETRIES : max_retries;
}

int64_t failure_retry_wait(const struct failure *f, int attempt, int max_retries, double unit)
{
    bool passing = f->kind == FAILURE_CONNECT || f->kind == FAILURE_STALL ||
                   f->kind == FAILURE_CUT || f->kind == FAILURE_LOADING ||
                   (f->kind == FAILURE_STREAM && f->status == 0);
    if (f->kind == FAILURE_STATUS || f->kind == FAILURE_STREAM)
        passing =
            passing || f->status == 408 || f->status == 409 || f->status == 429 || f->status >= 500;
    if (f->content_seen || !passing || attempt > failure_retry_limit(f, max_retries))
        return -1;
    if (f->retry_after_ms >= 0)
        return f->retry_after_ms;
    int64_t longest = f->kind == FAILURE_LOADING ? LONGEST_LOADING_WAIT_MS : LONGEST_WAIT_MS;
    int64_t wait = FIRST_WAIT_MS;
    for (int n = 1; n < attempt && wait < longest; n++)
        wait *= 2;
    if (wait > longest)
        wait = longest;
    return (int64_t)((double)wait * (0.9 + 0.2 * unit) + 0.5);
}

/* --- errors of servers ------------------------------------------------------------------------ */

/* A server without JSON is quoted this far. */
#define MAX_QUOTE 160
/* Bytes of a type, a code or a message that are read at most. */
#define MAX_READ 4096

struct complaint {
    char *type, *code, *message;   /* masked; "" if absent */
    int status;                    /* that the body names; 0 if none */
    int64_t prompt_tokens, window; /* -1 if absent */
};

static const struct {
    const char *type;
    int status;
} type_status[] = {
    {"invalid_request_error", 400}, {"authentication_error", 401},  {"billing_error", 402},
    {"permission_error", 403},      {"not_found_error", 404},       {"request_too_large", 413},
    {"rate_limit_error", 429},      {"rate_limit_exceeded", 429},   {"api_error", 500},
    {"server_error", 500},          {"internal_server_error", 500}, {"timeout_error", 504},
    {"overloaded_error", 529},
};

static const struct {
    const char *words;
    enum failure_kind kind;
} meanings[] = {
    {"insufficient_quota", FAILURE_QUOTA},
    {"exceeded your current quota", FAILURE_QUOTA},
    {"credit balance", FAILURE_QUOTA},
    {"insufficient credits", FAILURE_QUOTA},
    {"billing", FAILURE_QUOTA},
    {"exceed_context_size_error", FAILURE_OVERFLOW},
    {"context_length_exceeded", FAILURE_OVERFLOW},
    {"prompt is too long", FAILURE_OVERFLOW},
    {"maximum context length", FAILURE_OVERFLOW},
    {"exceeds the available context", FAILURE_OVERFLOW},
    {"exceed context limit", FAILURE_OVERFLOW},
    {"context window", FAILURE_OVERFLOW},
    {"reduce the length of the messages", FAILURE_OVERFLOW},
    {"request_too_large", FAILURE_OVERFLOW},
    {"loading model", FAILURE_LOADING},
    {"model is loading", FAILURE_LOADING},
    {"currently loading", FAILURE_LOADING},
};

static const char *find_words(const char *text, const char *words)
{
    size_t len = strlen(words);
    for (const char *s = text; *s != '\0'; s++)
        if (strncasecmp(s, words, len) == 0)
            return s;
    return NULL;
}

static bool speaks_of(const char *text, const char *words)
{
    const char *hit = find_words(text, words);
    /* After a slash it is part of an address: rate limits link to ".../account/billing". */
    return hit && (hit == text || hit[-1] != '/');
}

static enum failure_kind meaning(const struct complaint *c, int status, enum failure_kind otherwise)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        enum failure_kind kind = meanings[i].kind;
        const char *words = meanings[i].words;
        /* Some hold only for these statuses: a rate limit may well speak of context windows. */
        bool fits =
            status == 0 || (kind == FAILURE_OVERFLOW
                                ? status == 400 || status == 413 || status == 422 || status == 500
                                : kind != FAILURE_LOADING || status == 503);
        if (fits && (speaks_of(c->type, words) || speaks_of(c->code, words) ||
                     speaks_of(c->message, words)))
            return kind;
    }
    return status == 413 ? FAILURE_OVERFLOW : otherwise;
}

/* The number that stands right behind one of the words; -1: none does. */
static int64_t number_after(const char *text, const char *const *words)
{
    for (; *words; words++) {
        const char *hit = find_words(text, *words), *digits = hit ? hit + strlen(*words) : "";
        char *end;
        long long n = strtoll(digits, &end, 10);
        if (end != digits && n > 0)
            return figure_from((double)n, FIGURE_TOKENS_MAX);
    }
    return -1;
}

/* The beginning of a text of the server, without secrets, which the mask knows by their pieces
 * where the server or we cut the text. The caller frees. */
static char *heard(const struct error_origin *server, const char *text, size_t len)
{
    struct buf masked = BUF_INIT;
    mask_add(server->mask, &masked, text, len < MAX_READ ? len : MAX_READ);
    return buf_take(&masked);
}

static char *heard_member(const struct error_origin *server, const struct json *error,
                          const char *name)
{
    const char *text = json_get_string(error, name);
    return heard(server, text ? text : "", text ? strlen(text) : 0);
}

static int status_of_type(const char *type)
{
    for (size_t i = 0; i < sizeof type_status / sizeof *type_status; i++)
        if (strcmp(type, type_status[i].type) == 0)
            return type_status[i].status;
    return 0;
}

static struct complaint read_complaint(const struct error_origin *server, const struct json *body)
{
    /* Servers that have no fields for the figures write them into the sentence. */
    static const char *const prompts[] = {"prompt is too long: ", "resulted in ",  "you requested ",
                                          "requested about ",     "the request (", NULL};
    static const char *const windows[] = {"maximum context length is ", "tokens > ",
                                          "context window is ", "available context size (", NULL};
    const struct json *error = json_get(body, "error");
    const char *message = json_string(error);
    if (!error || json_type(error) != JSON_OBJECT)
        error = body;
    if (!message)
        message = json_get_string(error, "message");
    if (!message || !*message)
        message = json_get_string(error, "detail");
    struct complaint c = {.type = heard_member(server, error, "type"),
                          .code = heard_member(server, error, "code"),
                          .message =
                              heard(server, message ? message : "", message ? strlen(message) : 0)};

    int64_t number = json_get_int(error, "code", 0);
    if (number < 400 || number > 599)
        number = json_get_int(error, "status_code", 0);
    c.status = number >= 400 && number <= 599 ? (int)number : status_of_type(c.type);
    if (c.status == 0)
        c.status = status_of_type(c.code);
    c.prompt_tokens = figure_tokens(error, "n_prompt_tokens", -1);
    c.window = figure_tokens(error, "n_ctx", -1);
    if (c.prompt_tokens < 0)
        c.prompt_tokens = number_after(c.message, prompts);
    if (c.window < 0)
        c.window = number_after(c.message, windows);
    return c;
}

static void complaint_release(struct complaint *c)
{
    free(c->type);
    free(c->code);
    free(c->message);
}

static const struct {
    const char *server; /* NULL: any */
    int status;         /* 0: any */
    const char *words;  /* NULL: whatever the message */
    const char *hint;
} hints[] = {
    {"anthropic", 401, NULL, "set ANTHROPIC_API_KEY or [anthropic] api_key_command"},
    {"openai", 401, NULL, "set OPENAI_API_KEY or [openai] api_key_command"},
    {NULL, 0, "does not support tools", "choose another model or set [chat] tools = none"},
    {"ollama", 404, NULL, "get it with ollama pull, or choose another model"},
    {NULL, 404, NULL, "are the model's name and the base URL right?"},
};

/* Fills in the failure: kind, figures, and "NAME: LABEL: MESSAGE; HINT", in which the message gives
 * way when it gets long. */
static bool tell(const struct error_origin *server, const struct complaint *c, const char *label,
                 enum failure_kind kind, struct failure *f)
{
    bool overflow = kind == FAILURE_OVERFLOW;
    f->prompt_tokens = overflow ? c->prompt_tokens : -1;
    f->window = overflow ? c->window : -1;
    /* A server that names tokens does not mean bytes, whatever its status. */
    bool bytes = overflow && f->status == 413 && c->prompt_tokens < 0 && c->window < 0;
    f->body_bytes = bytes ? server->body_bytes : -1;

    const char *hint = NULL, *message = c->message;
    for (size_t i = 0; !overflow && !hint && i < sizeof hints / sizeof *hints; i++)
        if ((!hints[i].server || strcmp(hints[i].server, server->name) == 0) &&
            (hints[i].status == 0 || hints[i].status == f->status) &&
            (!hints[i].words || find_words(message, hints[i].words)))
            hint = hints[i].hint;
    if (overflow)
        hint = f->body_bytes > 0 ? "compact it, or start a new session"
                                 : "start a new session, or choose a model with a larger window";
    if (!*message && f->body_bytes > 0)
        message = "the request has too many bytes";
    AUTO(buf_release) struct buf clean = BUF_INIT;
    utf8_clean(&clean, message, strlen(message), UTF8_ONE_LINE);

    size_t frame = strlen(server->name) + strlen(label) + (hint ? strlen(hint) + 2 : 0) + 8;
    size_t room = frame < sizeof f->text ? sizeof f->text - frame : 0;
    if (clean.len > room) {
        size_t keep = utf8_cut_bytes(clean.data, clean.len, room);
        buf_splice(&clean, keep, clean.len - keep, "…", strlen("…"));
    }
    return failure_set(f, kind, "%s: %s%s%s%s%s", server->name, label, clean.len > 0 ? ": " : "",
                       clean.data, hint ? "; " : "", hint ? hint : "");
}

bool server_error_status(const struct error_origin *server, int status, const char *body,
                         size_t len, struct failure *f)
{
    AUTO(json_free_local) struct json *json = json_parse_foreign(body, len, NULL);
    AUTO(complaint_release) struct complaint c = read_complaint(server, json);
    if (!json) { /* quoted; but a page of a proxy says nothing that its status does not */
        free(c.message);
        c.message = heard(server, body, len > 0 && body[0] != '<' ? len : 0);
        c.message[utf8_cut_bytes(c.message, strlen(c.message), MAX_QUOTE)] = '\0';
    }
    char label[16];
    snprintf(label, sizeof label, "%d", status);
    f->status = status;
    return tell(server, &c, label, meaning(&c, status, FAILURE_STATUS), f);
}

bool server_error_event(const struct error_origin *server, const struct json *event,
                        struct failure *f)
{
    AUTO(complaint_release) struct complaint c = read_complaint(server, event);
    AUTO(buf_release) struct buf label = BUF_INIT;
    f->status = c.status;
    utf8_clean(&label, c.type, utf8_cut_bytes(c.type, strlen(c.type), 40), UTF8_ONE_LINE);
    if (label.len == 0)
        buf_addstr(&label, "error");
    return tell(server, &c, label.data, meaning(&c, c.status, FAILURE_STREAM), f);
}
