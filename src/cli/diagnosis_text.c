#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/diagnosis.h"
#include "cli/output.h"

enum { ORPHANS_SHOWN = 20 };

#define SAVE_IT N_("'tiro doctor --recover' saves what can be read, and keeps the file as a copy")

/* What each state is called, and what to do. */
static const struct {
    const char *text, *advice; /* NULL: there is nothing to do */
} states[] = {
    [HEALTH_GOOD] = {N_("intact"), NULL},
    [HEALTH_MISSING] = {N_("nothing has been saved yet"), NULL},
    [HEALTH_EMPTY] = {N_("an empty file, which the next conversation fills"), NULL},
    [HEALTH_NEWER] = {N_("written by another version of tiro"),
                      N_("with that version, 'tiro sessions export' saves the sessions; this one "
                         "does not change the file")},
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
        char *text = setup_problem_text(&d->setup.problems.list.items[i]);
        buf_addstr(out, "  ");
        add_clean(out, text);
        buf_addch(out, '\n');
        free(text);
    }
}

static void add_service(const struct diagnosis *d, struct buf *out)
{
    for (size_t i = 0; i < d->service.len; i++) {
        buf_addf(out, "%s: ", d->service.items[i].name);
        add_clean(out, d->service.items[i].value);
        buf_addch(out, '\n');
    }
    if (d->service_fault.code == ERR_OK)
        return;
    buf_addf(out, "%s: ", err_info(d->service_fault.code)->name);
    add_clean(out, d->service_fault.text);
    buf_addch(out, '\n');
}

void diagnosis_store_text(const struct diagnosis *d, struct buf *out)
{
    const struct health *found = &d->store.found;
    bool passing = found->state == HEALTH_GOOD && !d->thorough;
    add_clean(out, d->store.path);
    buf_addf(out, ": %s",
             passing ? _("quick check passed (--thorough reads everything)")
                     : _(states[found->state].text));
    if (*found->detail) {
        buf_addstr(out, " (");
        add_clean(out, found->detail);
        buf_addch(out, ')');
    }
}

static void add_learned(const struct health *found, struct buf *out)
{
    if (found->learned <= 0 && found->waiting <= 0)
        return;
    buf_addf(out,
             ngettext(", %lld learned item", ", %lld learned items", (unsigned long)found->learned),
             (long long)found->learned);
    if (found->waiting > 0)
        buf_addf(out,
                 ngettext(" (%lld waits for you)", " (%lld wait for you)",
                          (unsigned long)found->waiting),
                 (long long)found->waiting);
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
    add_learned(found, out);
    add_graph(found, out);
    add_corpora(found, out);
    buf_addch(out, '\n');
}

static void add_store(const struct diagnosis *d, struct buf *out)
{
    if (!d->built) {
        buf_addstr(out, _("store: none; this tiro was built without one\n"));
        return;
    }
    buf_addstr(out, _("store: "));
    diagnosis_store_text(d, out);
    add_counts(&d->store.found, out);
    if (states[d->store.found.state].advice)
        buf_addf(out, "  %s\n", _(states[d->store.found.state].advice));
    if (diagnosis_language_stale(d))
        buf_addf(out,
                 _("  memory is indexed for %s, not for %s; 'tiro memory reindex' changes it\n"),
                 d->store.found.language, config_string(d->setup.config, CONFIG_MEMORY_LANGUAGE));
    if (!d->kept)
        buf_addf(out, "  %s\n", _("conversations are not saved: [session] persist = false"));
}

/* What to do with them. */
static const char *const orphans[] = {
    [ORPHAN_REMOVAL] =
        N_("belongs to a deleted session; the next 'tiro sessions' or conversation removes it if "
           "it can"),
    [ORPHAN_SESSION] = N_("belongs to a session that is not in the database; look at it, then "
                          "delete it"),
    [ORPHAN_LOCK] = N_("belongs to a session that is not in the database; delete it"),
    [ORPHAN_TEMPORARY] = N_("left by a tiro that was killed; delete it when no tiro is running"),
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

static void add_recovery(const struct diagnosis *d, struct buf *out)
{
    const struct recovery *r = &d->recovery;
    if (!r->copy)
        return;
    buf_addf(out,
             _("recovered: sessions %lld, events %lld, memory entries %lld, learned items %lld, "
               "graph rows %lld; lost rows %lld\n"),
             (long long)r->sessions, (long long)r->events, (long long)r->entries,
             (long long)r->learned, (long long)r->facts, (long long)r->lost);
    buf_addf(out, "  %s: ", _("the damaged file is kept"));
    add_clean(out, r->copy);
    buf_addch(out, '\n');
}

static void add_terminal(const struct diagnosis *d, struct buf *out)
{
    buf_addstr(out, _("terminal: "));
    add_clean(out, d->term ? d->term : _("TERM is not set"));
    buf_addf(out, "%s\n", d->to_terminal ? "" : _(" (standard output is not a terminal)"));
    buf_addf(out, _("locale: %s%s\n"), d->codeset,
             charset() == CHARSET_ASSUMED
                 ? _(" (the one that is set is not installed; \"locale -a\" "
                     "lists those that are)")
             : d->utf8 ? ""
                       : _(" (only ASCII will look right; set LC_ALL to a UTF-8 locale)"));
}

void diagnosis_print(const struct diagnosis *d)
{
    struct buf out = BUF_INIT;
    buf_addf(&out, "%s %s\n", d->engine.name, d->engine.version);
    add_config(d, &out);
    add_service(d, &out);
    add_recovery(d, &out);
    add_store(d, &out);
    add_orphans(d, &out);
    add_terminal(d, &out);
    if (diagnosis_well(d))
        buf_addf(&out, "%s\n", _("no problem found"));
    output_text(out.data);
    buf_release(&out);
}
