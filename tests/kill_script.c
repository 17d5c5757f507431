#include "tests/kill_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/json.h"
#include "base/mem.h"

enum { PIECES_SLOW = 60, SLOW_MS = 40, LONG_WORDS = 900, SUMMARY_WORDS = 40 };

static const struct kill_plan_info plans[] = {
#define X(id, name, until) {name, until},
    KILL_PLANS(X)
#undef X
};

const struct kill_plan_info *kill_plan_info(enum kill_plan plan)
{
    return &plans[plan];
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char letters[] = "bcdfghjklmnpqrtvwxz";

void kill_word(char word[KILL_WORD_LEN + 1])
{
    size_t at = strlen(KILL_WORD);
    memcpy(word, KILL_WORD, at);
    for (; at < KILL_WORD_LEN; at++)
        word[at] = letters[(size_t)(entropy_unit() * (double)(sizeof letters - 1))];
    word[KILL_WORD_LEN] = '\0';
}

const char *kill_word_find(const char *text)
{
    while ((text = strstr(text, KILL_WORD)) && strspn(text, letters) < KILL_WORD_LEN)
        text++;
    return text;
}

static void add_filler(struct buf *out, const char *what, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_addf(out, " %s-%zu", what, i);
}

char *kill_question(int number, enum kill_plan plan, const char *word, size_t more)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "ask-%d plan-%s %s please:", number, plans[plan].name, word);
    add_filler(&text, "fülle", more);
    return buf_take(&text);
}

char *kill_command_mark(int number)
{
    return mem_printf("86399.%d", number);
}

char *kill_written(const char *word)
{
    struct buf text = BUF_INIT;
    for (int line = 0; line < 400; line++)
        buf_addf(&text, "line %d of %s\n", line, word);
    return buf_take(&text);
}

/* --- questions -------------------------------------------------------------------------------- */

struct asked {
    int number;
    enum kill_plan plan;
    char word[KILL_WORD_LEN + 1];
    int results; /* of tools since */
};

static bool is_role(const struct json *message, const char *role)
{
    const char *is = json_get_string(message, "role");
    return is && strcmp(is, role) == 0;
}

static bool read_question(const char *text, struct asked *out)
{
    char name[32];
    const char *question = NULL;
    for (const char *at = text; at && (at = strstr(at, "ask-")); at++)
        question = at;
    if (!question || sscanf(question, "ask-%d plan-%31s %14s", &out->number, name, out->word) != 3)
        return false;
    for (int i = 0; i < KILL_PLAN_COUNT; i++)
        if (strcmp(plans[i].name, name) == 0)
            out->plan = (enum kill_plan)i;
    out->results = 0;
    return true;
}

static bool find_asked(const struct json *body, struct asked *out)
{
    bool found = false;
    const struct json *m = json_first(json_get(body, "messages"));
    for (; m; m = json_next(m)) {
        if (is_role(m, "user"))
            found = read_question(json_get_string(m, "content"), out) || found;
        out->results += is_role(m, "tool");
    }
    return found;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Borrowed by the reply until it is copied. */
static struct {
    struct buf text, args, id;
    int refused; /* the question that was last put off */
} answer;

void kill_script_reset(void)
{
    buf_release(&answer.text);
    buf_release(&answer.args);
    buf_release(&answer.id);
    answer.refused = 0;
}

static void call(const struct asked *asked, const char *tool, struct reply *r)
{
    buf_addf(&answer.id, "call_%d_%d", asked->number, asked->results);
    *r = (struct reply){.text = "I look.",
                        .tool_name = tool,
                        .tool_args = answer.args.data,
                        .tool_id = answer.id.data};
}

static void call_read(const struct asked *asked, struct reply *r)
{
    buf_addstr(&answer.args, "{\"path\":\"note.txt\"}");
    call(asked, "read_file", r);
}

static void call_write(const struct asked *asked, struct reply *r)
{
    auto_free char *text = kill_written(asked->word);
    AUTO(json_free_local) struct json *args = json_new_object();
    auto_free char *path = mem_printf("out-%d.txt", asked->number);
    json_set_string(args, "path", path);
    json_set_string(args, "content", text);
    auto_free char *line = json_print(args);
    buf_addstr(&answer.args, line);
    call(asked, "write_file", r);
}

/* A command before and one after it: both must die with the program. */
static void call_command(const struct asked *asked, struct reply *r)
{
    auto_free char *mark = kill_command_mark(asked->number);
    buf_addf(&answer.args, "{\"command\":\"sleep %s & sleep %s\"}", mark, mark);
    call(asked, "run_command", r);
}

static void put_off(const struct asked *asked, int status, struct reply *r)
{
    answer.refused = asked->number;
    *r = (struct reply){.fault = REPLY_STATUS,
                        .status = status,
                        .error_type = "of_the_script",
                        .error_message = "not now",
                        .retry_after = "0"};
}

static void say(const struct asked *asked, struct reply *r)
{
    buf_addf(&answer.text, "answer-%d: %s", asked->number, asked->word);
    if (asked->plan == KILL_PLAN_SLOW)
        add_filler(&answer.text, "piece", PIECES_SLOW);
    else if (asked->plan == KILL_PLAN_LONG)
        add_filler(&answer.text, "wörd", LONG_WORDS);
    if (asked->plan == KILL_PLAN_LONG) /* so that the end of the screen has it, too */
        buf_addf(&answer.text, " answer-%d: %s", asked->number, asked->word);
    *r = (struct reply){.text = answer.text.data,
                        .piece = asked->plan == KILL_PLAN_SLOW ? 9 : 40,
                        .interval_ms = asked->plan == KILL_PLAN_SLOW ? SLOW_MS : 0,
                        .hold = asked->plan == KILL_PLAN_HELD};
    if (asked->plan == KILL_PLAN_REASONED)
        r->reasoning = "Let me think. Yes.";
    if (asked->plan == KILL_PLAN_BROKEN_OFF)
        r->fault = REPLY_DISCONNECT;
    if (asked->plan == KILL_PLAN_STALLED)
        r->fault = REPLY_STALL;
}

static void go_on(const struct asked *asked, struct reply *r)
{
    if (asked->plan == KILL_PLAN_READS && asked->results < 2)
        call_read(asked, r);
    else if (asked->plan == KILL_PLAN_WRITES && asked->results < 1)
        call_write(asked, r);
    else if (asked->plan == KILL_PLAN_COMMAND && asked->results < 1)
        call_command(asked, r);
    else if (asked->plan == KILL_PLAN_RETRIED && answer.refused != asked->number)
        put_off(asked, 503, r);
    else if (asked->plan == KILL_PLAN_REFUSED)
        put_off(asked, 401, r);
    else
        say(asked, r);
}

static void sum_up(struct reply *r)
{
    buf_addstr(&answer.text, "A summary.");
    add_filler(&answer.text, "kürze", SUMMARY_WORDS);
    *r = (struct reply){.text = answer.text.data, .piece = 40};
}

void kill_respond(void *context, const char *body, size_t len, struct reply *r)
{
    struct asked asked = {0};
    AUTO(json_free_local) struct json *request = json_parse(body, len, NULL);
    (void)context;
    buf_clear(&answer.text);
    buf_clear(&answer.args);
    buf_clear(&answer.id);
    if (!json_get(request, "tools") || !find_asked(request, &asked))
        sum_up(r);
    else
        go_on(&asked, r);
}
