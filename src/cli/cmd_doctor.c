#include <langinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/i18n.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/command_line.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "session/config_operations.h"
#include "session/engine.h"
#include "session/health.h"
#include "session/import_operations.h"
#include "session/notice.h"

/* The findings. Examining changes nothing. */
struct diagnosis {
    struct setup setup;
    bool config_exists;
    struct engine_info engine;
    bool built; /* this tiro has a store */
    bool kept;  /* conversations are saved: by the build and the configuration */
    bool thorough;
    struct health_report store;      /* empty unless `built` */
    VEC(struct report_fact) service; /* "provider", "model", … */
    struct error service_fault;
    const char *term; /* NULL: not set */
    bool to_terminal; /* standard output */
    const char *codeset;
    bool utf8;
    struct orphans orphans; /* beside the store */
    struct import_report histories;
    struct recovery recovery; /* of --recover; copy NULL: none */
};

/* --- diagnosis -------------------------------------------------------------------------------- */

enum { PATIENCE_MS = 15000 };

static void diagnosis_begin(struct diagnosis *d)
{
    struct capabilities can;
    *d = (struct diagnosis){0};
    setup_load(&d->setup);
    setup_check_screen(d->setup.config, d->setup.path, &d->setup.problems);
    d->config_exists = access(d->setup.path, F_OK) == 0;
    struct operation_context context = {.config = d->setup.config};
    if (operation_call(&context, &operation_capabilities_get, NULL, &can, &d->service_fault) &&
        operation_call(&context, &operation_engine_info, NULL, &d->engine, &d->service_fault)) {
        d->built = can.built_store;
        d->kept = can.store;
        shape_release(operation_capabilities_get.result, &can);
    }
}

static void diagnosis_release(struct diagnosis *d)
{
    for (size_t i = 0; i < d->service.len; i++)
        free(d->service.items[i].name), free(d->service.items[i].value);
    vec_release(&d->service);
    shape_release(operation_engine_info.result, &d->engine);
    health_report_release(&d->store);
    orphans_release(&d->orphans);
    shape_release(operation_import_list.result, &d->histories);
    health_rescue_release(&d->recovery);
    setup_release(&d->setup);
}

static void diagnosis_look_at_store(struct diagnosis *d, bool thorough)
{
    if (!d->built)
        return;
    health_report_release(&d->store);
    d->thorough = thorough;
    health_report(NULL, thorough, &d->store);
}

/* Returns whether the notice is the answer to the report. The report's fact on the store is left
 * out: that store is in memory, and doctor examines the one on the disk itself. */
static bool take_notice(struct diagnosis *d, const struct notice *n)
{
    if (n->type == NOTICE_ERROR)
        d->service_fault = n->error;
    if (n->type != NOTICE_ANSWER)
        return false;
    const struct report_result *report = n->answer->result;
    if (!report) {
        d->service_fault = n->answer->error;
        return true;
    }
    for (size_t i = 0; i < report->facts.len; i++) {
        const struct report_fact *f = &report->facts.items[i];
        if (strcmp(f->name, "store") != 0)
            vec_push(&d->service, (struct report_fact){mem_strdup(f->name), mem_strdup(f->value)});
    }
    if (report->fault.code != ERR_OK)
        d->service_fault = report->fault;
    return true;
}

static void diagnosis_complete(struct diagnosis *d)
{
    const char *term = getenv("TERM");
    if (d->built) {
        orphans_find(d->store.path, &d->orphans);
        health_histories(d->store.path, &d->histories);
    }

    /* The engine keeps its store in memory, so that nothing on the disk changes. */
    const struct engine_options wanted = {
        .config = d->setup.config, .persist = false, .apart = true};
    struct engine *service = engine_new(&wanted);
    (void)engine_start(service, &operation_doctor_report, NULL);
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    for (bool last = false; !last;) {
        int64_t left = deadline - clock_mono_ms();
        struct notice *n = mailbox_wait(engine_notices(service), left > 0 ? (int)left : 0);
        if (n)
            last = take_notice(d, n);
        else
            last = !err_set(&d->service_fault, ERR_AGENT_ERROR, "%s",
                            _("the service does not answer; try again"));
        notice_free(n);
    }
    engine_free(service);

    d->term = term && *term ? term : NULL;
    d->to_terminal = isatty(STDOUT_FILENO);
    d->codeset = nl_langinfo(CODESET);
    d->utf8 = strcmp(d->codeset, "UTF-8") == 0;
}

static bool diagnosis_store_well(const struct diagnosis *d)
{
    enum health_state state = d->store.found.state;
    return !d->built || state == HEALTH_GOOD || state == HEALTH_MISSING || state == HEALTH_EMPTY;
}

static bool diagnosis_well(const struct diagnosis *d)
{
    return d->setup.problems.list.len == 0 && d->service_fault.code == ERR_OK &&
           diagnosis_store_well(d) && d->utf8;
}

/* --- diagnosis text --------------------------------------------------------------------------- */

enum { ORPHANS_SHOWN = 20 };

#define SAVE_IT                                                                                    \
    N_("'tiro doctor --recover' saves the readable parts, and keeps the damaged file as a copy")

/* The name of each state, and advice. */
static const struct {
    const char *text, *advice; /* NULL: there is nothing to do */
} states[] = {
    [HEALTH_GOOD] = {N_("intact"), NULL},
    [HEALTH_MISSING] = {N_("nothing has been saved yet"), NULL},
    [HEALTH_EMPTY] = {N_("an empty file, which the next conversation fills"), NULL},
    [HEALTH_NEWER] = {N_("written by another version of tiro"),
                      N_("export the sessions with that version ('tiro sessions export'); this "
                         "version does not change the file")},
    [HEALTH_FOREIGN] = {N_("belongs to another program"),
                        N_("move it away, or set XDG_DATA_HOME to another directory")},
    [HEALTH_LOCKED] = {N_("in use by another process"),
                       N_("quit that program or wait until it ends, then try again")},
    [HEALTH_READ_ONLY] = {N_("cannot be written"),
                          N_("check the permissions of the file and of its directory")},
    [HEALTH_UNREADABLE] = {N_("cannot be read"),
                           N_("check the permissions of the file and of the directories above it")},
    [HEALTH_NO_DATABASE] = {N_("does not start like a database"), SAVE_IT},
    [HEALTH_TRUNCATED] = {N_("a part of it is missing"), SAVE_IT},
    [HEALTH_DAMAGED] = {N_("damaged"), SAVE_IT},
    [HEALTH_INCONSISTENT] = {N_("contains invalid data"), SAVE_IT},
};

static void add_clean(struct buf *out, const char *text)
{
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

static void add_config(const struct diagnosis *d, struct buf *out)
{
    buf_addf(out, _("configuration: %s%s\n"), d->setup.path,
             d->config_exists ? "" : _(" (does not exist; defaults are used)"));
    for (size_t i = 0; i < d->setup.problems.list.len; i++) {
        auto_free char *text = setup_problem_text(&d->setup.problems.list.items[i]);
        buf_addstr(out, "  ");
        add_clean(out, text);
        buf_addch(out, '\n');
    }
}

static void add_service(const struct diagnosis *d, struct buf *out)
{
    for (size_t i = 0; i < d->service.len; i++) {
        buf_addf(out, "%s: ", d->service.items[i].name);
        add_clean(out, d->service.items[i].value);
        buf_addch(out, '\n');
    }
    if (d->service_fault.code != ERR_OK) {
        buf_addf(out, "%s: ", err_info(d->service_fault.code)->name);
        add_clean(out, d->service_fault.text);
        buf_addch(out, '\n');
    }
}

/* The path, the state and its detail. */
static void add_state(const struct diagnosis *d, struct buf *out)
{
    const struct health *found = &d->store.found;
    bool quick = found->state == HEALTH_GOOD && !d->thorough;
    add_clean(out, d->store.path);
    buf_addf(out, ": %s",
             quick ? _("quick check passed (--thorough reads everything)")
                   : _(states[found->state].text));
    if (*found->detail) {
        buf_addstr(out, " (");
        add_clean(out, found->detail);
        buf_addch(out, ')');
    }
}

static void add_graph(const struct health *found, struct buf *out)
{
    if (found->graph_entities <= 0)
        return;
    buf_addf(out,
             ngettext(", graph of %lld entity", ", graph of %lld entities",
                      (unsigned long)found->graph_entities),
             (long long)found->graph_entities);
    buf_addf(out,
             ngettext(" with %lld observation", " with %lld observations",
                      (unsigned long)found->graph_observations),
             (long long)found->graph_observations);
    buf_addf(out,
             ngettext(" and %lld relation", " and %lld relations",
                      (unsigned long)found->graph_relations),
             (long long)found->graph_relations);
}

static void add_corpora(const struct health *found, struct buf *out)
{
    if (found->corpora <= 0)
        return;
    buf_addf(out, ngettext(", %lld corpus", ", %lld corpora", (unsigned long)found->corpora),
             (long long)found->corpora);
    buf_addf(out,
             ngettext(" of %lld document", " of %lld documents", (unsigned long)found->documents),
             (long long)found->documents);
    buf_addf(out,
             ngettext(" with %lld passage", " with %lld passages", (unsigned long)found->passages),
             (long long)found->passages);
    if (found->unreadable > 0)
        buf_addf(out,
                 ngettext(" (%lld file could not be read)", " (%lld files could not be read)",
                          (unsigned long)found->unreadable),
                 (long long)found->unreadable);
}

static void add_counts(const struct health *found, struct buf *out)
{
    if (found->bytes > 0)
        buf_addf(out, ", %.1f MB", (double)found->bytes / 1e6);
    if (found->sessions >= 0) {
        buf_addstr(out, ", ");
        buf_addf(out, ngettext("%lld session", "%lld sessions", (unsigned long)found->sessions),
                 (long long)found->sessions);
    }
    if (found->events >= 0) {
        buf_addstr(out, ", ");
        buf_addf(out, ngettext("%lld event", "%lld events", (unsigned long)found->events),
                 (long long)found->events);
    }
    if (found->entries >= 0) {
        buf_addstr(out, ", ");
        buf_addf(
            out,
            ngettext("%lld memory entry", "%lld memory entries", (unsigned long)found->entries),
            (long long)found->entries);
    }
    if (found->vectors > 0) {
        buf_addstr(out, ", ");
        buf_addf(out, ngettext("%lld vector", "%lld vectors", (unsigned long)found->vectors),
                 (long long)found->vectors);
    }
    if (found->learned > 0 || found->waiting > 0)
        buf_addf(
            out,
            ngettext(", %lld learned item", ", %lld learned items", (unsigned long)found->learned),
            (long long)found->learned);
    if (found->waiting > 0)
        buf_addf(out,
                 ngettext(" (%lld waits for you)", " (%lld wait for you)",
                          (unsigned long)found->waiting),
                 (long long)found->waiting);
    add_graph(found, out);
    add_corpora(found, out);
    buf_addch(out, '\n');
}

static void add_store(const struct diagnosis *d, struct buf *out)
{
    const struct health *found = &d->store.found;
    const char *language = config_string(d->setup.config, CONFIG_MEMORY_LANGUAGE);
    if (!d->built) {
        buf_addstr(out, _("store: none; this tiro was built without one\n"));
        return;
    }
    buf_addstr(out, _("store: "));
    add_state(d, out);
    add_counts(found, out);
    if (states[found->state].advice)
        buf_addf(out, "  %s\n", _(states[found->state].advice));
    if (found->entries > 0 && *found->language && strcmp(found->language, language) != 0)
        buf_addf(out,
                 _("  memory is indexed for %s, not for %s; 'tiro memory reindex' changes it\n"),
                 found->language, language);
    if (!d->kept)
        buf_addf(out, "  %s\n", _("conversations are not saved: [session] persist = false"));
}

/* Advice for each kind. */
static const char *const orphans[] = {
    [ORPHAN_REMOVAL] =
        N_("belongs to a deleted session; the next 'tiro sessions' or conversation removes it if "
           "it can"),
    [ORPHAN_SESSION] = N_("belongs to a session that is not in the database; look at it, then "
                          "delete it"),
    [ORPHAN_LOCK] = N_("belongs to a session that is not in the database; delete it"),
    [ORPHAN_TEMPORARY] =
        N_("left by a tiro process that was killed; delete it when no tiro is running"),
    [ORPHAN_GRAPH] = N_("belongs to a model that has no vectors here; delete it"),
    [ORPHAN_COPY] = N_("a damaged file that was set aside; delete it when nothing is missing"),
    [ORPHAN_UNKNOWN] = N_("not created by tiro; check what it is"),
};

static void add_orphans(const struct diagnosis *d, struct buf *out)
{
    size_t count = d->orphans.items.len;
    if (count > 0)
        buf_addf(out, "  %s\n", _("unused files beside it:"));
    for (size_t i = 0; i < count && i < ORPHANS_SHOWN; i++) {
        const struct orphan *o = &d->orphans.items.items[i];
        buf_addf(out, "    %s: %s\n", o->path, _(orphans[o->kind]));
    }
    if (count > ORPHANS_SHOWN) {
        buf_addstr(out, "    ");
        buf_addf(out,
                 ngettext("… and %zu more; --json lists them", "… and %zu more; --json lists them",
                          (unsigned long)(count - ORPHANS_SHOWN)),
                 count - ORPHANS_SHOWN);
        buf_addch(out, '\n');
    }
}

static void add_histories(const struct diagnosis *d, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < d->histories.sources.len; i++) {
        const struct import_counts *c = &d->histories.sources.items[i];
        if (c->files == 0 && c->conversations == 0)
            continue;
        if (first)
            buf_addf(out, _("histories of other agents ([import] sources = %s):\n"),
                     config_string(d->setup.config, CONFIG_IMPORT_SOURCES));
        first = false;
        buf_addf(out, "  %s: %lld %s", c->label, (long long)c->files,
                 ngettext("file", "files", (unsigned long)c->files));
        buf_addf(out, _(", imported: %lld %s, %lld %s"), (long long)c->conversations,
                 ngettext("conversation", "conversations", (unsigned long)c->conversations),
                 (long long)c->messages,
                 ngettext("message", "messages", (unsigned long)c->messages));
        if (c->failed > 0)
            buf_addf(out, _(", %lld unreadable"), (long long)c->failed);
        if (c->kinds) {
            buf_addstr(out, _(", not understood: "));
            add_clean(out, c->kinds);
        }
        for (const char *at = c->places; at && *at; at += strcspn(at, "\n"), at += *at != '\0') {
            auto_free char *place = mem_strndup(at, strcspn(at, "\n"));
            buf_addstr(out, "\n    ");
            add_clean(out, place);
        }
        buf_addch(out, '\n');
    }
}

static void diagnosis_print(const struct diagnosis *d)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const struct recovery *r = &d->recovery;
    buf_addf(&out, "%s %s\n", d->engine.name, d->engine.version);
    add_config(d, &out);
    add_service(d, &out);
    if (r->copy) {
        buf_addf(&out,
                 _("recovered: sessions %lld, events %lld, memory entries %lld, learned items "
                   "%lld, graph rows %lld; lost rows %lld\n"),
                 (long long)r->sessions, (long long)r->events, (long long)r->entries,
                 (long long)r->learned, (long long)r->facts, (long long)r->lost);
        buf_addf(&out, "  %s: ", _("the damaged file is kept"));
        add_clean(&out, r->copy);
        buf_addch(&out, '\n');
    }
    add_store(d, &out);
    add_orphans(d, &out);
    add_histories(d, &out);
    buf_addstr(&out, _("terminal: "));
    add_clean(&out, d->term ? d->term : _("TERM is not set"));
    buf_addf(&out, "%s\n", d->to_terminal ? "" : _(" (standard output is not a terminal)"));
    buf_addf(
        &out, _("locale: %s%s\n"), d->codeset,
        charset() == CHARSET_ASSUMED
            ? _(" (the configured locale is not installed; \"locale -a\" lists the installed ones)")
        : d->utf8 ? ""
                  : _(" (only ASCII will look right; set LC_ALL to a UTF-8 locale)"));
    if (diagnosis_well(d))
        buf_addf(&out, "%s\n", _("no problem found"));
    output_text(out.data);
}

/* --- diagnosis json --------------------------------------------------------------------------- */

static struct json *store_json(const struct diagnosis *d)
{
    const struct health *found = &d->store.found;
    if (!d->built)
        return json_pack("{built:b kept:b}", false, d->kept);
    const struct {
        const char *name;
        int64_t count; /* negative: not known */
    } counts[] = {{"sessions", found->sessions},
                  {"events", found->events},
                  {"bytes", found->bytes},
                  {"entries", found->entries},
                  {"vectors", found->vectors},
                  {"learned", found->learned},
                  {"waiting", found->waiting},
                  {"graph_entities", found->graph_entities},
                  {"graph_observations", found->graph_observations},
                  {"graph_relations", found->graph_relations},
                  {"corpora", found->corpora},
                  {"documents", found->documents},
                  {"passages", found->passages},
                  {"unreadable", found->unreadable}};
    struct json *v =
        json_pack("{built:b kept:b path:s state:s detail:s thorough:b well:b recoverable:b}", true,
                  d->kept, d->store.path, d->store.name, *found->detail ? found->detail : NULL,
                  d->thorough, diagnosis_store_well(d), d->store.recoverable);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count >= 0)
            json_set_int(v, counts[i].name, counts[i].count);
    if (*found->language)
        json_set_string(v, "language", found->language);
    struct json *list = json_new_array();
    for (size_t i = 0; i < d->orphans.items.len; i++) {
        const struct orphan *o = &d->orphans.items.items[i];
        json_push(list, json_pack("{path:s kind:s}", o->path, orphan_word(o->kind)));
    }
    json_set(v, "orphans", list);
    return v;
}

static struct json *diagnosis_to_json(const struct diagnosis *d)
{
    const struct recovery *r = &d->recovery;
    struct json *recovery = NULL, *service = json_new_object();
    for (size_t i = 0; i < d->service.len; i++)
        json_set_string(service, d->service.items[i].name, d->service.items[i].value);
    if (d->service_fault.code != ERR_OK)
        json_set(service, "error",
                 json_pack("{code:s text:s}", err_info(d->service_fault.code)->name,
                           d->service_fault.text));
    if (r->copy)
        recovery =
            json_pack("{sessions:I events:I entries:I learned:I facts:I lost:I copy:s}",
                      r->sessions, r->events, r->entries, r->learned, r->facts, r->lost, r->copy);
    struct json *all = json_pack(
        "{version:s well:b configuration:{path:s exists:b problems:o} service:o "
        "store:o recovery:o terminal:{term:s output:b} locale:{codeset:s utf8:b}}",
        d->engine.version, diagnosis_well(d), d->setup.path, d->config_exists,
        setup_problems_json(&d->setup), service, store_json(d), recovery, d->term, d->to_terminal,
        d->codeset, d->utf8);
    AUTO(json_free_local)
    struct json *histories = shape_to_json(operation_import_list.result, &d->histories);
    json_set(all, "histories", json_clone(json_get(histories, "sources")));
    return all;
}

/* --- the command --- */

struct wishes {
    bool json, thorough, recover, yes;
};

/* clang-format off */
#define WISH(name, help) {#name, 0, OPTION_FLAG, NULL, help, .at = offsetof(struct wishes, name)}
/* clang-format on */

static const struct option options[] = {
    WISH(json, N_("print JSON")),
    WISH(thorough, N_("read the whole database and check every event")),
    WISH(recover, N_("replace a damaged database with its readable parts")),
    WISH(yes, N_("recover without asking")),
    {0},
};

enum { DRAW_MS = 100, SIGNAL_STATUS = 128 };

struct progress {
    bool shown; /* on a terminal */
    bool drawn;
    int64_t last_ms;
    int signal; /* the signal that stopped it; 0: none */
};

static bool show_progress(void *context, int64_t events)
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

/* Returns the exit status: 0, or that of an error, which is printed. */
static int recover(struct diagnosis *d, bool yes)
{
    struct progress p = {.shown = isatty(STDERR_FILENO)};
    struct error e = {0};
    if (!yes) {
        AUTO(buf_release) struct buf question = BUF_INIT;
        add_state(d, &question);
        buf_addf(&question, "\n%s",
                 _("Replace the file with its readable parts, and keep the damaged file as a copy? "
                   "[y/N] "));
        if (!confirm(question.data))
            return 0;
    }
    signals_open();
    const char *language = config_string(d->setup.config, CONFIG_MEMORY_LANGUAGE);
    bool ok = health_rescue(d->store.path, language, &d->recovery, show_progress, &p, &e);
    if (p.drawn)
        fputc('\n', stderr);
    if (!ok) {
        int status = cli_fail(&e);
        return p.signal ? SIGNAL_STATUS + p.signal : status;
    }
    diagnosis_look_at_store(d, true);
    return 0;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct wishes w = {0};
    struct error e = {0};
    struct diagnosis d;
    int status;
    if (!cli_parse(self, argc, argv, &w, &status))
        return status;
    if (w.recover && !w.yes && !confirm_possible()) {
        err_set(&e, ERR_USAGE, _("cannot ask without a terminal; --yes recovers without asking"));
        return cli_fail(&e);
    }
    diagnosis_begin(&d);
    diagnosis_look_at_store(&d, w.thorough || w.recover);
    status = w.recover && d.built && d.store.recoverable ? recover(&d, w.yes) : 0;
    if (status <= 1) {
        diagnosis_complete(&d);
        if (w.json)
            output_json(diagnosis_to_json(&d));
        else
            diagnosis_print(&d);
    }
    if (status == 0)
        status = diagnosis_well(&d) ? 0 : 1;
    diagnosis_release(&d);
    return status;
}

const struct cli_command cmd_doctor = {
    .name = "doctor",
    .synopsis = "doctor [--json] [--thorough] [--recover [--yes]]",
    .help = N_("show which provider and store are used and why, and check for problems"),
    .details = N_("Changes nothing unless --recover is given: then a new database with the "
                  "readable parts\nreplaces a damaged one, and the damaged file is kept beside "
                  "it.\nExit status: 0 if no problem is found, else 1."),
    .options = options,
    .run = run,
};
