/* Databases to break: filled with known rows, damaged byte by byte, held by other processes, and
 * compared to detect any change. Faults of the test itself fail the test. */
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
    DAMAGE_PAGE = 4096,   /* bytes; the page size of tiro's databases */
    DAMAGE_PAYLOAD = 200, /* the shortest payload of an event */
    DAMAGE_EVENTS_A_PAGE = DAMAGE_PAGE / DAMAGE_PAYLOAD
};

/* Adds sessions with `events` events each, some of them longer than a page. */
void damage_fill(const char *path, int sessions, int events);

/* Like damage_fill(), in a process that dies without closing the database. */
void damage_fill_and_die(const char *path, int sessions, int events);

/* Adds sessions of memory with `entries` entries each, some of them longer than a page, with their
 * words and a flag: the entries' ids look like those of sessions, and one entry is pinned and has a
 * speaker. */
void damage_fill_memory(const char *path, int talks, int entries);

/* The result of a query on a connection of its own: one line per row, "|" after each value. The
 * caller frees. */
char *damage_rows(const char *path, const char *sql);

/* Every entry with its session's id, by key, in the form of damage_rows(). */
char *damage_memory(const char *path);

/* For struct recovery_help: indexes the words of contents, in no language. */
bool damage_index(void *context, struct store *s, struct error *e);

struct damage_event {
    char id[UUID_LEN + 1];
    int64_t seq, at;
    char *text; /* type, version and payload */
};

struct damage_events {
    VEC(struct damage_event) items; /* ordered by id and number */
};

/* Every event with its session's id. */
struct damage_events damage_events(const char *path);
void damage_events_release(struct damage_events *l);

/* Runs SQL on a connection of its own. Returns the number in the first column of the last
 * statement's first row; damage_number() requires such a row. */
int64_t damage_sql(const char *path, const char *sql);
int64_t damage_number(const char *path, const char *sql);

char *damage_read(const char *path, size_t *len);

/* Whether the bytes occur in the database or in a file that SQLite keeps beside it. */
bool damage_on_disk(const char *path, const char *what);

void damage_copy(const char *from, const char *to);
void damage_write(const char *path, size_t offset, const void *bytes, size_t len);
void damage_cut(const char *path, size_t len);
size_t damage_size(const char *path);

/* Every file of the directory with size, modification time and contents, as a text to compare. The
 * caller frees. */
char *damage_tree(const char *directory);

/* A process that runs `begin` on the path and then keeps its files open. */
struct damage_holder {
    pid_t pid;
    int ready, stop;
};
struct damage_holder damage_hold(const char *path, void (*begin)(const char *path));
void damage_let_go(struct damage_holder *h);

/* Functions for damage_hold(). */
void damage_open(const char *path);             /* opens a store only */
void damage_stay(const char *path);             /* adds a session with ten events and keeps the
                                                 * store open */
void damage_begin_write(const char *path);      /* in the middle of a transaction */
void damage_lock_exclusively(const char *path); /* locks out all readers */

/* Runs `act` in a process of another user than root, who owns the directory and its files. Returns
 * the result of `act`. */
int damage_as_nobody(const char *directory, int (*act)(const char *path), const char *path);

#endif
