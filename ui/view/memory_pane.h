/* The memory pane (F2): finds what compactions dropped as one types, shows what the model asked of
 * memory, and what can be done with an entry. It stands beside the transcript or over it; which of
 * both is its host's affair, as are the terminal and the engine: commands go to the host, notices
 * come from it. */
#ifndef UI_MEMORY_PANE_H
#define UI_MEMORY_PANE_H

#include <stdbool.h>

#include "session/command.h"
#include "session/notice.h"
#include "ui/term/keymap.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/transcript/recalled.h"

struct memory_pane;

struct memory_host {
    const struct keymap *keymap;                    /* borrowed; outlives the pane */
    void (*send)(void *context, struct command *c); /* takes the command */
    /* What a session is called, "" for the open one; NULL: not known. Not clean. */
    const char *(*title)(void *context, const char *session_id);
    void *context;
    const struct recalls *recalls; /* of the open session; borrowed */
    const char *scope;             /* at first: "all", "project" or "session" */
};

struct memory_pane *memory_pane_new(const struct memory_host *host);
void memory_pane_free(struct memory_pane *p); /* NULL is fine */

/* It comes to the screen and asks for what it shows. Query NULL: as it was left. In an empty query
 * Up brings back the one of before. */
void memory_pane_show(struct memory_pane *p, const char *query);

bool memory_pane_edits(const struct memory_pane *p); /* an entry is being changed */

/* Keys go from the query to the hits. */
void memory_pane_to_hits(struct memory_pane *p);

/* The same with the open session's entries, newest first, and the keys in them. */
void memory_pane_show_session(struct memory_pane *p);

/* It leaves the screen; what was typed and changed in it stays. */
void memory_pane_hide(struct memory_pane *p);

/* PASS: not its key. CLOSED: it is left. WRITE: keys are to go to the message. OPEN: the message
 * that the entry came from is wanted; INSERT: its quotation, in the message. EXTERNAL: $EDITOR for
 * memory_pane_editor(). OLDER: older events are wanted, for what the model asked then. */
enum memory_result {
    MEMORY_STAYS,
    MEMORY_PASS,
    MEMORY_CLOSED,
    MEMORY_WRITE,
    MEMORY_OPEN,
    MEMORY_INSERT,
    MEMORY_EXTERNAL,
    MEMORY_OLDER
};
enum memory_result memory_pane_key(struct memory_pane *p, enum action action,
                                   const struct key *key);

/* Keys that came faster than the answer that they are meant for wait for it. After any of the calls
 * below: the next one that waits no longer, to be given anew to whoever gets keys; false: none. The
 * caller frees its text. */
bool memory_pane_typed_ahead(struct memory_pane *p, struct key *key);

/* clock_mono_ms() when it looks other than now, as the answer is slow; 0: it does not. */
int64_t memory_pane_due(const struct memory_pane *p);

/* A click at a place of what memory_pane_rows() returned last. */
void memory_pane_click(struct memory_pane *p, int row);

/* The chosen entry, as far as it is known; NULL: none is. */
const struct memory_entry *memory_pane_entry(const struct memory_pane *p);
char *memory_pane_quotation(const struct memory_pane *p); /* the caller frees; NULL likewise */
struct editor *memory_pane_editor(struct memory_pane *p);

/* MEMORY, MEMORY_ENTRY and MEMORY_STATE. What was not asked for last changes nothing. */
void memory_pane_take(struct memory_pane *p, struct notice *n);

/* A DONE, or an ERROR with the words for it. False if it is none of the pane's. */
bool memory_pane_done(struct memory_pane *p, const struct notice *n);
bool memory_pane_failed(struct memory_pane *p, enum command_type command, const char *words);

/* The newest of the recalls came just now. It is shown at once unless the person is busy here. */
void memory_pane_recalled(struct memory_pane *p, const struct recalled *r);

/* Memory may hold other entries than before; another session is open. */
void memory_pane_changed(struct memory_pane *p);
void memory_pane_session(struct memory_pane *p);

/* What is said in place of the keys until the next of them. */
void memory_pane_say(struct memory_pane *p, enum style style, const char *text);

/* Whether keys are its own: changes what it looks like. */
void memory_pane_focus(struct memory_pane *p, bool focused);

void memory_pane_resize(struct memory_pane *p, int width, int height);

/* The rows to show, exactly as many as the height, none wider than the width. Borrowed until the
 * next call. */
const struct rows *memory_pane_rows(struct memory_pane *p);

/* Where the caret is in them; false: it has none. */
bool memory_pane_caret(const struct memory_pane *p, int *row, int *col);

#endif
