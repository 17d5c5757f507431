#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "cli/command_line.h"
#include "cli/diagnosis.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"

struct wishes {
    bool json, thorough, recover, yes;
};

/* clang-format off */
#define WISH(name, help) {#name, 0, OPTION_FLAG, NULL, help, .at = offsetof(struct wishes, name)}
/* clang-format on */

static const struct option options[] = {
    WISH(json, N_("print JSON")),
    WISH(thorough, N_("read the whole database and check every event")),
    WISH(recover, N_("replace a damaged database with what can be read of it")),
    WISH(yes, N_("recover without asking")),
    {0},
};

enum { DRAW_MS = 100, SIGNAL_STATUS = 128 };

struct progress {
    bool shown; /* on a terminal */
    bool drawn;
    int64_t last_ms;
    int signal; /* that ended it; 0: none */
};

static bool rescue_allowed(bool yes, struct error *e)
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

/* Returns the exit status: 0 unless something failed, which has been told then. */
static int rescue(struct diagnosis *d, bool yes)
{
    if (!d->built || !d->store.recoverable)
        return 0;
    return yes || agreed(d) ? recover(d) : 0;
}

static int diagnose(const struct wishes *w)
{
    struct diagnosis d;
    int status = 0;
    diagnosis_begin(&d);
    diagnosis_look_at_store(&d, w->thorough || w->recover);
    if (w->recover)
        status = rescue(&d, w->yes);
    if (status <= 1) {
        diagnosis_complete(&d);
        if (w->json)
            output_json(diagnosis_to_json(&d));
        else
            diagnosis_print(&d);
    }
    if (status == 0)
        status = diagnosis_well(&d) ? 0 : 1;
    diagnosis_release(&d);
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct wishes w = {0};
    struct error e = {0};
    int status;
    if (!cli_parse(self, argc, argv, &w, &status))
        return status;
    if (w.recover && !rescue_allowed(w.yes, &e))
        return cli_fail(&e);
    return diagnose(&w);
}

const struct cli_command cmd_doctor = {
    .name = "doctor",
    .synopsis = "doctor [--json] [--thorough] [--recover [--yes]]",
    .help = N_("show which provider and store are used and why, and check for problems"),
    .details = N_("Changes nothing unless --recover is given: then a new database with what can "
                  "be read\n"
                  "replaces a damaged one, and the damaged file is kept beside it.\n"
                  "Exit status: 0 if no problem is found, else 1."),
    .options = options,
    .run = run,
};
