#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/process.h"
#include "bench/table.h"

enum { KEYS = 400, LINE = 60 };

static void ten_seconds(struct chat *c)
{
    chat_watch(c, 3000); /* the draft is saved, and whatever else a key sets off */
    long wakeups = process_wakeups(screen_pid(c->screen));
    size_t bytes = screen_bytes(c->screen);
    chat_watch(c, 10000);
    table_row("idle 10 s: wake-ups", 0, (double)(process_wakeups(screen_pid(c->screen)) - wakeups),
              "", 0);
    table_row("idle 10 s: bytes written", 0, (double)(screen_bytes(c->screen) - bytes), "", 0);
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
}
