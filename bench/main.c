/* Measures the built program (TIRO) from outside, through a pseudo-terminal of 120×40. The
 * arguments name the measures; none: all of them. Also makes the data of the measures, to inspect
 * by hand: tiro-bench make-store DIR SESSIONS       DIR/tiro.db with SESSIONS short sessions
 *     tiro-bench make-session DIR MESSAGES     … with one session of MESSAGES messages
 * and searches foreign conversations (exam.h):
 *     tiro-bench recall DIR */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/make_session.h"
#include "bench/make_store.h"
#include "bench/measures.h"
#include "bench/memory_probe.h"
#include "bench/table.h"

static const struct {
    const char *name;
    void (*run)(void);
} measures[] = {
    {"start", measure_start},           {"idle", measure_idle},
    {"stream", measure_stream},         {"bulk", measure_bulk},
    {"resume", measure_resume},         {"interrupt", measure_interrupt},
    {"scale", measure_long_sessions},   {"scale", measure_many_sessions},
    {"compaction", measure_compaction}, {"memory", measure_memory},
    {"facts", measure_facts},           {"recall", measure_recall},
    {"reach", measure_reach},           {"corpora", measure_corpora},
    {"serve", measure_serve},           {"import", measure_import},
    {"space", measure_space},
};

static void make_one_session(const char *store_path, size_t messages)
{
    make_session(store_path, messages, MAKE_SESSION_ENDING);
}

static const struct {
    const char *name, *what;
    void (*make)(const char *store_path, size_t count);
} makers[] = {
    {"make-store", "SESSIONS", make_store},
    {"make-session", "MESSAGES", make_one_session},
};

/* Whether the arguments ask for data to be made; *status is then the exit status. */
static bool make(int argc, char **argv, int *status)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (argc < 2 || strcmp(argv[1], makers[i].name) != 0)
            continue;
        size_t count = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
        *status = count > 0 ? 0 : 64;
        if (count == 0) {
            fprintf(stderr, "usage: tiro-bench %s DIR %s\n", makers[i].name, makers[i].what);
            return true;
        }
        char *path = mem_printf("%s/tiro.db", argv[2]);
        makers[i].make(path, count);
        free(path);
        return true;
    }
    return false;
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (strcmp(measures[i].name, name) == 0)
            return true;
    return false;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc < 2;
}

static bool asks_others(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], "recall") == 0 && !is_known(argv[2]);
}

/* Removes the settings of the person who runs the benchmark. */
static void scrub_environment(void)
{
    static const char *const names[] = {"XDG_CONFIG_HOME",   "XDG_DATA_HOME",
                                        "XDG_STATE_HOME",    "XDG_CACHE_HOME",
                                        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
                                        "OPENAI_API_KEY",    "OPENAI_BASE_URL",
                                        "OLLAMA_HOST",       "NO_COLOR",
                                        "http_proxy",        "HTTP_PROXY",
                                        "all_proxy",         "ALL_PROXY",
                                        "LANGUAGE",          "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

static bool check(int argc, char **argv)
{
    const char *program = getenv("TIRO");
    if (program == NULL || access(program, X_OK) != 0) {
        fprintf(stderr, "bench: the variable TIRO must name the program to measure\n");
        return false;
    }
    for (int i = 1; i < argc; i++)
        if (!is_known(argv[i])) {
            fprintf(stderr, "bench: there is no measure \"%s\"\n", argv[i]);
            return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    struct utsname machine;
    int status;
    if (make(argc, argv, &status))
        return status;
    if (argc == 5 && strcmp(argv[1], "probe-memory") == 0)
        return probe_run(argv[2], argv[3], strtoul(argv[4], NULL, 10)) ? 0 : 64;
    setlocale(LC_ALL, "C.UTF-8");
    scrub_environment();
    if (asks_others(argc, argv)) {
        chat_new_home();
        measure_recall_of(argv[2]);
        return 0;
    }
    if (!check(argc, argv))
        return 64;
    if (uname(&machine) == 0)
        printf("%s %s %s, %ld processors, terminal %d×%d\n\n", machine.sysname, machine.release,
               machine.machine, sysconf(_SC_NPROCESSORS_ONLN), CHAT_COLS, CHAT_ROWS);
    table_head();
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (is_wanted(measures[i].name, argc, argv)) {
            chat_new_home();
            measures[i].run();
        }
    printf("\n%d over\n", table_over());
    return 0;
}
