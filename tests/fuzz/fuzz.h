/* Targets of the fuzzer: each feeds one reader of foreign bytes with any input, and checks the
 * invariants of the result. The fuzzer (`make fuzz`) generates inputs; tests/test_fuzz_seeds
 * replays those in tests/fuzz/seeds/NAME/.
 *
 * A target is a pure function of its bytes: it keeps no state between calls that changes a later
 * call, and uses neither time nor randomness. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tests/conversation.h"

/* The targets: X(NAME, longest input). */
#define FUZZ_TARGETS(X)                                                                            \
    X(lines, 65536)                                                                                \
    X(sse, 65536)                                                                                  \
    X(anthropic, 65536)                                                                            \
    X(openai, 65536)                                                                               \
    X(responses, 65536)                                                                            \
    X(ollama, 65536)                                                                               \
    X(embedding, 65536)                                                                            \
    X(server_error, 16384)                                                                         \
    X(key_command, 16384)                                                                          \
    X(json, 65536)                                                                                 \
    X(event, 65536)                                                                                \
    X(event_struct, 8192)                                                                          \
    X(history, 8192)                                                                               \
    X(snapshot, 65536)                                                                             \
    X(transcript, 32768)                                                                           \
    X(http_request, 16384)                                                                         \
    X(import, 65536)                                                                               \
    X(import_source, 65536)                                                                        \
    X(memory, 65536)                                                                               \
    X(invitation, 8192)                                                                            \
    X(key_ring, 65536)                                                                             \
    X(graph_lines, 65536)                                                                          \
    X(search, 16384)                                                                               \
    X(config, 16384)                                                                               \
    X(theme, 16384)                                                                                \
    X(keys, 65536)                                                                                 \
    X(markdown, 32768)                                                                             \
    X(wrap, 16384)                                                                                 \
    X(approval, 32768)                                                                             \
    X(acp, 65536)                                                                                  \
    X(acp_answer, 65536)                                                                           \
    X(rpc, 65536)                                                                                  \
    X(schema, 65536)                                                                               \
    X(glob, 4096)                                                                                  \
    X(command, 4096)                                                                               \
    X(skill, 65536)                                                                                \
    X(secrets, 65536)                                                                              \
    X(utf8, 65536)                                                                                 \
    X(time, 256)                                                                                   \
    X(pages, 262144)                                                                               \
    X(graph, 65536)                                                                                \
    X(learned, 32768)                                                                              \
    X(doclist, 65536)                                                                              \
    X(document, 16384)                                                                             \
    X(image, 65536)                                                                                \
    X(mcp, 16384)                                                                                  \
    X(mcp_client, 65536)

/* Returns 0 if the input is worth keeping, -1 if not. */
typedef int fuzz_fn(const uint8_t *data, size_t size);

struct fuzz_target {
    const char *name;
    fuzz_fn *run;
    size_t max_len; /* bytes of the longest generated input */
};
#define X(name, max_len) FUZZ_##name,
enum fuzz_number { FUZZ_TARGETS(X) FUZZ_TARGET_COUNT };
#undef X
extern const struct fuzz_target fuzz_targets[FUZZ_TARGET_COUNT];
const struct fuzz_target *fuzz_target_find(const char *name); /* NULL: there is none */

#define X(name, max_len) fuzz_fn fuzz_##name;
FUZZ_TARGETS(X)
#undef X

/* If the condition is false the process aborts, which the fuzzer reports. */
#define FUZZ_CHECK(holds) ((holds) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #holds, NULL, NULL))
#define FUZZ_CHECK_ERROR(holds, e)                                                                 \
    ((holds) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #holds, (e)->text, NULL))
#define FUZZ_CHECK_SAME(a, b) fuzz_check_same(__FILE__, __LINE__, #a " is " #b, a, b)
_Noreturn void fuzz_fail(const char *file, int line, const char *what, const char *a,
                         const char *b);
void fuzz_check_same(const char *file, int line, const char *what, const char *a, const char *b);

/* Random numbers that depend on the input alone. */
struct dice fuzz_dice(const uint8_t *data, size_t size);

/* The length of the next piece of a stream with `left` bytes left: mostly short. */
size_t fuzz_piece(struct dice *d, size_t left);

/* The input up to its first NUL, as a text; the caller frees. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Whether the text is free of terminal controls, that is, equal to the result of utf8_clean(). */
bool fuzz_is_clean(const char *text, size_t len, bool multiline);
/* Checks that an error has a message. The message may hold hostile bytes: its reader cleans it. */
void fuzz_check_error(const struct error *e);

/* Reads the input as values, for targets that make structs. Past the end all values are 0, false
 * and "". */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};
uint8_t fuzz_byte(struct fuzz_input *in);
bool fuzz_bool(struct fuzz_input *in);
size_t fuzz_below(struct fuzz_input *in, size_t bound); /* returns 0 if `bound` is 0 */
int64_t fuzz_number(struct fuzz_input *in);             /* small ones and the extremes */
char *fuzz_string(struct fuzz_input *in);               /* valid UTF-8; the caller frees */

/* Writes the input to a file; the path is borrowed and valid until the process ends. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);

#endif
