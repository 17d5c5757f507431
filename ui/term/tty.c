#include "ui/term/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved;
static volatile sig_atomic_t have_saved;
static char leave[TTY_LEAVE_MAX];
static volatile sig_atomic_t leave_len;

bool tty_save(void)
{
    have_saved = tcgetattr(STDIN_FILENO, &saved) == 0;
    return have_saved;
}

void tty_restore(void)
{
    if (have_saved)
        tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

void tty_set_leave(const char *bytes)
{
    leave_len = 0; /* first, so that a signal in between finds nothing half written */
    if (!bytes)
        return;
    size_t len = strlen(bytes);
    if (len > sizeof leave)
        len = sizeof leave;
    memcpy(leave, bytes, len);
    leave_len = (sig_atomic_t)len;
}

/* What other threads still draw goes nowhere from now on. A descriptor of the terminal; that is
 * standard output where there is no other to be had. */
static int take_output(void)
{
    int terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (terminal < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        return STDOUT_FILENO;
    return terminal;
}

static bool write_to(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            if (poll(&p, 1, 1000) == 0)
                return false; /* a terminal that takes nothing for a second is gone */
        } else if (n < 0 && errno != EINTR) {
            return false; /* the reader sees the hang-up */
        }
    }
    return true;
}

void tty_emergency_release(void)
{
    int kept = errno;
    if (leave_len > 0) {
        write_to(take_output(), leave, (size_t)leave_len);
        tty_restore();
        leave_len = 0;
    }
    errno = kept;
}

bool tty_write(const char *bytes, size_t len)
{
    return write_to(STDOUT_FILENO, bytes, len);
}

void tty_puts(const char *s)
{
    tty_write(s, strlen(s));
}

long tty_read(char *bytes, size_t size, int timeout_ms)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&p, 1, timeout_ms) <= 0)
        return -1;
    ssize_t n = read(STDIN_FILENO, bytes, size);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return -1;
    return n < 0 ? 0 : (long)n;
}
