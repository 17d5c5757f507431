/* A text that was compacted away, or imported, and can be found again. */
#ifndef CHAT_MEMORY_ENTRY_H
#define CHAT_MEMORY_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"
#include "chat/message.h"

struct json_out;

enum {
    MEMORY_ID_BYTES = 200,      /* longest id of an entry, and of a session of an import */
    MEMORY_SPEAKER_BYTES = 200, /* longest name */
    MEMORY_CONTENT_BYTES = 8 * 1024 * 1024
};

struct memory_entry {
    char *id;           /* names it for ever; NULL before the store made one */
    bool id_is_number;  /* it was a number in an import, and is one again in an export */
    char *session_id;   /* of any form: imports bring sessions that are not here */
    int64_t turn;       /* that it was discarded from; 0 unknown */
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

/* {"id","session_id","turn","seq"?,"role","speaker"?,"created_at","content","pinned"?,"edited"?} */
struct json *memory_entry_to_json(const struct memory_entry *m);
void memory_entry_write(struct json_out *o, const struct memory_entry *m); /* the same as text */

/* The members "id", again a number where it was one, and "created_at". */
void memory_entry_write_id(struct json_out *o, const struct memory_entry *m);
void memory_entry_write_time(struct json_out *o, const struct memory_entry *m);

/* A line of an import. "id" (string or whole number), "seq", "turn", "speaker", "pinned", "edited"
 * may be missing or null; unknown members are passed over; "created_at" is read by
 * base/rfc3339.h; "content" is as it was written, perhaps empty. False with USAGE that names the
 * member which is missing, has the wrong type or is too long; `out` is then empty. */
bool memory_entry_from_json(const struct json *v, struct memory_entry *out, struct error *e);

#endif
