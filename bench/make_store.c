#include "bench/make_store.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "bench/write_session.h"

enum { PIECE = 400, SPACING_MS = 2 * 3600000, TURNS = 4, DIRECTORIES = 40 };

static const char *const subjects[] = {"harvest", "river",   "archive", "window", "dictation",
                                       "winter",  "letters", "Kyoto",   "größer", "shorthand",
                                       "memory",  "token",   "parser",  "mailbox"};
static const char *const labels[] = {"work", "home", "draft", "review", "urgent", "reading"};
enum { SUBJECTS = sizeof subjects / sizeof *subjects, LABELS = sizeof labels / sizeof *labels };

static char *title_of(size_t i, size_t sessions)
{
    if (i + 1 == sessions)
        return mem_strdup(MAKE_STORE_NEWEST);
    return mem_printf("%s and %s, part %zu", subjects[i % SUBJECTS],
                      subjects[i / SUBJECTS % SUBJECTS], i);
}

/* Every fifth session has no labels, every third has two. */
static char *labels_of(size_t i)
{
    size_t first = i % LABELS;
    if (i % 5 == 0)
        return NULL;
    if (i % 3 != 0 || first + 1 == LABELS)
        return mem_strdup(labels[first]);
    /* The labels are kept sorted. */
    const char *const pair[][2] = {{"home", "work"},
                                   {"draft", "home"},
                                   {"draft", "review"},
                                   {"review", "urgent"},
                                   {"reading", "urgent"}};
    return mem_printf("%s %s", pair[first][0], pair[first][1]);
}

static void describe(struct session_writer *w, size_t i, size_t sessions)
{
    free(w->info.directory);
    w->info.directory = mem_printf("/home/kim/src/%s-%zu", subjects[i % SUBJECTS], i % DIRECTORIES);
    w->info.labels = labels_of(i);
    w->info.title_set = i % 2 == 0;
    if (i % 10 == 0 && i + 1 < sessions)
        w->info.archived_ms = w->info.created_ms + SPACING_MS;
}

static void add_turns(struct session_writer *w, size_t i)
{
    const char *ending =
        i % 1000 == 7 ? "The " MAKE_STORE_RARE " has landed." : "So much for this letter.";
    for (size_t turn = 1; turn <= 1 + i % TURNS; turn++) {
        char *question = mem_printf(
            "What does part %zu say about the " MAKE_STORE_COMMON " in letter %zu?", i, turn);
        write_session_turn(w, question, 200 + i % 7 * 100, PIECE, (unsigned)(i * TURNS + turn),
                           ending);
        free(question);
    }
}

void make_store(const char *store_path, size_t sessions)
{
    struct store *s = write_open(store_path);
    int64_t begin = clock_wall_ms() - (int64_t)sessions * SPACING_MS;
    for (size_t i = 0; i < sessions; i++) {
        struct session_writer w;
        char *title = title_of(i, sessions);
        write_session_begin(&w, s, title, begin + (int64_t)i * SPACING_MS);
        describe(&w, i, sessions);
        add_turns(&w, i);
        write_session_end(&w);
        free(title);
    }
    write_close(s);
}
