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
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

/* `at`: a word before the path, "+12"; NULL: none. */
static bool run_editor(const char *command, const char *at, const char *path, struct error *e)
{
    static const int ours[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                               SIGTSTP, SIGCONT, SIGPIPE, SIGXFSZ};
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            signal(ours[i], SIG_DFL);
#ifdef HAVE_CLOSEFROM
        closefrom(STDERR_FILENO + 1); /* a library may have opened one without close on exec */
#endif
        char *line = mem_printf(at ? "%s \"$1\" \"$2\"" : "%s \"$1\"", command);
        execl("/bin/sh", "sh", "-c", line, "sh", at ? at : path, at ? path : NULL, (char *)NULL);
        _exit(127);
    }
    if (child < 0)
        return err_set_errno(e, ERR_FILE_ERROR, _("cannot start \"%.60s\""), command);
    /* the terminal's Ctrl-C is the editor's while it runs */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int status = -1;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           err_set(e, ERR_FILE_ERROR,
                   _("the editor \"%.60s\" failed; the text is unchanged (set VISUAL or EDITOR to "
                     "use another)"),
                   command);
}

bool external_editor_open(const char *path, int64_t line, struct error *e)
{
    auto_free char *at = line > 0 ? mem_printf("+%lld", (long long)line) : NULL;
    return run_editor(editor_command(), at, path, e);
}

bool external_editor_run(const char *text, struct buf *out, struct error *e)
{
    const char *dir = getenv("TMPDIR");
    auto_free char *path = mem_printf("%s/tiro-XXXXXX.md", dir && *dir ? dir : "/tmp");
    int fd = mkstemps(path, 3); /* by .md the editor knows the language */
    if (fd < 0)
        return err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    bool ok =
        paths_write_all(fd, text, strlen(text)) || err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    if (close(fd) != 0 && ok)
        ok = err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    ok = ok && run_editor(editor_command(), NULL, path, e) && paths_read_regular(path, out, e);
    unlink(path);
    return ok;
}
