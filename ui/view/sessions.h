/* The screen of sessions (F3): a query; the sessions that it names; the places in all transcripts
 * where it occurs; a preview of what is selected; and what can be done with it. It holds a page of
 * each listing, however many sessions there are. It is closed when a session is opened that was
 * asked for here. */
#ifndef UI_SESSIONS_H
#define UI_SESSIONS_H

#include "ui/view/view.h"

/* Asks for its first listing at once. */
struct view *sessions_new(const struct view_host *host, const char *query);

/* The name that a session's export gets if none is given: its title, fit for a file. The caller
 * frees. */
char *sessions_file_name(const char *title);

/* A session's title, or what stands for one. Clean; the caller frees. */
char *sessions_title(const struct session_info *info);

#endif
