/* Files that tools have changed since the point of a rewind. No curses. */
#ifndef UI_RESTORE_VIEW_H
#define UI_RESTORE_VIEW_H

#include "ui/view/view.h"

/* Takes the result from an answer of session/changes. */
struct view *restore_view_new(const struct view_host *host, struct operation_answer *answer);

#endif
