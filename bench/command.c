#include "bench/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/screen.h"

static _Noreturn void become(const char *const *argv)
{
    char *args[16] = {NULL};
    int null = open("/dev/null", O_RDWR);
    for (size_t i = 0; argv[i] != NULL && i + 1 < sizeof args / sizeof *args; i++)
        args[i] = mem_strdup(argv[i]);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0)
        _exit(126);
    execvp(args[0], args);
    _exit(127);
}

static struct command_cost run_once(const char *const *argv)
{
    struct rusage used;
    int status;
    double start = screen_clock();
    pid_t pid = fork();
    if (pid == 0)
        become(argv);
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) > 1) {
        fputs("bench: this failed:", stderr);
        for (size_t i = 0; argv[i] != NULL; i++)
            fprintf(stderr, " %s", argv[i]);
        fputc('\n', stderr);
        exit(99);
    }
    return (struct command_cost){screen_clock() - start, (double)used.ru_maxrss * 1024 / 1e6};
}

struct command_cost command_run(const char *const *argv, int runs)
{
    struct command_cost best = run_once(argv);
    for (int i = 1; i < runs; i++) {
        struct command_cost cost = run_once(argv);
        best.ms = cost.ms < best.ms ? cost.ms : best.ms;
        best.megabytes = cost.megabytes < best.megabytes ? cost.megabytes : best.megabytes;
    }
    return best;
}

struct command_cost command_shell(const char *line, int runs)
{
    const char *const argv[] = {"sh", "-c", line, NULL};
    return command_run(argv, runs);
}

void command_make(const char *verb, const char *directory, size_t count)
{
    char *number = mem_printf("%zu", count);
    const char *const argv[] = {"/proc/self/exe", verb, directory, number, NULL};
    (void)command_run(argv, 1);
    free(number);
}
