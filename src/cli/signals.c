#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"

static int pipe_fds[2] = {-1, -1};

static void on_signal(int number)
{
    int kept = errno;
    unsigned char byte = (unsigned char)number;
    /* A full pipe already says that a signal came. */
    ssize_t ignored = write(pipe_fds[1], &byte, 1);
    (void)ignored;
    errno = kept;
}

int signals_open(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    if (pipe_fds[0] < 0 && !descriptors_pipe(pipe_fds))
        die("no pipe could be made");
    for (int i = 0; i < 2; i++)
        fcntl(pipe_fds[i], F_SETFL, O_NONBLOCK);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
    return pipe_fds[0];
}

int signals_take(void)
{
    unsigned char byte;
    return read(pipe_fds[0], &byte, 1) == 1 ? byte : 0;
}
