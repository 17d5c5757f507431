/* Measures the built program (TIRO) from outside, through a pseudo-terminal of 120×40. Arguments
 * name the measures wanted: start idle stream bulk resume; none: all. */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/table.h"

static const struct {
    const char *name;
    void (*run)(void);
} measures[] = {
    {"start", measure_start}, {"idle", measure_idle},     {"stream", measure_stream},
    {"bulk", measure_bulk},   {"resume", measure_resume},
};

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc < 2;
}

/* Settings of the person who measures are not what is measured. */
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

int main(int argc, char **argv)
{
    struct utsname machine;
    const char *program = getenv("TIRO");
    if (program == NULL || access(program, X_OK) != 0) {
        fprintf(stderr, "bench: the variable TIRO must name the program to measure\n");
        return 64;
    }
    setlocale(LC_ALL, "C.UTF-8");
    scrub_environment();
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
