/* Long answers, in events of 64 bytes, as fast as the program takes them. */
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/process.h"
#include "bench/prose.h"
#include "bench/source.h"
#include "bench/table.h"

enum { PIECE = 64, RUNS = 5 };

static const char ending[] = "Thus ends the flood.";

/* Seconds from Enter to the end of the text on the screen, median; the last run's memory. */
static double run(size_t bytes, double *peak)
{
    double seconds[RUNS];
    struct buf text = BUF_INIT;
    prose(&text, bytes, 2, ending);
    struct source *source = source_start(text.data, text.len, PIECE, 0);
    for (int i = 0; i < RUNS; i++) {
        struct chat c;
        chat_new_home();
        chat_open(&c, source_url(source), NULL);
        chat_watch(&c, 300);
        double start = chat_ask(&c);
        chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no end");
        seconds[i] = (screen_clock() - start) / 1e3;
        (void)source_last_byte(source);
        chat_watch(&c, 500);
        *peak = process_megabytes(screen_pid(c.screen), "VmHWM");
        chat_close(&c);
    }
    source_stop(source);
    buf_release(&text);
    return percentile(seconds, RUNS, 50);
}

void measure_bulk(void)
{
    double peak;
    double small = run(100000, &peak), large = run(1000000, &peak);
    table_row("100 kB flat out, median of 5", 0.07, small, "s", 3);
    table_row("1 MB flat out, median of 5", 0.4, large, "s", 3);
    table_row("1 MB flat out, in times of 100 kB", 12, large / small, "×", 1);
    table_row("peak memory after 1 MB", 30, peak, "MB", 1);
}
