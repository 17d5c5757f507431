#include "serve/http_token.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/key_command.h"
#include "base/mem.h"

enum { TOKEN_MOST = 4096, COMMAND_MS = 30000 };

static bool is_private(int fd, const char *path, struct error *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFIG_ERROR, "[serve] token_file %s is no regular file; name one",
                       path);
    if (st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)))
        return err_set(e, ERR_CONFIG_ERROR,
                       "others may read [serve] token_file %s; make it yours alone: chmod 600",
                       path);
    return true;
}

static bool read_line(int fd, const char *path, char **token, struct error *e)
{
    char text[TOKEN_MOST + 1] = "";
    ssize_t len = read(fd, text, TOKEN_MOST);
    if (len < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "[serve] token_file %s cannot be read", path);
    *token = mem_strndup(text, strcspn(text, "\r\n"));
    mem_wipe(text, sizeof text);
    return true;
}

static bool read_file(const char *path, char **token, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "[serve] token_file %s cannot be opened", path);
    bool ok = is_private(fd, path, e) && read_line(fd, path, token, e);
    close(fd);
    return ok;
}

static bool is_token(const char *s)
{
    size_t len = 0;
    while (s[len] > ' ' && s[len] < 0x7F)
        len++;
    return len >= HTTP_TOKEN_LEAST && !s[len];
}

bool http_token_read(const struct config *config, char **token, struct error *e)
{
    const char *file = config_string(config, CONFIG_SERVE_TOKEN_FILE);
    const char *command = config_string(config, CONFIG_SERVE_TOKEN_COMMAND);
    *token = NULL;
    if (!*file && !*command)
        return true;
    if (*file && *command)
        return err_set(e, ERR_CONFIG_ERROR,
                       "[serve] has token_file and token_command; set one of them");
    bool ok = *file ? read_file(file, token, e)
                    : key_command_run("[serve] token_command", command, COMMAND_MS, NULL, token, e);
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
