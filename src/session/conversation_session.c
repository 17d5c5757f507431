#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "knowledge/project.h"
#include "session/capability.h"
#include "session/catalog.h"
#include "session/conversation_private.h"
#include "session/projection.h"

/* The session remembers what it talks to, but not a provider that nobody chose: when there is a
 * better one next time, it is to be taken. */
void conversation_note_backend(struct conversation *c)
{
    struct session_info *info = &c->journal.info;
    const struct choice *choice = &c->backend.choice;
    bool chosen = choice->reason != CHOICE_FALLBACK;
    free(info->provider);
    free(info->model);
    info->provider = chosen ? mem_strdup(choice->provider->name) : NULL;
    info->model = mem_strdup(choice->model);
}

/* Chooses the provider and model of the command line, else those that the session used, else by the
 * rules. An engine that serves ignores the command line's for a session that has used a provider.
 */
bool conversation_choose(struct conversation *c, struct error *e)
{
    const struct session_info *info = &c->journal.info;
    const struct engine_options *o = &c->engine->options;
    bool asked = !o->serves && (o->provider || o->model);
    bool remembered = !asked && info->provider && *info->provider;
    if (remembered && backend_choose(&c->backend, info->provider, info->model, e)) {
        conversation_note_backend(c);
        return true;
    }
    if (!backend_choose(&c->backend, o->provider, o->model, e))
        return false;
    conversation_note_backend(c);
    return true;
}

bool conversation_need_backend(struct conversation *c, struct error *e)
{
    return c->backend.chosen || conversation_choose(c, e);
}

static bool choose_and_tell(struct conversation *c, struct error *e)
{
    if (!conversation_choose(c, e))
        return false;
    tell_provider(c);
    return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Approvals and warnings of one session do not apply to the next. */
static void forget_session(struct conversation *c)
{
    approval_forget_session(&c->policy);
    budget_read(&c->budget, c->config);
    prompt_told_release(&c->prompt_told);
    c->last_cached = -1;
    c->level = TOOLS_CONFIGURED;
}

/* In the directory, or the engine's. */
static void conversation_begin_session(struct conversation *c, const char *directory)
{
    forget_session(c);
    conversation_work_in(c, directory);
    journal_begin(&c->journal, c->root);
    c->begun = true;
    conversation_read_settings(c);
    if (c->engine->options.system)
        c->journal.info.system = mem_strdup(c->engine->options.system);
    c->journal.info.labels = mem_strdup(c->labels);
    conversation_open_learned(c);
    conversation_read_prompt(c);
    tell_session(c, true);
}

static bool is_unsent(const struct session_info *info)
{
    return info->last_seq == 0 && info->draft && *info->draft;
}

/* Options of the start count as for a session that is begun, and so does what it will talk to. The
 * labels are in order: both lists were checked. */
static void begin_unsent(struct conversation *c)
{
    struct session_info *info = &c->journal.info;
    struct error e;
    char *labels;
    forget_session(c);
    if (c->engine->options.system) {
        free(info->system);
        info->system = mem_strdup(c->engine->options.system);
    }
    if (c->labels && session_labels_change(info->labels, c->labels, &labels, &e)) {
        free(info->labels);
        info->labels = labels;
    }
    free(info->provider);
    free(info->model);
    info->provider = info->model = NULL;
    conversation_open_learned(c);
    conversation_read_prompt(c);
    tell_session(c, true);
}

/* False: it is the one to go on with. One that another process has open is that process's. */
static bool passes_by(void *conversation, const char *id)
{
    struct conversation *c = conversation;
    struct event_list tail = {0};
    struct error e;
    bool more;
    if (!journal_open(&c->journal, id, JOURNAL_RESUME, &tail, &more, &e))
        return true;
    event_list_release(&tail);
    return !is_unsent(&c->journal.info);
}

/* A store that cannot be read has nothing to offer; what is begun instead will say why. */
static bool offer_unsent(struct conversation *c)
{
    struct error e;
    if (!c->engine->options.offer_draft || c->engine->options.resume ||
        !sessions_each_unsent(c->store, c->engine->root, passes_by, c, &e) ||
        !is_unsent(&c->journal.info))
        return false;
    begin_unsent(c);
    return true;
}

/* A session without a snapshot (a fork, an import) shows its end first, and what it carries then.
 */
static void count_history(struct conversation *c)
{
    struct error e;
    if (c->journal.counted)
        return;
    if (conversation_need_history(c, &e))
        tell_session(c, false);
    else
        log_line(LOG_ERROR, "history of %s: %s", c->journal.info.id, e.text);
}

bool conversation_open_session(struct conversation *c, const char *reference,
                               enum journal_access access, struct error *e)
{
    struct event_list tail = {0};
    bool more, serves = c->engine->options.serves; /* other programs read pages if they want them */
    if (!journal_open(&c->journal, reference, access, serves ? NULL : &tail, &more, e)) {
        event_list_release(&tail);
        return false;
    }
    forget_session(c);
    c->begun = false;
    conversation_work_in(c, serves ? c->journal.info.directory : NULL);
    conversation_read_settings(c);
    conversation_open_learned(c);
    conversation_read_prompt(c);
    tell_session(c, true);
    if (!serves)
        tell_page(c, &tail, more);
    count_history(c);
    if (access == JOURNAL_RESUME) /* a killed turn sent no notice of its end */
        conversation_project(c);
    return true;
}

/* Keeps the present provider and model for the new session, if they are chosen. */
static bool conversation_talk_on(struct conversation *c, struct error *e)
{
    if (!c->backend.chosen)
        return choose_and_tell(c, e);
    conversation_note_backend(c);
    tell_provider(c);
    return true;
}

/* A conversation that was taken for what then could not be opened gives way to the one that was in
 * front, or opens its session again. */
static void go_back(struct conversation *c)
{
    struct error e;
    char before[UUID_LEN + 1];
    memcpy(before, c->seat.before, sizeof before);
    if (*c->journal.info.id || engine_hand_over(&c->seat, before, NULL))
        return;
    if (!*before || !conversation_open_session(c, before, JOURNAL_RESUME, &e))
        conversation_begin_session(c, NULL);
}

static bool went_back(struct conversation *c)
{
    if (c->engine->options.serves)
        journal_close(&c->journal);
    else
        go_back(c);
    return false;
}

static void tell_what_is_open(const struct conversation *c, struct session_info *out)
{
    session_info_release(out);
    *out = session_info_clone(&c->journal.info);
}

static void take_text(char **kept, const char *text)
{
    free(*kept);
    *kept = mem_strdup(text);
}

/* Begins a session with the labels and the system prompt of the parameters. */
static bool begin_as(struct conversation *c, const struct session_create_params *p,
                     const char *directory, struct error *e)
{
    char *labels = NULL;
    if (p->labels && !session_labels_change(c->labels, p->labels, &labels, e))
        return false;
    conversation_begin_session(c, directory);
    if (p->labels)
        take_text(&c->journal.info.labels, labels);
    if (p->system)
        take_text(&c->journal.info.system, p->system);
    free(labels);
    if (p->labels || p->system)
        tell_session(c, false);
    return true;
}

bool converse_create(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_create_params *p = params;
    char *directory;
    bool ok =
        conversation_find_directory(p->directory, &directory, e) &&
        ((!p->provider && !p->model) || backend_choose(&c->backend, p->provider, p->model, e)) &&
        begin_as(c, p, directory, e);
    free(directory);
    if (!ok)
        return went_back(c);
    if (!conversation_talk_on(c, e))
        return false;
    if ((c->journal.lasting && !journal_write_row(&c->journal, e)) ||
        (p->tools != TOOLS_CONFIGURED && !conversation_set_tools(c, p->tools, e)))
        return went_back(c);
    tell_what_is_open(c, result);
    return true;
}

/* The session of another conversation of this process is shown as it stands there. */
bool conversation_hands_over(struct conversation *c, struct operation_request *r)
{
    char id[UUID_LEN + 1];
    struct error e;
    if (r->operation != &operation_session_open || c->doing != IDLE ||
        !sessions_resolve(c->store, *operation_request_session(r), id, &e))
        return false;
    operation_request_name(r, id);
    return engine_hand_over(&c->seat, id, r);
}

/* The session works there from now on. */
static bool move_to(struct conversation *c, const char *given, struct error *e)
{
    char *directory;
    if (!conversation_find_directory(given, &directory, e))
        return false;
    bool other = directory && strcmp(directory, c->root) != 0;
    bool ok = !other || c->doing == IDLE ||
              err_set(e, ERR_SESSION_BUSY,
                      "a turn is running in another directory; wait for its end or interrupt it");
    if (ok && other) {
        take_text(&c->journal.info.directory, directory);
        conversation_work_in(c, directory);
        conversation_open_learned(c);
        ok = journal_save_info(&c->journal, e);
    }
    free(directory);
    return ok;
}

bool converse_open(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_open_params *p = params;
    bool is_open =
        c->engine->options.serves || c->doing != IDLE; /* it was opened for the request */
    if (is_open && !move_to(c, p->directory, e))
        return false;
    if (c->doing != IDLE)
        tell_all(c);
    else if (is_open)
        tell_session(c, false);
    else if (!conversation_open_session(c, p->session, p->read_only ? JOURNAL_READ : JOURNAL_RESUME,
                                        e))
        return went_back(c);
    else if (!choose_and_tell(c, e) || !move_to(c, p->directory, e))
        return false;
    tell_what_is_open(c, result);
    return true;
}

static bool check_labels(struct conversation *c, struct error *e)
{
    char *labels;
    if (!c->labels)
        return true;
    bool ok = session_labels_change(NULL, c->labels, &labels, e);
    free(c->labels);
    c->labels = ok ? labels : NULL;
    return ok;
}

/* The newest session of the project that the engine was started in. A directory below its top may
 * be a project of its own. */
static bool find_here(struct conversation *c, char id[UUID_LEN + 1], struct error *e)
{
    AUTO(session_list_release) struct session_list list = {0};
    auto_free char *project = project_of(c->engine->root);
    bool ok = sessions_list(c->store, &(struct session_filter){0}, &list, NULL, e);
    *id = '\0';
    for (size_t i = 0; i < list.items.len && !*id; i++) {
        const struct session_info *info = &list.items.items[i];
        const char *directory = info->directory ? info->directory : "";
        bool below = strncmp(directory, project, strlen(project)) == 0;
        char *its = below ? project_of(directory) : NULL;
        if (its && strcmp(its, project) == 0)
            memcpy(id, info->id, UUID_LEN + 1);
        free(its);
    }
    if (ok && !*id)
        ok = err_set(e, ERR_SESSION_NOT_FOUND,
                     "no session of this project is saved (%s); 'tiro -r last' opens the newest "
                     "of all",
                     project);
    return ok;
}

static bool open_resumed(struct conversation *c, struct error *e)
{
    const struct engine_options *o = &c->engine->options;
    const char *reference = o->resume;
    char id[UUID_LEN + 1];
    if (strcmp(reference, RESUME_HERE) == 0) {
        if (!find_here(c, id, e))
            return false;
        reference = id;
    }
    return conversation_open_session(c, reference, o->read_only ? JOURNAL_READ : JOURNAL_RESUME, e);
}

static void open_first(struct conversation *c)
{
    struct error e = {0};
    const struct engine_options *o = &c->engine->options;
    bool resumed = o->resume && open_resumed(c, &e);
    if (o->resume && !resumed)
        tell_fault(c, &e);
    if (!resumed) {
        if (!offer_unsent(c))
            conversation_begin_session(c, NULL);
    } else if (o->system) {
        free(c->journal.info.system);
        c->journal.info.system = mem_strdup(o->system);
    }
    if (!choose_and_tell(c, &e))
        tell_fault(c, &e);
}

void conversation_begin(struct conversation *c)
{
    struct error e = {0};
    const struct engine_options *o = &c->engine->options;
    bool valid =
        check_labels(c, &e) && approval_policy_read(&c->policy, c->config, &c->tools, o->allow, &e);
    if (!valid && c->is_first)
        tell_fault(c, &e);
    if (c->is_first)
        open_first(c);
}

/* Changing what is kept of sessions, the open one or another, and leaving them. */

/* --- changing --------------------------------------------------------------------------------- */

static void borrow_catalog(struct conversation *c, struct catalog *catalog)
{
    const char *held = c->journal.lock >= 0 ? c->journal.info.id : "";
    catalog_borrow(catalog, c->store, c->journal.directory, held);
}

bool conversation_means_current(struct conversation *c, const char *reference)
{
    struct catalog catalog;
    struct session_info info = {0};
    struct error e;
    if (!reference || !*reference || strcmp(reference, c->journal.info.id) == 0)
        return true;
    borrow_catalog(c, &catalog);
    bool same = c->journal.stored && catalog_find(&catalog, reference, &info, &e) &&
                strcmp(info.id, c->journal.info.id) == 0;
    session_info_release(&info);
    catalog_release(&catalog);
    return same;
}

static void name_changed(const struct conversation *c, struct session_changed *out)
{
    memcpy(out->id, c->journal.info.id, sizeof out->id);
}

/* The open session's row is written from memory; a change of it is one there. */
static bool save_current(struct conversation *c, struct session_changed *out, struct error *e)
{
    bool saved = journal_save_info(&c->journal, e);
    name_changed(c, out);
    tell_session(c, false);
    return saved;
}

/* Reads the row of a session that is open for reading after a change in the store. */
static void read_again(struct conversation *c)
{
    struct session_info now;
    struct error e;
    if (!sessions_get(c->store, c->journal.info.id, &now, &e))
        return;
    session_info_release(&c->journal.info);
    c->journal.info = now;
    tell_session(c, false);
}

static bool conversation_run_row(struct conversation *c, const struct operation *o,
                                 const void *params, void *result, struct error *e)
{
    struct operation_context context = {.config = c->config, .project = c->root};
    borrow_catalog(c, &context.catalog);
    bool ok = o->run(&context, params, result, e);
    catalog_release(&context.catalog);
    return ok;
}

bool converse_fork(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_fork_params p = *(const struct session_fork_params *)params;
    struct session_info *fork = result;
    bool current = conversation_means_current(c, p.session);
    if (current && !c->journal.stored)
        return err_set(e, ERR_USAGE, "nothing to fork yet; send a message first") || went_back(c);
    if (current)
        p.session = c->journal.info.id;
    bool forked = conversation_run_row(c, &operation_session_fork, &p, fork, e);
    if (c->engine->options.serves) /* the next request that names the fork opens it, elsewhere */
        return forked;
    if (!forked || !conversation_open_session(c, fork->id, JOURNAL_RESUME, e))
        return went_back(c);
    return choose_and_tell(c, e);
}

/* Changes a session that is not open, or not written to. */
static bool change_kept(struct conversation *c, const struct operation *o, const void *params,
                        struct session_changed *out, struct error *e)
{
    bool ok = conversation_run_row(c, o, params, out, e);
    if (ok && c->journal.read_only && strcmp(out->id, c->journal.info.id) == 0)
        read_again(c);
    return ok;
}

/* The open one has no other name where it is not kept. */
static const char *name_of(const struct conversation *c, const char *reference)
{
    return reference && *reference ? reference : c->journal.info.id;
}

static bool writes_current(struct conversation *c, const char *reference)
{
    return !c->journal.read_only && conversation_means_current(c, reference);
}

/* The catalog knows the first message. */
static void name_as_at_first(struct conversation *c)
{
    struct catalog catalog;
    struct session_info named;
    struct error e;
    struct session_info *info = &c->journal.info;
    borrow_catalog(c, &catalog);
    if (c->journal.stored && catalog_rename(&catalog, info->id, "", NULL, &e) &&
        catalog_find(&catalog, info->id, &named, &e)) {
        free(info->title);
        info->title = mem_strdup(named.title);
        session_info_release(&named);
    }
    catalog_release(&catalog);
}

bool converse_rename(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_rename_params p = *(const struct session_rename_params *)params;
    struct session_info *info = &c->journal.info;
    if (!writes_current(c, p.session)) {
        p.session = name_of(c, p.session);
        return change_kept(c, &operation_session_rename, &p, result, e);
    }
    free(info->title);
    info->title = session_title_from(p.title ? p.title : "");
    info->title_set = *info->title != '\0';
    if (!info->title_set)
        name_as_at_first(c);
    return save_current(c, result, e);
}

bool converse_label(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_label_params p = *(const struct session_label_params *)params;
    struct session_info *info = &c->journal.info;
    char *labels;
    if (!writes_current(c, p.session)) {
        p.session = name_of(c, p.session);
        return change_kept(c, &operation_session_label, &p, result, e);
    }
    if (!session_labels_change(info->labels, p.changes ? p.changes : "", &labels, e))
        return false;
    free(info->labels);
    info->labels = labels;
    return save_current(c, result, e);
}

bool converse_set_model(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_model_params *p = params;
    (void)result;
    conversation_step_aside(c);
    bool changed = backend_change(&c->backend, p->provider, p->model, e);
    conversation_finish(c);
    if (!changed)
        return false;
    conversation_note_backend(c);
    bool saved = journal_save_info(&c->journal, e);
    tell_provider(c);
    return saved;
}

bool converse_set_system(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_text_params *p = params;
    (void)result;
    free(c->journal.info.system);
    c->journal.info.system = p->text && *p->text ? mem_strdup(p->text) : NULL;
    bool saved = journal_save_info(&c->journal, e);
    tell_session(c, false);
    return saved;
}

bool converse_add_image(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_image_params *p = params;
    AUTO(catalog_release) struct catalog catalog = {0};
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    auto_free char *directory = projection_directory(&catalog, c->journal.info.id);
    return directory ? image_file_add(directory, p->data, result, e)
                     : capability_need_store(false, e);
}

bool converse_set_draft(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_text_params *p = params;
    (void)result;
    free(c->newer_draft);
    c->newer_draft = mem_strdup(p->text);
    return journal_save_draft(&c->journal, p->text, e);
}

/* --- leaving ---------------------------------------------------------------------------------- */

/* Failing to take its files away comes after the row went: what is then left must not be written
 * again. */
static bool is_gone(struct conversation *c)
{
    struct session_info info;
    struct error e = {0};
    bool there = sessions_get(c->store, c->journal.info.id, &info, &e);
    session_info_release(&info);
    return !there && e.code == ERR_SESSION_NOT_FOUND;
}

/* The open session goes. One that has no row leaves nothing. */
static bool put_away(struct conversation *c, const struct operation *o, const void *params,
                     struct session_changed *out, struct error *e)
{
    struct session_params p = *(const struct session_params *)params;
    bool current = conversation_means_current(c, p.session);
    p.session = current ? c->journal.info.id : p.session;
    if (!current)
        return change_kept(c, o, &p, out, e);
    bool ok = !c->journal.stored || conversation_run_row(c, o, &p, out, e);
    name_changed(c, out);
    c->gone = ok || is_gone(c);
    return ok;
}

void conversation_give_way(struct conversation *c)
{
    struct error e = {0};
    c->gone = c->looked_at = false;
    if (!engine_has_in_front(&c->seat)) {
        journal_close(&c->journal); /* the loop sees that it is done with */
        if (!c->engine->options.serves)
            engine_note_session(&c->seat, "");
        return;
    }
    conversation_begin_session(c, NULL);
    if (!conversation_talk_on(c, &e))
        tell_fault(c, &e);
}

bool converse_archive(struct conversation *c, const void *params, void *result, struct error *e)
{
    bool ok = put_away(c, &operation_session_archive, params, result, e);
    if (ok)
        extractor_want(c->engine->extractor);
    return ok;
}

bool converse_unarchive(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_params p = *(const struct session_params *)params;
    p.session = name_of(c, p.session);
    return change_kept(c, &operation_session_unarchive, &p, result, e);
}

bool converse_delete(struct conversation *c, const void *params, void *result, struct error *e)
{
    bool ok = put_away(c, &operation_session_delete, params, result, e);
    if (ok)
        memory_desk_purge(c->engine->desk);
    return ok;
}

/* A session that was begun and not used. */
static bool is_untouched(const struct conversation *c)
{
    const struct session_info *info = &c->journal.info;
    return c->begun && info->last_seq == 0 && !info->draft && !info->title_set && !info->labels &&
           !info->system;
}

bool converse_close(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_close_params *p = params;
    struct session_changed gone;
    (void)result;
    if (!*c->journal.info.id || !conversation_means_current(c, p->session))
        return true;
    c->gone = true;
    const struct session_params own = {.session = c->journal.info.id};
    return !p->discard_unused || !is_untouched(c) || !c->journal.stored ||
           conversation_run_row(c, &operation_session_delete, &own, &gone, e);
}
