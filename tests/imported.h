/* Texts in memory as files that import_session() reads. */
#ifndef TESTS_IMPORTED_H
#define TESTS_IMPORTED_H

#include <stddef.h>

#include "session/import.h"

bool imported_text(struct catalog *c, const char *text, size_t len, const char *title,
                   const char *directory, struct session_info *out, struct error *e);

#endif
