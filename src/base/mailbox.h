/* A queue between two threads. Items are whole and immutable once pushed; who pops one owns it.
 * The reader sleeps in poll() on mailbox_fd(); the descriptor is readable while items wait,
 * but for what was pushed lazily while the reader dozed. */
#ifndef BASE_MAILBOX_H
#define BASE_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>

struct mailbox;

/* `free_item` frees what is left at mailbox_free(). */
struct mailbox *mailbox_new(void (*free_item)(void *item));
void mailbox_free(struct mailbox *m);

void mailbox_push(struct mailbox *m, void *item);

/* For items that can wait for the reader's next look: does not wake a reader that dozes. */
void mailbox_push_lazily(struct mailbox *m, void *item);

/* The reader will look again soon whatever comes: until mailbox_doze(m, false) only mailbox_push()
 * wakes it. Ending the doze makes the descriptor readable if anything waits. */
void mailbox_doze(struct mailbox *m, bool dozes);

/* NULL when empty; never waits. */
void *mailbox_pop(struct mailbox *m);

size_t mailbox_len(struct mailbox *m);

/* Whether an item of this kind waits; it stays. Never waits itself. */
bool mailbox_has(struct mailbox *m, bool (*is)(const void *item));

/* Waits up to timeout_ms (-1: for ever). NULL on timeout. */
void *mailbox_wait(struct mailbox *m, int timeout_ms);

int mailbox_fd(const struct mailbox *m);

#endif
