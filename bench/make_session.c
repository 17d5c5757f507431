#include "bench/make_session.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/write_session.h"

enum { PIECE = 200, ANSWER_BYTES = 800, HOUR_MS = 3600000 };

void make_session(const char *store_path, size_t messages, const char *ending)
{
    struct session_writer w;
    unsigned turns = (unsigned)(messages / 2);
    struct store *s = write_open(store_path);
    write_session_begin(&w, s, "A long correspondence", clock_wall_ms() - HOUR_MS);
    for (unsigned turn = 1; turn <= turns; turn++) {
        char *question =
            mem_printf("Question number %u: what did the letters say about the harvest?", turn);
        write_session_turn(&w, question, ANSWER_BYTES, PIECE, turn,
                           turn == turns ? ending : "So much for this letter.");
        free(question);
    }
    write_session_end(&w);
    write_close(s);
}
