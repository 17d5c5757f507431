/* Operations on shared spaces (space/space.h). Those that talk to a carrier run on a desk of their
 * own, which also keeps the replicas current in the background. */
#ifndef SESSION_SPACE_OPERATIONS_H
#define SESSION_SPACE_OPERATIONS_H

#include "session/operation.h"
#include "space/space.h"

/* Texts of parameters are borrowed. */
struct space_init_params {
    const char *url, *name, *person, *password_command;
    bool sealed;
};
struct space_invite_params {
    const char *space, *role, *person;
};
struct space_share_params {
    const char *session, *space;
    bool project, off, dry_run;
};
struct space_share_result {
    char *space, *what, *noun; /* the last two are English, to be translated */
    int64_t entries;
    VEC(char *) samples; /* beginnings of the newest entries */
};

/* "reader", "writer" or "owner", to be translated. */
const char *space_role_word(enum space_role role);

/* The results of space/status, space/members, space/invite, space/check and space/sql. */
struct space_row {
    char *name, *url, *person;
    enum space_role role;
    bool sealed;
    int64_t entries, foreign; /* objects that it has, those of others */
    int64_t waiting;          /* lines that are not sent, and objects that were not looked at */
    int64_t waiting_since_ms; /* 0: none waits */
    int64_t read_ms;          /* 0: never */
};
struct space_rows {
    VEC(struct space_row) items;
};
struct space_person {
    char *person;
    enum space_role role;
    int64_t seen_ms; /* 0: never */
    char *words;     /* of a sealed space: the fingerprint of each machine's key; NULL: none */
    bool admitted;   /* an owner has admitted each of these machines */
};
struct space_persons {
    VEC(struct space_person) items;
};
struct space_code {
    char *code;
};
struct space_warnings {
    VEC(char *) warnings;
};
struct space_sql {
    char *sql;
};

/* A space with a connection to its carrier. All 0: neither. */
struct space_link {
    struct space space;
    struct carrier *carrier;
};
/* Opens the carrier of space l->space and reads facts and members. */
bool space_link_open(struct space_link *l, struct store *s, const struct wakeup *wakeup,
                     struct error *e);
void space_link_close(struct space_link *l); /* the space, too */

/* Sends and reads all there is, until `wakeup` says stop. */
bool space_link_sync(struct space_link *l, struct store *s, struct memory *m,
                     const struct wakeup *wakeup, struct space_news *news, struct error *e);

#endif
