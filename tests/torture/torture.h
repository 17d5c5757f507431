/* A shared object that is loaded before the program under test (LD_PRELOAD) and lets one of its
 * calls fail: for Linux with glibc on a program without sanitizers. The environment configures it.
 * The library removes its variables and LD_PRELOAD from the environment, so that no child inherits
 * them:
 *
 *   TORTURE_LOG      file to which it appends its log (see torture_log())
 *   TORTURE_CLASS    the calls that count: malloc, file, network, process
 *   TORTURE_STACK    only calls from this stack count, a hexadecimal hash; unset: all
 *   TORTURE_NTH      the number of the call that fails, from 1; 0: none
 *   TORTURE_CAUSE    the cause of the failure: an index into the call's causes, from 0
 *   TORTURE_STAYS    set: the same function fails from then on (of the class malloc: all)
 *   TORTURE_RECORD   set: every stack that made calls is logged when the program ends
 *   TORTURE_TRACE    set: the stack of every block is kept, for the leaks
 *
 * The log has these lines; "at MODULE OFFSET" follows the latter two, a line for each frame of the
 * stack, the innermost first:
 *
 *   point STACK NEAR FUNCTION CALLS CAUSES    with TORTURE_RECORD; NEAR: hash of the inner frames
 *   hit FUNCTION CAUSE                   the call that failed, and its errno; short: it did less
 *   leak BYTES MODULE                    no pointer leads to this block, which the module
 *                                        allocated, when the program ends
 *   end                                  the program ended by exit()
 */
#ifndef TESTS_TORTURE_TORTURE_H
#define TESTS_TORTURE_TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum torture_class { TORTURE_MALLOC, TORTURE_FILE, TORTURE_NETWORK, TORTURE_PROCESS };

/* Among the causes: the call does less than it was asked. */
enum { TORTURE_SHORT = -1 };

enum { TORTURE_FRAMES = 48, TORTURE_NEAR_FRAMES = 16 };

struct torture_stack {
    uint64_t hash; /* of the frames by module and offset: equal in every run of a build */
    uint64_t near; /* of the inner frames alone */
    size_t depth;
    uintptr_t frames[TORTURE_FRAMES]; /* innermost first */
};

/* The cause with which this call fails, out of these causes (up to 0); 0 if it does not fail. Sets
 * errno. */
int torture_cause(enum torture_class class, const char *function, const int *causes);

/* The caller's stack if it is to be recorded, else NULL. It is never freed. */
const struct torture_stack *torture_trace(void);

/* Appends a line, and the frames of a stack unless that is NULL. */
void torture_log(const struct torture_stack *stack, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True while the library itself works in this thread: its own calls neither count nor fail. */
extern _Thread_local bool torture_inside;

/* A lock that needs no memory and no counted call. */
struct torture_lock {
    _Atomic int taken;
};
void torture_take(struct torture_lock *l);
void torture_give(struct torture_lock *l);

/* Zeroed memory outside the program's heap; ends the program on failure. */
void *torture_map(size_t size);
bool torture_is_own(uintptr_t from, uintptr_t to); /* whether it is such memory */

/* The file of the code at an address, "-" for the program's own. */
const char *torture_module(uintptr_t pc);

/* The address, or the address of its caller if it lies in the C library, as in strdup(). */
uintptr_t torture_caller(uintptr_t pc);

/* Records a block that the program holds. `caller` allocated it; `stack` may be NULL, and stays. */
void torture_block_add(void *block, size_t size, uintptr_t caller,
                       const struct torture_stack *stack);
void torture_block_remove(void *block);
void torture_tell_leaks(void);

#endif
