/* A conversation that goes on far beyond the model's window: no request is beyond it, no turn is
 * stuck, the process does not grow, and all that was said can be read at the end. SOAK_TURNS sets
 * how many turns each has (`make soak`: 2,000). */
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/json.h"
#include "config/keys.h"
#include "session/export.h"
#include "tests/history_check.h"
#include "tests/model_server.h"
#include "tests/suite.h"
#include "tests/surface.h"

/* --- the model: it reads the files that the message names, writes summaries, fails at random, and
 * checks every request as a server with a small window would --- */

/* Files that the model reads: NAME, "1", … below the working directory. The last is the largest. */
#define LONG_RUN_FILE "letter-%d.txt"
enum { LONG_RUN_FILES = 8, LONG_RUN_FILE_BYTES = 20000 };

struct long_run {
    uint64_t random;   /* state of the generator: the seed at first, not 0 */
    long window;       /* tokens: a longer request is rejected as OpenAI does */
    int faults;        /* faults per thousand answers */
    int bad_summaries; /* bad summaries per thousand */
    int surprises;     /* per thousand long requests: the server counts more tokens than tiro */

    /* Counters of the requests; the server's threads own them while it runs, and the test reads
     * them between turns. */
    size_t requests, summaries, broken;
    size_t overs;    /* requests beyond the window, without those for summaries */
    long largest;    /* tokens of the largest accepted request */
    char *complaint; /* the first fault of a request; NULL: none */

    const char *pinned;   /* text that every request for an answer must contain; NULL: none */
    int surprised;        /* the question of the newest surprise */
    int question, rounds; /* the newest question, and its calls so far */
    struct buf text, args, id;
    struct buf trail; /* the requests, one line each; the test clears it now and then */
};

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

static unsigned long_run_below(struct long_run *l, unsigned bound)
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

static void long_run_write_files(struct long_run *l, const char *directory)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= LONG_RUN_FILES; i++) {
        auto_free char *path = mem_printf("%s/" LONG_RUN_FILE, directory, i);
        buf_clear(&text);
        add_words(l, &text, (size_t)LONG_RUN_FILE_BYTES >> (LONG_RUN_FILES - i));
        support_write(path, text.data);
    }
}

static char *long_run_question(struct long_run *l, int number, int calls)
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

static void fault(struct long_run *l, long tokens, struct reply *r)
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
            fault(l, tokens, r);
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
        fault(l, tokens, r);
    } else {
        l->largest = tokens > l->largest ? tokens : l->largest;
        answer_question(l, last_question(messages), r);
    }
    if (r->input_tokens == 0) {
        r->input_tokens = tokens;
        r->output_tokens = 100;
    }
}

static void long_run_respond(void *long_run, const char *body, size_t len, struct reply *r)
{
    AUTO(json_free_local) struct json *request = json_parse(body, len, NULL);
    answer(long_run, request, r);
}

/* --- the conversations --- */

enum {
    TURNS = 25,
    WINDOW = 8000,
    GUARD = 3,         /* min_turns_between_compactions */
    MOST_CALLS = 4,    /* together more than the window may hold */
    MOST_FAILURES = 5, /* in a row: more is stuck */
    SURPRISES = 200,   /* in a thousand long requests */
    FAULTS = 20,       /* in a thousand answers */
    SLACK_BYTES = 6000000
};

static const char *const modes[] = {
#define X(id, name, keeps_ends, help) name,
    COMPACTION_MODES(X)
#undef X
};
enum { MODES = sizeof modes / sizeof *modes };

struct conversation {
    struct long_run model;
    struct engine *engine;
    VEC(char *) asked;
    int turn, failed, failed_in_a_row, compactions, undone;
    int troubled; /* turn in which a compaction failed or was undone; below 0: none yet */
    bool suspended;
    int64_t pinned;      /* message; 0: none */
    int pinned_in;       /* turn */
    int64_t event_seq;   /* the newest */
    int64_t early_bytes; /* resident memory after a fifth of the turns */
    struct buf trail;    /* what happened lately, told when a test fails */
};

static int wanted_turns(void)
{
    const char *set = getenv("SOAK_TURNS");
    return set && atoi(set) > 0 ? atoi(set) : TURNS;
}

/* Resident memory without the part that the allocator keeps in arenas of ended threads. */
static int64_t resident_bytes(void)
{
    long pages = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* ---- notices ---- */

static _Noreturn void give_up(const struct conversation *c, const char *what)
{
    fprintf(stderr, "requests:\n%sevents:\n%s", c->model.trail.data, c->trail.data);
    fail_msg("turn %d: %s", c->turn, what);
    abort();
}

static void add_to_trail(struct conversation *c, const struct event *ev)
{
    const struct compaction *k = &ev->compaction;
    if (ev->type == EVENT_TEXT_DELTA || ev->type == EVENT_COMPACTION_DELTA)
        return;
    buf_addf(&c->trail, "  %s", event_name(ev->type));
    if (ev->type == EVENT_COMPACTION_STARTED)
        buf_addf(&c->trail, " %s %s %s, estimate %lld of %lld", k->mode, k->stage, k->trigger,
                 (long long)k->estimate, (long long)k->threshold);
    if (ev->type == EVENT_COMPACTION_COMPLETED)
        buf_addf(&c->trail, " %s, %lld to %lld tokens, %d to %d messages", k->effective_mode,
                 (long long)k->tokens_before, (long long)k->tokens_after, k->messages_before,
                 k->messages_after);
    if (ev->type == EVENT_COMPACTION_FAILED || ev->type == EVENT_TURN_FAILED)
        buf_addf(&c->trail, ": %s", ev->text);
    buf_addstr(&c->trail, "\n");
}

static void note_event(struct conversation *c, const struct event *ev)
{
    add_to_trail(c, ev);
    assert_true(ev->seq > c->event_seq);
    c->event_seq = ev->seq;
    bool ok = ev->type == EVENT_TURN_COMPLETED;
    switch (ev->type) {
    case EVENT_TURN_COMPLETED:
    case EVENT_TURN_FAILED:
        if (!ok && (!ev->text || !*ev->text))
            give_up(c, "it failed without a reason");
        c->failed += !ok;
        c->failed_in_a_row = ok ? 0 : c->failed_in_a_row + 1;
        break;
    case EVENT_INTERRUPTED:
        give_up(c, "it was interrupted by nobody");
        break;
    case EVENT_COMPACTION_COMPLETED:
        assert_true(ev->compaction.tokens_after < ev->compaction.tokens_before);
        c->compactions++;
        break;
    case EVENT_COMPACTION_FAILED:
        assert_true(ev->text && *ev->text);
        c->troubled = c->turn;
        break;
    case EVENT_COMPACTION_UNDONE:
        c->undone++;
        c->troubled = c->turn;
        break;
    case EVENT_MESSAGE_PINNED:
        c->pinned = ev->flag ? ev->number : 0;
        break;
    default:
        break;
    }
}

static struct notice *next_notice(struct conversation *c)
{
    struct notice *n = mailbox_wait(engine_notices(c->engine), SURFACE_MS);
    assert_non_null(n);
    if (n->type == NOTICE_EVENT)
        note_event(c, n->event);
    if (surface_failed(n))
        assert_true(surface_error(n)->text[0] != '\0');
    if (n->type == NOTICE_SESSION || n->type == NOTICE_PROVIDER)
        c->suspended = n->meters.suspended;
    return n;
}

/* Waits until the conversation is idle. */
static void wait_for_end(struct conversation *c)
{
    for (bool busy = true; busy;) {
        AUTO(notice_free_local) struct notice *n = next_notice(c);
        busy = n->type != NOTICE_BUSY || n->flag;
    }
}

/* An operation that needs no turn ends with the event or with an error. */
static void wait_for_event(struct conversation *c, enum event_type type)
{
    for (bool waiting = true; waiting;) {
        AUTO(notice_free_local) struct notice *n = next_notice(c);
        waiting = !(n->type == NOTICE_EVENT && n->event->type == type) && !surface_failed(n);
    }
}

/* ---- actions ---- */

static void pin(struct conversation *c, int64_t seq, bool pinned)
{
    surface_send_for(c->engine, pinned ? &operation_compaction_pin : &operation_compaction_unpin,
                     NULL, NULL, seq);
    wait_for_event(c, EVENT_MESSAGE_PINNED);
}

static void open_in_mode(struct conversation *c, const char *mode, const char *resume)
{
    assert_true(config_set(surface_config(), CONFIG_COMPACTION_MODE, mode, NULL));
    struct engine_options options = surface_options(resume, true);
    options.compaction = true;
    c->engine = engine_new(&options);
    for (bool waiting = true; waiting;) {
        AUTO(notice_free_local) struct notice *n = next_notice(c);
        waiting = n->type != NOTICE_PROVIDER;
    }
}

static void begin(struct conversation *c, int faults)
{
    AUTO(config_problems_release) struct config_problems problems = {0};
    config_load_text(surface_config(), "test",
                     "[model scripted-model]\nwindow = 8000\nmax_output = 1024\n"
                     "[provider]\nmax_retries = 1\n",
                     &problems);
    assert_int_equal(problems.list.len, 0);
    *c = (struct conversation){.troubled = -1};
    buf_init(&c->trail, 0);
    struct long_run *l = &c->model;
    uint64_t seed = support_seed();
    *l = (struct long_run){.random = seed | 1};
    buf_init(&l->text, 0);
    buf_init(&l->args, 0);
    buf_init(&l->id, 0);
    buf_init(&l->trail, 0);
    c->model.window = WINDOW;
    c->model.faults = faults;
    c->model.bad_summaries = faults * 5;
    c->model.surprises = SURPRISES;
    long_run_write_files(&c->model, support_dir());
    model_server_set_responder(surface_server(), long_run_respond, &c->model);
}

/* ---- checks at the end ---- */

struct ends {
    int runs, run_ends, compactions, compaction_ends, calls, results;
};

static bool count_event(void *context, const struct event *ev)
{
    struct ends *n = context;
    n->runs += ev->type == EVENT_TURN_STARTED;
    n->run_ends += ev->type == EVENT_TURN_COMPLETED || ev->type == EVENT_TURN_FAILED;
    n->compactions += ev->type == EVENT_COMPACTION_STARTED;
    n->compaction_ends +=
        ev->type == EVENT_COMPACTION_COMPLETED || ev->type == EVENT_COMPACTION_FAILED;
    n->calls += ev->type == EVENT_TOOL_CALL_REQUESTED;
    n->results += ev->type == EVENT_TOOL_EXECUTION_COMPLETED;
    return true;
}

static void end(struct conversation *c)
{
    int64_t late = resident_bytes();
    if (SUPPORT_TELLS_MEMORY && late > c->early_bytes + c->early_bytes / 20 + SLACK_BYTES)
        fail_msg("resident memory grew from %lld to %lld bytes", (long long)c->early_bytes,
                 (long long)late);
    engine_free(c->engine);
    model_server_set_responder(surface_server(), NULL, NULL);
    if (c->model.complaint)
        fail_msg("%s", c->model.complaint);
    assert_true(c->compactions > 0);
    assert_int_equal(assert_store_sound(surface_store()), 1);
    struct ends n = {0};
    AUTO(session_info_release) struct session_info info = {0};
    assert_true(surface_read("last", &info, count_event, &n, &(struct error){0}));
    assert_int_equal(n.runs, c->turn);
    assert_int_equal(n.run_ends, n.runs);
    assert_int_equal(n.compaction_ends, n.compactions);
    assert_int_equal(n.calls, n.results);
    assert_true(n.calls > 0);
    assert_int_equal(info.last_seq, c->event_seq);
    struct catalog catalog;
    struct error e = {0};
    char *path = support_path("transcript.md");
    assert_true(catalog_open(&catalog, surface_store(), CATALOG_READ, &e));
    assert_true(export_to_file(&catalog, "last", EXPORT_MARKDOWN, path, true, &e));
    catalog_release(&catalog);
    const char *at = support_read(path);
    for (size_t i = 0; i < c->asked.len; i++) {
        at = strstr(at, c->asked.items[i]);
        if (!at)
            fail_msg("question %zu is not in the transcript: %s", i + 1, c->asked.items[i]);
    }
    printf(
        "%d turns (%d failed), %zu requests, the largest of %ld tokens, %d compactions, "
        "%zu summaries, %.1f MB\n",
        c->turn, c->failed, c->model.requests, c->model.largest, c->compactions, c->model.summaries,
        (double)resident_bytes() / 1e6);
    vec_free_each(&c->asked);
    buf_release(&c->trail);
    struct long_run *l = &c->model;
    free(l->complaint);
    buf_release(&l->text);
    buf_release(&l->args);
    buf_release(&l->id);
    buf_release(&l->trail);
}

/* ---- the runs ---- */

static void go_on(struct conversation *c, int turns, int until)
{
    while (c->turn < until) {
        size_t overs = c->model.overs, broken = c->model.broken;
        c->turn++;
        if (c->turn % 5 == 0) {
            buf_clear(&c->trail);
            buf_clear(&c->model.trail);
        }
        char *text =
            long_run_question(&c->model, c->turn, (int)long_run_below(&c->model, MOST_CALLS + 1));
        vec_push(&c->asked, text);
        surface_send(c->engine, &operation_turn_start, text);
        wait_for_end(c);
        bool told = c->suspended || c->model.broken > broken ||
                    (c->troubled >= 0 && c->turn - c->troubled <= GUARD);
        if (c->model.overs > overs && !told)
            give_up(c, "a request beyond the window");
        if (c->failed > 0 && c->model.faults == 0)
            give_up(c, "it failed although the server did not");
        if (c->failed_in_a_row > MOST_FAILURES)
            give_up(c, "nothing goes on");
        if (c->suspended) {
            /* The user's compaction by hand, when the conversation no longer compacts itself. */
            surface_send(c->engine, &operation_compaction_run, "what the letters say");
            wait_for_end(c);
        }
        if (c->turn == turns / 5)
            c->early_bytes = resident_bytes();
    }
}

/* The server never fails, so nothing may. */
static void one_mode(void **state)
{
    struct conversation c;
    int turns = wanted_turns();
    begin(&c, 0);
    open_in_mode(&c, *state, NULL);
    go_on(&c, turns, turns);
    end(&c);
}

/* The server fails now and then, the program is started again in another mode every few turns, and
 * the user pins messages and takes compactions back. */
static void every_mode(void **state)
{
    (void)state;
    struct conversation c;
    int turns = wanted_turns(), stretch = turns / (2 * MODES) + 1;
    begin(&c, FAULTS);
    open_in_mode(&c, modes[0], NULL);
    for (int n = 0; c.turn < turns; n++) {
        while (c.turn < (n + 1) * stretch && c.turn < turns) {
            go_on(&c, turns, c.turn + 1);
            /* Keeps one message pinned, and sometimes undoes the newest compaction. */
            if (c.failed_in_a_row == 0 && c.turn - c.pinned_in > 5) {
                c.model.pinned = NULL;
                if (c.pinned)
                    pin(&c, c.pinned, false);
                pin(&c, 0, true);
                c.pinned_in = c.turn;
                c.model.pinned = vec_last(&c.asked);
            }
            if (c.turn % 23 == 17 && c.compactions > c.undone) {
                surface_send(c.engine, &operation_compaction_undo, NULL);
                wait_for_event(&c, EVENT_COMPACTION_UNDONE);
            }
        }
        engine_free(c.engine);
        open_in_mode(&c, modes[(n + 1) % MODES], "last");
    }
    assert_true(c.failed <= (int)(c.model.broken + c.model.overs));
    end(&c);
}

NEEDS(capability_store() && capability_compaction());
FIXTURE(surface_setup, surface_teardown);

__attribute__((constructor)) static void add_modes(void)
{
    for (size_t i = 0; i < MODES; i++)
        suite_add(__FILE__, modes[i], one_mode, modes[i]);
    suite_add(__FILE__, "every_mode", every_mode, NULL);
}
