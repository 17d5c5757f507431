/* Selects the call that fails: the environment's settings, the stacks, the log. */
#include "tests/torture/torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

enum { LOG_FD = 900, MAPS = 64, POINTS = 1 << 16, TRACES = 1 << 14, LONGEST_LINE = 512 };
enum { LATER_LOGGED = 32 };

static const char *const class_names[] = {"malloc", "file", "network", "process"};

_Thread_local bool torture_inside;

static struct {
    bool armed, record, stays, trace;
    enum torture_class class;
    uint64_t stack;
    long nth;
    size_t cause;
} plan;

static struct {
    struct torture_lock lock;
    long calls;                  /* so far, of those that count */
    const char *failed_function; /* NULL: none yet */
    int failed_cause;
    int later; /* that failed since */
} progress;

/* Calls by stack, a table of open addresses. */
static struct point {
    uint64_t stack, near;
    const char *function;
    long calls;
    int causes;
} * points;

/* --- functions independent of the program ----------------------------------------------------- */

void torture_take(struct torture_lock *l)
{
    while (atomic_exchange(&l->taken, 1))
        sched_yield();
}

void torture_give(struct torture_lock *l)
{
    atomic_store(&l->taken, 0);
}

static struct {
    uintptr_t from, to;
} maps[MAPS];
static _Atomic size_t map_count;

void *torture_map(size_t size)
{
    size_t index = atomic_fetch_add(&map_count, 1);
    void *p = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || index >= MAPS)
        syscall(SYS_exit_group, 99);
    maps[index].from = (uintptr_t)p;
    maps[index].to = (uintptr_t)p + size;
    return p;
}

bool torture_is_own(uintptr_t from, uintptr_t to)
{
    for (size_t i = 0; i < map_count; i++)
        if (from < maps[i].to && maps[i].from < to)
            return true;
    return false;
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* Frames of this library do not count, or a change of the library would change every stack. */
static bool is_ours(uintptr_t pc)
{
    struct dl_find_object here, found;
    return _dl_find_object((void *)(uintptr_t)is_ours, &here) == 0 &&
           _dl_find_object((void *)(pc - 1), &found) == 0 &&
           here.dlfo_link_map == found.dlfo_link_map;
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
    struct torture_stack *s = arg;
    uintptr_t pc = _Unwind_GetIP(context);
    if (!pc || s->depth == TORTURE_FRAMES)
        return _URC_END_OF_STACK;
    if (s->depth > 0 || !is_ours(pc))
        s->frames[s->depth++] = pc;
    return _URC_NO_REASON;
}

struct place {
    const char *module;
    uintptr_t offset;
};

static struct place place_of(uintptr_t pc)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)(pc - 1), &found) != 0)
        return (struct place){"?", 0};
    return (struct place){found.dlfo_link_map->l_name, pc - 1 - found.dlfo_link_map->l_addr};
}

const char *torture_module(uintptr_t pc)
{
    const char *module = place_of(pc).module;
    return *module ? module : "-";
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void take_stack(struct torture_stack *out)
{
    out->depth = 0;
    out->hash = 1;
    _Unwind_Backtrace(add_frame, out);
    for (size_t i = 0; i < out->depth; i++) {
        out->hash = mix(out->hash, place_of(out->frames[i]).offset);
        if (i < TORTURE_NEAR_FRAMES)
            out->near = out->hash;
    }
}

static struct {
    struct torture_lock lock;
    struct torture_stack *items;
    size_t left;
} traces;

const struct torture_stack *torture_trace(void)
{
    if (!plan.trace || torture_inside)
        return NULL;
    torture_inside = true;
    torture_take(&traces.lock);
    if (traces.left == 0) {
        traces.items = torture_map(TRACES * sizeof *traces.items);
        traces.left = TRACES;
    }
    struct torture_stack *stack = &traces.items[--traces.left];
    torture_give(&traces.lock);
    take_stack(stack);
    torture_inside = false;
    return stack;
}

uintptr_t torture_caller(uintptr_t pc)
{
    struct torture_stack stack;
    if (torture_inside || !strstr(torture_module(pc), "/libc.so"))
        return pc;
    torture_inside = true;
    take_stack(&stack);
    torture_inside = false;
    for (size_t i = 0; i < stack.depth; i++)
        if (!strstr(torture_module(stack.frames[i]), "/libc.so"))
            return stack.frames[i];
    return pc;
}

/* --- the log ---------------------------------------------------------------------------------- */

static void write_line(const char *line, int len)
{
    size_t count = len < LONGEST_LINE ? (size_t)len : LONGEST_LINE - 1;
    (void)!syscall(SYS_write, LOG_FD, line, count);
}

void torture_log(const struct torture_stack *stack, const char *format, ...)
{
    char line[LONGEST_LINE];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    write_line(line, len);
    if (stack) {
        for (size_t i = 0; i < stack->depth; i++) {
            struct place p = place_of(stack->frames[i]);
            write_line(line, snprintf(line, sizeof line, "at %s 0x%" PRIxPTR "\n",
                                      torture_module(stack->frames[i]), p.offset));
        }
    }
}

/* --- the call that fails ---------------------------------------------------------------------- */

static void note(const struct torture_stack *stack, const char *function, int causes)
{
    if (!points)
        points = torture_map(POINTS * sizeof *points);
    for (size_t i = stack->hash % POINTS, tries = 0; tries < POINTS;
         i = (i + 1) % POINTS, tries++) {
        if (points[i].calls == 0)
            points[i] = (struct point){stack->hash, stack->near, function, 0, causes};
        if (points[i].stack == stack->hash) {
            points[i].calls++;
            return;
        }
    }
}

static int count_of(const int *causes)
{
    int count = 0;
    while (causes[count])
        count++;
    return count;
}

static bool is_among(const int *causes, int cause)
{
    while (*causes && *causes != cause)
        causes++;
    return *causes;
}

static bool fails_still(enum torture_class class, const char *function, const int *causes)
{
    /* A caller that retries would never end, and the kernel finds memory at last, so these causes
     * cannot stay. */
    int cause = progress.failed_cause;
    return plan.stays &&
           (cause != EINTR && cause != EAGAIN && cause != TORTURE_SHORT &&
            (cause != ENOMEM || class == TORTURE_MALLOC)) &&
           is_among(causes, progress.failed_cause) &&
           (class == TORTURE_MALLOC || strcmp(function, progress.failed_function) == 0);
}

static int decide(enum torture_class class, const char *function, const int *causes,
                  const struct torture_stack *stack)
{
    if (plan.record)
        note(stack, function, count_of(causes));
    if (progress.failed_function && !fails_still(class, function, causes))
        return 0;
    if (progress.failed_function) {
        if (progress.later++ < LATER_LOGGED)
            torture_log(stack, "again %s\n", function);
        return progress.failed_cause;
    }
    if ((plan.stack && plan.stack != stack->hash) || ++progress.calls != plan.nth)
        return 0;
    progress.failed_function = function;
    progress.failed_cause = causes[plan.cause % (size_t)count_of(causes)];
    if (progress.failed_cause == TORTURE_SHORT)
        torture_log(stack, "hit %s short\n", function);
    else
        torture_log(stack, "hit %s %s\n", function, strerrorname_np(progress.failed_cause));
    return progress.failed_cause;
}

int torture_cause(enum torture_class class, const char *function, const int *causes)
{
    if (!plan.armed || torture_inside || class != plan.class ||
        (progress.failed_function && !plan.stays && !plan.record))
        return 0;
    int before = errno;
    struct torture_stack stack;
    torture_inside = true;
    take_stack(&stack);
    torture_take(&progress.lock);
    int cause = decide(class, function, causes, &stack);
    torture_give(&progress.lock);
    torture_inside = false;
    errno = cause > 0 ? cause : before;
    return cause;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static enum torture_class class_of(const char *name)
{
    for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++)
        if (strcmp(name, class_names[i]) == 0)
            return (enum torture_class)i;
    return TORTURE_MALLOC;
}

/* No call fails in the child between fork() and exec(). */
static void disarm(void)
{
    plan.armed = false;
}

__attribute__((constructor)) static void begin(void)
{
    torture_inside = true;
    long fd = syscall(SYS_openat, AT_FDCWD, setting("TORTURE_LOG"),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        syscall(SYS_dup3, fd, LOG_FD, O_CLOEXEC);
        syscall(SYS_close, fd);
    }
    plan.record = *setting("TORTURE_RECORD");
    plan.trace = *setting("TORTURE_TRACE");
    plan.stays = *setting("TORTURE_STAYS");
    plan.class = class_of(setting("TORTURE_CLASS"));
    plan.stack = strtoull(setting("TORTURE_STACK"), NULL, 16);
    plan.nth = strtol(setting("TORTURE_NTH"), NULL, 10);
    plan.cause = strtoul(setting("TORTURE_CAUSE"), NULL, 10);
    static const char *const names[] = {"LD_PRELOAD",    "TORTURE_LOG",    "TORTURE_CLASS",
                                        "TORTURE_STACK", "TORTURE_NTH",    "TORTURE_CAUSE",
                                        "TORTURE_STAYS", "TORTURE_RECORD", "TORTURE_TRACE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    /* All blocks lie in one arena, the heap, which is then excluded from the search for pointers to
     * them. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_MAX, 0);
    pthread_atfork(NULL, NULL, disarm);
    plan.armed = fd >= 0;
    torture_inside = false;
}

__attribute__((destructor)) static void end(void)
{
    if (!plan.armed)
        return;
    torture_inside = true;
    torture_take(&progress.lock);
    for (size_t i = 0; points && i < POINTS; i++)
        if (points[i].calls > 0)
            torture_log(NULL, "point %" PRIx64 " %" PRIx64 " %s %ld %d\n", points[i].stack,
                        points[i].near, points[i].function, points[i].calls, points[i].causes);
    torture_tell_leaks();
    torture_log(NULL, "end\n");
    torture_give(&progress.lock);
    torture_inside = false;
}
