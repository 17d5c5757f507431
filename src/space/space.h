/* Shared spaces: memory that several machines or people share. A space is a log that its members
 * reach by a carrier (carrier.h); each machine keeps what the log says in its own database, where
 * it is searched as everything else.
 *
 * Changes go out in two steps. A trigger notes each entry that changes, in the transaction that
 * changes it. space_gather() compares noted entries with what the spaces know of them, and puts
 * lines into the outbox; space_send() gives these to the carrier. space_receive() reads the log
 * from the cursor on and applies it. Each step may be repeated, by another process too: lines are
 * known by id, version and owner. An edit is a new version; of two, the higher number holds, then
 * the owner whose name is later, so that all replicas agree. A forgotten object never comes back.
 *
 * One connection, one thread; a store error is SESSION_STORE_ERROR. */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "memory/memory.h"
#include "space/carrier.h"
#include "space/keys.h"
#include "store/store.h"

/* ---- the spaces of this machine ---- */

struct space {
    int64_t number;
    char *name, *id, *url;
    char *person, *writer;
    enum space_role role;
    bool sealed;           /* never told by the carrier, which would be sent plain lines */
    struct key_ring *ring; /* of a sealed space, once space_refresh() has opened it; else NULL */
    int64_t locked;        /* epoch of the ring when it did not open a line; -1: it opened all */
    int form;              /* of its log; above SPACE_SCHEMA: this program only reads it */
    int64_t kinds;         /* kinds of lines that were known when the log was read */
    int lease_days;        /* 0: none */
    int64_t read_ms;       /* when the log was last read to its end; 0: never */
    char *command;         /* prints the password; NULL: none */
    char *cursor;
};
struct spaces {
    VEC(struct space) items;
};
void space_release(struct space *s);
void spaces_release(struct spaces *s);

bool spaces_read(struct store *s, struct spaces *out, struct error *e); /* by name */
bool spaces_any(struct store *s); /* false also when the store cannot tell */
/* By name; NULL: the only one. USAGE when there is none, or several. */
bool space_find(struct store *s, const char *name, struct space *out, struct error *e);
/* Sets number, cursor and kinds of it. USAGE for a name or a space that is there already. */
bool space_add(struct store *s, struct space *space, struct error *e);
/* Ends the membership of this machine. `erase`: what others wrote goes, too. */
bool space_leave(struct store *s, struct memory *m, const struct space *space, bool erase,
                 struct error *e);
/* Erases what others wrote when this replica could not read the log for lease_days. It comes again
 * when the log is reached. */
bool space_expire(struct store *s, struct memory *m, struct space *space, struct error *e);

/* ---- what is shared ---- */

/* The identity of the project of a directory: host and path of its Git remote, without user, port
 * and ".git". NULL: it has none. The caller frees. */
char *space_project(const char *directory);
/* The identity by a remote's URL. NULL: it names no host, as a path does. The caller frees. */
char *space_project_of_remote(const char *url);

struct space_shared {
    int64_t entries;          /* of memory that it concerns now */
    struct text_list samples; /* the beginnings of the newest ones, as they are sent */
};
void space_shared_release(struct space_shared *s);
/* Notes the identity of the project of a directory. Learned items of others that waited for one are
 * read again. */
bool space_note_directory(struct store *s, const char *directory, const char *project,
                          struct error *e);

/* "session" and an id, or "project" and an identity. Sharing notes their entries for gathering;
 * ending it puts a forget for each of this person's into the outbox, and they stay here.
 * `dry`: nothing is changed; not within a transaction. */
bool space_share(struct store *s, const struct space *space, const char *kind, const char *what,
                 bool shared, bool dry, struct space_shared *out, struct error *e);
/* Whether new entries of a session go to the space. */
bool space_shares(struct store *s, int64_t space, const char *session_id, bool *out,
                  struct error *e);

/* ---- lines out and in ---- */

/* Compares up to `most` noted entries, in one transaction. *more: there are others. */
bool space_gather(struct store *s, struct memory *m, int most, bool *more, struct error *e);

/* Sends lines of the outbox, some megabytes at most, oldest first. *more: others wait. A reader,
 * and a member of a newer space, sends nothing. */
bool space_send(struct store *s, const struct space *space, struct carrier *c, bool *more,
                struct error *e);

struct space_news {
    int64_t lines;    /* read */
    int64_t applied;  /* that changed something here */
    int64_t proposed; /* learned items of others, which wait for the person */
    int64_t refused;  /* that a writer may not write, or that contradict this memory */
    int64_t skipped;  /* damaged, or of an unknown kind */
    int64_t sealed;   /* that no key of this machine opens */
};
/* Reads and applies lines in one transaction, which also moves the cursor. *more: there are others
 * now. Empties lines that were forgotten, where the carrier wants each writer to. */
bool space_receive(struct store *s, struct memory *m, struct space *space, struct carrier *c,
                   bool *more, struct space_news *news, struct error *e);

/* Notes, here and in the log, that this replica has read the log to its end. */
bool space_note_read(struct store *s, struct space *space, struct carrier *c, struct error *e);

/* After the log was replaced by an older copy: puts everything that this person wrote into the
 * outbox again, and a forget for everything that was forgotten. */
bool space_send_again(struct store *s, const struct space *space, struct error *e);

/* Reads facts and members, updates the row of the space, and opens the ring of a sealed space and
 * does what its members wait for. FORBIDDEN when the person is no member (any more). */
bool space_refresh(struct store *s, struct space *space, struct carrier *c, struct error *e);

/* A carrier for the space; the texts of `space` are borrowed until it is closed. */
bool space_connect(const struct space *space, const struct wakeup *wakeup, struct carrier **out,
                   struct error *e);

struct space_state {
    int64_t entries, foreign; /* objects of the space that are here; written by others */
    int64_t waiting;          /* lines in the outbox */
    int64_t waiting_since_ms; /* of the oldest; 0: none */
    int64_t unlooked;         /* noted entries that were not compared yet */
};
bool space_state(struct store *s, const struct space *space, struct space_state *out,
                 struct error *e);

#endif
