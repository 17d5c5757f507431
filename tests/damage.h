/* Databases to break: filled with known rows, damaged byte by byte, held by other processes, and
 * looked at to see whether anybody touched them. Faults of the test itself fail the test. */
#ifndef TESTS_DAMAGE_H
#define TESTS_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/entropy.h"
#include "base/vec.h"
#include "store/store.h"

enum {
    DAMAGE_PAGE = 4096,   /* bytes; what tiro's databases have */
    DAMAGE_PAYLOAD = 200, /* no event's payload is shorter */
    DAMAGE_EVENTS_A_PAGE = DAMAGE_PAGE / DAMAGE_PAYLOAD
};

/* Adds sessions with events each, some of which are longer than a page. */
void damage_fill(const char *path, int sessions, int events);

/* Like damage_fill(), in a process that dies without closing the database. */
void damage_fill_and_die(const char *path, int sessions, int events);

/* Adds sessions of memory with entries each, some of which are longer than a page, their words,
 * and a flag: their ids look like those of sessions, and one of them is pinned and has a speaker.
 */
void damage_fill_memory(const char *path, int talks, int entries);

/* The result of a query on a connection of its own: one line per row, "|" after each value. The
 * caller frees. */
char *damage_rows(const char *path, const char *sql);

/* Every entry with its session's id, by key; as damage_rows(). */
char *damage_memory(const char *path);

/* For struct recovery_help: what makes words of contents, in no language. */
bool damage_index(void *context, struct store *s, struct error *e);

struct damage_event {
    char id[UUID_LEN + 1];
    int64_t seq, at;
    char *text; /* type, version and payload */
};

struct damage_events {
    VEC(struct damage_event) items; /* by id and number */
};

/* Every event with its session's id. */
struct damage_events damage_events(const char *path);
void damage_events_release(struct damage_events *l);

/* Runs SQL on a connection of its own; the number in the first column of the last statement's first
 * row, which damage_number() wants there to be. */
int64_t damage_sql(const char *path, const char *sql);
int64_t damage_number(const char *path, const char *sql);

char *damage_read(const char *path, size_t *len);

/* Whether the database or one of the files that SQLite keeps beside it has these bytes. */
bool damage_on_disk(const char *path, const char *what);

void damage_copy(const char *from, const char *to);
void damage_write(const char *path, size_t offset, const void *bytes, size_t len);
void damage_cut(const char *path, size_t len);
size_t damage_size(const char *path);

/* Every file of the directory with size, time of its last change and contents, as a text to
 * compare. The caller frees. */
char *damage_tree(const char *directory);

/* A process that did something with the path and holds on to it. `begin` runs in it. */
struct damage_holder {
    pid_t pid;
    int ready, stop;
};
struct damage_holder damage_hold(const char *path, void (*begin)(const char *path));
void damage_let_go(struct damage_holder *h);

/* For damage_hold(). */
void damage_open(const char *path);             /* a store, and no more */
void damage_stay(const char *path);             /* after it added a session with ten events */
void damage_begin_write(const char *path);      /* in the middle of a transaction */
void damage_lock_exclusively(const char *path); /* nobody can read */

/* Runs `act` in a process that is not root, with the directory and its files made its own. Its
 * result is what is returned. */
int damage_as_nobody(const char *directory, int (*act)(const char *path), const char *path);

#endif
