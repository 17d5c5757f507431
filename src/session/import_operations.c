#include "session/import_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "config/config.h"
#include "import/source.h"
#include "session/import.h"
#include "session/projection.h"

const char *import_chosen(const struct config *config)
{
    const char *sources = config_string(config, CONFIG_IMPORT_SOURCES);
    return strcmp(sources, "ask") == 0 || strcmp(sources, "none") == 0 ? NULL : sources;
}

char *import_source_names(void)
{
    struct buf names = BUF_INIT;
    for (size_t i = 0; import_sources[i]; i++)
        buf_addf(&names, "%s%s", i > 0 ? " " : "", import_sources[i]->name);
    return buf_take(&names);
}

char *import_report_labels(const struct import_report *r)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < r->sources.len; i++)
        if (r->sources.items[i].messages > 0)
            buf_addf(&text, "%s%s", text.len > 0 ? ", " : "", r->sources.items[i].label);
    return buf_take(&text);
}

void import_report_sum(const struct import_report *r, struct import_progress *out)
{
    for (size_t i = 0; i < r->sources.len; i++) {
        out->conversations += r->sources.items[i].conversations;
        out->messages += r->sources.items[i].messages;
    }
}

static bool stopped(const struct operation_context *c)
{
    return c->wakeup && !wakeup_sleep(c->wakeup, 0);
}

static bool tell(void *context, int64_t done, int64_t of)
{
    const struct operation_context *c = context;
    const struct operation_stream *s = c->stream;
    return !stopped(c) && (!s || !s->tell || s->tell(s->context, "files", done, of));
}

static bool take_own(void *context, FILE *in, int64_t *messages, struct error *e)
{
    struct operation_context *c = context;
    AUTO(session_info_release) struct session_info info = {0};
    const struct session_import_options o = {.once = true};
    bool ok = import_session(&c->catalog, in, &o, &info, e);
    if (ok && *info.id) {
        *messages = info.messages;
        projection_follow(&c->catalog, info.id);
    }
    return ok;
}

bool import_options_of(struct operation_context *c, const struct import_params *p,
                       struct import_options *o, struct text_list *paths, struct error *e)
{
    const char *results = config_string(c->config, CONFIG_IMPORT_TOOL_RESULTS);
    *o = (struct import_options){
        .from = p->from || p->paths.len > 0 ? p->from : import_chosen(c->config),
        .project = p->project,
        .dry = p->dry_run,
        .branches = strcmp(config_string(c->config, CONFIG_IMPORT_BRANCHES), "all") == 0,
        .results = strcmp(results, "none") == 0    ? IMPORT_RESULTS_NONE
                   : strcmp(results, "whole") == 0 ? IMPORT_RESULTS_WHOLE
                                                   : IMPORT_RESULTS_SHORT,
        .tell = tell,
        .own = take_own,
        .context = c};
    for (size_t i = 0; i < p->paths.len; i++) { /* a shell has expanded "~", others have not */
        const char *path = p->paths.items[i], *home = environment_get("HOME");
        bool below = home && strncmp(path, "~/", 2) == 0;
        char *named = below ? mem_printf("%s%s", home, path + 1) : mem_strdup(path);
        char *resolved = realpath(named, NULL);
        vec_push(&paths->items, resolved ? resolved : named);
        free(resolved ? named : NULL);
    }
    return !p->since || rfc3339_parse(p->since, &o->since_ms) ||
           err_set(e, ERR_USAGE, "\"%.40s\" is no date; write it as 2026-03-31", p->since);
}

static bool run_import(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct import_params *p = params;
    struct import_options o;
    struct text_list paths = {0};
    bool ok = import_options_of(c, p, &o, &paths, e) &&
              import_scan(c->catalog.store, &paths, &o, result, e);
    vec_free_each(&paths.items);
    return ok;
}

const struct operation operation_import_run = {
    OPERATION("import/run", OWNER, IMPORT,
              "Takes conversations of other agents into the store, as sessions and memory."),
    COMMAND("import run", "[PATH...]",
            N_("read what is new in the histories of other agents, or in files and folders")),
    SLASH("import", "[PATH]", N_("take in conversations of other agents (PATH: a file or folder)")),
    .details = N_("What is there already is passed over, and what you deleted stays deleted.\n"
                  "Without PATH: where the agents keep their histories."),
    .params = PARAMETERS(
        import_params,
        SHAPE_FIELD("paths", STRINGS, OPTIONAL, offsetof(struct import_params, paths),
                    .place = SHAPE_READS, .help = "Files and folders; none: those of the agents."),
        SHAPE_OPT(import_params, from, "Sources, separated by commas; absent: all.",
                  SHAPE_OPTION("--from LIST", N_("only these sources, separated by commas"))),
        SHAPE_OPT(import_params, since, "Only what was changed since this date.",
                  SHAPE_OPTION("--since DATE", N_("only what changed since DATE (2026-03-31)"))),
        SHAPE_OPT(import_params, project, "Only conversations of this directory or below.",
                  SHAPE_OPTION("--project DIR", N_("only conversations held in DIR or below"))),
        SHAPE_OPT(import_params, dry_run, "Count what is new and store nothing.",
                  SHAPE_OPTION("--dry-run", N_("count what is new, and store nothing")))),
    .result = &import_report_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_import,
};

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct import_options o = {.tell = tell, .context = c};
    (void)params;
    return import_survey(c->catalog.store, &o, result, e);
}

const struct operation operation_import_list = {
    OPERATION("import/list", OWNER, IMPORT,
              "Lists the agents whose histories can be imported, and what was imported."),
    COMMAND("import list", "", N_("list the agents, their histories here and what was imported")),
    .result = &import_report_shape,
    .needs = NEED_STORE | NEED_WRITE,
    .run = run_list,
};
