/* The ring within keys.c, which does what needs libsodium, and members.c. */
#ifndef SPACE_KEYS_PRIVATE_H
#define SPACE_KEYS_PRIVATE_H

#include "space/keys.h"

enum {
    RING_PUBLIC = 32, /* bytes of a public key */
    RING_TOKEN = 16,
    RING_PROOF = 32
};

/* The arrays that a file has (keys.c), of bytes alone. */
enum { RING_SEED, RING_ASKS, RING_SETTLED, RING_KEYS, RING_OWNERS, RING_INVITED, RING_LEAVING };

struct ring_key {
    unsigned char epoch[8], bytes[32];
};
struct ring_invitation {
    unsigned char until[8], role, token[RING_TOKEN];
};

struct key_ring {
    char space[UUID_LEN + 1];
    size_t count[RING_LEAVING + 1];         /* of each array */
    unsigned char seed[1][32];              /* of the machine's own key */
    unsigned char asks[1][RING_TOKEN];      /* of the invitation, until the keys have come */
    unsigned char settled[1][8];            /* all members had the keys of this epoch */
    struct ring_key keys[1000];             /* a space that had more is made anew */
    unsigned char owners[64][RING_PUBLIC];  /* whose signature is believed */
    struct ring_invitation invited[100];    /* by this machine */
    unsigned char leaving[64][RING_PUBLIC]; /* get no key while an epoch settles */
    /* not in the file */
    unsigned char public_key[RING_PUBLIC], secret_key[64];
    int64_t epoch; /* the newest; 0: none */
    int lock;      /* -1: not locked */
};

/* Locks the rings of this machine against other processes, and reads this one again. SESSION_BUSY
 * when another process has the lock for longer than `patience_ms`. */
bool ring_lock(struct key_ring *r, int patience_ms, struct error *e);
void ring_unlock(struct key_ring *r);
bool ring_save(struct key_ring *r, struct error *e);

/* The records of a file, or those that an owner gave (`given`: keys and owners alone). */
bool ring_read_records(struct key_ring *r, bool given, const unsigned char *bytes, size_t len);

int64_t ring_settled(const struct key_ring *r);
void ring_set_settled(struct key_ring *r); /* all have the keys of the newest epoch */
int64_t ring_until(const struct key_ring *r, size_t invitation);
bool ring_has(const struct key_ring *r, int array, const unsigned char *public_key);
/* Adds a public key to owners or leaving. USAGE: there are too many. */
bool ring_add(struct key_ring *r, int array, const unsigned char *public_key, struct error *e);
void ring_remove(struct key_ring *r, int array, size_t at);

/* A new epoch with a new key, in memory. */
bool ring_turn(struct key_ring *r, struct error *e);
/* Whether two owners made keys of the newest epoch at the same time. */
bool ring_is_split(const struct key_ring *r);

/* A word of `public_key`: KEY, or KEY.PROOF of a machine that was invited. */
struct ring_word {
    unsigned char key[RING_PUBLIC], proof[RING_PROOF];
    bool proves;
};
bool ring_word_read(const char *word, size_t len, struct ring_word *out);
char *ring_own_word(const struct key_ring *r, const char *person);
/* The invitation that the word proves, which holds at that time; -1: none. */
int ring_proven(const struct key_ring *r, const char *person, const struct ring_word *word,
                int64_t now_ms);
bool ring_new_invitation(struct key_ring *r, enum space_role role, int64_t until_ms,
                         struct error *e);

/* A word of `wrapped_key`: all epoch keys and owners for this person's key, signed by this machine.
 * USAGE: nothing can be sealed to that key. The caller frees. */
char *ring_wrap(const struct key_ring *r, const char *person, const unsigned char *public_key,
                struct error *e);
/* The epoch of a word that an owner signed for this person and key; -1: it is none. */
int64_t ring_vouched(const struct key_ring *r, const char *person, const unsigned char *public_key,
                     const char *word, size_t len);
/* Takes over the keys of a word for this machine. False: there is nothing new in it. */
bool ring_take(struct key_ring *r, const char *person, const char *word, size_t len);

/* Eight words; the caller frees. */
char *ring_words(const unsigned char *public_key);

#endif
