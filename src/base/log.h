/* A diagnostic log for a person who hunts a fault: off unless configured, one line an entry, file
 * mode 0600. Never pass secrets, request headers or message texts. Any thread may call. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/err.h"

enum log_level { LOG_OFF, LOG_ERROR, LOG_INFO, LOG_DEBUG };

/* Opens (appends to) the file. Without it, log_line() does nothing. */
bool log_open(const char *path, enum log_level level, struct error *e);
void log_close(void);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
