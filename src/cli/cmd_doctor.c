#include "base/i18n.h"
#include "cli/command_line.h"
#include "cli/diagnosis.h"
#include "cli/output.h"
#include "cli/rescue.h"

enum { DOCTOR_JSON = 1, DOCTOR_THOROUGH, DOCTOR_RECOVER, DOCTOR_YES };

static const struct option options[] = {
    {DOCTOR_JSON, "json", 0, OPTION_FLAG, NULL, N_("print JSON")},
    {DOCTOR_THOROUGH, "thorough", 0, OPTION_FLAG, NULL,
     N_("read the whole database and check every event")},
    {DOCTOR_RECOVER, "recover", 0, OPTION_FLAG, NULL,
     N_("replace a damaged database with what can be read of it")},
    {DOCTOR_YES, "yes", 0, OPTION_FLAG, NULL, N_("recover without asking")},
    {0},
};

struct wishes {
    bool json, thorough, recover, yes;
};

static bool take(void *context, int id, const char *value, struct error *e)
{
    struct wishes *w = context;
    bool *const flags[] = {NULL, &w->json, &w->thorough, &w->recover, &w->yes};
    if (id == OPTION_WORD)
        return err_set(e, ERR_USAGE, _("doctor takes no arguments; remove \"%s\""), value);
    *flags[id] = true;
    return true;
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
    if (!cli_parse(self, argc, argv, take, &w, &status))
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
