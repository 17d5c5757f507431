/* The members of a sealed space. `public_key` has a word for each machine of a person, which the
 * machine itself puts there: its key, and the proof that it was invited. `wrapped_key` has a word
 * for each machine that an owner admitted: all epoch keys, sealed to that key, with the owner's
 * signature over space, person, key and epoch. So the carrier cannot exchange a key, nor add one,
 * and a row that it brings back after the person has left is of an old epoch. */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "space/keys.h"
#include "space/keys_private.h"

#ifdef HAVE_LIBSODIUM

enum {
    MACHINES = 16, /* of a person; more are not looked at */
    PATIENCE_MS = 10000
};

/* A machine that asks for keys, or has them. */
struct holder {
    size_t row; /* in the members */
    struct ring_word word;
    int64_t epoch;       /* of the keys that an owner gave; -1: none */
    const char *wrapped; /* borrowed; NULL: none */
    size_t wrapped_len;
    int invitation; /* that it proves; -1: none */
    bool admitted;  /* now */
};

struct tending {
    struct key_ring *r;
    struct carrier *c;
    const char *person;
    int64_t now_ms;
    const char *approve, *words; /* by hand; NULL: nobody */
    const char *without;         /* is to leave; NULL: nobody */
    bool turn;                   /* a new epoch is to begin */
    struct space_members members;
    VEC(struct holder) holders;
    bool used[sizeof((struct key_ring *)0)->invited / sizeof(struct ring_invitation)];
    struct key_tended *out;
};

static bool next_word(const char **at, const char **word, size_t *len)
{
    *word = *at ? *at + strspn(*at, " ") : "";
    *len = strcspn(*word, " ");
    *at = *word + *len;
    return *len > 0;
}

/* The best of the words that owners gave to this key. */
static void find_given(const struct key_ring *r, const struct space_member *m, struct holder *h)
{
    const char *at = m->wrapped_key, *word;
    size_t len;
    for (int n = 0; n < MACHINES && next_word(&at, &word, &len); n++) {
        int64_t epoch = ring_vouched(r, m->person, h->word.key, word, len);
        if (epoch > h->epoch) {
            h->epoch = epoch;
            h->wrapped = word;
            h->wrapped_len = len;
        }
    }
}

static void find_holders(struct tending *t)
{
    for (size_t i = 0; i < t->members.items.len; i++) {
        const struct space_member *m = &t->members.items.items[i];
        const char *at = m->public_key, *word;
        size_t len;
        for (int n = 0; n < MACHINES && next_word(&at, &word, &len); n++) {
            struct holder h = {.row = i, .epoch = -1};
            if (!ring_word_read(word, len, &h.word))
                continue;
            h.invitation = ring_proven(t->r, m->person, &h.word, t->now_ms);
            find_given(t->r, m, &h);
            vec_push(&t->holders, h);
        }
    }
}

static const struct space_member *row_of(const struct tending *t, const struct holder *h)
{
    return &t->members.items.items[h->row];
}

static bool is_vouched(const struct key_ring *r, const struct holder *h)
{
    return memcmp(h->word.key, r->public_key, RING_PUBLIC) == 0 ||
           (h->epoch > 0 && h->epoch >= ring_settled(r) && !ring_has(r, RING_LEAVING, h->word.key));
}

/* ---- this machine ---- */

/* Puts this machine's word into the row of its person while it asks for keys, and takes the keys
 * that are in that row. */
static bool tend_own(struct tending *t, bool *taken, struct error *e)
{
    struct key_ring *r = t->r;
    struct space_member row = {.person = (char *)(uintptr_t)t->person, .role = SPACE_WRITER};
    AUTO(buf_release) struct buf words = BUF_INIT;
    auto_free char *own = ring_own_word(r, t->person);
    const char *at, *word;
    bool there = false;
    size_t len;
    for (size_t i = 0; i < t->members.items.len; i++)
        if (strcmp(t->members.items.items[i].person, t->person) == 0)
            row = t->members.items.items[i];
    at = row.public_key;
    while (next_word(&at, &word, &len)) {
        struct ring_word w;
        if (ring_word_read(word, len, &w) && memcmp(w.key, r->public_key, RING_PUBLIC) == 0)
            there = r->count[RING_ASKS] == 0 || (strlen(own) == len && memcmp(own, word, len) == 0);
        else
            buf_addf(&words, "%.*s ", (int)len, word);
    }
    buf_addstr(&words, own);
    t->out->removed = !there && r->epoch > 0 && r->count[RING_ASKS] == 0;
    at = row.wrapped_key;
    while (!t->out->removed && next_word(&at, &word, &len))
        *taken = ring_take(r, t->person, word, len) || *taken;
    t->out->admitted = r->epoch > 0 && r->count[RING_ASKS] == 0 && !t->out->removed;
    if (there || r->count[RING_ASKS] == 0)
        return true;
    row.public_key = words.data;
    return t->c->ops->put_member(t->c, &row, e);
}

/* ---- what an owner does ---- */

/* Whom to admit, by invitations and by hand. */
static bool admit(struct tending *t, struct error *e)
{
    bool found = false;
    for (size_t i = 0; i < t->holders.len; i++) {
        const struct holder *h = &t->holders.items[i];
        if (h->invitation >= 0 && is_vouched(t->r, h))
            t->used[h->invitation] = true;
    }
    for (size_t i = 0; i < t->holders.len; i++) {
        struct holder *h = &t->holders.items[i];
        const bool named = t->approve && strcmp(row_of(t, h)->person, t->approve) == 0;
        auto_free char *words = named ? ring_words(h->word.key) : NULL;
        const bool chosen = words && strcmp(words, t->words) == 0;
        found = found || chosen;
        if (is_vouched(t->r, h) || ring_has(t->r, RING_LEAVING, h->word.key))
            continue;
        h->admitted = chosen || (h->invitation >= 0 && !t->used[h->invitation]);
        if (!h->admitted || h->invitation < 0)
            continue;
        t->used[h->invitation] = true;
        if (t->r->invited[h->invitation].role != SPACE_OWNER)
            continue;
        if (!ring_add(t->r, RING_OWNERS, h->word.key, e))
            return false;
        t->turn = true; /* so that all members hear of the new owner */
    }
    return found || !t->approve ||
           err_set(e, ERR_USAGE, "no key of %.60s has these words; look at the members again",
                   t->approve);
}

/* Notes that the keys of a person get no key of the new epoch. */
static bool dismiss(struct tending *t, struct error *e)
{
    struct key_ring *r = t->r;
    bool found = false;
    if (strcmp(t->without, t->person) == 0)
        return err_set(e, ERR_USAGE, "you cannot remove yourself; leave the space instead");
    for (size_t i = 0; i < t->members.items.len; i++)
        found = found || strcmp(t->members.items.items[i].person, t->without) == 0;
    for (size_t i = 0; i < t->holders.len; i++) {
        const struct holder *h = &t->holders.items[i];
        if (strcmp(row_of(t, h)->person, t->without) != 0)
            continue;
        if (!ring_add(r, RING_LEAVING, h->word.key, e))
            return false;
        for (size_t k = r->count[RING_OWNERS]; k-- > 0;)
            if (memcmp(r->owners[k], h->word.key, RING_PUBLIC) == 0)
                ring_remove(r, RING_OWNERS, k);
    }
    return found || err_set(e, ERR_USAGE, "%.60s is no member of the space", t->without);
}

/* Gives the keys of the newest epoch to the machines of a row, and drops a row whose machines all
 * leave. */
static bool give_keys(struct tending *t, size_t at, struct error *e)
{
    struct space_member row = t->members.items.items[at];
    AUTO(buf_release) struct buf words = BUF_INIT;
    bool changed = false, leaves = t->without && strcmp(row.person, t->without) == 0;
    bool stays = false, known = false;
    int role = -1;
    for (size_t i = 0; i < t->holders.len; i++) {
        const struct holder *h = &t->holders.items[i];
        if (h->row != at)
            continue;
        if (ring_has(t->r, RING_LEAVING, h->word.key)) {
            leaves = changed = true;
            continue;
        }
        stays = true;
        known = known || is_vouched(t->r, h);
        if (!is_vouched(t->r, h) && !h->admitted) {
            t->out->waiting++;
            continue;
        }
        const bool current = h->epoch == t->r->epoch;
        auto_free char *wrapped = current ? mem_strndup(h->wrapped, h->wrapped_len)
                                          : ring_wrap(t->r, row.person, h->word.key, e);
        if (!wrapped)
            continue; /* no key that anything could be sealed to */
        buf_addf(&words, "%s%s", words.len > 0 ? " " : "", wrapped);
        changed = changed || !current;
        t->out->newcomers += h->admitted;
        if (h->admitted && h->invitation >= 0)
            role = t->r->invited[h->invitation].role;
    }
    if (leaves && !stays)
        return t->c->ops->drop_member(t->c, row.person, e);
    if (!changed)
        return true;
    row.wrapped_key = words.data;
    row.epoch = t->r->epoch;
    if (role >= 0 && !known) /* of a person's second machine the role stays */
        row.role = (enum space_role)role;
    return t->c->ops->put_member(t->c, &row, e);
}

/* All have the newest keys. */
static bool settle(struct tending *t, struct error *e)
{
    struct key_ring *r = t->r;
    bool changed = r->count[RING_LEAVING] > 0 || ring_settled(r) != r->epoch;
    struct space_facts facts;
    if (changed) {
        if (!t->c->ops->facts(t->c, &facts, e))
            return false;
        bool behind = facts.epoch < r->epoch;
        facts.epoch = r->epoch;
        bool ok = !behind || t->c->ops->set_facts(t->c, &facts, e);
        space_facts_release(&facts);
        if (!ok)
            return false;
    }
    r->count[RING_LEAVING] = 0;
    ring_set_settled(r);
    for (size_t i = r->count[RING_INVITED]; i-- > 0;)
        if (t->used[i] || ring_until(r, i) <= t->now_ms) {
            ring_remove(r, RING_INVITED, i);
            changed = true;
        }
    return !changed || ring_save(r, e);
}

static bool tend_members(struct tending *t, bool taken, struct error *e)
{
    find_holders(t);
    t->turn = t->turn || ring_is_split(t->r) || (taken && t->r->count[RING_LEAVING] > 0);
    if (!admit(t, e) || (t->without && !dismiss(t, e)))
        return false;
    /* Before anybody has the new key: a key that this machine lost would be lost for all. */
    if (t->turn && (!ring_turn(t->r, e) || !ring_save(t->r, e)))
        return false;
    t->out->unfinished = true;
    for (size_t i = 0; i < t->members.items.len; i++)
        if (!give_keys(t, i, e))
            return false;
    if (!settle(t, e))
        return false;
    t->out->unfinished = false;
    return true;
}

static bool tend(struct tending *t, int patience_ms, bool owner, struct error *e)
{
    struct key_tended unused;
    bool taken = false;
    if (!t->out)
        t->out = &unused;
    *t->out = (struct key_tended){0};
    if (!ring_lock(t->r, patience_ms, e))
        return false;
    bool ok = t->c->ops->members(t->c, &t->members, e) && tend_own(t, &taken, e) &&
              (!taken || ring_save(t->r, e));
    if (ok && owner && (!key_ring_owns(t->r) || t->out->removed))
        ok = err_set(e, ERR_FORBIDDEN, "only an owner of the space can do that");
    if (ok && key_ring_owns(t->r) && !t->out->removed)
        ok = tend_members(t, taken, e);
    ring_unlock(t->r);
    vec_release(&t->holders);
    space_members_release(&t->members);
    return ok;
}

bool key_ring_tend(struct key_ring *r, struct carrier *c, const char *person, int64_t now_ms,
                   struct key_tended *out, struct error *e)
{
    struct tending t = {.r = r, .c = c, .person = person, .now_ms = now_ms, .out = out};
    struct error cause;
    if (tend(&t, 0, false, &cause))
        return true;
    out->admitted = out->admitted || key_ring_epoch(r) > 0;
    return cause.code == ERR_SESSION_BUSY || err_set(e, cause.code, "%s", cause.text);
}

bool key_ring_approve(struct key_ring *r, struct carrier *c, const char *own, const char *person,
                      const char *words, struct error *e)
{
    struct tending t = {.r = r,
                        .c = c,
                        .person = own,
                        .now_ms = clock_wall_ms(),
                        .approve = person,
                        .words = words};
    return tend(&t, PATIENCE_MS, true, e);
}

bool key_ring_rotate(struct key_ring *r, struct carrier *c, const char *own, const char *without,
                     struct error *e)
{
    struct tending t = {
        .r = r, .c = c, .person = own, .now_ms = clock_wall_ms(), .without = without, .turn = true};
    return tend(&t, PATIENCE_MS, true, e);
}

/* ---- invitations, and a look at the members ---- */

bool key_ring_invite(struct key_ring *r, struct space_invitation *out, int64_t until_ms,
                     struct error *e)
{
    if (!ring_lock(r, PATIENCE_MS, e))
        return false;
    bool ok =
        key_ring_owns(r) || err_set(e, ERR_FORBIDDEN, "only an owner of a sealed space can invite");
    ok = ok && ring_new_invitation(r, out->role, until_ms, e) && ring_save(r, e);
    ring_unlock(r);
    if (!ok)
        return false;
    mem_replace(&out->owner, base64_encode(r->public_key, RING_PUBLIC));
    mem_replace(&out->token,
                base64_encode(r->invited[r->count[RING_INVITED] - 1].token, RING_TOKEN));
    return true;
}

bool key_ring_vouches(const struct key_ring *r, const struct space_member *m)
{
    const char *at = m->public_key, *word;
    size_t len;
    bool all = next_word(&at, &word, &len);
    for (int n = 0; n < MACHINES && all && len > 0; n++, next_word(&at, &word, &len)) {
        struct holder h = {.epoch = -1};
        all = ring_word_read(word, len, &h.word);
        if (all)
            find_given(r, m, &h);
        all = all && is_vouched(r, &h);
    }
    return all;
}

bool key_ring_first_row(const struct key_ring *r, struct space_member *row, struct error *e)
{
    char *wrapped = ring_wrap(r, row->person, r->public_key, e);
    if (!wrapped)
        return false;
    mem_replace(&row->public_key, ring_own_word(r, row->person));
    mem_replace(&row->wrapped_key, wrapped);
    row->epoch = r->epoch;
    return true;
}

#else /* without libsodium there is no ring (keys.c) */

bool key_ring_tend(struct key_ring *r, struct carrier *c, const char *person, int64_t now_ms,
                   struct key_tended *out, struct error *e)
{
    (void)c;
    (void)person;
    (void)now_ms;
    *out = (struct key_tended){0};
    return key_ring_seal(r, NULL, e);
}

bool key_ring_approve(struct key_ring *r, struct carrier *c, const char *own, const char *person,
                      const char *words, struct error *e)
{
    (void)c;
    (void)own;
    (void)person;
    (void)words;
    return key_ring_seal(r, NULL, e);
}

bool key_ring_rotate(struct key_ring *r, struct carrier *c, const char *own, const char *without,
                     struct error *e)
{
    return key_ring_approve(r, c, own, without, NULL, e);
}

bool key_ring_invite(struct key_ring *r, struct space_invitation *out, int64_t until_ms,
                     struct error *e)
{
    (void)out;
    (void)until_ms;
    return key_ring_seal(r, NULL, e);
}

bool key_ring_vouches(const struct key_ring *r, const struct space_member *m)
{
    (void)r;
    (void)m;
    return false;
}

bool key_ring_first_row(const struct key_ring *r, struct space_member *row, struct error *e)
{
    (void)row;
    return key_ring_seal(r, NULL, e);
}

#endif
