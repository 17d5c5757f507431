#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/command_line.h"
#include "cli/setup.h"
#include "session/service.h"

enum { PATIENCE_MS = 15000 };

static const struct option options[] = {{0}};

static void print_clean(const char *line)
{
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, line, strlen(line), UTF8_ONE_LINE);
    puts(clean.data);
    buf_release(&clean);
}

/* Returns how many faults there are. */
static int report_config(const struct setup *setup)
{
    size_t count = setup->problems.list.len;
    printf(_("configuration: %s%s\n"), setup->path,
           access(setup->path, F_OK) == 0 ? "" : _(" (not there: defaults)"));
    for (size_t i = 0; i < count; i++) {
        char *text = setup_problem_text(&setup->problems.list.items[i]);
        printf("  ");
        print_clean(text);
        free(text);
    }
    return (int)count;
}

static int report_terminal(void)
{
    const char *term = getenv("TERM");
    const char *codeset = nl_langinfo(CODESET);
    bool utf8 = strcmp(codeset, "UTF-8") == 0;
    printf(_("terminal: %s%s\n"), term && *term ? term : _("TERM is not set"),
           isatty(STDOUT_FILENO) ? "" : _(" (standard output is none)"));
    printf(_("locale: %s%s\n"), codeset,
           utf8 ? "" : _(" (only ASCII will look right; set LC_ALL to a UTF-8 locale)"));
    return utf8 ? 0 : 1;
}

static int print_error(const struct notice *n)
{
    char *line = mem_printf("%s: %s", err_info(n->error.code)->name, n->error.text);
    print_clean(line);
    free(line);
    return 1;
}

/* Prints one notice; returns the faults in it and says whether it was the last that matters. */
static int print_notice(const struct notice *n, bool *last)
{
    *last = n->type == NOTICE_REPORT;
    if (n->type == NOTICE_ERROR)
        return print_error(n);
    for (size_t i = 0; n->type == NOTICE_REPORT && i < n->texts.len; i++)
        print_clean(n->texts.items[i]);
    return n->type == NOTICE_REPORT && n->error.code != ERR_OK;
}

static int report_service(const struct config *config)
{
    struct service_options wanted = {.config = config,
                                     .persist = config_boolean(config, CONFIG_SESSION_PERSIST)};
    struct service *service = service_new(&wanted);
    service_send(service, command_new(COMMAND_REPORT, NULL));

    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    int faults = 0;
    bool last = false;
    while (!last) {
        int64_t left = deadline - clock_mono_ms();
        struct notice *n = mailbox_wait(service_notices(service), left > 0 ? (int)left : 0);
        if (!n) {
            puts(_("the service does not answer"));
            faults++;
            break;
        }
        faults += print_notice(n, &last);
        notice_free(n);
    }
    service_free(service);
    return faults;
}

static bool take(void *context, int id, const char *value, struct error *e)
{
    (void)context;
    (void)id;
    return err_set(e, ERR_USAGE, _("doctor takes no words: \"%s\""), value);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct setup setup;
    int status;
    if (!cli_parse(self, argc, argv, take, NULL, &status))
        return status;
    setup_load(&setup);
    setup_check_screen(&setup);
    puts("tiro " PACKAGE_VERSION);
    int faults = report_config(&setup);
    faults += report_service(setup.config);
    faults += report_terminal();
    setup_release(&setup);
    if (faults == 0)
        puts(_("all is well"));
    return faults == 0 ? 0 : 1;
}

const struct cli_command cmd_doctor = {
    .name = "doctor",
    .synopsis = "doctor",
    .help = N_("say what was chosen and why, and what is wrong"),
    .details = N_("Exit status: 0 when all is well, else 1."),
    .options = options,
    .run = run,
};
