/* `tiro serve --stdio`: time to the first answer, delay of a streamed piece of text beside `tiro
 * run` and the Agent Client Protocol, a hundred conversations at once, and their memory. Times are
 * from the model's write to the client's read. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/piped.h"
#include "bench/process.h"
#include "bench/served_events.h"
#include "bench/stamped.h"
#include "bench/table.h"
#include "serve/http_service.h"

enum {
    RUNS = 15,
    PIECES = 1000,       /* of the one conversation */
    CONVERSATIONS = 100, /* at once */
    PIECES_EACH = 250
};
static const double RATE = 200, RATE_EACH = 50;

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(99);
}

static struct piped start(const char *const *arguments)
{
    return piped_start(getenv("TIRO"), arguments);
}

static struct piped serve(void)
{
    struct piped p = start((const char *const[]){"tiro", "serve", "--stdio", NULL});
    json_free(piped_call(&p, "initialize", "{}"));
    return p;
}

struct delays {
    VEC(double) items; /* ms */
};

static void note_text(struct delays *d, const char *text)
{
    double age = stamped_age(text);
    if (age >= 0)
        vec_push(&d->items, age);
}

static void note_event(struct delays *d, const struct json *event)
{
    note_text(d, json_get_string(event, "delta"));
}

static double delay(struct delays *d, double percent)
{
    return d->items.len > 0 ? percentile(d->items.items, d->items.len, percent) : -1;
}

static void measure_beginning(void)
{
    double ms[RUNS];
    for (int i = 0; i < RUNS; i++) {
        double begun = screen_clock();
        struct piped p = serve();
        ms[i] = screen_clock() - begun;
        piped_stop(&p);
    }
    table_row("serve: start to initialize's answer, median of 15", 15, percentile(ms, RUNS, 50),
              "ms", 1);
}

static struct delays of_run(void)
{
    struct delays d = {0};
    struct piped p = start(
        (const char *const[]){"tiro", "run", "--output-format", "stream-json", "hello", NULL});
    close(p.in);
    p.in = open("/dev/null", O_RDONLY);
    for (struct json *v; (v = piped_next(&p)); json_free(v))
        note_event(&d, v);
    piped_stop(&p);
    return d;
}

static char *new_session(struct piped *p)
{
    struct json *info = piped_call(p, "session/create", "{}");
    char *id = mem_strdup(json_get_string(info, "id"));
    json_free(info);
    return id;
}

static void start_turn(struct piped *p, const char *session)
{
    char *params = mem_printf("{\"session_id\":\"%s\",\"prompt\":\"hello\"}", session);
    (void)piped_ask(p, "turn/start", params);
    free(params);
}

/* Waits until this number of turns is answered. */
static struct delays until_answered(struct piped *p, int turns)
{
    struct delays d = {0};
    while (turns > 0) {
        struct json *v = piped_next(p);
        if (!v || json_get(v, "error"))
            give_up(v ? json_get_string(json_get(v, "error"), "message") : "no answer");
        note_event(&d, json_get(json_get(v, "params"), "event"));
        turns -= json_get(v, "result") != NULL;
        json_free(v);
    }
    return d;
}

static struct delays of_serve(void)
{
    struct piped p = serve();
    char *session = new_session(&p);
    start_turn(&p, session);
    struct delays d = until_answered(&p, 1);
    free(session);
    piped_stop(&p);
    return d;
}

static struct delays of_events(void)
{
    struct delays d = {0};
    struct served_events *s = served_events_start();
    served_events_say(s);
    const char *data;
    bool over = false;
    while (!over && (data = served_events_next(s))) {
        struct json *event = json_parse(data, strlen(data), NULL);
        const char *type = json_get_string(event, "type");
        note_event(&d, event);
        over = type && strcmp(type, "run_completed") == 0;
        json_free(event);
    }
    served_events_stop(s);
    return d;
}

/* A session of the Agent Client Protocol in the present directory; the caller frees. */
static char *begin_acp(struct piped *p)
{
    char directory[4096];
    if (!getcwd(directory, sizeof directory))
        give_up("no directory");
    json_free(piped_call(p, "initialize", "{\"protocolVersion\":1}"));
    char *params = mem_printf("{\"cwd\":\"%s\",\"mcpServers\":[]}", directory);
    struct json *made = piped_call(p, "session/new", params);
    char *session = mem_strdup(json_get_string(made, "sessionId"));
    json_free(made);
    free(params);
    return session;
}

/* Milliseconds until the session is there go to `begin_ms`. */
static struct delays of_acp(const char *program, const char *const *arguments, double *begin_ms)
{
    struct delays d = {0};
    double begun = screen_clock();
    struct piped p = piped_start(program, arguments);
    char *session = begin_acp(&p);
    *begin_ms = screen_clock() - begun;
    char *params = mem_printf(
        "{\"sessionId\":\"%s\",\"prompt\":[{\"type\":\"text\",\"text\":\"hello\"}]}", session);
    int id = piped_ask(&p, "session/prompt", params);
    struct json *v;
    for (; (v = piped_next(&p)) && json_get_int(v, "id", 0) != id; json_free(v)) {
        const struct json *update = json_get(json_get(v, "params"), "update");
        note_text(&d, json_get_string(json_get(update, "content"), "text"));
    }
    json_free(v);
    free(params);
    free(session);
    piped_stop(&p);
    return d;
}

/* Another agent for editors beside ours, with the same client and model. */
static void measure_acp(struct delays *run)
{
    const char *peer = getenv("ACP_PEER");
    double ms, peer_ms;
    struct delays ours =
        of_acp(getenv("TIRO"), (const char *const[]){"tiro", "serve", "--acp", NULL}, &ms);
    double p50 = delay(&ours, 50);
    table_note("  the Agent Client Protocol, p50, p99", "%.3f ms, %.3f ms", p50, delay(&ours, 99));
    table_row("  overhead of it over tiro run, p50", 50, (p50 - delay(run, 50)) * 1e3, "µs", 0);
    if (peer) {
        struct delays theirs =
            of_acp("sh", (const char *const[]){"sh", "-c", peer, NULL}, &peer_ms);
        table_note("  for comparison: ACP_PEER, p50, p99, pieces", "%.3f ms, %.3f ms, %zu of %d",
                   delay(&theirs, 50), delay(&theirs, 99), theirs.items.len, PIECES);
        table_row("  ours as a part of that, p50", 1, p50 / delay(&theirs, 50), "", 3);
        table_note("  start to a session, ours, ACP_PEER", "%.1f ms, %.0f ms", ms, peer_ms);
        vec_release(&theirs.items);
    }
    vec_release(&ours.items);
}

/* Both sides use the same engine and the same model; only the surface differs. */
static void measure_delta(void)
{
    struct stamped *model = stamped_start(PIECES, RATE);
    chat_tell_model(stamped_url(model));
    struct delays run = of_run(), served = of_serve();
    double p50 = delay(&served, 50);
    table_note("serve: a piece of text, model to client, p50, p99", "%.3f ms, %.3f ms", p50,
               delay(&served, 99));
    table_note("  for comparison: tiro run --output-format stream-json", "%.3f ms, %.3f ms",
               delay(&run, 50), delay(&run, 99));
    table_row("  overhead of stdio over that, p50", 50, (p50 - delay(&run, 50)) * 1e3, "µs", 0);
    if (HTTP_IS_SERVED) {
        struct delays events = of_events();
        table_note("  as an event stream over HTTP, p50, p99", "%.3f ms, %.3f ms",
                   delay(&events, 50), delay(&events, 99));
        table_row("  overhead of the event stream, p50", 50,
                  (delay(&events, 50) - delay(&run, 50)) * 1e3, "µs", 0);
        vec_release(&events.items);
    }
    measure_acp(&run);
    vec_release(&run.items);
    vec_release(&served.items);
    stamped_stop(model);
}

static void measure_many(void)
{
    struct stamped *model = stamped_start(PIECES_EACH, RATE_EACH);
    chat_tell_model(stamped_url(model));
    struct piped p = serve();
    char *sessions[CONVERSATIONS];
    double before = process_megabytes(p.pid, "VmRSS");
    for (int i = 0; i < CONVERSATIONS; i++)
        sessions[i] = new_session(&p);
    for (int i = 0; i < CONVERSATIONS; i++)
        start_turn(&p, sessions[i]);
    struct delays d = until_answered(&p, CONVERSATIONS);
    double after = process_megabytes(p.pid, "VmRSS");
    table_row("serve: 100 conversations at 50 pieces/s, latest piece", 50, delay(&d, 100), "ms", 1);
    table_note("  p50, p99, pieces that came", "%.2f ms, %.2f ms, %zu", delay(&d, 50),
               delay(&d, 99), d.items.len);
    table_row("  memory a conversation", 1.5, (after - before) / CONVERSATIONS, "MB", 2);
    for (int i = 0; i < CONVERSATIONS; i++)
        free(sessions[i]);
    vec_release(&d.items);
    piped_stop(&p);
    stamped_stop(model);
}

void measure_serve(void)
{
    signal(SIGPIPE, SIG_IGN);
    measure_beginning();
    measure_delta();
    measure_many();
}
