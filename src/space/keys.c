#include "space/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/wakeup.h"
#include "space/keys_private.h"

/* spaces/ID.keys in the data directory; the caller frees. */
static char *ring_path(const char *space)
{
    auto_free char *data = paths_dir(PATHS_DATA);
    return mem_printf("%s/spaces/%s.keys", data, space);
}

bool key_ring_exists(const char *space)
{
    auto_free char *path = ring_path(space);
    return uuid_valid(space) && access(path, F_OK) == 0;
}

bool key_ring_erase(const char *space, struct error *e)
{
    auto_free char *path = ring_path(space);
    return (uuid_valid(space) && (unlink(path) == 0 || errno == ENOENT)) ||
           err_set_errno(e, ERR_FILE_ERROR, "%.120s cannot be removed", path);
}

#ifdef HAVE_LIBSODIUM

#include <sodium.h>

/* ---- the library ---- */

#define SODIUM_FUNCTIONS(X)                                                                        \
    X(crypto_aead_xchacha20poly1305_ietf_decrypt)                                                  \
    X(crypto_aead_xchacha20poly1305_ietf_encrypt)                                                  \
    X(crypto_box_seal)                                                                             \
    X(crypto_box_seal_open)                                                                        \
    X(crypto_generichash)                                                                          \
    X(crypto_sign_detached)                                                                        \
    X(crypto_sign_ed25519_pk_to_curve25519)                                                        \
    X(crypto_sign_ed25519_sk_to_curve25519)                                                        \
    X(crypto_sign_seed_keypair)                                                                    \
    X(crypto_sign_verify_detached)                                                                 \
    X(randombytes_buf)                                                                             \
    X(sodium_free)                                                                                 \
    X(sodium_init)                                                                                 \
    X(sodium_malloc)                                                                               \
    X(sodium_memcmp)

static struct libsodium {
#define X(name) __typeof__(name) *name;
    SODIUM_FUNCTIONS(X)
#undef X
} sodium;

static bool load(struct error *e)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static bool loaded;
    pthread_mutex_lock(&mutex);
    if (!loaded) {
#ifdef LIBSODIUM_FILE
        static const struct late_function functions[] = {
#define X(name) {#name, offsetof(struct libsodium, name)},
            SODIUM_FUNCTIONS(X)
#undef X
        };
        loaded = late_library_load(&sodium, "libsodium", LIBSODIUM_FILE, functions,
                                   sizeof functions / sizeof *functions, e);
#else
#define X(name) sodium.name = name;
        SODIUM_FUNCTIONS(X)
#undef X
        loaded = true;
#endif
        loaded = loaded && (sodium.sodium_init() >= 0 ||
                            err_set(e, ERR_AGENT_ERROR, "libsodium does not start"));
    }
    pthread_mutex_unlock(&mutex);
    return loaded;
}

/* Memory that is locked, and wiped when it is released. */
static void *secret_new(size_t size)
{
    void *p = sodium.sodium_malloc(size);
    if (!p)
        die("out of memory");
    memset(p, 0, size);
    return p;
}

static void secret_free(void *local)
{
    sodium.sodium_free(*(void **)local);
}
#define auto_secret AUTO(secret_free)

static void put_number(unsigned char out[8], int64_t n)
{
    for (int i = 7; i >= 0; i--, n >>= 8)
        out[i] = (unsigned char)(n & 0xff);
}

/* Negative for what is no number of ours. */
static int64_t get_number(const unsigned char *bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n = n << 8 | bytes[i];
    return n >> 53 ? -1 : (int64_t)n;
}

/* Fields of what is signed or authenticated, each behind its length, so that no two lists of fields
 * have the same bytes. */
static void add_field(struct buf *out, const void *bytes, size_t len)
{
    unsigned char size[8];
    put_number(size, (int64_t)len);
    buf_add(out, size, sizeof size);
    buf_add(out, bytes, len);
}

static void add_text(struct buf *out, const char *text)
{
    add_field(out, text ? text : "", text ? strlen(text) : 0);
}

/* BLAKE2b of a message with a key (of 16 to 64 bytes; none: 0). */
static void hash(unsigned char *out, size_t out_len, const void *bytes, size_t len, const void *key,
                 size_t key_len)
{
    sodium.crypto_generichash(out, out_len, bytes, len, key, key_len);
}

/* ---- the file: magic, records of a tag and its bytes, a sum ---- The keys and owners that a
 * member is given are records as well. */

#define MAGIC "tiro key ring 1\n"

enum { MAGIC_BYTES = 16, SUM_BYTES = 32, RING_BYTES = sizeof(struct key_ring) + 4096 };

static const struct array {
    char tag;
    bool given; /* to members */
    size_t size, most, offset;
} arrays[] = {
#define ARRAY(tag, given, member)                                                                  \
    {                                                                                              \
        tag, given, sizeof((struct key_ring *)0)->member[0],                                       \
            sizeof((struct key_ring *)0)->member / sizeof((struct key_ring *)0)->member[0],        \
            offsetof(struct key_ring, member)                                                      \
    }
    [RING_SEED] = ARRAY('s', false, seed),       [RING_ASKS] = ARRAY('a', false, asks),
    [RING_SETTLED] = ARRAY('e', false, settled), [RING_KEYS] = ARRAY('k', true, keys),
    [RING_OWNERS] = ARRAY('o', true, owners),    [RING_INVITED] = ARRAY('i', false, invited),
    [RING_LEAVING] = ARRAY('l', false, leaving),
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static unsigned char *element(const struct key_ring *r, size_t array, size_t at)
{
    return (unsigned char *)(uintptr_t)r + arrays[array].offset + at * arrays[array].size;
}

static size_t write_records(const struct key_ring *r, bool given, unsigned char *out)
{
    unsigned char *p = out;
    for (size_t k = 0; k < ARRAYS; k++)
        for (size_t i = 0; i < r->count[k] && (arrays[k].given || !given); i++) {
            *p++ = (unsigned char)arrays[k].tag;
            memcpy(p, element(r, k, i), arrays[k].size);
            p += arrays[k].size;
        }
    return (size_t)(p - out);
}

bool ring_read_records(struct key_ring *r, bool given, const unsigned char *p, size_t len)
{
    memset(r->count, 0, sizeof r->count);
    r->epoch = 0;
    while (len > 0) {
        size_t k = 0;
        while (k < ARRAYS && (arrays[k].tag != *p || (given && !arrays[k].given)))
            k++;
        if (k == ARRAYS || len <= arrays[k].size || r->count[k] == arrays[k].most)
            return false;
        memcpy(element(r, k, r->count[k]++), p + 1, arrays[k].size);
        p += arrays[k].size + 1;
        len -= arrays[k].size + 1;
    }
    for (size_t i = 0; i < r->count[RING_KEYS]; i++) {
        int64_t epoch = get_number(r->keys[i].epoch);
        if (epoch < 1)
            return false;
        r->epoch = epoch > r->epoch ? epoch : r->epoch;
    }
    return r->count[RING_OWNERS] > 0;
}

static void sum_file(const struct key_ring *r, const unsigned char *bytes, size_t len,
                     unsigned char *sum)
{
    hash(sum, SUM_BYTES, bytes, len, r->space, UUID_LEN);
}

static bool read_ring(struct key_ring *r, struct error *e)
{
    auto_free char *path = ring_path(r->space);
    auto_secret unsigned char *bytes = secret_new(RING_BYTES);
    unsigned char sum[SUM_BYTES];
    size_t len = 0;
    ssize_t got = 1;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return err_set(e, ERR_FILE_ERROR,
                       "the keys of this space are not on this machine (%.120s is missing); ask an "
                       "owner for a new invitation",
                       path);
    int fd = paths_open_readable(path, PATHS_FILE_NO_LINK, e);
    if (fd < 0)
        return false;
    while (len < RING_BYTES && (got > 0 || (got < 0 && errno == EINTR))) {
        got = read(fd, bytes + len, RING_BYTES - len);
        len += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    bool ok = got == 0 && len > MAGIC_BYTES + SUM_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
    if (ok) {
        sum_file(r, bytes, len - SUM_BYTES, sum);
        ok = memcmp(sum, bytes + len - SUM_BYTES, SUM_BYTES) == 0 &&
             ring_read_records(r, false, bytes + MAGIC_BYTES, len - MAGIC_BYTES - SUM_BYTES) &&
             r->count[RING_SEED] == 1 && r->count[RING_SETTLED] == 1;
    }
    if (!ok)
        return err_set(e, ERR_FILE_ERROR,
                       "%.120s is damaged; put back a copy of it, or remove it and join again",
                       path);
    sodium.crypto_sign_seed_keypair(r->public_key, r->secret_key, r->seed[0]);
    return true;
}

bool ring_save(struct key_ring *r, struct error *e)
{
    auto_free char *path = ring_path(r->space);
    auto_secret unsigned char *bytes = secret_new(RING_BYTES);
    memcpy(bytes, MAGIC, MAGIC_BYTES);
    size_t len = MAGIC_BYTES + write_records(r, false, bytes + MAGIC_BYTES);
    sum_file(r, bytes, len, bytes + len);
    return paths_write_file(path, bytes, len + SUM_BYTES, e);
}

/* ---- the lock of all rings: their directory ---- */

static bool lock_rings(struct key_ring *r, int patience_ms, struct error *e)
{
    enum { STEP_MS = 20 };
    auto_free char *path = ring_path(r->space), *directory = paths_parent(path);
    if (!paths_make_dir(directory, e))
        return false;
    r->lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->lock < 0)
        return err_set_errno(e, ERR_FILE_ERROR, "%.120s cannot be opened", directory);
    for (int waited_ms = 0; flock(r->lock, LOCK_EX | LOCK_NB) != 0; waited_ms += STEP_MS) {
        if (errno == EWOULDBLOCK && waited_ms >= patience_ms) {
            ring_unlock(r);
            return err_set(e, ERR_SESSION_BUSY,
                           "another tiro works with the keys of the space; try again");
        }
        if (errno != EWOULDBLOCK)
            break; /* a file system without locks */
        wakeup_sleep(NULL, STEP_MS);
    }
    return true;
}

bool ring_lock(struct key_ring *r, int patience_ms, struct error *e)
{
    if (!lock_rings(r, patience_ms, e))
        return false;
    if (read_ring(r, e))
        return true;
    ring_unlock(r);
    return false;
}

void ring_unlock(struct key_ring *r)
{
    if (r->lock >= 0)
        close(r->lock);
    r->lock = -1;
}

/* ---- rings ---- */

static bool new_ring(const char *space, struct key_ring **out, struct error *e)
{
    *out = NULL;
    if (!load(e))
        return false;
    if (!uuid_valid(space))
        return err_set(e, ERR_USAGE, "%.60s is no id of a space", space);
    struct key_ring *r = secret_new(sizeof *r);
    memcpy(r->space, space, UUID_LEN);
    r->lock = -1;
    *out = r;
    return true;
}

void key_ring_close(struct key_ring *r)
{
    if (!r)
        return;
    ring_unlock(r);
    sodium.sodium_free(r);
}

static void make_own_key(struct key_ring *r)
{
    sodium.randombytes_buf(r->seed[0], sizeof r->seed[0]);
    sodium.crypto_sign_seed_keypair(r->public_key, r->secret_key, r->seed[0]);
    r->count[RING_SEED] = r->count[RING_SETTLED] = 1;
}

bool key_ring_open(const char *space, struct key_ring **out, struct error *e)
{
    if (!new_ring(space, out, e))
        return false;
    if (read_ring(*out, e))
        return true;
    key_ring_close(*out);
    *out = NULL;
    return false;
}

enum { PATIENCE_MS = 5000 };

bool key_ring_make(const char *space, struct key_ring **out, struct error *e)
{
    struct key_ring *r;
    if (!new_ring(space, &r, e))
        return false;
    bool ok = lock_rings(r, PATIENCE_MS, e);
    if (ok && key_ring_exists(space))
        ok = err_set(e, ERR_USAGE, "there are keys of this space already; make another one");
    if (ok) {
        make_own_key(r);
        put_number(r->settled[0], 1);
        ok = ring_add(r, RING_OWNERS, r->public_key, e) && ring_turn(r, e) && ring_save(r, e);
    }
    ring_unlock(r);
    *out = ok ? r : NULL;
    if (!ok)
        key_ring_close(r);
    return ok;
}

bool key_ring_join(const struct space_invitation *invitation, struct error *e)
{
    struct key_ring *r;
    AUTO(buf_release) struct buf owner = {.data = buf_empty, .max = RING_PUBLIC};
    AUTO(buf_release) struct buf token = {.data = buf_empty, .max = RING_TOKEN};
    if (!invitation->owner || !base64_decode(invitation->owner, &owner) ||
        owner.len != RING_PUBLIC || !invitation->token ||
        !base64_decode(invitation->token, &token) || token.len != RING_TOKEN)
        return err_set(e, ERR_USAGE, "the invitation cannot be used; ask for another one");
    if (!new_ring(invitation->id, &r, e))
        return false;
    bool ok = lock_rings(r, PATIENCE_MS, e);
    if (ok && key_ring_exists(invitation->id))
        ok = read_ring(r, e);
    else if (ok)
        make_own_key(r);
    if (ok) { /* from now on the inviting owner is believed, and no other */
        memcpy(r->asks[0], token.data, RING_TOKEN);
        memcpy(r->owners[0], owner.data, RING_PUBLIC);
        r->count[RING_ASKS] = r->count[RING_OWNERS] = 1;
        ok = ring_save(r, e);
    }
    mem_wipe(token.data, token.len);
    key_ring_close(r);
    return ok;
}

int64_t key_ring_epoch(const struct key_ring *r)
{
    return r->epoch;
}

bool key_ring_owns(const struct key_ring *r)
{
    return r->epoch > 0 && ring_has(r, RING_OWNERS, r->public_key);
}

int64_t ring_settled(const struct key_ring *r)
{
    return get_number(r->settled[0]);
}

void ring_set_settled(struct key_ring *r)
{
    put_number(r->settled[0], r->epoch);
}

int64_t ring_until(const struct key_ring *r, size_t invitation)
{
    return get_number(r->invited[invitation].until);
}

bool ring_has(const struct key_ring *r, int array, const unsigned char *public_key)
{
    for (size_t i = 0; i < r->count[array]; i++)
        if (memcmp(element(r, (size_t)array, i), public_key, RING_PUBLIC) == 0)
            return true;
    return false;
}

bool ring_add(struct key_ring *r, int array, const unsigned char *public_key, struct error *e)
{
    if (ring_has(r, array, public_key))
        return true;
    if (r->count[array] == arrays[array].most)
        return err_set(e, ERR_USAGE,
                       "a sealed space has at most %zu owners, and as many may leave "
                       "at a time",
                       arrays[array].most);
    memcpy(element(r, (size_t)array, r->count[array]++), public_key, RING_PUBLIC);
    return true;
}

void ring_remove(struct key_ring *r, int array, size_t at)
{
    size_t size = arrays[array].size, last = --r->count[array];
    memmove(element(r, (size_t)array, at), element(r, (size_t)array, at + 1), (last - at) * size);
    mem_wipe(element(r, (size_t)array, last), size);
}

bool ring_turn(struct key_ring *r, struct error *e)
{
    if (r->count[RING_KEYS] == arrays[RING_KEYS].most)
        return err_set(e, ERR_USAGE, "the space has had %zu keys, which is the most; make another",
                       arrays[RING_KEYS].most);
    struct ring_key *key = &r->keys[r->count[RING_KEYS]++];
    put_number(key->epoch, ++r->epoch);
    sodium.randombytes_buf(key->bytes, sizeof key->bytes);
    return true;
}

/* The first key of the newest or the oldest epoch, in an order that is the same in every ring. */
static const struct ring_key *key_of(const struct key_ring *r, bool newest)
{
    const struct ring_key *best = NULL;
    for (size_t i = 0; i < r->count[RING_KEYS]; i++) {
        const struct ring_key *k = &r->keys[i];
        int later = best ? memcmp(k->epoch, best->epoch, sizeof k->epoch) : 0;
        if (!best || (newest ? later > 0 : later < 0) ||
            (later == 0 && memcmp(k->bytes, best->bytes, sizeof k->bytes) < 0))
            best = k;
    }
    return best;
}

bool ring_is_split(const struct key_ring *r)
{
    size_t newest = 0;
    for (size_t i = 0; i < r->count[RING_KEYS]; i++)
        newest += get_number(r->keys[i].epoch) == r->epoch;
    return newest > 1;
}

/* ---- lines ---- */

enum {
    LINE_FORMAT = 1,
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    KEY_ID = 16,
    /* line->key: format, epoch, id of the key, nonce, wrapped key of the body */
    AT_EPOCH = 1,
    AT_ID = AT_EPOCH + 8,
    AT_NONCE = AT_ID + KEY_ID,
    AT_WRAPPED = AT_NONCE + NONCE,
    LINE_KEY = AT_WRAPPED + 32 + TAG,
    PROJECT_BYTES = 16
};

/* Tells two keys of one epoch apart, which two owners made. */
static void id_of(const struct ring_key *k, unsigned char out[KEY_ID])
{
    static const char purpose[] = "tiro: id of a key";
    hash(out, KEY_ID, purpose, sizeof purpose, k->bytes, sizeof k->bytes);
}

char *key_ring_project(const struct key_ring *r, const char *project)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    unsigned char out[PROJECT_BYTES];
    const struct ring_key *key = key_of(r, false);
    if (!project || !key)
        return NULL;
    add_text(&text, "tiro: project");
    add_text(&text, r->space);
    add_text(&text, project);
    hash(out, sizeof out, text.data, text.len, key->bytes, sizeof key->bytes);
    return base64_encode(out, sizeof out);
}

/* The additional data that a sealed line is bound to. */
static void bound_of(const struct key_ring *r, const struct space_line *line, struct buf *out)
{
    unsigned char number[8];
    add_text(out, "tiro: line 1");
    add_text(out, r->space);
    add_text(out, line->entry);
    put_number(number, line->version);
    add_field(out, number, sizeof number);
    add_text(out, space_kind_names.words[line->kind]);
    add_text(out, line->owner);
    put_number(number, line->at_ms);
    add_field(out, number, sizeof number);
    add_text(out, line->project);
}

static void aead_seal(unsigned char *out, const void *plain, size_t len, const struct buf *bound,
                      const unsigned char *nonce, const unsigned char *key)
{
    sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        out, NULL, plain, len, (const unsigned char *)bound->data, bound->len, NULL, nonce, key);
}

static bool aead_open(unsigned char *out, const void *sealed, size_t len, const struct buf *bound,
                      const unsigned char *nonce, const unsigned char *key)
{
    return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed, len,
                                                             (const unsigned char *)bound->data,
                                                             bound->len, nonce, key) == 0;
}

bool key_ring_seal(const struct key_ring *r, struct space_line *line, struct error *e)
{
    AUTO(buf_release) struct buf plain = BUF_INIT, bound = BUF_INIT;
    unsigned char head[LINE_KEY] = {LINE_FORMAT}, body_key[32];
    const struct ring_key *key = key_of(r, true);
    if (!key)
        return err_set(e, ERR_FORBIDDEN,
                       "the keys of this space have not come; an owner's tiro sends them");
    buf_addch(&plain, line->project ? 1 : 0);
    add_text(&plain, line->project);
    buf_add(&plain, line->body.data, line->body.len);
    if (plain.len + TAG > SPACE_BODY_BYTES)
        return err_set(e, ERR_USAGE, "the entry is too long for a sealed space");
    mem_replace(&line->project, key_ring_project(r, line->project));
    bound_of(r, line, &bound);
    put_number(head + AT_EPOCH, r->epoch);
    id_of(key, head + AT_ID);
    sodium.randombytes_buf(head + AT_NONCE, NONCE);
    sodium.randombytes_buf(body_key, sizeof body_key);
    aead_seal(head + AT_WRAPPED, body_key, sizeof body_key, &bound, head + AT_NONCE, key->bytes);
    unsigned char *sealed = mem_alloc(plain.len + TAG);
    aead_seal(sealed, plain.data, plain.len, &bound, head + AT_NONCE, body_key);
    buf_clear(&line->body);
    buf_add(&line->body, sealed, plain.len + TAG);
    buf_clear(&line->key);
    buf_add(&line->key, head, sizeof head);
    free(sealed);
    mem_wipe(body_key, sizeof body_key);
    return true;
}

/* The key that the head of a line names; NULL: this ring has it not. */
static const struct ring_key *key_named(const struct key_ring *r, const unsigned char *head)
{
    unsigned char id[KEY_ID];
    for (size_t i = 0; i < r->count[RING_KEYS]; i++) {
        if (memcmp(r->keys[i].epoch, head + AT_EPOCH, 8) != 0)
            continue;
        id_of(&r->keys[i], id);
        if (memcmp(id, head + AT_ID, KEY_ID) == 0)
            return &r->keys[i];
    }
    return NULL;
}

enum line_opened key_ring_open_line(const struct key_ring *r, struct space_line *line)
{
    AUTO(buf_release) struct buf bound = BUF_INIT;
    const unsigned char *head = (const unsigned char *)line->key.data;
    unsigned char body_key[32];
    if (line->key.len == 0 && line->body.len == 0 && line->kind != SPACE_FORGET)
        return LINE_ERASED;
    if (line->key.len != LINE_KEY || head[0] != LINE_FORMAT || line->body.len < 9 + TAG)
        return LINE_FORGED;
    const struct ring_key *key = key_named(r, head);
    if (!key)
        return LINE_LOCKED;
    bound_of(r, line, &bound);
    size_t len = line->body.len - TAG;
    auto_free unsigned char *plain = mem_alloc(len);
    bool ok = aead_open(body_key, head + AT_WRAPPED, sizeof body_key + TAG, &bound, head + AT_NONCE,
                        key->bytes) &&
              aead_open(plain, line->body.data, line->body.len, &bound, head + AT_NONCE, body_key);
    mem_wipe(body_key, sizeof body_key);
    int64_t named = ok ? get_number(plain + 1) : -1;
    if (named < 0 || (size_t)named > len - 9)
        return LINE_FORGED;
    auto_free char *project = plain[0] ? mem_strndup((char *)plain + 9, (size_t)named) : NULL;
    auto_free char *hashed = key_ring_project(r, project);
    if (strcmp(hashed ? hashed : "", line->project ? line->project : "") != 0)
        return LINE_FORGED; /* a member wrote it so */
    mem_replace(&line->project, project);
    project = NULL;
    buf_clear(&line->key);
    buf_clear(&line->body);
    buf_add(&line->body, plain + 9 + named, len - 9 - (size_t)named);
    return LINE_OPENED;
}

/* ---- words of public_key ---- */

static void prove(const struct key_ring *r, const unsigned char *token, const char *person,
                  const unsigned char *public_key, unsigned char out[RING_PROOF])
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    add_text(&text, "tiro: proof 1");
    add_text(&text, r->space);
    add_text(&text, person);
    add_field(&text, public_key, RING_PUBLIC);
    hash(out, RING_PROOF, text.data, text.len, token, RING_TOKEN);
}

bool ring_word_read(const char *word, size_t len, struct ring_word *out)
{
    AUTO(buf_release) struct buf key = {.data = buf_empty, .max = RING_PUBLIC};
    AUTO(buf_release) struct buf proof = {.data = buf_empty, .max = RING_PROOF};
    const char *dot = memchr(word, '.', len);
    auto_free char *first = mem_strndup(word, dot ? (size_t)(dot - word) : len);
    auto_free char *second = dot ? mem_strndup(dot + 1, len - (size_t)(dot + 1 - word)) : NULL;
    if (!base64_decode(first, &key) || key.len != RING_PUBLIC ||
        (second && (!base64_decode(second, &proof) || proof.len != RING_PROOF)))
        return false;
    memcpy(out->key, key.data, RING_PUBLIC);
    memcpy(out->proof, proof.data, proof.len);
    out->proves = second != NULL;
    return true;
}

char *ring_own_word(const struct key_ring *r, const char *person)
{
    unsigned char proof[RING_PROOF];
    auto_free char *key = base64_encode(r->public_key, RING_PUBLIC);
    if (r->count[RING_ASKS] == 0)
        return mem_strdup(key);
    prove(r, r->asks[0], person, r->public_key, proof);
    auto_free char *proven = base64_encode(proof, sizeof proof);
    return mem_printf("%s.%s", key, proven);
}

int ring_proven(const struct key_ring *r, const char *person, const struct ring_word *word,
                int64_t now_ms)
{
    unsigned char proof[RING_PROOF];
    for (size_t i = 0; i < r->count[RING_INVITED] && word->proves; i++) {
        prove(r, r->invited[i].token, person, word->key, proof);
        if (get_number(r->invited[i].until) > now_ms &&
            sodium.sodium_memcmp(proof, word->proof, sizeof proof) == 0)
            return (int)i;
    }
    return -1;
}

bool ring_new_invitation(struct key_ring *r, enum space_role role, int64_t until_ms,
                         struct error *e)
{
    if (r->count[RING_INVITED] == arrays[RING_INVITED].most)
        return err_set(e, ERR_USAGE, "%zu invitations are open; wait until some are used",
                       arrays[RING_INVITED].most);
    struct ring_invitation *i = &r->invited[r->count[RING_INVITED]++];
    put_number(i->until, until_ms);
    i->role = (unsigned char)role;
    sodium.randombytes_buf(i->token, sizeof i->token);
    return true;
}

/* ---- words of wrapped_key ---- */

enum {
    WRAP_FORMAT = 1,
    /* format, epoch, who signed, signature, sealed records */
    AT_SIGNER = 1 + 8,
    AT_SIGNATURE = AT_SIGNER + RING_PUBLIC,
    AT_SEALED = AT_SIGNATURE + crypto_sign_BYTES,
    WRAPPED_BYTES = AT_SEALED + crypto_box_SEALBYTES + RING_BYTES
};

static void signed_text(const struct key_ring *r, const char *person,
                        const unsigned char *public_key, const unsigned char *wrapped, size_t len,
                        struct buf *out)
{
    add_text(out, "tiro: keys 1");
    add_text(out, r->space);
    add_text(out, person);
    add_field(out, public_key, RING_PUBLIC);
    add_field(out, wrapped + 1, 8);
    add_field(out, wrapped + AT_SEALED, len - AT_SEALED);
}

char *ring_wrap(const struct key_ring *r, const char *person, const unsigned char *public_key,
                struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_secret unsigned char *plain = secret_new(RING_BYTES);
    unsigned char box_key[crypto_box_PUBLICKEYBYTES];
    size_t len = write_records(r, true, plain), whole = AT_SEALED + crypto_box_SEALBYTES + len;
    auto_free unsigned char *out = mem_alloc(whole);
    if (sodium.crypto_sign_ed25519_pk_to_curve25519(box_key, public_key) != 0 ||
        sodium.crypto_box_seal(out + AT_SEALED, plain, len, box_key) != 0) {
        err_set(e, ERR_USAGE, "the public key of %.60s is none", person);
        return NULL;
    }
    out[0] = WRAP_FORMAT;
    put_number(out + 1, r->epoch);
    memcpy(out + AT_SIGNER, r->public_key, RING_PUBLIC);
    signed_text(r, person, public_key, out, whole, &text);
    sodium.crypto_sign_detached(out + AT_SIGNATURE, NULL, (const unsigned char *)text.data,
                                text.len, r->secret_key);
    return base64_encode(out, whole);
}

/* The bytes of a word whose signature is an owner's; its epoch, or -1. */
static int64_t read_wrapped(const struct key_ring *r, const char *person,
                            const unsigned char *public_key, const char *word, size_t len,
                            struct buf *out)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *coded = mem_strndup(word, len);
    *out = (struct buf){.data = buf_empty, .max = WRAPPED_BYTES};
    if (!base64_decode(coded, out) || out->len <= AT_SEALED + crypto_box_SEALBYTES ||
        out->data[0] != WRAP_FORMAT)
        return -1;
    const unsigned char *bytes = (const unsigned char *)out->data;
    if (!ring_has(r, RING_OWNERS, bytes + AT_SIGNER))
        return -1;
    signed_text(r, person, public_key, bytes, out->len, &text);
    if (sodium.crypto_sign_verify_detached(bytes + AT_SIGNATURE, (const unsigned char *)text.data,
                                           text.len, bytes + AT_SIGNER) != 0)
        return -1;
    return get_number(bytes + 1);
}

int64_t ring_vouched(const struct key_ring *r, const char *person, const unsigned char *public_key,
                     const char *word, size_t len)
{
    AUTO(buf_release) struct buf bytes = BUF_INIT;
    return read_wrapped(r, person, public_key, word, len, &bytes);
}

/* Adds what an owner gave. Keys are never lost. Owners are those of the newer epoch; of one epoch,
 * which two owners began at the same time, those in whom both believe. */
static bool merge(struct key_ring *r, const struct key_ring *given)
{
    const bool newer = given->epoch > r->epoch || r->count[RING_ASKS] > 0;
    bool changed = newer;
    for (size_t i = 0; i < given->count[RING_KEYS]; i++) {
        size_t k = 0;
        while (k < r->count[RING_KEYS] &&
               memcmp(&r->keys[k], &given->keys[i], sizeof r->keys[k]) != 0)
            k++;
        if (k < r->count[RING_KEYS] || k == arrays[RING_KEYS].most)
            continue;
        r->keys[r->count[RING_KEYS]++] = given->keys[i];
        changed = true;
    }
    if (newer) {
        memcpy(r->owners, given->owners, sizeof r->owners);
        r->count[RING_OWNERS] = given->count[RING_OWNERS];
        r->count[RING_ASKS] = 0;
        put_number(r->settled[0], given->epoch);
    } else
        for (size_t i = r->count[RING_OWNERS]; changed && i-- > 0;)
            if (!ring_has(given, RING_OWNERS, r->owners[i]))
                ring_remove(r, RING_OWNERS, i);
    r->epoch = given->epoch;
    return changed;
}

bool ring_take(struct key_ring *r, const char *person, const char *word, size_t len)
{
    AUTO(buf_release) struct buf bytes = BUF_INIT;
    auto_secret struct key_ring *given = secret_new(sizeof *given);
    auto_secret unsigned char *plain = secret_new(RING_BYTES), *box_secret = secret_new(32);
    unsigned char box_public[crypto_box_PUBLICKEYBYTES];
    int64_t epoch = read_wrapped(r, person, r->public_key, word, len, &bytes);
    size_t sealed = bytes.len - AT_SEALED;
    return epoch > 0 && epoch >= r->epoch &&
           sodium.crypto_sign_ed25519_pk_to_curve25519(box_public, r->public_key) == 0 &&
           sodium.crypto_sign_ed25519_sk_to_curve25519(box_secret, r->secret_key) == 0 &&
           sodium.crypto_box_seal_open(plain, (const unsigned char *)bytes.data + AT_SEALED, sealed,
                                       box_public, box_secret) == 0 &&
           ring_read_records(given, true, plain, sealed - crypto_box_SEALBYTES) &&
           given->epoch == epoch && merge(r, given);
}

/* ---- fingerprints ---- */

char *ring_words(const unsigned char *public_key)
{
    AUTO(buf_release) struct buf text = BUF_INIT, out = BUF_INIT;
    unsigned char sum[16];
    add_text(&text, "tiro: fingerprint 1");
    add_field(&text, public_key, RING_PUBLIC);
    hash(sum, sizeof sum, text.data, text.len, NULL, 0);
    for (int i = 0; i < 8; i++) {
        const char *word = embedded_text("words.txt");
        for (int k = 0; k < sum[i]; k++)
            word = strchr(word, '\n') + 1;
        buf_addf(&out, "%s%.*s", i > 0 ? " " : "", (int)strcspn(word, "\n"), word);
    }
    return buf_take(&out);
}

char *key_ring_words(const struct key_ring *r)
{
    return ring_words(r->public_key);
}

char *key_words(const char *public_key)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    struct ring_word word;
    struct error ignored;
    size_t len;
    if (!load(&ignored))
        return NULL;
    for (const char *p = public_key ? public_key : ""; *p; p += len) {
        p += strspn(p, " ");
        len = strcspn(p, " ");
        if (len == 0)
            break;
        if (!ring_word_read(p, len, &word))
            return NULL;
        auto_free char *words = ring_words(word.key);
        buf_addf(&out, "%s%s", out.len > 0 ? "\n" : "", words);
    }
    return buf_take(&out);
}

#else /* without libsodium */

/* Nothing but the first three is ever called: there is no ring. */

static bool lacks(struct error *e)
{
    return err_set(e, ERR_USAGE,
                   "this build cannot seal spaces; configure it with libsodium (libsodium-dev)");
}

bool key_ring_make(const char *space, struct key_ring **out, struct error *e)
{
    (void)space;
    *out = NULL;
    return lacks(e);
}

bool key_ring_join(const struct space_invitation *invitation, struct error *e)
{
    (void)invitation;
    return lacks(e);
}

bool key_ring_open(const char *space, struct key_ring **out, struct error *e)
{
    return key_ring_make(space, out, e);
}

void key_ring_close(struct key_ring *r)
{
    (void)r;
}

int64_t key_ring_epoch(const struct key_ring *r)
{
    (void)r;
    return 0;
}

bool key_ring_owns(const struct key_ring *r)
{
    (void)r;
    return false;
}

bool key_ring_seal(const struct key_ring *r, struct space_line *line, struct error *e)
{
    (void)r;
    (void)line;
    return lacks(e);
}

enum line_opened key_ring_open_line(const struct key_ring *r, struct space_line *line)
{
    (void)r;
    (void)line;
    return LINE_LOCKED;
}

char *key_ring_project(const struct key_ring *r, const char *project)
{
    (void)r;
    (void)project;
    return NULL;
}

char *key_ring_words(const struct key_ring *r)
{
    (void)r;
    return NULL;
}

char *key_words(const char *public_key)
{
    (void)public_key;
    return NULL;
}

#endif
