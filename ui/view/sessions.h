/* The screen of sessions (F3): a query; the sessions that it names; the places in all transcripts
 * where it occurs; a preview of what is selected; and what can be done with it. Knows neither the
 * terminal nor the service: commands go to its host, notices come from it. It holds a page of each
 * listing, however many sessions there are. */
#ifndef UI_SESSIONS_H
#define UI_SESSIONS_H

#include <stdbool.h>

#include "session/command.h"
#include "session/notice.h"
#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct sessions;

struct sessions_host {
    const struct keymap *keymap;                    /* borrowed; outlives the screen */
    void (*send)(void *context, struct command *c); /* takes the command */
    void *context;
    bool persist; /* sessions are kept; where they are not, archiving one deletes it */
};

/* Asks for its first listing at once. */
struct sessions *sessions_new(const struct sessions_host *host, const char *query);
void sessions_free(struct sessions *s); /* NULL is fine */

/* Which session is open beneath; `live`: it can be talked to. */
void sessions_set_open(struct sessions *s, const char *id, bool live);

/* SESSIONS_CLOSED: the screen is left. SESSIONS_HERE: likewise, because what was chosen is open
 * already. */
enum sessions_result { SESSIONS_STAYS, SESSIONS_CLOSED, SESSIONS_HERE };
enum sessions_result sessions_key(struct sessions *s, enum action action, const struct key *key);

/* A click at a place of what sessions_rows() returned last. The selected row is chosen by it. */
enum sessions_result sessions_click(struct sessions *s, int row, int col);

/* Takes in a LIST, SEARCH or PREVIEW. False for the LIST of somebody else. An answer that is no
 * longer wanted changes nothing. */
bool sessions_take(struct sessions *s, struct notice *n);

/* A session was opened: whether it was asked for here, which ends the screen. */
bool sessions_opened(const struct sessions *s);

/* A DONE, and what the screen has to say of it. False if it is none of the screen's. */
bool sessions_done(struct sessions *s, const struct notice *n);

/* An ERROR, with the words for it. False if it is none of the screen's. */
bool sessions_failed(struct sessions *s, enum command_type command, const char *text);

/* What the search found in the selected row, NULL if the row is a session: what to look for in the
 * session once it is open. The caller frees. */
char *sessions_found(const struct sessions *s);

/* Tells the size before drawing; a preview that now has its room is asked for. */
void sessions_resize(struct sessions *s, int width, int height);

/* The rows to show, exactly as many as the height, none wider than the width. Borrowed until the
 * next call. */
const struct rows *sessions_rows(struct sessions *s);

/* The name that a session's export gets if none is given: its title, fit for a file. The caller
 * frees. */
char *sessions_file_name(const char *title);

/* A session's title, or what stands for one. Clean; the caller frees. */
char *sessions_title(const struct session_info *info);

/* Where the caret is in them. */
void sessions_caret(const struct sessions *s, int *row, int *col);

#endif
