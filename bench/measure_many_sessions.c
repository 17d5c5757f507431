/* 10,000 sessions: lists, filters and searches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/command.h"
#include "bench/make_store.h"
#include "bench/measures.h"
#include "bench/process.h"
#include "bench/table.h"

enum { SESSIONS = 10000, RUNS = 7, MOST_KEYS = 64, SILENCE_MS = 120 };

/* ---- F3 ---- */

static double open_list(struct chat *c)
{
    double start = screen_clock();
    screen_key(c->screen, SCREEN_F3);
    chat_must(c, screen_wait_text(c->screen, MAKE_STORE_NEWEST, CHAT_DEADLINE_MS), "no list");
    return screen_clock() - start;
}

struct typing {
    double echo[MOST_KEYS], settled[MOST_KEYS];
    size_t count;
};

/* Times from the key to the first drawing, and to the end of its work: list, matches, preview. */
static void type_key(struct chat *c, struct typing *t, const char *key)
{
    double start = screen_clock();
    screen_type(c->screen, key);
    chat_must(c, screen_pump(c->screen, CHAT_DEADLINE_MS), "a key is not echoed");
    t->echo[t->count] = screen_clock() - start;
    double last = screen_clock(), settled = chat_settle(c, SILENCE_MS);
    t->settled[t->count++] = (settled > last ? settled : last) - start;
}

static void type_words(struct chat *c, struct typing *t)
{
    static const char *const words[] = {MAKE_STORE_COMMON, MAKE_STORE_RARE, "part 73",
                                        "letter the"};
    char key[2] = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (const char *at = words[i]; *at && t->count < MOST_KEYS; at++) {
            key[0] = *at;
            type_key(c, t, key);
        }
        screen_ctrl(c->screen, 'u');
        (void)chat_settle(c, SILENCE_MS);
    }
}

static void measure_screen(void)
{
    struct typing t = {.count = 0};
    struct chat c;
    double ms[RUNS];
    for (int i = 0; i < RUNS; i++) {
        chat_open(&c, NULL, NULL);
        chat_watch(&c, SILENCE_MS);
        ms[i] = open_list(&c);
        if (i + 1 < RUNS) {
            screen_key(c.screen, SCREEN_F3);
            (void)chat_settle(&c, SILENCE_MS);
            chat_close(&c);
        }
    }
    table_row("F3, 10,000 sessions, to the first rows, best of 7", 50, percentile(ms, RUNS, 0),
              "ms", 1);
    (void)chat_settle(&c, SILENCE_MS);
    type_words(&c, &t);
    table_row("  a key of the filter, to what is drawn, p99", 20, percentile(t.echo, t.count, 99),
              "ms", 1);
    table_row("  to the list, hits and preview, p50", 50, percentile(t.settled, t.count, 50), "ms",
              1);
    table_row("  to the list, hits and preview, p99", 100, percentile(t.settled, t.count, 99), "ms",
              1);
    table_note("  resident memory then", "%.1f MB",
               process_megabytes(screen_pid(c.screen), "VmRSS"));
    screen_key(c.screen, SCREEN_F3);
    (void)chat_settle(&c, SILENCE_MS);
    chat_close(&c);
}

/* ---- the command line ---- */

static const struct comparison {
    const char *tiro;
    double goal;
    const char *peer, *what; /* a line of the shell in the data directory, NULL: none */
} commands[] = {
    {"--version", 20, "exec sqlite3 --version", "sqlite3 --version"},
    {"sessions list", 150,
     "exec sqlite3 tiro.db 'SELECT id, title, updated_ms, messages, model, directory FROM session"
     " ORDER BY updated_ms DESC, key DESC'",
     "sqlite3, the same columns"},
    {"sessions list --json", 60, "exec sqlite3 -json tiro.db 'SELECT * FROM session'",
     "sqlite3 -json"},
    {"sessions list --limit 20", 30,
     "exec sqlite3 tiro.db 'SELECT id, title, updated_ms, messages, model, directory FROM session"
     " ORDER BY updated_ms DESC, key DESC LIMIT 20'",
     "sqlite3, the same"},
    {"sessions show last --limit 1", 30,
     "exec sqlite3 tiro.db \"SELECT payload FROM event WHERE type NOT LIKE '%delta'"
     " ORDER BY session DESC, seq DESC LIMIT 5\"",
     "sqlite3, the last five events"},
    {"sessions search " MAKE_STORE_RARE, 30, "exec grep -rl " MAKE_STORE_RARE " sessions",
     "grep -rl in the transcripts"},
    {"sessions search " MAKE_STORE_COMMON, 50, "exec grep -rl " MAKE_STORE_COMMON " sessions",
     "grep -rl in the transcripts"},
    {"sessions search nowhereatall", 30, "exec grep -rl nowhereatall sessions",
     "grep -rl in the transcripts"},
};

static void measure_command(const struct comparison *cmp)
{
    char *ours_line = mem_printf("exec \"$TIRO\" %s", cmp->tiro);
    char *peer_line = mem_printf("cd '%s/.local/share/tiro' && %s", chat_home(), cmp->peer);
    char *measure = mem_printf("tiro %s", cmp->tiro);
    char *peer_measure = mem_printf("  for comparison: %s", cmp->what);
    struct command_cost ours = command_shell(ours_line, RUNS);
    struct command_cost peer = command_shell(peer_line, RUNS);
    table_row(measure, cmp->goal, ours.ms, "ms", 1);
    table_note(peer_measure, "%.1f ms (we: %.2f×), %.1f MB (we: %.1f)", peer.ms, ours.ms / peer.ms,
               peer.megabytes, ours.megabytes);
    free(ours_line);
    free(peer_line);
    free(measure);
    free(peer_measure);
}

void measure_many_sessions(void)
{
    char *directory = mem_printf("%s/.local/share/tiro", chat_home());
    double start = screen_clock();
    command_make("make-store", directory, SESSIONS);
    table_note("(making 10,000 sessions)", "%.1f s", (screen_clock() - start) / 1e3);
    measure_screen();
    struct command_cost rebuilt = command_shell("exec \"$TIRO\" sessions rebuild", 1);
    table_note("tiro sessions rebuild, of all 10,000", "%.1f s", rebuilt.ms / 1e3);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        measure_command(&commands[i]);
    free(directory);
}
