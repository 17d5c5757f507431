/* The bearer token that every caller of HTTP has to give. */
#ifndef SERVE_HTTP_TOKEN_H
#define SERVE_HTTP_TOKEN_H

#include "base/err.h"
#include "config/config.h"

/* Fewer could be tried out. */
enum { HTTP_TOKEN_LEAST = 16 };

/* The token of [serve] token_file or token_command; where neither is set, that of the file
 * "http-token" (mode 0600) in the state directory, which is made at the first start. False with
 * CONFIG_ERROR or FILE_ERROR: both keys are set, the file is not the user's alone, the one in the
 * state directory is a symbolic link or cannot be made, the command fails, or the first line is no
 * token: at least HTTP_TOKEN_LEAST visible ASCII characters. `path` is the file; NULL: a command
 * gave the token. Free the token with key_command_free(), the path with free(), also after a
 * failure. */
bool http_token_read(const struct config *config, char **token, char **path, struct error *e);

#endif
