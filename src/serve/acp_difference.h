/* The text of a file before a change, out of its text after it and the difference between both. */
#ifndef SERVE_ACP_DIFFERENCE_H
#define SERVE_ACP_DIFFERENCE_H

#include <stdbool.h>

/* `difference` is the preview of a call that writes `after`: as `diff -u` has it, or that there is
 * none. False where it is something else (it was too long, diff is not installed …) or does not
 * lead to that text. `before` is NULL then, and where there was no file; the caller frees. */
bool acp_difference_undo(const char *difference, const char *after, char **before);

#endif
