/* Compacts sessions of 100 to 10,000 messages (4 MB) in each mode, with a model that answers at
 * once, so that only our own time counts. Then measures the delay at the screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/command.h"
#include "bench/make_session.h"
#include "bench/measures.h"
#include "bench/prose.h"
#include "bench/source.h"
#include "bench/table.h"
#include "compact/compact.h"
#include "compact/mode.h"
#include "session/engine.h"
#include "session/journal.h"
#include "session/notice.h"

enum {
    RUNS = 15,
    SUMMARY_BYTES = 8000,
    WINDOW = 32000,
    CONTEXT_RUNS = 9,
    ANSWER_MS = 30000,
    PIECE = 20,
    RATE = 100, /* pieces of the summary a second */
    MAX_KEYS = 1000,
    LINE = 60
};

static const size_t sizes[] = {100, 1000, 10000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void free_notice(void *n)
{
    notice_free(n);
}

static _Noreturn void give_up(const char *what, const struct error *e)
{
    fprintf(stderr, "bench: %s: %s\n", what, e->text);
    exit(99);
}

static char *home_path(const char *name)
{
    return mem_printf("%s/%s", chat_home(), name);
}

static void row(const char *what, size_t messages, double goal, double ms)
{
    char *measure = mem_printf("%s, %zu messages", what, messages);
    table_row(measure, goal, ms, "ms", 2);
    free(measure);
}

/* ---- the engine alone ---- */

struct shortening {
    struct mailbox *notices;
    struct store *store;
    char *store_path, *directory;
    struct journal journal;
    struct compact_settings settings;
    struct summariser model;
    struct buf summary;
    double asked, answered; /* screen_clock(): when the model was */
};

static bool complete(void *context, const struct summariser *s, const struct request *request,
                     bool (*delta)(void *delta_context, const char *text, size_t len),
                     void *delta_context, struct response *response, struct failure *failure)
{
    struct shortening *b = context;
    (void)s;
    (void)request;
    (void)delta;
    (void)delta_context;
    (void)failure;
    b->asked = screen_clock();
    vec_push(&response->blocks, block_text(b->summary.data));
    response->stop_reason = STOP_END_TURN;
    response->usage = (struct usage){.input = 1000, .output = 2000, .cached = -1};
    b->answered = screen_clock();
    return true;
}

static bool take_progress(void *context, const char *text, size_t len, int part, int of)
{
    (void)context;
    (void)text;
    (void)len;
    (void)part;
    (void)of;
    return true;
}

static bool may_call(void *context, struct failure *failure)
{
    (void)context;
    (void)failure;
    return true;
}

static bool emit(void *context, struct event *ev, struct error *e)
{
    return journal_emit(&((struct shortening *)context)->journal, ev, e);
}

static enum commit_result commit(void *context, struct event *completed, struct error *e)
{
    return journal_compact(&((struct shortening *)context)->journal, completed, e);
}

static const struct summariser *summariser(void *context, struct error *e)
{
    (void)e;
    return &((struct shortening *)context)->model;
}

static bool go_on(void *context)
{
    (void)context;
    return true;
}

static void forget_notices(struct shortening *b)
{
    for (void *n; (n = mailbox_pop(b->notices)) != NULL;)
        notice_free(n);
}

static void shortening_open(struct shortening *b)
{
    struct error e = {0};
    struct event_list tail = {0};
    struct config *defaults = config_new();
    struct compact_warnings warnings = {0};
    bool more;
    *b = (struct shortening){.notices = mailbox_new(free_notice)};
    compact_settings_read(&b->settings, defaults, &warnings);
    config_free(defaults);
    prose(&b->summary, SUMMARY_BYTES, 1, "So much for what came before.");
    b->model = (struct summariser){.model = "bench", .label = "openai/bench", .window = 0};
    b->store_path = home_path(".local/share/tiro/tiro.db");
    b->directory = home_path(".local/share/tiro");
    journal_init(&b->journal, b->notices);
    if (!store_open(b->store_path, STORE_READ_WRITE, &b->store, &e))
        give_up("open", &e);
    b->journal.store = b->store;
    b->journal.directory = b->directory;
    if (!journal_open(&b->journal, "last", JOURNAL_RESUME, &tail, &more, &e) ||
        !journal_load(&b->journal, &e))
        give_up("resume", &e);
    event_list_release(&tail);
}

static void shortening_close(struct shortening *b)
{
    journal_release(&b->journal);
    store_close(b->store);
    mailbox_free(b->notices);
    buf_release(&b->summary);
    free(b->store_path);
    free(b->directory);
}

/* Decision, cut, the summary's request, rebuild, commit. */
static double shorten(struct shortening *b, const struct compact_mode *mode)
{
    const struct compact_limits limits = {.window = WINDOW};
    const struct history *h = &b->journal.history;
    const struct compact_host host = {.summary = {.complete = complete,
                                                  .progress = take_progress,
                                                  .may_call = may_call,
                                                  .go_on = go_on,
                                                  .context = b},
                                      .emit = emit,
                                      .commit = commit,
                                      .summariser = summariser};
    struct compact_outcome outcome = {0};
    double start = screen_clock();
    const struct compact_counters counters = {.boundary = h->calls,
                                              .last_attempt = -1,
                                              .last_input = h->last_input,
                                              .estimate = h->estimate,
                                              .request = h->estimate + 1000};
    struct compact_decision decision = compact_decide(&b->settings, &limits, &counters);
    const struct compact_job job = {.history = h,
                                    .settings = &b->settings,
                                    .limits = limits,
                                    .mode = mode,
                                    .trigger = decision.trigger ? decision.trigger : TRIGGER_MANUAL,
                                    .system = "You are a helpful assistant."};
    compact_run(&job, &host, &outcome);
    double ms = screen_clock() - start;
    if (outcome.result != COMPACT_DONE)
        give_up(mode->name, &outcome.error);
    forget_notices(b);
    return ms;
}

static double take_back(struct shortening *b)
{
    struct error e = {0};
    double start = screen_clock();
    if (!journal_uncompact(&b->journal, &e))
        give_up("uncompact", &e);
    double ms = screen_clock() - start;
    forget_notices(b);
    return ms;
}

/* The median, so that one slow disk is no result; returns it for shortening. */
static double measure_mode(struct shortening *b, const struct compact_mode *mode, size_t messages)
{
    double down[RUNS], up[RUNS], before = 0;
    (void)shorten(b, mode);
    (void)take_back(b);
    for (int i = 0; i < RUNS; i++) {
        b->asked = b->answered = 0;
        double start = screen_clock();
        down[i] = shorten(b, mode);
        before = b->asked > 0 ? b->asked - start : before;
        up[i] = take_back(b);
    }
    double median = percentile(down, RUNS, 50);
    row(mode->name, messages, 50, median);
    table_note("  best; a message", "%.2f ms; %.4f ms", down[0], median / (double)messages);
    if (before > 0)
        table_note("  of it until the model is asked", "%.2f ms", before);
    row("  /uncompact", messages, 100 + (double)messages / 20, percentile(up, RUNS, 50));
    return median;
}

static void make_home(size_t messages)
{
    chat_new_home();
    char *directory = home_path(".local/share/tiro");
    command_make("make-session", directory, messages);
    free(directory);
}

static void measure_modes(size_t messages, double *ms)
{
    struct shortening b;
    make_home(messages);
    shortening_open(&b);
    for (size_t i = 0; compact_modes[i] != NULL; i++)
        ms[i] = measure_mode(&b, compact_modes[i], messages);
    shortening_close(&b);
}

/* ---- other programs on the same messages ---- */

static void write_messages(const struct history *h)
{
    char *path = home_path("messages.jsonl");
    FILE *f = fopen(path, "w");
    for (size_t i = 0; f != NULL && i < h->messages.len; i++) {
        struct json *v = shape_to_json(&message_shape, &h->messages.items[i]);
        char *text = json_print(v);
        fprintf(f, "%s\n", text);
        free(text);
        json_free(v);
    }
    if (f == NULL || fclose(f) != 0)
        give_up("messages.jsonl", &(struct error){.text = "cannot be written"});
    free(path);
}

static void compare(const char *what, const char *command, double ours)
{
    char *line = mem_printf("cd %s && rm -f rewritten* && exec %s", chat_home(), command);
    double ms = command_shell(line, RUNS).ms;
    table_note(what, "%.1f ms (we: %.2f×)", ms, ours / ms);
    free(line);
}

/* jq does the work of a mode without storing the result; sqlite3 reads and writes every message
 * once. */
static void compare_others(double ours)
{
    struct shortening b;
    shortening_open(&b);
    write_messages(&b.journal.history);
    shortening_close(&b);
    compare(
        "  for comparison: jq shortens the same messages",
        "jq -c -n '[inputs] | {role: \"user\", content: \"summary\"}, .[-20:][]' messages.jsonl",
        ours);
    compare(
        "  for comparison: sqlite3 reads and writes them",
        "sqlite3 rewritten.db \"ATTACH '.local/share/tiro/tiro.db' AS o; CREATE TABLE m AS SELECT"
        " position, json(message) FROM o.snapshot_message\"",
        ours);
}

/* ---- F4 ---- */

static struct notice *expect(struct engine *s, enum notice_type type)
{
    for (;;) {
        struct notice *n = mailbox_wait(engine_notices(s), ANSWER_MS);
        if (n == NULL || n->type == NOTICE_ERROR)
            give_up("F4", n ? &n->error : &(struct error){.text = "no answer"});
        if (n->type == type)
            return n;
        notice_free(n);
    }
}

static void measure_context(size_t messages)
{
    double ms[CONTEXT_RUNS], first = 0;
    struct config *config = config_new();
    char *store_path = home_path(".local/share/tiro/tiro.db");
    const struct engine_options options = {.config = config,
                                           .directory = chat_home(),
                                           .store_path = store_path,
                                           .provider = "offline",
                                           .compaction = true,
                                           .persist = true,
                                           .resume = "last"};
    struct engine *s = engine_new(&options);
    notice_free(expect(s, NOTICE_PROVIDER));
    for (int i = -1; i < CONTEXT_RUNS; i++) {
        double start = screen_clock();
        (void)engine_start(s, &operation_context_read, NULL);
        notice_free(expect(s, NOTICE_ANSWER));
        *(i < 0 ? &first : &ms[i]) = screen_clock() - start;
    }
    row("what F4 shows", messages, 20 + (double)messages / 100, percentile(ms, CONTEXT_RUNS, 50));
    table_note("  at first (reads the history)", "%.1f ms", first);
    engine_free(s);
    config_free(config);
    free(store_path);
}

/* ---- at the screen ---- */

/* Keys at uneven intervals, from before the compaction until after it. */
static void type_meanwhile(struct chat *c, double *slowest, size_t *keys)
{
    while (*keys < MAX_KEYS) {
        int row, col;
        if (c->typed == LINE)
            chat_clear(c);
        chat_watch(c, 3 + (double)(*keys * 7 % 13));
        double ms = chat_key_echo(c);
        *slowest = ms > *slowest ? ms : *slowest;
        ++*keys;
        if (screen_find(c->screen, " compacted ", &row, &col))
            return;
    }
    chat_must(c, false, "no end of the compaction");
}

static void measure_screen(size_t messages)
{
    struct buf text = BUF_INIT;
    struct chat c;
    double slowest = 0;
    size_t keys = 0;
    make_home(messages);
    prose(&text, SUMMARY_BYTES / 2, 2, "So much for what came before.");
    struct source *source = source_start(text.data, text.len, PIECE, RATE);
    chat_open(&c, source_url(source), "--continue");
    chat_must(&c, screen_wait_text(c.screen, MAKE_SESSION_ENDING, CHAT_DEADLINE_MS), "no session");
    screen_type(c.screen, "/compact");
    chat_watch(&c, 200);
    screen_key(c.screen, SCREEN_ENTER);
    type_meanwhile(&c, &slowest, &keys);
    row("slowest key to screen while it is shortened", messages, 20, slowest);
    table_note("  keys typed meanwhile", "%zu", keys);
    chat_close(&c);
    source_stop(source);
    buf_release(&text);
}

void measure_compaction(void)
{
    enum { MODES_MAX = 16 };
    double ms[SIZES][MODES_MAX] = {{0}};
    for (size_t i = 0; i < SIZES; i++) {
        measure_modes(sizes[i], ms[i]);
        measure_context(sizes[i]);
    }
    compare_others(ms[SIZES - 1][0]);
    measure_screen(sizes[SIZES - 1]);
}
