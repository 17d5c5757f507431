#include "cli/rescue.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "cli/command_line.h"
#include "cli/confirm.h"
#include "cli/signals.h"

enum { DRAW_MS = 100, SIGNAL_STATUS = 128 };

struct progress {
    bool shown; /* on a terminal */
    bool drawn;
    int64_t last_ms;
    int signal; /* that ended it; 0: none */
};

bool rescue_allowed(bool yes, struct error *e)
{
    return yes || confirm_possible() ||
           err_set(e, ERR_USAGE, _("cannot ask without a terminal; --yes recovers without asking"));
}

static bool tell(void *context, int64_t events)
{
    struct progress *p = context;
    int64_t now = clock_mono_ms();
    if (p->shown && now - p->last_ms >= DRAW_MS) {
        fputc('\r', stderr);
        fprintf(stderr,
                ngettext("%lld event recovered", "%lld events recovered", (unsigned long)events),
                (long long)events);
        fflush(stderr);
        p->last_ms = now;
        p->drawn = true;
    }
    if (p->signal == 0)
        p->signal = signals_take();
    return p->signal == 0;
}

static bool agreed(const struct diagnosis *d)
{
    struct buf question = BUF_INIT;
    diagnosis_store_text(d, &question);
    buf_addch(&question, '\n');
    buf_addstr(&question,
               _("Replace the file with what can be read of it, and keep it as a copy? [y/N] "));
    bool yes = confirm(question.data);
    buf_release(&question);
    return yes;
}

static int recover(struct diagnosis *d)
{
    struct progress p = {.shown = isatty(STDERR_FILENO)};
    struct error e = {0};
    signals_open();
    const char *language = config_string(d->setup.config, CONFIG_MEMORY_LANGUAGE);
    bool ok = health_rescue(d->store.path, language, &d->recovery, tell, &p, &e);
    if (p.drawn)
        fputc('\n', stderr);
    if (!ok) {
        int status = cli_fail(&e);
        return p.signal ? SIGNAL_STATUS + p.signal : status;
    }
    diagnosis_look_at_store(d, true);
    return 0;
}

int rescue(struct diagnosis *d, bool yes)
{
    if (!d->built || !d->store.recoverable)
        return 0;
    return yes || agreed(d) ? recover(d) : 0;
}
