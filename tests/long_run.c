#include "tests/long_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/support.h"

/* Words of one to four bytes a character, combining marks and joined emoji among them. */
static const char *const words[] = {"harvest",
                                    "letter",
                                    "Fülle",
                                    "größer",
                                    "ναῦς",
                                    "вечер",
                                    "本当に",
                                    "川の宿",
                                    "e\xcc\x81t\xc3\xa9",
                                    "👩‍👩‍👧",
                                    "🚲",
                                    "n̈andu",
                                    "\"quoted\"",
                                    "back\\slash",
                                    "and",
                                    "so",
                                    "on"};

void long_run_init(struct long_run *l, uint64_t seed)
{
    *l = (struct long_run){.random = seed | 1};
    buf_init(&l->text, 0);
    buf_init(&l->args, 0);
    buf_init(&l->id, 0);
    buf_init(&l->trail, 0);
}

void long_run_release(struct long_run *l)
{
    free(l->complaint);
    buf_release(&l->text);
    buf_release(&l->args);
    buf_release(&l->id);
    buf_release(&l->trail);
}

unsigned long_run_below(struct long_run *l, unsigned bound)
{
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return (unsigned)((l->random >> 32) % bound);
}

static void add_words(struct long_run *l, struct buf *out, size_t bytes)
{
    size_t end = out->len + bytes;
    while (out->len < end) {
        buf_addstr(out, words[long_run_below(l, sizeof words / sizeof *words)]);
        buf_addch(out, long_run_below(l, 12) == 0 ? '\n' : ' ');
    }
}

void long_run_write_files(struct long_run *l, const char *directory)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= LONG_RUN_FILES; i++) {
        auto_free char *path = mem_printf("%s/" LONG_RUN_FILE, directory, i);
        buf_clear(&text);
        add_words(l, &text, (size_t)LONG_RUN_FILE_BYTES >> (LONG_RUN_FILES - i));
        support_write(path, text.data);
    }
}

char *long_run_question(struct long_run *l, int number, int calls)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "Question %d with %d calls: ", number, calls);
    add_words(l, &text, 40 + long_run_below(l, 200));
    buf_addstr(&text, "?");
    return buf_take(&text);
}

/* ---- looking at a request ---- */

static void complain(struct long_run *l, const char *what, const char *role)
{
    if (l->complaint == NULL)
        l->complaint = mem_printf("request %zu: %s (%s)", l->requests, what, role);
}

static bool is_role(const struct json *message, const char *role)
{
    const char *is = json_get_string(message, "role");
    return is != NULL && strcmp(is, role) == 0;
}

/* The call that a result answers is in the message of the assistant that its results stand behind.
 */
static bool has_call(const struct json *assistant, const char *id)
{
    const struct json *call = json_first(json_get(assistant, "tool_calls"));
    for (; call != NULL; call = json_next(call)) {
        const char *is = json_get_string(call, "id");
        if (is != NULL && id != NULL && strcmp(is, id) == 0)
            return true;
    }
    return false;
}

/* Message orders that OpenAI's servers reject. */
static void check_order(struct long_run *l, const struct json *messages)
{
    const struct json *asked = NULL, *before = NULL; /* `asked`: whose calls are being answered */
    size_t open = 0;
    for (const struct json *m = json_first(messages); m != NULL; m = json_next(m)) {
        const char *role = json_get_string(m, "role");
        if (is_role(m, "system"))
            continue;
        if (before == NULL && !is_role(m, "user"))
            complain(l, "the first message is not the user's", role);
        if (is_role(m, "tool") && !has_call(asked, json_get_string(m, "tool_call_id")))
            complain(l, "a result without its call", role);
        open -= is_role(m, "tool") && open > 0;
        if (!is_role(m, "tool") && open > 0)
            complain(l, "a call without its result", role);
        if (is_role(m, "assistant")) {
            asked = m;
            open = json_len(json_get(m, "tool_calls"));
        } else if (!is_role(m, "tool")) {
            asked = NULL;
        }
        before = m;
    }
    if (before == NULL || is_role(before, "assistant"))
        complain(l, "nothing to answer", before ? "assistant" : "none");
}

static bool has_text(const struct json *messages, const char *text)
{
    for (const struct json *m = json_first(messages); m != NULL; m = json_next(m)) {
        const char *content = is_role(m, "user") ? json_get_string(m, "content") : NULL;
        if (content != NULL && strstr(content, text) != NULL)
            return true;
    }
    return false;
}

static const char *last_question(const struct json *messages)
{
    const char *text = NULL;
    for (const struct json *m = json_first(messages); m != NULL; m = json_next(m)) {
        const char *content = is_role(m, "user") ? json_get_string(m, "content") : NULL;
        const char *found = content ? strstr(content, "Question ") : NULL;
        /* One message may be several joined ones; the newest is at its end. */
        while (found != NULL) {
            text = found;
            found = strstr(found + 1, "Question ");
        }
    }
    return text;
}

/* ---- answering it ---- */

static bool happens(struct long_run *l, int per_thousand)
{
    return long_run_below(l, 1000) < (unsigned)per_thousand;
}

static void reject_as_too_long(struct long_run *l, long tokens, struct reply *r)
{
    buf_clear(&l->text);
    buf_addf(
        &l->text,
        "This model's maximum context length is %ld tokens. However, your messages resulted in "
        "%ld tokens. Please reduce the length of the messages.",
        l->window, tokens);
    *r = (struct reply){.fault = REPLY_STATUS,
                        .status = 400,
                        .error_type = "invalid_request_error",
                        .error_message = l->text.data};
}

static void fail(struct long_run *l, long tokens, struct reply *r)
{
    static const struct reply faults[] = {
        {.fault = REPLY_STATUS,
         .status = 500,
         .error_type = "server_error",
         .error_message = "something broke",
         .retry_after = "0"},
        {.fault = REPLY_STATUS,
         .status = 400,
         .error_type = "invalid_request_error",
         .error_message = "this model dislikes that"},
        {.fault = REPLY_DISCONNECT, .text = "Half of an answer, then"},
        {.fault = REPLY_ERROR_EVENT,
         .text = "Half of another",
         .error_type = "server_error",
         .error_message = "it broke meanwhile"},
    };
    enum { FAULTS = sizeof faults / sizeof *faults };
    unsigned which = long_run_below(l, FAULTS + 1);
    l->broken++;
    if (which == FAULTS)
        reject_as_too_long(l, tokens, r);
    else
        *r = faults[which];
}

static void write_summary(struct long_run *l, long tokens, struct reply *r)
{
    l->summaries++;
    if (tokens > l->window)
        complain(l, "a summary's request is beyond the window", "user");
    if (happens(l, l->bad_summaries)) {
        bool empty = long_run_below(l, 3) == 0;
        if (!empty)
            fail(l, tokens, r);
        l->broken += empty;
        *r = empty ? (struct reply){.text = " \n"} : *r;
        return;
    }
    buf_clear(&l->text);
    buf_addf(&l->text,
             "## Goal\nSummary %zu.\n## Progress\n(none)\n## Next Steps\n(none)\n"
             "## Critical Context\n",
             l->summaries);
    add_words(l, &l->text, 300 + long_run_below(l, 1500));
    *r = (struct reply){.text = l->text.data, .piece = 200};
}

static void answer_question(struct long_run *l, const char *question, struct reply *r)
{
    int number = 0, calls = 0;
    if (question == NULL || sscanf(question, "Question %d with %d calls", &number, &calls) != 2)
        complain(l, "the user's newest message is missing", "user");
    l->rounds = number == l->question ? l->rounds : 0;
    l->question = number;
    buf_clear(&l->text);
    if (l->rounds < calls) {
        l->rounds++;
        buf_clear(&l->args);
        buf_addf(&l->args, "{\"path\":\"" LONG_RUN_FILE "\"}",
                 1 + (int)long_run_below(l, LONG_RUN_FILES));
        buf_clear(&l->id);
        buf_addf(&l->id, "call_%zu", l->requests);
        *r = (struct reply){
            .tool_name = "read_file", .tool_args = l->args.data, .tool_id = l->id.data};
        return;
    }
    buf_addf(&l->text, "Answer %d. ", number);
    add_words(l, &l->text, 100 + long_run_below(l, 900));
    *r = (struct reply){.text = l->text.data, .piece = 200};
}

/* Once a question: the same request again would be a fault of ours. */
static bool surprises(struct long_run *l, long tokens, size_t messages)
{
    if (l->surprised == l->question || tokens < l->window / 2 || messages < 16 ||
        !happens(l, l->surprises))
        return false;
    l->surprised = l->question;
    return true;
}

static void answer(struct long_run *l, const struct json *body, struct reply *r)
{
    const struct json *messages = json_get(body, "messages");
    auto_free char *text = json_print(messages);
    long tokens = (long)(strlen(text) / 4);
    l->requests++;
    bool sums_up = json_get(body, "tools") == NULL;
    buf_addf(&l->trail, "  %zu: %s of %ld tokens, %zu messages\n", l->requests,
             sums_up ? "a summary" : "an answer", tokens, json_len(messages));
    check_order(l, messages);
    if (!sums_up && l->pinned != NULL && !has_text(messages, l->pinned))
        complain(l, "what was pinned is missing", "user");
    if (sums_up) {
        write_summary(l, tokens, r);
    } else if (tokens > l->window) {
        l->overs++;
        reject_as_too_long(l, tokens, r);
    } else if (surprises(l, tokens, json_len(messages))) {
        reject_as_too_long(l, l->window + 1, r);
    } else if (happens(l, l->faults)) {
        fail(l, tokens, r);
    } else {
        l->largest = tokens > l->largest ? tokens : l->largest;
        answer_question(l, last_question(messages), r);
    }
    if (r->input_tokens == 0) {
        r->input_tokens = tokens;
        r->output_tokens = 100;
    }
}

void long_run_respond(void *long_run, const char *body, size_t len, struct reply *r)
{
    AUTO(json_free_local) struct json *request = json_parse(body, len, NULL);
    answer(long_run, request, r);
}
