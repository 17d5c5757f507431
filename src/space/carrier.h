/* A carrier keeps the log of one space where its members reach it: a directory, a server. The
 * program knows carriers only by this table, and a space only by the URL of its carrier.
 *
 * The log is append-only. Its lines are versions of objects (an entry of memory, a learned item),
 * and lines that say that an object was forgotten. A line is known by entry, version, owner and
 * kind: pushing it again has no effect, so a push that failed midway is repeated. Readers get every
 * line once a pull has passed it, never a part of a push. Two lines may reach two readers in
 * different orders, except lines of one writer.
 *
 * Calls block; they end early when `wakeup` says so. Errors: AGENT_ERROR when the carrier cannot be
 * reached (try again later), FORBIDDEN when it refuses, USAGE when it cannot be used at all. A call
 * that fails has changed nothing, or may be repeated. One connection, one thread. */
#ifndef SPACE_CARRIER_H
#define SPACE_CARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/err.h"
#include "base/json.h"
#include "base/shape.h"
#include "base/vec.h"
#include "base/wakeup.h"
#include "store/store.h"

/* ---- lines ---- */

/* The words are those of the log. A line of another kind is kept by its carrier and not read. */
enum space_kind {
    SPACE_ENTRY,   /* of memory (chat/memory.h) */
    SPACE_LEARNED, /* a learned item */
    SPACE_SHARE,   /* what a session is: its title */
    SPACE_FORGET,  /* the object is to be erased everywhere */
    SPACE_KINDS
};
extern const struct shape_names space_kind_names;

enum {
    SPACE_NAME_BYTES = 64, /* of spaces, persons and writers */
    SPACE_ENTRY_BYTES = 200,
    SPACE_PROJECT_BYTES = 1000,
    SPACE_BODY_BYTES =
        9 << 20, /* an entry is at most MEMORY_CONTENT_BYTES; longer lines are skipped */
    SPACE_KEY_BYTES = 512
};

struct space_line {
    char *entry;     /* id of the object */
    int64_t version; /* from 1 */
    enum space_kind kind;
    char *owner;   /* the person who wrote this version */
    char *project; /* NULL: none; of a sealed space a keyed hash */
    int64_t at_ms;
    struct buf key;  /* of a sealed space: the body's key, wrapped (keys.h); else empty */
    struct buf body; /* JSON, or sealed bytes; empty: it was erased, or the kind has none */
};

struct space_lines {
    VEC(struct space_line) items;
    size_t bytes; /* of keys and bodies */
    /* The log was replaced by an older copy (a backup, a server that lagged behind): the lines are
     * those from the beginning, and some that this replica pushed may be missing. */
    bool anew;
};

/* Whether a carrier may hand over the line: a version, an entry and an owner, nothing too long. */
bool space_line_fits(const struct space_line *line);
void space_line_release(struct space_line *line);
void space_lines_release(struct space_lines *lines);

/* A line as JSON on one line, for carriers of texts; bytes are in Base64 where they are no UTF-8.
 * Reading a faulty one is USAGE; *known is false for a kind of a newer version. */
void space_line_write(const struct space_line *line, struct buf *out);
bool space_line_read(const char *text, size_t len, struct space_line *out, bool *known,
                     struct error *e);

/* ---- facts about a space, and its members ---- */

/* Versions of the form of logs. An older program reads a log of a newer form if `min_client` is at
 * most its own SPACE_SCHEMA, and never writes to it. */
enum { SPACE_SCHEMA = 1 };

struct space_facts {
    char id[UUID_LEN + 1];
    char *name;
    int schema, min_client;
    int64_t epoch;   /* of its keys: grows when a member leaves; 0: not sealed */
    int retain_days; /* 0: for ever */
    int lease_days;  /* 0: for ever */
};
void space_facts_release(struct space_facts *f);
extern const struct shape space_facts_shape;

enum space_role { SPACE_READER, SPACE_WRITER, SPACE_OWNER };
extern const struct shape_names space_role_names;

struct space_member {
    char *person;
    enum space_role role;
    int64_t epoch;     /* of `wrapped_key` */
    char *public_key;  /* a word for each machine (members.c), written by it; NULL: none */
    char *wrapped_key; /* the space's keys for these machines, written by an owner; NULL: none */
    int64_t seen_ms;   /* when a replica of this person last read the log to its end; 0: never */
};
struct space_members {
    VEC(struct space_member) items; /* by person */
};
void space_member_release(struct space_member *m);
void space_members_release(struct space_members *m);
extern const struct shape space_member_shape;

/* ---- carriers ---- */

/* The arguments with which a carrier is opened; all texts are borrowed until it is closed. */
struct carrier_place {
    const char *url;
    const char *space;           /* id; "": not known yet, with make() */
    const char *person;          /* who uses it, NULL: ask the carrier, which may know */
    const char *writer;          /* a name for this replica of the person's; NULL: only reads */
    const struct wakeup *wakeup; /* may be NULL */
    /* Prints the password of a server, asked for at each connection; NULL: none. */
    const char *password_command;
};

struct carrier; /* begins a carrier's own struct */

struct carrier_ops {
    const char *scheme; /* of URLs: "folder", "postgresql" */
    /* Each writer empties the lines of its own when it hears of a forget; else who sends the forget
     * empties all. */
    bool each_erases;

    bool (*open)(const struct carrier_place *place, struct carrier **out, struct error *e);
    void (*close)(struct carrier *c);

    /* The user of the carrier: the name of the place, or the one by which the server knows its
     * user, who may write lines of that owner alone. NULL: neither is known. Borrowed until it is
     * closed. */
    bool (*person)(struct carrier *c, const char **out, struct error *e);

    /* Makes the space with its first member, an owner. USAGE if there is one with this id. */
    bool (*make)(struct carrier *c, const struct space_facts *facts,
                 const struct space_member *owner, struct error *e);
    bool (*facts)(struct carrier *c, struct space_facts *out, struct error *e);
    bool (*set_facts)(struct carrier *c, const struct space_facts *facts, struct error *e);

    bool (*members)(struct carrier *c, struct space_members *out, struct error *e);
    bool (*put_member)(struct carrier *c, const struct space_member *m, struct error *e);
    bool (*drop_member)(struct carrier *c, const char *person, struct error *e);
    /* Notes that this person's replica has read the log to its end. */
    bool (*note_seen)(struct carrier *c, int64_t at_ms, struct error *e);

    /* All lines or none, lasting when it returns. */
    bool (*push)(struct carrier *c, const struct space_line *lines, size_t count, struct error *e);
    /* Lines behind the cursor, in the log's order, until they have `most` bytes; moves the cursor
     * behind them. The cursor is a text of the carrier's own; empty: the beginning. *more: there is
     * more to read now. *skipped counts lines that could not be read or are of an unknown kind. */
    bool (*pull)(struct carrier *c, struct buf *cursor, size_t most, struct space_lines *out,
                 bool *more, int64_t *skipped, struct error *e);

    /* Empties key and body of every line of these objects (see each_erases) but the forgets, whose
     * seal proves that a member wrote them, and notes that they are erased, which a restored backup
     * of the log is checked against. */
    bool (*erase)(struct carrier *c, const char *const *entries, size_t count, struct error *e);

    /* Adds a sentence for each reason why others may see or change more than their role allows. */
    bool (*doctor)(struct carrier *c, struct text_list *warnings, struct error *e);
};

struct carrier {
    const struct carrier_ops *ops;
};

/* By the scheme of the URL. USAGE for an unknown one, and for a carrier that this build lacks. */
bool carrier_open(const struct carrier_place *place, struct carrier **out, struct error *e);
void carrier_close(struct carrier *c); /* NULL is fine */

extern const struct carrier_ops carrier_folder;
#ifdef HAVE_LIBPQ
extern const struct carrier_ops carrier_postgresql;
#endif

#endif
