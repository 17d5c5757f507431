/* Turns of the open session: sending, repeating and replacing a message, turns by their number
 * (/fork, /pin), jumps to a message and the way back from them. */
#ifndef UI_APP_TURNS_H
#define UI_APP_TURNS_H

#include "ui/app/app.h"

/* --- sending --- */

/* Sends the text, or queues it while a turn runs. */
void message_send(struct app *app, const char *text);

/* Runs "!COMMAND" in the session's directory. While a turn runs the text returns to the editor. */
void message_command(struct app *app, const char *text);

/* Sends the last message again. */
void message_retry(struct app *app);

/* /edit: puts the last message into the editor. A note says so if there is none or a turn runs. */
void message_edit(struct app *app);

/* The same for the user's message of the selected turn: the conversation is rewound when the text
 * is sent. False, with a note: a turn runs. */
bool message_edit_selected(struct app *app, const struct transcript_selected *m);

/* /rewind, and to before the message with that event: its text returns to the editor. Then, and
 * after /unrewind, the files that tools changed since are offered. */
void message_rewind(struct app *app, const char *arguments);
void message_rewind_to(struct app *app, int64_t seq);
void message_unrewind(struct app *app);

/* /restore: offers these files again, or takes one back. */
void message_restore(struct app *app, const char *arguments);

/* Forks behind a selected message; behind that of the user and its answer. */
void message_fork(struct app *app, const struct transcript_selected *m);

/* Ends /edit: the last message stays, and the text in the editor is a new one. */
void message_keep(struct app *app);

/* Sends the text in place of the last message, which is removed with all that followed it. While a
 * turn runs the text returns to the editor. */
void message_replace(struct app *app, const char *text);

/* --- turns by their number, which counts a person's messages from the first on --- */

/* Adds the turns whose number begins with the prefix, newest first, and with `forks` the other
 * argument of /fork. No turn is added while older events are fetched; the completion then starts
 * again. */
void turns_list(struct app *app, struct list *list, const char *prefix, bool forks);

/* Older events have come: the jump that waits for them goes on. True: a list waited for them, and
 * all are here. */
bool turns_page_came(struct app *app);

/* Gives these up. */
void turns_forget(struct app *app);

/* --- jumps --- */

/* Shows the message of that event; older pages are fetched until it is there. */
void jump_to(struct app *app, int64_t seq);

/* Esc goes back to the place before a jump, the last jump first. Sending a message, or opening a
 * session in any other way, forgets these places. Call mark before a jump within the open session
 * (`to` NULL) and before another session is opened by its id `to`. */
void way_back_mark(struct app *app, const char *to);
bool way_back_go(struct app *app); /* false: there is no place to go back to */

/* Events of opening a session, in their order: it is about to be shown; its newest page has come.
 */
void way_back_session(struct app *app, const char *id);
void way_back_page(struct app *app);

#endif
