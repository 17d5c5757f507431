#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* closefrom(), where it exists */
#endif
#include "ui/text/external_editor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"

static const char *editor_command(void)
{
    static const char *const variables[] = {"VISUAL", "EDITOR"};
    for (int i = 0; i < 2; i++) {
        const char *command = getenv(variables[i]);
        if (command && *command)
            return command;
    }
    return "vi";
}

/* A name that ends in .md, so that the editor knows what it is. NULL on failure. */
static char *make_file(const char *text, struct error *e)
{
    const char *dir = getenv("TMPDIR");
    char *path = mem_printf("%s/tiro-XXXXXX.md", dir && *dir ? dir : "/tmp");
    int fd = mkstemps(path, 3);
    bool ok = fd >= 0 && paths_write_all(fd, text, strlen(text));
    if (!ok)
        err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    if (fd >= 0 && close(fd) != 0 && ok)
        ok = err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    if (ok)
        return path;
    if (fd >= 0)
        unlink(path);
    free(path);
    return NULL;
}

/* `at`: a word before the path, "+12"; NULL: none. */
static void run_child(const char *command, const char *at, const char *path)
{
    static const int ours[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                               SIGTSTP, SIGCONT, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        signal(ours[i], SIG_DFL);
#ifdef HAVE_CLOSEFROM
    closefrom(STDERR_FILENO + 1); /* what a library opened may not close on exec */
#endif
    char *line = mem_printf(at ? "%s \"$1\" \"$2\"" : "%s \"$1\"", command);
    execl("/bin/sh", "sh", "-c", line, "sh", at ? at : path, at ? path : NULL, (char *)NULL);
    _exit(127);
}

/* The terminal's Ctrl-C is the editor's while it runs. */
static int wait_for(pid_t child)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int status = -1;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return status;
}

static bool run_editor(const char *command, const char *at, const char *path, struct error *e)
{
    pid_t child = fork();
    if (child == 0)
        run_child(command, at, path);
    int status = child > 0 ? wait_for(child) : -1;
    if (child < 0)
        return err_set_errno(e, ERR_FILE_ERROR, _("cannot start \"%.60s\""), command);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           err_set(e, ERR_FILE_ERROR,
                   _("the editor \"%.60s\" failed; the text is unchanged (set VISUAL or EDITOR to "
                     "use another)"),
                   command);
}

bool external_editor_open(const char *path, int64_t line, struct error *e)
{
    char *at = line > 0 ? mem_printf("+%lld", (long long)line) : NULL;
    bool ok = run_editor(editor_command(), at, path, e);
    free(at);
    return ok;
}

bool external_editor_run(const char *text, struct buf *out, struct error *e)
{
    const char *command = editor_command();
    char *path = make_file(text, e);
    if (!path)
        return false;
    bool ok = run_editor(command, NULL, path, e) && paths_read_regular(path, out, e);
    unlink(path);
    free(path);
    return ok;
}
