#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "session/capability.h"
#include "session/catalog.h"
#include "session/conversation_private.h"

/* The session remembers what it talks to, but not a provider that nobody chose: when there is a
 * better one next time, it is to be taken. */
void conversation_note_backend(struct conversation *w)
{
    struct session_info *info = &w->journal.info;
    const struct choice *choice = &w->backend.choice;
    bool chosen = choice->reason != CHOICE_FALLBACK;
    free(info->provider);
    free(info->model);
    info->provider = chosen ? mem_strdup(choice->provider->name) : NULL;
    info->model = mem_strdup(choice->model);
}

/* What the user asked for at the start, else what the session used, else by the rules. */
bool conversation_choose(struct conversation *w, struct error *e)
{
    const struct session_info *info = &w->journal.info;
    bool asked = w->engine->options.provider || w->engine->options.model;
    bool remembered = !asked && info->provider && *info->provider;
    if (remembered && backend_choose(&w->backend, info->provider, info->model, e)) {
        conversation_note_backend(w);
        return true;
    }
    if (!backend_choose(&w->backend, w->engine->options.provider, w->engine->options.model, e))
        return false;
    conversation_note_backend(w);
    return true;
}

static void choose_and_tell(struct conversation *w, const struct command *c)
{
    struct error e = {0};
    if (!conversation_choose(w, &e)) {
        tell_error(w, c, &e);
        return;
    }
    tell_provider(w);
}

/* --- opening -----------------------------------------------------------------------------------
 */

/* What was allowed or warned of for one session is not for the next. */
static void forget_session(struct conversation *w)
{
    approval_forget_session(&w->policy);
    budget_read(&w->budget, w->config);
    prompt_told_release(&w->prompt_told);
    w->last_cached = -1;
}

static void begin_session(struct conversation *w)
{
    forget_session(w);
    journal_begin(&w->journal, w->engine->root);
    if (w->engine->options.system)
        w->journal.info.system = mem_strdup(w->engine->options.system);
    w->journal.info.labels = mem_strdup(w->labels);
    tell_session(w, true);
}

static bool is_unsent(const struct session_info *info)
{
    return info->last_seq == 0 && info->draft && *info->draft;
}

/* Options of the start count as for a session that is begun, and so does what it will talk to. The
 * labels are in order: both lists were checked. */
static void begin_unsent(struct conversation *w)
{
    struct session_info *info = &w->journal.info;
    struct error e;
    char *labels;
    forget_session(w);
    if (w->engine->options.system) {
        free(info->system);
        info->system = mem_strdup(w->engine->options.system);
    }
    if (w->labels && session_labels_change(info->labels, w->labels, &labels, &e)) {
        free(info->labels);
        info->labels = labels;
    }
    free(info->provider);
    free(info->model);
    info->provider = info->model = NULL;
    tell_session(w, true);
}

/* False: it is the one to go on with. One that another process has open is that process's. */
static bool passes_by(void *conversation, const char *id)
{
    struct conversation *w = conversation;
    struct event_list tail = {0};
    struct error e;
    bool more;
    if (!journal_open(&w->journal, id, JOURNAL_RESUME, &tail, &more, &e))
        return true;
    event_list_release(&tail);
    return !is_unsent(&w->journal.info);
}

/* A store that cannot be read has nothing to offer; what is begun instead will say why. */
static bool offer_unsent(struct conversation *w)
{
    struct error e;
    if (!w->engine->options.offer_draft || w->engine->options.resume ||
        !sessions_each_unsent(w->store, w->engine->root, passes_by, w, &e) ||
        !is_unsent(&w->journal.info))
        return false;
    begin_unsent(w);
    return true;
}

/* A session without a snapshot (a fork, an import) shows its end first, and what it carries then.
 */
static void count_history(struct conversation *w)
{
    struct error e;
    if (w->journal.counted)
        return;
    if (conversation_need_history(w, &e))
        tell_session(w, false);
    else
        log_line(LOG_ERROR, "history of %s: %s", w->journal.info.id, e.text);
}

static bool open_session(struct conversation *w, const char *reference, enum journal_access access,
                         struct error *e)
{
    struct event_list tail = {0};
    bool more;
    if (!journal_open(&w->journal, reference, access, &tail, &more, e)) {
        event_list_release(&tail);
        /* Where nothing is kept there is nothing to find: say why. */
        return e->code == ERR_SESSION_NOT_FOUND
                   ? capability_need_store(w->engine->persist, e) && false
                   : false;
    }
    forget_session(w);
    tell_session(w, true);
    tell_page(w, &tail, more);
    count_history(w);
    return true;
}

/* What one talks to stays, unless the command says what it is to be. */
void do_new(struct conversation *w, struct command *c)
{
    struct error e = {0};
    begin_session(w);
    bool chosen = w->backend.chosen;
    if (c->type == COMMAND_NEW && c->name)
        chosen = backend_choose(&w->backend, c->name, c->text, &e);
    if (!chosen) {
        choose_and_tell(w, c);
        return;
    }
    conversation_note_backend(w);
    tell_provider(w);
}

/* The session of another conversation of this process is shown as it stands there. */
static bool is_open_elsewhere(struct conversation *w, const char *reference)
{
    char id[UUID_LEN + 1];
    struct error e;
    return sessions_resolve(w->store, reference, id, &e) &&
           engine_hand_over(w, id, command_new(COMMAND_RESUME, id));
}

/* A conversation that was taken for what then could not be opened gives way to the one that was in
 * front, or opens its session again. */
static void go_back(struct conversation *w)
{
    struct error e;
    char before[UUID_LEN + 1];
    memcpy(before, w->seat.before, sizeof before);
    if (*w->journal.info.id || engine_hand_over(w, before, NULL))
        return;
    if (!*before || !open_session(w, before, JOURNAL_RESUME, &e))
        begin_session(w);
}

static void open_asked(struct conversation *w, struct command *c, enum journal_access access)
{
    struct error e = {0};
    const char *reference = c->text ? c->text : "last";
    if (w->doing != IDLE) {
        tell_all(w);
    } else if (is_open_elsewhere(w, reference)) {
        return;
    } else if (open_session(w, reference, access, &e)) {
        choose_and_tell(w, c);
    } else {
        tell_error(w, c, &e);
        go_back(w);
    }
}

void do_resume(struct conversation *w, struct command *c)
{
    open_asked(w, c, JOURNAL_RESUME);
}

void do_open(struct conversation *w, struct command *c)
{
    open_asked(w, c, JOURNAL_READ);
}

static bool check_labels(struct conversation *w, struct error *e)
{
    char *labels;
    if (!w->labels)
        return true;
    bool ok = session_labels_change(NULL, w->labels, &labels, e);
    free(w->labels);
    w->labels = ok ? labels : NULL;
    return ok;
}

static void open_first(struct conversation *w, const struct command *opening)
{
    struct error e = {0};
    const struct engine_options *o = &w->engine->options;
    enum journal_access access = o->read_only ? JOURNAL_READ : JOURNAL_RESUME;
    bool resumed = o->resume && open_session(w, o->resume, access, &e);
    if (o->resume && !resumed)
        tell_error(w, opening, &e);
    if (!resumed) {
        if (!offer_unsent(w))
            begin_session(w);
    } else if (o->system) {
        free(w->journal.info.system);
        w->journal.info.system = mem_strdup(o->system);
    }
    choose_and_tell(w, opening);
}

void conversation_begin(struct conversation *w)
{
    struct error e = {0};
    const struct engine_options *o = &w->engine->options;
    const struct command opening = {.type = o->resume ? COMMAND_RESUME : COMMAND_NEW,
                                    .text = (char *)o->resume};
    bool valid =
        check_labels(w, &e) && approval_policy_read(&w->policy, w->config, &w->tools, o->allow, &e);
    if (!valid && w->is_first)
        tell_error(w, &opening, &e);
    if (w->is_first)
        open_first(w, &opening);
}

/* --- changing ----------------------------------------------------------------------------------
 */

static void borrow_catalog(struct conversation *w, struct catalog *catalog)
{
    const char *held = w->journal.lock >= 0 ? w->journal.info.id : "";
    catalog_borrow(catalog, w->store, w->journal.directory, held);
}

bool conversation_means_current(struct conversation *w, const struct command *c)
{
    struct catalog catalog;
    struct session_info info = {0};
    struct error e;
    if (!c->name || strcmp(c->name, w->journal.info.id) == 0)
        return true;
    borrow_catalog(w, &catalog);
    bool same = w->journal.stored && catalog_find(&catalog, c->name, &info, &e) &&
                strcmp(info.id, w->journal.info.id) == 0;
    session_info_release(&info);
    catalog_release(&catalog);
    return same;
}

/* The open session's row is written from memory; a change of it is one there. */
static void save_current(struct conversation *w, const struct command *c)
{
    struct error e = {0};
    if (journal_save_info(&w->journal, &e))
        tell_done(w, c, w->journal.info.id);
    else
        tell_error(w, c, &e);
    tell_session(w, false);
}

/* What is open for reading only has changed in the store. */
static void read_again(struct conversation *w, struct catalog *catalog)
{
    struct session_info now;
    struct error e;
    if (!catalog_find(catalog, w->journal.info.id, &now, &e))
        return;
    session_info_release(&w->journal.info);
    w->journal.info = now;
    tell_session(w, false);
}

/* Changes a session by a function of the catalog: another one, or one that is not written to. */
static void change_kept(struct conversation *w, struct command *c,
                        bool (*change)(struct catalog *catalog, const struct command *c,
                                       char id[UUID_LEN + 1], struct error *e))
{
    struct catalog catalog;
    struct error e = {0};
    char id[UUID_LEN + 1];
    if (!c->name)
        c->name = mem_strdup(w->journal.info.id);
    borrow_catalog(w, &catalog);
    if (change(&catalog, c, id, &e)) {
        tell_done(w, c, id);
        if (w->journal.read_only && strcmp(id, w->journal.info.id) == 0)
            read_again(w, &catalog);
    } else {
        tell_error(w, c, &e);
    }
    catalog_release(&catalog);
}

static bool writes_current(struct conversation *w, const struct command *c)
{
    return !w->journal.read_only && conversation_means_current(w, c);
}

static bool rename_other(struct catalog *catalog, const struct command *c, char id[UUID_LEN + 1],
                         struct error *e)
{
    return catalog_rename(catalog, c->name, c->text ? c->text : "", id, e);
}

/* The catalog knows the first message. */
static void name_as_at_first(struct conversation *w)
{
    struct catalog catalog;
    struct session_info named;
    struct error e;
    struct session_info *info = &w->journal.info;
    borrow_catalog(w, &catalog);
    if (w->journal.stored && catalog_rename(&catalog, info->id, "", NULL, &e) &&
        catalog_find(&catalog, info->id, &named, &e)) {
        free(info->title);
        info->title = mem_strdup(named.title);
        session_info_release(&named);
    }
    catalog_release(&catalog);
}

void do_rename(struct conversation *w, struct command *c)
{
    struct session_info *info = &w->journal.info;
    if (!writes_current(w, c)) {
        change_kept(w, c, rename_other);
        return;
    }
    free(info->title);
    info->title = session_title_from(c->text ? c->text : "");
    info->title_set = *info->title != '\0';
    if (!info->title_set)
        name_as_at_first(w);
    save_current(w, c);
}

static bool label_other(struct catalog *catalog, const struct command *c, char id[UUID_LEN + 1],
                        struct error *e)
{
    return catalog_label(catalog, c->name, c->text ? c->text : "", id, e);
}

void do_label(struct conversation *w, struct command *c)
{
    struct session_info *info = &w->journal.info;
    struct error e = {0};
    char *labels;
    if (!writes_current(w, c)) {
        change_kept(w, c, label_other);
        return;
    }
    if (!session_labels_change(info->labels, c->text ? c->text : "", &labels, &e)) {
        tell_error(w, c, &e);
        return;
    }
    free(info->labels);
    info->labels = labels;
    save_current(w, c);
}

void do_set_model(struct conversation *w, struct command *c)
{
    struct error e = {0};
    conversation_step_aside(w);
    bool changed = backend_change(&w->backend, c->name, c->text, &e);
    conversation_finish(w);
    if (!changed) {
        tell_error(w, c, &e);
        return;
    }
    conversation_note_backend(w);
    if (!journal_save_info(&w->journal, &e))
        tell_error(w, c, &e);
    tell_provider(w);
}

void do_set_system(struct conversation *w, struct command *c)
{
    struct error e = {0};
    free(w->journal.info.system);
    w->journal.info.system = c->text && *c->text ? mem_strdup(c->text) : NULL;
    if (!journal_save_info(&w->journal, &e))
        tell_error(w, c, &e);
    tell_session(w, false);
}

void do_save_draft(struct conversation *w, struct command *c)
{
    struct error e = {0};
    free(w->newer_draft);
    w->newer_draft = mem_strdup(c->text);
    if (!journal_save_draft(&w->journal, c->text, &e))
        tell_error(w, c, &e);
}

/* --- leaving -----------------------------------------------------------------------------------
 */

static bool archive(struct catalog *catalog, const struct command *c, char id[UUID_LEN + 1],
                    struct error *e)
{
    return catalog_archive(catalog, c->name, c->number == 0, id, e);
}

static bool delete (struct catalog *catalog, const struct command *c, char id[UUID_LEN + 1],
                    struct error *e)
{
    return catalog_delete(catalog, c->name, id, e);
}

/* Failing to take its files away comes after the row went: what is then left must not be written
 * again. */
static bool is_gone(struct conversation *w)
{
    struct session_info info;
    struct error e = {0};
    bool there = sessions_get(w->store, w->journal.info.id, &info, &e);
    session_info_release(&info);
    return !there && e.code == ERR_SESSION_NOT_FOUND;
}

/* The open session goes, and a new one takes its place. One that has no row leaves nothing. */
static void leave(struct conversation *w, struct command *c,
                  bool (*away)(struct catalog *catalog, const struct command *c,
                               char id[UUID_LEN + 1], struct error *e))
{
    struct error e = {0};
    struct catalog catalog;
    char id[UUID_LEN + 1];
    free(c->name);
    c->name = mem_strdup(w->journal.info.id);
    memcpy(id, w->journal.info.id, sizeof id);
    borrow_catalog(w, &catalog);
    bool ok = !w->journal.stored || away(&catalog, c, id, &e);
    catalog_release(&catalog);
    if (ok)
        tell_done(w, c, id);
    else
        tell_error(w, c, &e);
    if (!ok && !is_gone(w))
        return;
    if (engine_has_in_front(w))
        do_new(w, c);
    else
        journal_close(&w->journal); /* the loop sees that it is done with */
}

void do_archive(struct conversation *w, struct command *c)
{
    if (c->number == 0 && conversation_means_current(w, c))
        leave(w, c, archive);
    else
        change_kept(w, c, archive);
}

void do_delete(struct conversation *w, struct command *c)
{
    if (conversation_means_current(w, c))
        leave(w, c, delete);
    else
        change_kept(w, c, delete);
}

/* --- forking -----------------------------------------------------------------------------------
 */

static bool fork_session(struct conversation *w, const struct command *c, struct session_info *out,
                         struct error *e)
{
    struct catalog catalog;
    bool current = conversation_means_current(w, c);
    if (current && !w->journal.stored)
        return err_set(e, ERR_USAGE, "nothing to fork yet; send a message first");
    borrow_catalog(w, &catalog);
    bool ok = catalog_fork(&catalog, current ? w->journal.info.id : c->name, c->number, out, e);
    catalog_release(&catalog);
    return ok;
}

void do_fork(struct conversation *w, struct command *c)
{
    struct error e = {0};
    struct session_info fork = {0};
    if (fork_session(w, c, &fork, &e) && open_session(w, fork.id, JOURNAL_RESUME, &e)) {
        tell_done(w, c, fork.id);
        choose_and_tell(w, c);
    } else {
        tell_error(w, c, &e);
        go_back(w);
    }
    session_info_release(&fork);
}
