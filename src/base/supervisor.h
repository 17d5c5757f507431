/* The process between us and a program that we start: it starts the program, waits for its end and
 * then ends all that the program left, also what moved to a session of its own (Linux; elsewhere
 * what stayed in the process group). It lives as long as its leash is held, so that nothing
 * outlives us if we are killed. One for each program: so nobody waits for another's children, and
 * ours stay ours. For child.c alone. */
#ifndef BASE_SUPERVISOR_H
#define BASE_SUPERVISOR_H

#include <spawn.h>
#include <stdbool.h>

/* The numbers that descriptors have there. Those of `supervision` are not among them, and above. */
enum {
    SUPERVISOR_LEASH = 4,
    SUPERVISOR_NEWS,
    SUPERVISOR_IN,
    SUPERVISOR_OUT,
    SUPERVISOR_EXTRA,
    SUPERVISOR_FREE /* the first that is nobody's */
};

struct supervision {
    int leash;          /* a byte: SIGTERM to the group; its end: end all */
    int news;           /* what became of the program, as supervisor_news */
    int in, out, extra; /* for the program; -1: none */
    bool spares_daemons, spares_group; /* as in child.h */
    const char *const *argv;
    char *const *environment;
    const posix_spawn_file_actions_t *files; /* in terms of the numbers above */
    const posix_spawnattr_t *attributes;
};

/* STARTED and then one of the last two, or NOT_STARTED alone. */
enum supervisor_event {
    SUPERVISOR_STARTED,     /* number: of the process */
    SUPERVISOR_NOT_STARTED, /* as of errno */
    SUPERVISOR_EXITED,      /* the exit status */
    SUPERVISOR_SIGNALED     /* the signal */
};

struct supervisor_news {
    enum supervisor_event event;
    int number;
};

/* Exit statuses of the supervisor; another is that of a tool that looks for leaks in it. */
enum { SUPERVISOR_ENDED_ALL, SUPERVISOR_LEFT_SOME = 90 };

/* In a process that was forked for it, with all signals blocked. Calls what may be called there
 * while other threads held any lock. */
_Noreturn void supervisor_run(const struct supervision *s);

#endif
