#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw(), also where the standard is asked for */
#endif
#include "tests/kill_files.h"

#include <ftw.h>
#include <sys/stat.h>

#include "tests/damage.h"
#include "tests/kill_script.h"
#include "tests/suite.h"

enum { OPEN_AT_ONCE = 16, TABLE_BITS = 16 };

/* --- owners ----------------------------------------------------------------------------------- */

/* nftw() has no context. */
static struct {
    const char *root;
    const struct kill_texts *ids;
    const char *const *names;
    struct kill_texts *out;
} walk;

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        size_t len = strlen(*names);
        bool beginning = len > 0 && (*names)[len - 1] == '*';
        if (beginning ? strncmp(name, *names, len - 1) == 0 : strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

static bool is_of_session(const char *name, const char *end)
{
    char id[UUID_LEN + 1] = "";
    if (strlen(name) < UUID_LEN || strcmp(name + UUID_LEN, end) != 0)
        return false;
    memcpy(id, name, UUID_LEN);
    return kill_texts_have(walk.ids, id);
}

static bool is_owned(const char *path)
{
    static const char *const fixed[] = {"",      "tiro.db",  "tiro.db-wal", "tiro.db-shm",
                                        "locks", "sessions", "tiro.graph",  NULL};
    static const char *const derived[] = {"", "/transcript.md", "/events.jsonl", "/summary.txt"};
    const char *name = path + strlen(walk.root);
    name += *name == '/';
    if (is_one_of(name, fixed))
        return true;
    if (strncmp(name, "locks/", 6) == 0)
        return is_of_session(name + 6, ".lock");
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        if (strncmp(name, "sessions/", 9) == 0 && is_of_session(name + 9, derived[i]))
            return true;
    return false;
}

static int note_stray(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    if (!is_owned(path))
        kill_texts_add(walk.out, path);
    return 0;
}

void kill_files_strays(const char *data_directory, const struct kill_texts *ids,
                       struct kill_texts *out)
{
    walk.root = data_directory;
    walk.ids = ids;
    walk.out = out;
    nftw(data_directory, note_stray, OPEN_AT_ONCE, FTW_PHYS);
}

static int note_other(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    if (kind != FTW_D && !is_one_of(path + where->base, walk.names))
        kill_texts_add(walk.out, path);
    return 0;
}

void kill_files_others(const char *directory, const char *const *names, struct kill_texts *out)
{
    walk.names = names;
    walk.out = out;
    nftw(directory, note_other, OPEN_AT_ONCE, FTW_PHYS);
}

/* --- permissions ------------------------------------------------------------------------------ */

static int note_public(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)kind, (void)where;
    if (st->st_mode & 077)
        kill_texts_add(walk.out, path);
    return 0;
}

void kill_files_public(const char *directory, struct kill_texts *out)
{
    walk.out = out;
    nftw(directory, note_public, OPEN_AT_ONCE, FTW_PHYS);
}

/* --- contents --------------------------------------------------------------------------------- */

/* The ends of the words, of eight bytes, by a hash. An index whose entries share beginnings has
 * them whole. */
struct ends {
    uint64_t table[1 << TABLE_BITS]; /* 0: free */
    size_t count;
    char *found;
};

static struct ends ends;

static uint64_t end_at(const char *bytes)
{
    uint64_t end;
    memcpy(&end, bytes, sizeof end);
    return end;
}

static size_t slot_of(uint64_t end)
{
    size_t slot = (size_t)((end * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TABLE_BITS));
    while (ends.table[slot] && ends.table[slot] != end)
        slot = (slot + 1) % (1 << TABLE_BITS);
    return slot;
}

static int look_into(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    size_t len;
    (void)where;
    if (kind != FTW_F || !S_ISREG(st->st_mode))
        return 0;
    auto_free char *bytes = damage_read(path, &len);
    for (size_t i = 0; !ends.found && i + sizeof(uint64_t) <= len; i++)
        if (ends.table[slot_of(end_at(bytes + i))] && end_at(bytes + i) != 0)
            ends.found = mem_printf("%s: %.8s", path, bytes + i);
    return ends.found != NULL;
}

char *kill_files_carry(const char *directory, const struct kill_texts *words)
{
    ends.found = NULL;
    memset(ends.table, 0, sizeof ends.table);
    assert_true(words->items.len < (1 << TABLE_BITS) / 2);
    for (size_t i = 0; i < words->items.len; i++) {
        uint64_t end = end_at(words->items.items[i] + KILL_WORD_LEN - sizeof(uint64_t));
        ends.table[slot_of(end)] = end;
    }
    if (words->items.len > 0)
        nftw(directory, look_into, OPEN_AT_ONCE, FTW_PHYS);
    return ends.found;
}
