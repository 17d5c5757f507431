/* Shared by the sink (sink.c) and the scanner (scan.c). */
#ifndef IMPORT_PRIVATE_H
#define IMPORT_PRIVATE_H

#include "base/entropy.h"
#include "chat/event.h"
#include "chat/session_info.h"
#include "import/scan.h"
#include "import/source.h"

/* A conversation of a source as the store knows it (table import_conversation). */
struct import_known {
    int64_t number; /* 0: it is new */
    char session[UUID_LEN + 1];
    int64_t stamp;    /* of the last reading */
    int64_t tip;      /* the newest message: the event that it begins with; 0: none */
    int64_t messages; /* that were given at the last reading */
    int64_t response; /* hash of the newest response's id; 0: none */
    bool open;        /* its last turn is open in the log, */
    int64_t open_ms;  /* since then */
    bool deleted;     /* here, by a person: it never comes back */
};

struct import_asked {
    char *id, *name;
};

/* Events that were taken back. */
struct import_dead {
    int64_t from, before;
};

struct import_sink {
    struct store *store;
    const struct import_options *options;
    const struct import_source *source;
    struct import_file *file; /* that is being read; NULL: none */
    struct json *unknown;     /* {"KIND": number} of the file; NULL: nothing */
    bool broken;              /* the store failed, or a person stopped it */
    bool filtered;            /* something of the file was left out by an option */
    VEC(int64_t) given;       /* numbers of conversations that the file gave, in order */
    bool (*keep_file)(struct import_sink *k, bool whole, struct error *e);
    struct import_counts *counts; /* of the source */
    int64_t done, of;             /* files, for `tell` */

    /* The transaction that is open: it has so many events and bytes, and looked at so many
     * messages. */
    bool began;
    size_t events, bytes, looked;
    int64_t since; /* clock_mono_ms() of its beginning */

    /* The conversation that is being read, between import_begin() and import_end(). */
    struct import_conversation *told; /* the source's; of import_sink_cut_off() its id alone */
    char *id;                         /* its id */
    int64_t stamp;                    /* that import_wants() was asked with */
    struct import_known known;
    struct session_info info;
    bool muted;     /* nothing of it is wanted */
    bool fresh;     /* it has no session yet */
    bool changed;   /* its row differs from the store's */
    bool rewound;   /* its messages have to be counted again */
    int64_t cursor; /* the message after which the next one comes; 0: it is the first */
    int64_t place;  /* messages that were given before */
    int64_t ms;     /* of the newest message */
    int64_t copied_from, copied_seq; /* newest message that another conversation has */

    /* The turn and the model call that are open. */
    bool turn, answered, call, asked;
    int calls; /* of the turn */
    struct usage usage;
    double cost;
    char *model, *result;
    VEC(struct import_asked) tools; /* of the turn */
    VEC(struct import_dead) dead;
    VEC(struct event *) batch;
    struct buf text, masked;
};

/* Whether `from` (struct import_options) names the source; and whether a file below a place of the
 * source (NULL: below a folder that a person gave) may be wanted, by its path. */
bool import_is_wanted(const char *from, const char *name);
bool import_fits(const char *path, const struct import_source *source, const char *from);

/* The sink of one source; `k` is zeroed but for store and options. */
void import_sink_init(struct import_sink *k, struct store *s, const struct import_options *o);
void import_sink_release(struct import_sink *k);

/* The end of a transaction, if one is open. */
bool import_sink_begin(struct import_sink *k, struct error *e);
bool import_sink_commit(struct import_sink *k, bool whole, struct error *e);
void import_sink_rollback(struct import_sink *k);

/* Ends the conversation that a source left open when it failed: what it told of it is gone. */
bool import_sink_cut_off(struct import_sink *k, struct error *e);

/* Ends turns that stayed open in conversations that did not go on for an hour. */
bool import_sink_settle(struct import_sink *k, struct error *e);

#endif
