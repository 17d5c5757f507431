/* 20 kB of Markdown in pieces as models send them (5 bytes) at 200 events a second: 20 seconds. */
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/process.h"
#include "bench/prose.h"
#include "bench/source.h"
#include "bench/table.h"

enum { BYTES = 20000, PIECE = 5, RATE = 200, MAX_KEYS = 2000, LINE = 60 };

static const char ending[] = "Thus ends the stream.";

static void without_keys(const struct buf *text)
{
    struct source *source = source_start(text->data, text->len, PIECE, RATE);
    struct chat c;
    chat_open(&c, source_url(source), NULL);
    chat_watch(&c, 500);
    double cpu = process_cpu(screen_pid(c.screen));
    size_t bytes = screen_bytes(c.screen);
    chat_ask(&c);
    chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no end of the stream");
    double seen = screen_clock(), sent = source_last_byte(source);
    bytes = screen_bytes(c.screen) - bytes;
    chat_watch(&c, 500);
    table_row("20 kB at 200 events/s: processor time", 0.75,
              process_cpu(screen_pid(c.screen)) - cpu, "s", 2);
    table_row("20 kB at 200 events/s: terminal bytes/character", 5,
              (double)bytes / (double)prose_characters(text->data, text->len), "", 2);
    table_row("20 kB at 200 events/s: last byte to screen", 10, seen - sent, "ms", 1);
    chat_close(&c);
    source_stop(source);
}

/* Keys at uneven intervals, so that they fall everywhere between two frames. */
static void with_keys(const struct buf *text)
{
    static double echo[MAX_KEYS];
    size_t count = 0;
    struct source *source = source_start(text->data, text->len, PIECE, RATE);
    struct chat c;
    chat_open(&c, source_url(source), NULL);
    double until = chat_ask(&c) + (double)text->len / PIECE / RATE * 1e3 - 500;
    chat_watch(&c, 500);
    while (screen_clock() < until && count < MAX_KEYS) {
        if (c.typed == LINE)
            chat_clear(&c);
        chat_watch(&c, 11 + (double)(count * 7 % 23));
        echo[count++] = chat_key_echo(&c);
    }
    table_row("key echo, streaming, p99", 2, percentile(echo, count, 99), "ms", 2);
    table_note("key echo, streaming, p50", "%.2f ms", percentile(echo, count, 50));
    chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no end of the stream");
    chat_close(&c);
    source_stop(source);
}

void measure_stream(void)
{
    struct buf text = BUF_INIT;
    prose(&text, BYTES, 1, ending);
    without_keys(&text);
    with_keys(&text);
    buf_release(&text);
}
