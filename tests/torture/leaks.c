/* The blocks that the program holds, and those that nothing points to when it ends. */
#include "tests/torture/torture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_ROOM = 1 << 16, MAPS_TEXT = 1 << 18 };

struct block {
    uintptr_t address; /* 0: a free place */
    size_t size;
    uintptr_t caller;
    const struct torture_stack *stack; /* where it was allocated; NULL: not kept */
    bool reached;
};

/* A table of open addresses, at most half full. */
static struct {
    struct torture_lock lock;
    struct block *items;
    size_t room, len;
} table;

/* --- adding and removing ---------------------------------------------------------------------- */

static size_t home_of(uintptr_t address)
{
    return (size_t)(((address >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 20) % table.room;
}

static size_t place_of(uintptr_t address)
{
    size_t i = home_of(address);
    while (table.items[i].address && table.items[i].address != address)
        i = (i + 1) % table.room;
    return i;
}

static void make_room(void)
{
    if (table.len * 2 < table.room)
        return;
    struct block *old = table.items;
    size_t count = table.room;
    table.room = count ? count * 2 : FIRST_ROOM;
    table.items = torture_map(table.room * sizeof *table.items);
    for (size_t i = 0; i < count; i++)
        if (old[i].address)
            table.items[place_of(old[i].address)] = old[i];
}

void torture_block_add(void *block, size_t size, uintptr_t caller,
                       const struct torture_stack *stack)
{
    torture_take(&table.lock);
    make_room();
    table.items[place_of((uintptr_t)block)] =
        (struct block){(uintptr_t)block, size, caller, stack, false};
    table.len++;
    torture_give(&table.lock);
}

void torture_block_remove(void *block)
{
    torture_take(&table.lock);
    if (table.len > 0) {
        size_t place = place_of((uintptr_t)block);
        if (table.items[place].address) {
            table.len--;
            /* Moves entries behind a free place up, unless that would be before their home. */
            size_t gap = place;
            for (size_t i = (gap + 1) % table.room; table.items[i].address;
                 i = (i + 1) % table.room) {
                size_t from_home = (i - home_of(table.items[i].address) + table.room) % table.room;
                if (from_home >= (i - gap + table.room) % table.room) {
                    table.items[gap] = table.items[i];
                    gap = i;
                }
            }
            table.items[gap] = (struct block){0};
        }
    }
    torture_give(&table.lock);
}

/* --- pointers --------------------------------------------------------------------------------- */

static struct {
    struct block *items; /* by address */
    size_t len;
    size_t *pending; /* reached, not yet looked into */
    size_t pending_len;
} live;

static void sift_down(size_t root, size_t len)
{
    for (size_t child; (child = 2 * root + 1) < len; root = child) {
        if (child + 1 < len && live.items[child].address < live.items[child + 1].address)
            child++;
        if (live.items[root].address >= live.items[child].address)
            return;
        struct block swap = live.items[root];
        live.items[root] = live.items[child];
        live.items[child] = swap;
    }
}

static void sort_live(void)
{
    for (size_t i = live.len / 2; i-- > 0;)
        sift_down(i, live.len);
    for (size_t end = live.len; end-- > 1;) {
        struct block swap = live.items[0];
        live.items[0] = live.items[end];
        live.items[end] = swap;
        sift_down(0, end);
    }
}

static void gather_live(void)
{
    live.items = torture_map((table.room + 1) * sizeof *live.items);
    live.pending = torture_map((table.room + 1) * sizeof *live.pending);
    for (size_t i = 0; i < table.room; i++)
        if (table.items[i].address)
            live.items[live.len++] = table.items[i];
    sort_live();
}

/* The last block at or below the address. */
static struct block *block_around(uintptr_t address)
{
    size_t low = 0, high = live.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live.items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    struct block *b = low ? &live.items[low - 1] : NULL;
    return b && address - b->address <= b->size ? b : NULL;
}

static void look_through(uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = (from + 7) & ~(uintptr_t)7; at + sizeof at <= to; at += sizeof at) {
        uintptr_t word;
        memcpy(&word, (const void *)at, sizeof word);
        struct block *b = block_around(word);
        if (b && !b->reached) {
            b->reached = true;
            live.pending[live.pending_len++] = (size_t)(b - live.items);
        }
    }
}

/* --- where the search begins ------------------------------------------------------------------ */

static void look_through_map(const char *line, uintptr_t stack_top)
{
    uintptr_t from, to;
    char rights[8] = "", name[64] = "";
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %63s", &from, &to, rights, name) < 3 ||
        rights[0] != 'r' || rights[1] != 'w' || strcmp(name, "[heap]") == 0 || rights[3] != 'p' ||
        torture_is_own(from, to))
        return;
    look_through(stack_top > from && stack_top < to ? stack_top : from, to);
}

static void look_through_all(uintptr_t stack_top)
{
    char *text = torture_map(MAPS_TEXT);
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC), n;
    for (size_t len = 0; len < MAPS_TEXT - 1; len += (size_t)n)
        if ((n = syscall(SYS_read, fd, text + len, MAPS_TEXT - 1 - len)) <= 0)
            break;
    syscall(SYS_close, fd);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line)
            look_through_map(line, stack_top);
    }
    while (live.pending_len > 0) {
        const struct block *b = &live.items[live.pending[--live.pending_len]];
        look_through(b->address, b->address + b->size);
    }
}

void torture_tell_leaks(void)
{
    jmp_buf registers;
    setjmp(registers);
    torture_take(&table.lock);
    gather_live();
    look_through_all((uintptr_t)&registers);
    for (size_t i = 0; i < live.len; i++)
        if (!live.items[i].reached)
            torture_log(live.items[i].stack, "leak %zu %s\n", live.items[i].size,
                        torture_module(live.items[i].caller));
    torture_give(&table.lock);
}
