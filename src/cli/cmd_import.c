#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "session/capability.h"
#include "session/import_follow.h"
#include "ui/app/lines.h"
#include "ui/text/format.h"

enum { LABEL_LEAST = 12 };

static void add_count(struct grid *g, int64_t n, const char *noun)
{
    auto_free char *number = format_exact(n), *text = mem_printf("%s %s", number, noun);
    grid_add(g, text);
}

static void print_sources(const struct verb_call *v, const void *result)
{
    static const struct grid_column columns[] = {{.shrink = LABEL_LEAST, .first = true},
                                                 {.right = true},
                                                 {.right = true},
                                                 {.right = true},
                                                 {0}};
    const struct import_report *r = result;
    bool list = v->verb->operation == &operation_import_list;
    struct grid g = GRID(columns);
    int64_t shown = 0;
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct import_counts *c = &r->sources.items[i];
        if (c->files == 0 && c->conversations == 0 && !list)
            continue;
        shown++;
        grid_add(&g, c->label);
        add_count(&g, c->files, ngettext("file", "files", (unsigned long)c->files));
        add_count(&g, c->conversations,
                  ngettext("conversation", "conversations", (unsigned long)c->conversations));
        add_count(&g, c->messages, ngettext("message", "messages", (unsigned long)c->messages));
        AUTO(buf_release) struct buf rest = BUF_INIT;
        if (c->failed > 0)
            buf_addf(&rest, _("%lld unreadable"), (long long)c->failed);
        if (c->not_understood > 0) {
            buf_addf(&rest, "%s", rest.len > 0 ? ", " : "");
            buf_addf(&rest, _("%lld not understood"), (long long)c->not_understood);
        }
        if (list && c->kinds)
            buf_addf(&rest, ": %s", c->kinds);
        grid_add(&g, rest.data);
    }
    grid_print(&g);
    for (size_t i = 0; i < r->sources.len; i++)
        if (r->sources.items[i].fault)
            fprintf(stderr, "%s\n", r->sources.items[i].fault);
    if (shown == 0)
        fprintf(stderr, "%s\n", _("no history of another agent was found"));
}

/* --- --watch ---------------------------------------------------------------------------------- */

struct watch {
    int fd;
    bool stopped; /* by a signal */
};

static bool goes_on(void *watch)
{
    struct watch *w = watch;
    w->stopped = w->stopped || signals_take() != 0;
    return !w->stopped;
}

static bool run_import(struct verb_call *v, struct error *e)
{
    const struct import_params *p = v->params;
    if (v->watch && (p->dry_run || v->json))
        return err_set(e, ERR_USAGE, _("--watch goes neither with --dry-run nor with --json"));
    if (!verb_call(v, e))
        return v->watch && e->code == ERR_INTERRUPTED;
    struct import_follow *f =
        v->watch ? import_follow_new(v->context, p, capability_memory(), false, e) : NULL;
    if (!f)
        return !v->watch;
    fflush(stdout);
    struct watch w = {.fd = signals_open()};
    const struct wakeup wakeup = {.fd = w.fd, .go_on = goes_on, .context = &w};
    while (!w.stopped) {
        struct import_report report;
        if (!import_follow_step(f, &wakeup, &report))
            continue;
        for (size_t i = 0; i < report.sources.len; i++) {
            struct import_counts *c = &report.sources.items[i];
            c->files = c->messages > 0 ? c->files : 0;
        }
        if (isatty(STDOUT_FILENO)) {
            print_sources(v, &report);
            fflush(stdout);
        }
        shape_release(v->verb->operation->result, &report);
    }
    import_follow_free(f);
    return true;
}

static const struct option run_options[] = {
    {"watch", 0, OPTION_FLAG, NULL, N_("go on with what the agents write, until a signal comes"),
     VERB_AT(watch)},
    {"from", .offer = {OFFER_CHOICES, .choices = import_source_names}},
    {0},
};

static const struct verb_more more[] = {
    {&operation_import_run, .options = run_options, .run = run_import, .print = print_sources,
     .watched = true, .keeps = true},
    {&operation_import_list, .print = print_sources, .member = "sources"},
    {0},
};

static const struct cli_command *const *verbs(void)
{
    static const struct cli_command *const *made;
    return verb_table(&made, "import", more);
}

/* A word that is no verb is a path, and nothing at all means to import everything. */
static int run(const struct cli_command *self, int argc, char **argv)
{
    static char list[] = "list";
    struct error e;
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        help_command(self);
        return 0;
    }
    if (strcmp(word, "--list") == 0)
        word = argv[1] = list;
    const struct cli_command *const *all = self->verbs();
    for (size_t i = 0; all[i]; i++)
        if (strcmp(all[i]->name, word) == 0)
            return all[i]->run(all[i], argc - 1, argv + 1);
    const struct cli_command *verb = cli_find_verb(self, "run", &e);
    return verb ? verb->run(verb, argc, argv) : cli_fail(&e);
}

const struct cli_command cmd_import = {
    .name = "import",
    .synopsis = "import [COMMAND] [OPTION]... [PATH]...",
    .help = N_("take conversations of other agents (Claude Code and more) into tiro"),
    .details = N_("The default command is run. For details: tiro import COMMAND --help."),
    .verbs = verbs,
    .run = run};
