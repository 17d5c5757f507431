/* What a listing knows of a session, as a fold over its events: the same function keeps the row
 * while a session runs and counts it anew from a log (a fork, an import, after a crash). */
#ifndef CHAT_SESSION_TALLY_H
#define CHAT_SESSION_TALLY_H

#include "chat/event.h"
#include "chat/session_info.h"

/* Messages, turns, tool calls, usage, cost, time, last line and last number follow the event; a
 * session without a title is named after its first message, and sending one uses up the draft. */
void session_tally(struct session_info *s, const struct event *ev);

/* Names a session that has no title: by what the message says behind the files that it begins
 * with. */
void session_tally_name(struct session_info *s, const char *first_message);

/* Everything that session_tally() counts back to nothing; id, names and places stay. */
void session_tally_reset(struct session_info *s);

#endif
