/* The cost of an idle program. */
#include <stdlib.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/process.h"
#include "bench/prose.h"
#include "bench/source.h"
#include "bench/table.h"

enum { KEYS = 400, LINE = 60, ANSWER = 1000000, PIECE = 64, LARGEST = 8 };

static const char ending[] = "Thus ends the answer.";

static void ten_seconds(struct chat *c)
{
    chat_watch(c, 3000); /* time to save the draft, and for any other effect of the key */
    long wakeups = process_wakeups(screen_pid(c->screen));
    size_t bytes = screen_bytes(c->screen);
    chat_watch(c, 10000);
    table_row("idle 10 s: wake-ups", 0, (double)(process_wakeups(screen_pid(c->screen)) - wakeups),
              "", 0);
    table_row("idle 10 s: bytes written", 0, (double)(screen_bytes(c->screen) - bytes), "", 0);
}

/* Prints VmRSS, and its largest parts. */
static void tell_memory(const char *measure, double goal, const struct chat *c)
{
    struct process_mapping mappings[LARGEST];
    pid_t pid = screen_pid(c->screen);
    table_row(measure, goal, process_megabytes(pid, "VmRSS"), "MB", 1);
    size_t count = process_mappings(pid, mappings, LARGEST);
    for (size_t i = 0; i < count; i++) {
        char *name = mem_printf("  %s", *mappings[i].name ? mappings[i].name : "(allocated)");
        table_note(name, "%.1f MB", mappings[i].megabytes);
        free(name);
        free(mappings[i].name);
    }
}

/* A provider that has its key, and a model whose window needs no question: nothing is asked before
 * the first message. */
static void memory(void)
{
    struct buf text = BUF_INIT;
    struct chat c;
    prose(&text, ANSWER, 2, ending);
    struct source *source = source_start(text.data, text.len, PIECE, 0);
    chat_open_with(&c, source_url(source), (const char *const[]){"--model", "gpt-4.1", NULL});
    chat_key_echo(&c);
    chat_watch(&c, 2000);
    tell_memory("resident while idle, before a request", 10, &c);
    chat_ask(&c);
    chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no end of the answer");
    chat_wait_idle(&c);
    chat_watch(&c, 2000);
    tell_memory("resident after an answer of 1 MB", 20, &c);
    table_note("  its peak", "%.1f MB", process_megabytes(screen_pid(c.screen), "VmHWM"));
    chat_close(&c);
    source_stop(source);
    buf_release(&text);
}

void measure_idle(void)
{
    static double echo[KEYS];
    struct chat c;
    chat_open(&c, NULL, NULL);
    chat_key_echo(&c);
    ten_seconds(&c);
    for (int i = 0; i < KEYS; i++) {
        if (c.typed == LINE)
            chat_clear(&c);
        chat_watch(&c, 20);
        echo[i] = chat_key_echo(&c);
    }
    table_row("key echo, idle, p50", 0.6, percentile(echo, KEYS, 50), "ms", 2);
    table_row("key echo, idle, p99", 1.5, percentile(echo, KEYS, 99), "ms", 2);
    chat_close(&c);
    memory();
}
