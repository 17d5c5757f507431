#include "serve/http_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"

enum { TOKEN_MOST = 4096, MADE_BYTES = 32, COMMAND_MS = 30000 };

static bool is_private(int fd, const char *path, struct error *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFIG_ERROR, "the token's file %s is no regular file; name one",
                       path);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_CONFIG_ERROR,
                       "the token's file %s belongs to another user; remove it, or name your own",
                       path);
    return !(st.st_mode & (S_IRWXG | S_IRWXO)) ||
           err_set(e, ERR_CONFIG_ERROR,
                   "others may read the token's file %s; make it yours alone: chmod 600", path);
}

static bool read_line(int fd, const char *path, char **token, struct error *e)
{
    char text[TOKEN_MOST + 1] = "";
    ssize_t len = read(fd, text, TOKEN_MOST);
    if (len < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "the token's file %s cannot be read", path);
    *token = mem_strndup(text, strcspn(text, "\r\n"));
    mem_wipe(text, sizeof text);
    return true;
}

/* `flags`: O_NOFOLLOW, or 0 for a file that the user named, which may be a link to a secret that a
 * service manager mounts. */
static bool read_file(const char *path, int flags, char **token, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
    if (fd < 0 && errno == ELOOP)
        return err_set(e, ERR_CONFIG_ERROR,
                       "the token's file %s is a symbolic link; remove the link", path);
    if (fd < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "the token's file %s cannot be opened", path);
    bool ok = is_private(fd, path, e) && read_line(fd, path, token, e);
    close(fd);
    return ok;
}

/* The file appears whole under its name. Where two servers start at once, the first one's stays. */
static bool make_file(const char *directory, const char *path, struct error *e)
{
    unsigned char bytes[MADE_BYTES];
    char text[2 * MADE_BYTES + 2];
    struct whole_file f;
    struct stat st;
    if (lstat(path, &st) == 0)
        return true;
    entropy_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 4, "%02x\n", bytes[i]);
    bool ok = paths_make_dir(directory, e) && whole_file_begin(&f, path, false, e) &&
              whole_file_write(&f, text, strlen(text), e) && whole_file_finish(&f, e);
    mem_wipe(bytes, sizeof bytes);
    mem_wipe(text, sizeof text);
    return ok || lstat(path, &st) == 0;
}

static bool read_own(char **token, char **path, struct error *e)
{
    char *directory = paths_state_dir();
    *path = paths_join(directory, "http-token");
    bool ok = make_file(directory, *path, e) && read_file(*path, O_NOFOLLOW, token, e);
    free(directory);
    return ok;
}

static bool is_token(const char *s)
{
    size_t len = 0;
    while (s[len] > ' ' && s[len] < 0x7F)
        len++;
    return len >= HTTP_TOKEN_LEAST && !s[len];
}

bool http_token_read(const struct config *config, char **token, char **path, struct error *e)
{
    const char *file = config_string(config, CONFIG_SERVE_TOKEN_FILE);
    const char *command = config_string(config, CONFIG_SERVE_TOKEN_COMMAND);
    bool ok;
    *token = NULL;
    *path = *file ? mem_strdup(file) : NULL;
    if (*file && *command)
        return err_set(e, ERR_CONFIG_ERROR,
                       "[serve] has token_file and token_command; set one of them");
    if (*command)
        ok = key_command_run("[serve] token_command", command, COMMAND_MS, NULL, token, e);
    else
        ok = *file ? read_file(file, 0, token, e) : read_own(token, path, e);
    if (ok && is_token(*token))
        return true;
    key_command_free(*token);
    *token = NULL;
    return ok ? err_set(
                    e, ERR_CONFIG_ERROR,
                    "the token of [serve] is too short or has blanks; take %d characters or more",
                    HTTP_TOKEN_LEAST)
              : false;
}
