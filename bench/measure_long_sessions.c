/* Sessions of 100 to 100,000 messages: opening, going on in and reading them must not cost more
 * because they are long. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/command.h"
#include "bench/make_session.h"
#include "bench/measures.h"
#include "bench/piped.h"
#include "bench/process.h"
#include "bench/prose.h"
#include "bench/source.h"
#include "bench/table.h"

enum { OPENINGS = 9, PAGES = 500, CALM_MS = 300, COMMANDS = 3 };

static const char ending[] = MAKE_SESSION_ENDING;
static const char answer_ending[] = "Noted, says the model.";
static const char list_events[] =
    "SELECT payload FROM event WHERE type NOT IN ('text_delta', 'reasoning_delta', "
    "'compaction_delta')"
    " ORDER BY session DESC, seq DESC LIMIT 120";

struct opened {
    double ms, megabytes;
};

static char *home_path(const char *name)
{
    return mem_printf("%s/%s", chat_home(), name);
}

static void row(const char *what, size_t messages, double goal, double value, const char *unit,
                int decimals)
{
    char *measure = mem_printf("%s, %zu messages", what, messages);
    table_row(measure, goal, value, unit, decimals);
    free(measure);
}

/* ---- opening ---- */

static struct opened open_once(void)
{
    struct chat c;
    chat_open(&c, NULL, "--continue");
    chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no last message");
    struct opened o = {.ms = screen_clock() - c.started};
    chat_watch(&c, CALM_MS);
    o.megabytes = process_megabytes(screen_pid(c.screen), "VmRSS");
    chat_close(&c);
    return o;
}

static struct opened open_best(void)
{
    struct opened best = open_once();
    for (int i = 1; i < OPENINGS; i++) {
        struct opened o = open_once();
        best.ms = o.ms < best.ms ? o.ms : best.ms;
        best.megabytes = o.megabytes < best.megabytes ? o.megabytes : best.megabytes;
    }
    return best;
}

static void compare_less(const char *file, const struct opened *ours)
{
    const char *const argv[] = {"/usr/bin/less", "+G", file, NULL};
    double start = screen_clock();
    struct screen *s = screen_start(argv, chat_home(), CHAT_ROWS, CHAT_COLS);
    if (screen_wait_text(s, ending, CHAT_DEADLINE_MS)) {
        double ms = screen_clock() - start;
        double megabytes = process_megabytes(screen_pid(s), "VmRSS");
        table_note("  for comparison: less +G transcript.md", "%.1f ms (we: %.2f×), %.1f MB", ms,
                   ours->ms / ms, megabytes);
    }
    screen_free(s);
}

static void compare_sqlite(const struct opened *ours)
{
    char *store = home_path(".local/share/tiro/tiro.db");
    const char *const argv[] = {"sqlite3", store, list_events, NULL};
    struct command_cost cost = command_run(argv, OPENINGS);
    table_note("  for comparison: sqlite3, its last 120 events", "%.1f ms (we: %.2f×)", cost.ms,
               ours->ms / cost.ms);
    free(store);
}

/* ---- taking it out and in ---- */

static struct command_cost run_tiro(const char *arguments, const char *file)
{
    char *line = mem_printf("exec \"$TIRO\" %s %s >/dev/null", arguments, file);
    struct command_cost cost = command_shell(line, COMMANDS);
    free(line);
    return cost;
}

static void compare_copy(double ours)
{
    char *line = mem_printf(
        "rm -f %s/copy.db; exec sqlite3 %s/copy.db \"ATTACH"
        " '%s/.local/share/tiro/tiro.db' AS o; CREATE TABLE event AS SELECT *"
        " FROM o.event\"",
        chat_home(), chat_home(), chat_home());
    double ms = command_shell(line, COMMANDS).ms;
    table_note("  for comparison: sqlite3 copies its events", "%.0f ms (we: %.2f×)", ms, ours / ms);
    free(line);
}

/* The import has no snapshot yet. */
static void open_import(size_t messages)
{
    const char *const argv[] = {"tiro", "serve", "--stdio", "--provider", "offline", NULL};
    struct piped p = piped_start(getenv("TIRO"), argv);
    json_free(piped_call(&p, "initialize", "{}"));
    double start = screen_clock();
    json_free(piped_call(&p, "session/open", "{\"session_id\":\"last\"}"));
    row("session/open of an import", messages, 150, screen_clock() - start, "ms", 0);
    piped_stop(&p);
}

static void transfer(size_t messages)
{
    char *text = home_path("session.jsonl");
    struct command_cost out = run_tiro("sessions export --format jsonl --force last -o", text);
    struct command_cost in = run_tiro("sessions import", text);
    row("export as JSON Lines", messages, 1000, out.ms, "ms", 0);
    table_note("  its memory", "%.1f MB", out.megabytes);
    row("import of that", messages, 4000, in.ms, "ms", 0);
    table_note("  its memory", "%.1f MB", in.megabytes);
    compare_copy(in.ms);
    open_import(messages);
    free(text);
}

/* ---- turns ---- */

/* *asked: when. */
static double turn(struct chat *c, int nth, double *asked)
{
    double start = *asked = chat_ask(c);
    chat_must(c, screen_wait_count(c->screen, answer_ending, nth, CHAT_DEADLINE_MS), "no answer");
    chat_wait_idle(c);
    return screen_clock() - start;
}

struct bounds {
    double ms, megabytes;
};

static struct bounds bounds_of(size_t messages)
{
    return messages > 10000 ? (struct bounds){1000, 40} : (struct bounds){150, 25};
}

/* Waits until indexes are merged and the log is written into the database, which are not part of a
 * turn's work. */
static long written_when_calm(struct chat *c)
{
    long before, written = -1;
    do {
        before = written;
        chat_watch(c, 3 * CALM_MS);
        written = process_written(screen_pid(c->screen));
    } while (written != before);
    return written;
}

/* If the session is too long for the model, it is summarised first, and then the question is
 * sent. */
static void tell_asked(size_t messages, struct source *source, double start)
{
    double first = 0, last = 0;
    size_t requests = source_asked(source, &first, &last);
    row("first turn, to the first request", messages, bounds_of(messages).ms, first - start, "ms",
        0);
    if (requests > 1)
        table_note("  to the last, behind those of a compaction", "%.0f ms, %zu requests",
                   last - start, requests);
}

static void tell_memory(const char *what, size_t messages, pid_t pid)
{
    row(what, messages, bounds_of(messages).megabytes, process_megabytes(pid, "VmRSS"), "MB", 1);
    table_note("  at most", "%.1f MB", process_megabytes(pid, "VmHWM"));
}

static void measure_turns(size_t messages)
{
    struct chat c;
    struct source *source = source_start(answer_ending, strlen(answer_ending), 64, 0);
    chat_open(&c, source_url(source), "--continue");
    chat_watch(&c, CALM_MS);
    double start, again;
    double first = turn(&c, 1, &start);
    tell_asked(messages, source, start);
    table_note("  to its end", "%.0f ms", first);
    long written = written_when_calm(&c);
    tell_memory("  resident memory then", messages, screen_pid(c.screen));
    double second = turn(&c, 2, &again);
    written = written_when_calm(&c) - written;
    row("second turn", messages, 150, second, "ms", 0);
    row("second turn writes", messages, 400, (double)written / 1e3, "kB", 0);
    chat_close(&c);
    source_stop(source);
}

/* Measures one turn without a screen, in a copy of the session. */
static void measure_run(size_t messages)
{
    double first = 0, last = 0;
    char *copy = mem_printf("rm -rf %s/copy; exec cp -r %s/.local/share %s/copy", chat_home(),
                            chat_home(), chat_home());
    char *data = mem_printf("XDG_DATA_HOME=%s/copy", chat_home());
    const char *const argv[] = {"env",     data,    getenv("TIRO"), "run",  "--provider", "openai",
                                "--model", "bench", "--resume",     "last", "Hello",      NULL};
    struct source *source = source_start(answer_ending, strlen(answer_ending), 64, 0);
    chat_tell_model(source_url(source));
    (void)command_shell(copy, 1);
    double start = screen_clock();
    struct command_cost cost = command_run(argv, 1);
    (void)source_asked(source, &first, &last);
    row("tiro run, to the first request", messages, bounds_of(messages).ms, first - start, "ms", 0);
    row("tiro run, its memory at most", messages, bounds_of(messages).megabytes, cost.megabytes,
        "MB", 1);
    source_stop(source);
    free(copy);
    free(data);
}

/* ---- reading back ---- */

static void measure_pages(size_t messages)
{
    static double ms[PAGES];
    struct chat c;
    chat_open(&c, NULL, "--continue");
    chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no last message");
    chat_watch(&c, CALM_MS);
    for (int i = 0; i < PAGES; i++) {
        size_t bytes = screen_bytes(c.screen);
        double start = screen_clock();
        screen_key(c.screen, SCREEN_PAGE_UP);
        while (screen_bytes(c.screen) - bytes < CHAT_COLS) /* more than a caret */
            chat_must(&c, screen_pump(c.screen, CHAT_DEADLINE_MS), "a page does not come");
        ms[i] = chat_settle(&c, 15) - start;
    }
    row("PgUp to its last byte, p99 of 500", messages, 50, percentile(ms, PAGES, 99), "ms", 1);
    table_note("  its p50", "%.1f ms", percentile(ms, PAGES, 50));
    table_note("  resident memory then", "%.1f MB",
               process_megabytes(screen_pid(c.screen), "VmRSS"));
    chat_close(&c);
}

/* Searches with Ctrl-F for a text this many turns back. */
static void measure_find(size_t messages, size_t back)
{
    struct chat c;
    char *text = mem_printf("Question number %zu:", messages / 2 - back);
    chat_open(&c, NULL, "--continue");
    chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no last message");
    screen_ctrl(c.screen, 'f');
    screen_type(c.screen, text);
    chat_watch(&c, CALM_MS);
    double start = screen_clock();
    screen_key(c.screen, SCREEN_ENTER);
    chat_must(&c, screen_wait_count(c.screen, text, 2, CHAT_DEADLINE_MS), "it is not found");
    char *what = mem_printf("Ctrl-F, %zu messages back", 2 * back);
    row(what, messages, 50 + (double)back, screen_clock() - start, "ms", 0);
    screen_key(c.screen, SCREEN_ESCAPE);
    chat_watch(&c, CALM_MS);
    chat_close(&c);
    free(what);
    free(text);
}

/* ---- all of it ---- */

/* Makes a home as the program would have left it, with the derived files. */
static void make_home(size_t messages)
{
    chat_new_home();
    char *directory = home_path(".local/share/tiro");
    command_make("make-session", directory, messages);
    (void)run_tiro("sessions rebuild", "last");
    free(directory);
}

static struct opened measure_opening(size_t messages)
{
    char *file = home_path("transcript.md");
    (void)run_tiro("sessions export --force last -o", file);
    struct opened o = open_best();
    row("open, best of 9", messages, 100, o.ms, "ms", 1);
    table_note("  resident memory then", "%.1f MB", o.megabytes);
    compare_less(file, &o);
    compare_sqlite(&o);
    free(file);
    return o;
}

static void measure_reading(size_t messages)
{
    measure_pages(messages);
    measure_find(messages, 100);
    measure_find(messages, 1000);
}

void measure_long_sessions(void)
{
    static const size_t sizes[] = {100, 1000, 10000, 100000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct opened opened[SIZES];
    for (size_t i = 0; i < SIZES; i++) {
        make_home(sizes[i]);
        opened[i] = measure_opening(sizes[i]);
        if (sizes[i] >= 10000)
            measure_reading(sizes[i]);
        measure_run(sizes[i]);
        measure_turns(sizes[i]);
        if (sizes[i] == 10000)
            transfer(sizes[i]);
    }
    table_row("open, 100,000 messages in times of 100", 1.5, opened[SIZES - 1].ms / opened[0].ms,
              "×", 2);
    table_row("  resident memory likewise", 1.1, opened[SIZES - 1].megabytes / opened[0].megabytes,
              "×", 2);
}
