/* The key ring of a sealed space, whose carrier cannot read what it keeps. Needs libsodium, which
 * is loaded when it is first used; a build without it refuses sealed spaces.
 *
 * A ring is a file of this machine, spaces/ID.keys in PATHS_DATA, mode 0600. It holds the machine's
 * own key (Ed25519; the crypto_box key is derived from it), the epoch keys of the space that it was
 * given, and the public keys of the owners. The database has none of them, nor has a backup of it:
 * a lost ring is replaced by a new invitation.
 *
 * Whether a space is sealed is told by the ring alone (key_ring_exists()), and never by
 * the facts of the carrier, which could say "not sealed" to be sent plain text.
 *
 * The carrier can lose, repeat and withhold lines and members. It cannot read a line, change one,
 * make a forget, or add a member: keys are taken only from an owner's signature. Any member has the
 * epoch keys and could write in the name of another; the carrier's policies refuse that.
 *
 * A ring is opened for a while, by one thread, and closed: another process may change its file. */
#ifndef SPACE_KEYS_H
#define SPACE_KEYS_H

#include "space/carrier.h"
#include "space/invitation.h"

struct key_ring;

/* Makes the ring of a new sealed space, with its first epoch key and this machine as its owner.
 * USAGE when there is one. */
bool key_ring_make(const char *space, struct key_ring **out, struct error *e);
/* Sets public_key, wrapped_key and epoch of the first member. */
bool key_ring_first_row(const struct key_ring *r, struct space_member *row, struct error *e);

/* Makes the ring of an invited machine. It has no epoch key until an owner gives them, which
 * key_ring_tend() asks for. A ring that is there, and cannot be damaged, stays and asks again. */
bool key_ring_join(const struct space_invitation *invitation, struct error *e);

/* FILE_ERROR when the ring is missing or damaged; a damaged file is never replaced. */
bool key_ring_open(const char *space, struct key_ring **out, struct error *e);
void key_ring_close(struct key_ring *r); /* NULL is fine; wipes it */
bool key_ring_exists(const char *space);
/* Deletes the file: lines that are still sealed can never be opened on this machine again. */
bool key_ring_erase(const char *space, struct error *e);

int64_t key_ring_epoch(const struct key_ring *r); /* 0: no key yet */
bool key_ring_owns(const struct key_ring *r);     /* whether this machine may admit and remove */

/* ---- lines ---- */

/* Seals body and project, in place: `project` becomes a keyed hash, the same in all epochs. A line
 * without a body gets a sealed empty one. FORBIDDEN without an epoch key, USAGE when the line is
 * too long. */
bool key_ring_seal(const struct key_ring *r, struct space_line *line, struct error *e);

enum line_opened {
    LINE_OPENED, /* body and project are plain */
    LINE_ERASED, /* the line was emptied by its carrier */
    LINE_LOCKED, /* of an epoch that this ring does not know (yet): keep the line, try again later
                  */
    LINE_FORGED  /* damaged, forged or moved; the line is as it was */
};
enum line_opened key_ring_open_line(const struct key_ring *r, struct space_line *line);

/* The keyed hash that stands for this project in a sealed line; the caller frees. */
char *key_ring_project(const struct key_ring *r, const char *project);

/* ---- members (members.c) ---- */

struct key_tended {
    bool admitted;   /* this machine has the keys of the space */
    bool removed;    /* it had them, and an owner has removed it */
    int newcomers;   /* that were admitted now */
    int waiting;     /* keys of persons that wait until an owner approves them by hand */
    bool unfinished; /* members could not all be given the keys; the next call goes on */
};

/* Reads the members and does what there is to do: asks for the keys, takes those that an owner gave
 * to this machine; as an owner, admits newcomers that prove an invitation, and gives new keys to
 * the members. For each pull (or each minute); lines that were LOCKED are tried again after it.
 * Does nothing while another process of this machine is at it. */
bool key_ring_tend(struct key_ring *r, struct carrier *c, const char *person, int64_t now_ms,
                   struct key_tended *out, struct error *e);

/* Adds token and owner's key to an invitation, which has its role. One machine can use it until
 * then. FORBIDDEN unless this machine is an owner. */
bool key_ring_invite(struct key_ring *r, struct space_invitation *out, int64_t until_ms,
                     struct error *e);

/* Admits the key of a person whose words somebody has compared; never as an owner, which takes an
 * invitation. `own` is the person of this machine. */
bool key_ring_approve(struct key_ring *r, struct carrier *c, const char *own, const char *person,
                      const char *words, struct error *e);

/* A new epoch key for all members but this person, who is dropped (NULL: for all). The person keeps
 * the lines and keys that he has. After a failure the next key_ring_tend() goes on. */
bool key_ring_rotate(struct key_ring *r, struct carrier *c, const char *own, const char *without,
                     struct error *e);

/* Whether an owner of this ring has admitted each key of this member. */
bool key_ring_vouches(const struct key_ring *r, const struct space_member *m);

/* The fingerprint of each key of a member, eight words, one a line; "" for none. The caller frees.
 * NULL for a text that is no `public_key`, and when libsodium cannot be loaded. */
char *key_words(const char *public_key);
/* The words of this machine. */
char *key_ring_words(const struct key_ring *r);

#endif
