#include "tests/default_signals.h"

#include <signal.h>
#include <stddef.h>

void default_signals(void)
{
    static const int reset[] = {SIGPIPE, SIGINT,  SIGQUIT, SIGTERM,
                                SIGHUP,  SIGTSTP, SIGXFSZ, SIGWINCH};
    sigset_t none;
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        signal(reset[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
