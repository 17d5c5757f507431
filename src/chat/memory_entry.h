/* A text of an earlier conversation that can be found again. */
#ifndef CHAT_MEMORY_ENTRY_H
#define CHAT_MEMORY_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/shape.h"
#include "base/vec.h"
#include "chat/message.h"

enum {
    MEMORY_ID_BYTES = 200,      /* longest id of an entry, and of a session of an import */
    MEMORY_SPEAKER_BYTES = 200, /* longest name */
    MEMORY_CONTENT_BYTES = 8 * 1024 * 1024
};

/* How it came: by an import, by the compaction that dropped it, with a session that was left. */
enum memory_origin { MEMORY_IMPORTED, MEMORY_DROPPED, MEMORY_LEFT, MEMORY_ORIGINS };

/* Which entries a search or a listing gives, besides its scope. */
struct memory_filter {
    int origin;                  /* 0: any; else 1 + enum memory_origin */
    int64_t after_ms, before_ms; /* said at or after, and before these times; 0: at any */
    const char *project; /* working directory of the session, or its last part; NULL: any. Borrowed */
};

struct memory_entry {
    char *id;           /* names it for ever; NULL before the store made one */
    bool id_is_number;  /* it was a number in an import, and is one again in an export */
    char *session_id;   /* of any form: imports bring sessions that are not here */
    enum memory_origin origin;
    int64_t turn;       /* that it was said in; 0 unknown */
    int64_t seq;        /* of the event of its message; 0 unknown */
    enum role role;     /* USER, ASSISTANT or TOOL */
    char *speaker;      /* NULL: none was given, the role stands for it */
    int64_t created_ms; /* when it was said */
    char *content;      /* trimmed, not empty, not clean for a terminal */
    bool pinned;        /* by the user: wins ties, no copy replaces it */
    bool edited;        /* by the user */
};

struct memory_entries {
    VEC(struct memory_entry) items;
};

void memory_entry_release(struct memory_entry *m);
struct memory_entry memory_entry_clone(const struct memory_entry *m);
void memory_entries_release(struct memory_entries *list);

const char *
memory_entry_speaker(const struct memory_entry *m); /* the role's name where none is given */

extern const struct shape memory_entry_shape;
extern const struct shape_names memory_origin_names; /* "import", "dropped", "session" */

/* Its id, again a number where it was one; NULL is no member. */
extern const struct shape_codec memory_entry_id;
bool memory_entry_has_id(const void *entry);

/* shape_read(), for lines of imports: an empty speaker is none. "content" is as it was written,
 * perhaps empty. */
bool memory_entry_read(const struct json *v, struct memory_entry *out, struct error *e);

#endif
