/* Allocation that cannot fail: out of memory calls die(). Results are freed with free(). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Release a local when its scope ends: AUTO(buf_release) struct buf text = BUF_INIT;
 * The local must be initialised where it is declared. A local that is handed on is set to NULL or
 * taken (buf_take()). AUTO_POINTER(json_free, struct json) in a header lets AUTO(json_free_local)
 * struct json *v = … call json_free(v). */
#define AUTO(release) __attribute__((cleanup(release), unused))
#define AUTO_POINTER(release, T)                                                                   \
    static inline void release##_local(T **local)                                                  \
    {                                                                                              \
        release(*local);                                                                           \
    }
static inline void mem_free_local(void *local)
{
    free(*(void **)local);
}
#define auto_free AUTO(mem_free_local) /* auto_free char *text = mem_strdup(s); */

void *mem_alloc(size_t size); /* zeroed */
void *mem_resize(void *old, size_t size);
char *mem_strdup(const char *s);              /* NULL stays NULL */
char *mem_strndup(const char *s, size_t len); /* copies exactly len bytes, adds a NUL */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mem_replace(char **kept, char *text); /* frees *kept and sets it to `text`, which is taken */

/* FNV-1a, which is no protection against chosen texts. Begin with MEM_HASH; a hash of bytes that
 * come in pieces goes on with the hash so far. */
#define MEM_HASH UINT64_C(0xcbf29ce484222325)
uint64_t mem_hash(uint64_t hash, const void *bytes, size_t len);

/* Overwrites a secret; no compiler optimises it away. */
void mem_wipe(void *bytes, size_t len);

/* Makes glibc return large blocks to the system when they are freed; otherwise the memory of
 * passing copies of a long answer would stay allocated. Before the first thread. */
void mem_return_large_blocks(void);

/* Returns the blocks that vec_release_large() kept to the system, and, if the allocator can, free
 * memory between used blocks. Takes a while: call it when nobody waits. */
void mem_return_unused(void);

#endif
