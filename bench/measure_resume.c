#include <stdlib.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/make_session.h"
#include "bench/measures.h"
#include "bench/process.h"
#include "bench/table.h"

enum { RUNS = 11 };

static const char ending[] = "Thus ends the last letter.";

/* Time until a key is echoed and the last message is on the screen; the median of the runs. */
static void resume(size_t messages, const char *measure, double goal)
{
    double ms[RUNS], megabytes = 0;
    chat_new_home();
    char *store = mem_printf("%s/.local/share/tiro/tiro.db", chat_home());
    make_session(store, messages, ending);
    free(store);
    for (int i = 0; i < RUNS; i++) {
        struct chat c;
        chat_open(&c, NULL, "--continue");
        chat_key_echo(&c);
        chat_must(&c, screen_wait_text(c.screen, ending, CHAT_DEADLINE_MS), "no last message");
        ms[i] = screen_clock() - c.started;
        chat_watch(&c, 300);
        megabytes = process_megabytes(screen_pid(c.screen), "VmRSS");
        chat_close(&c);
    }
    table_row(measure, goal, percentile(ms, RUNS, 50), "ms", 1);
    table_note("  its resident memory", "%.1f MB", megabytes);
}

void measure_resume(void)
{
    resume(1000, "resume of 1,000 messages, median of 11", 30);
    resume(10000, "resume of 10,000 messages, median of 11", 50);
}
