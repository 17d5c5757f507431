/* Allocation that cannot fail: out of memory calls die(). Results are freed with free(). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size); /* zeroed */
void *mem_resize(void *old, size_t size);
char *mem_strdup(const char *s);              /* NULL stays NULL */
char *mem_strndup(const char *s, size_t len); /* copies exactly len bytes, adds a NUL */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Overwrites what was secret, which no compiler leaves out. */
void mem_wipe(void *bytes, size_t len);

/* Large blocks go back to the system when they are freed. Without it glibc keeps ever larger ones,
 * and what passing copies of a long answer took would stay taken. Before the first thread. */
void mem_return_large_blocks(void);

/* Gives back to the system what was freed between blocks that stay, where the allocator can: once
 * much was done, and nobody waits. */
void mem_return_unused(void);

#endif
