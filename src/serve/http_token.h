/* The token that a caller has to give: out of a file or a command, as keys of providers are. */
#ifndef SERVE_HTTP_TOKEN_H
#define SERVE_HTTP_TOKEN_H

#include "base/err.h"
#include "config/config.h"

/* Fewer could be tried out. */
enum { HTTP_TOKEN_LEAST = 16 };

/* [serve] token_file or token_command; NULL where neither is set. False with CONFIG_ERROR: both are
 * set, others may read the file, the command fails, or what they give is no token: at least
 * HTTP_TOKEN_LEAST visible ASCII characters in the first line. Free it with key_command_free(). */
bool http_token_read(const struct config *config, char **token, struct error *e);

#endif
