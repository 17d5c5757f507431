/* Messages and their content blocks, as they are kept, sent and shown. */
#ifndef CHAT_MESSAGE_H
#define CHAT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/shape.h"
#include "base/vec.h"

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };

enum block_type { BLOCK_TEXT, BLOCK_REASONING, BLOCK_TOOL_CALL, BLOCK_TOOL_RESULT, BLOCK_IMAGE };

/* Which fields hold something, by type; the others are NULL / false. All strings are owned.
 *   TEXT         text; signature, of text with citations; name, of a text that comes with the user's
 *                message: "@" and what the user calls it, of an attached file or folder (media_type:
 *                "inode/directory"); a skill's; MESSAGE_SURROUNDINGS
 *   REASONING    text; signature: the provider's opaque proof, sent back unchanged; with `redacted`
 *                the text is empty and the signature is the encrypted content.
 *                name: the model that wrote it, if known
 *   TOOL_CALL    id, name, text: the arguments as the model wrote them (JSON, if it kept its word);
 *                signature, if the provider ran it
 *   TOOL_RESULT  id, name: of the call; text: the content; is_error; signature, as its call
 *   IMAGE        text: path or URL; media_type; name: likewise, of an attached file, or of the tool
 *                in whose result it is, behind which it stands; id: its size (image_size_text())
 * The signature of other blocks than REASONING: the provider's own blocks for this one, JSON values
 * with commas between them. That provider gets them back in its place; others get the text. */
struct block {
    enum block_type type;
    bool is_error;
    bool redacted;
    char *text;
    char *id;
    char *name;
    char *signature;
    char *media_type;
};

/* No skill has this name. */
#define MESSAGE_SURROUNDINGS "(surroundings)"

struct message {
    enum role role;
    bool partial; /* an answer that was interrupted or cut off */
    bool summary; /* made by a compaction: stands for messages that went */
    bool pinned;  /* by the user, or as it has a skill: no compaction changes it */
    int64_t seq;  /* sequence number of the event that began it; 0: none yet */
    int turn;     /* which user message it belongs to, from 1; 0 before the first */
    int row;      /* where its blocks are stored, from 1 (struct message_source); 0: here */
    VEC(struct block) blocks;
};

void block_release(struct block *b);
struct block block_clone(const struct block *b);

/* Convenience: `text` is copied. */
struct block block_text(const char *text);

void message_release(struct message *m);
struct message message_clone(const struct message *m);
struct message message_without_blocks(const struct message *m);

/* All TEXT blocks but the surroundings joined by blank lines; the caller frees. */
char *message_text(const struct message *m);

const char *role_name(enum role role);      /* "user" */
extern const struct shape_names role_names; /* without SYSTEM */
/* False with AGENT_ERROR naming the field that does not fit; `out` is then empty. */
bool block_from_json(const struct json *v, struct block *out, struct error *e);

/* {"role","seq","turn","partial"?,"summary"?,"pinned"?,"content":[{"type":…}]}; unset fields are
 * left out. */
extern const struct shape message_shape, block_shape;

/* False with AGENT_ERROR naming the field that does not fit; `out` is then empty. */
bool message_from_json(const struct json *v, struct message *out, struct error *e);

/* Estimated tokens: bytes of the message's JSON / 4 (spec: compaction), without building it. */
int64_t message_estimate_tokens(const struct message *m);

enum { MESSAGE_BYTES_A_TOKEN = 4 }; /* estimated */

/* ---- messages whose blocks are stored elsewhere ---- Of a long history only roles, numbers and
 * sizes are in memory; blocks are read when needed. Belongs to one thread. */

struct message_source {
    /* Reads the message with the blocks at m->row; `out` is empty on failure. */
    bool (*read)(struct message_source *s, const struct message *m, struct message *out,
                 struct error *e);
    bool failed;        /* blocks could not be read: a result made from the messages is not valid */
    struct error fault; /* the first */
};

/* The message with its blocks: `m` itself if it has them, else *room, into which it is read. If
 * that fails, `m` without blocks, and `failed` is set. The caller releases *room in any case. `s`
 * may be NULL if all messages have their blocks. */
const struct message *message_whole(struct message_source *s, const struct message *m,
                                    struct message *room);

#endif
