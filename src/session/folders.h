/* The folders in which other programs may name files: the folder where the server was started (or a
 * session works) and [serve] folders. */
#ifndef SESSION_FOLDERS_H
#define SESSION_FOLDERS_H

#include "base/err.h"
#include "base/shape.h"
#include "config/config.h"

/* The path without symbolic links, which the caller frees; a relative one begins in `own`. Of a
 * file that is written (SHAPE_WRITES) the folder is resolved, and the file must not exist. NULL
 * with FORBIDDEN: the path is in none of the folders, hidden there, or where keys or tiro's own
 * files are (agent/guard.h). `anywhere`: only the last of these counts. NULL with FILE_ERROR or
 * USAGE: it does not exist, or a file to be written does. */
char *folders_resolve(const struct config *config, const char *own, const char *path,
                      enum shape_place place, bool anywhere, struct error *e);

#endif
