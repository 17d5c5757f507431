#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "knowledge/project.h"
#include "session/capability.h"
#include "session/catalog.h"
#include "session/conversation_private.h"
#include "session/projection.h"

/* The session remembers its provider and model. A provider that was only the last resort is not
 * remembered, because next time another one may be configured. */
void conversation_note_backend(struct conversation *c)
{
    struct session_info *info = &c->journal.info;
    const struct choice *choice = &c->backend.choice;
    bool chosen = choice->reason != CHOICE_FALLBACK;
    mem_replace(&info->provider, chosen ? mem_strdup(choice->provider->name) : NULL);
    mem_replace(&info->model, mem_strdup(choice->model));
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
    if (!(remembered && backend_choose(&c->backend, info->provider, info->model, e)) &&
        !backend_choose(&c->backend, o->provider, o->model, e))
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

/* Approvals, warnings, the files that were read and the last question of one session do not apply
 * to the next. */
static void forget_session(struct conversation *c)
{
    conversation_end_tasks(c);
    approval_forget_session(&c->policy);
    budget_read(&c->budget, c->config);
    prompt_told_release(&c->prompt_told);
    hooks_release(&c->hooks);
    conversation_forget_trust(c);
    tool_mcp_end(c->mcp);
    mem_replace(&c->editor_servers, NULL);
    c->elicits = conversation_elicits(c);
    read_files_clear(&c->tools.host.read);
    mem_replace(&c->asked, NULL);
    c->last_cached = -1;
    c->level = TOOLS_CONFIGURED;
}

/* `directory` NULL: the engine's. */
static void conversation_begin_session(struct conversation *c, const char *directory)
{
    forget_session(c);
    conversation_work_in(c, directory);
    journal_begin(&c->journal, c->root);
    c->begun = true;
    char *effort = c->effort; /* goes on, as the model does */
    c->effort = NULL;
    conversation_read_settings(c);
    if (effort)
        mem_replace(&c->effort, effort);
    if (c->engine->options.system)
        c->journal.info.system = mem_strdup(c->engine->options.system);
    c->journal.info.labels = mem_strdup(c->labels);
    conversation_open_learned(c);
    conversation_read_prompt(c);
    tell_session(c, true);
}

/* False: this is the session to go on with. A session that another process has open is passed by.
 */
static bool passes_by(void *conversation, const char *id)
{
    struct conversation *c = conversation;
    struct event_list tail = {0};
    struct error e;
    bool more;
    if (!journal_open(&c->journal, id, JOURNAL_RESUME, &tail, &more, &e))
        return true;
    event_list_release(&tail);
    const struct session_info *info = &c->journal.info;
    return info->last_seq != 0 || !info->draft || !*info->draft;
}

/* Opens the newest session of this directory that has a draft and no messages, as a session that
 * begins: with the options of the start, and without the provider that it had. False: there is
 * none, or the store cannot be read; opening a new session reports that. */
static bool offer_unsent(struct conversation *c)
{
    struct session_info *info = &c->journal.info;
    const struct engine_options *o = &c->engine->options;
    struct error e;
    char *labels;
    if (!o->offer_draft || o->resume ||
        !sessions_each(c->store, c->engine->root, passes_by, c, &e) || info->last_seq != 0 ||
        !info->draft || !*info->draft)
        return false;
    forget_session(c);
    if (o->system)
        mem_replace(&info->system, mem_strdup(o->system));
    if (c->labels && session_labels_change(info->labels, c->labels, &labels, &e))
        mem_replace(&info->labels, labels);
    mem_replace(&info->provider, NULL);
    mem_replace(&info->model, NULL);
    conversation_open_learned(c);
    conversation_read_prompt(c);
    tell_session(c, true);
    return true;
}

static void borrow_catalog(struct conversation *c, struct catalog *catalog)
{
    const char *held = c->journal.lock >= 0 ? c->journal.info.id : "";
    catalog_borrow(catalog, c->store, c->journal.directory, held);
}

/* An imported session stays as it is: to go on with it is to go on with a fork. Replaces *reference
 * by the fork's id. */
static bool fork_imported(struct conversation *c, const char **reference, char id[UUID_LEN + 1],
                          struct error *e)
{
    AUTO(session_info_release) struct session_info info = {0}, fork = {0};
    if (!sessions_resolve(c->store, *reference, id, NULL) ||
        !sessions_get(c->store, id, &info, NULL) || !info.imported)
        return true;
    if (c->engine->options.serves)
        return err_set(e, ERR_SESSION_NOT_FOUND,
                       "session %.8s was imported from %s and stays as it is; fork it to continue",
                       id + UUID_LEN - 8, info.imported);
    struct catalog catalog;
    borrow_catalog(c, &catalog);
    bool ok = catalog_fork(&catalog, id, 0, &fork, e);
    catalog_release(&catalog);
    memcpy(id, fork.id, UUID_LEN + 1);
    *reference = id;
    return ok;
}

bool conversation_open_session(struct conversation *c, const char *reference,
                               enum journal_access access, struct error *e)
{
    struct event_list tail = {0};
    char id[UUID_LEN + 1];
    bool more, serves = c->engine->options.serves; /* other programs read pages if they want them */
    if (access == JOURNAL_RESUME && !fork_imported(c, &reference, id, e))
        return false;
    if (!journal_open(&c->journal, reference, access, serves ? NULL : &tail, &more, e)) {
        event_list_release(&tail);
        return false;
    }
    forget_session(c);
    c->begun = false;
    c->uncounted = !c->journal.counted;
    conversation_work_in(c, serves ? c->journal.info.directory : NULL);
    conversation_read_settings(c);
    conversation_open_learned(c);
    conversation_read_prompt(c);
    tell_session(c, true);
    if (!serves)
        tell_page(c, &tail, more);
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

/* Returns false. A conversation that could not open its session gives way to the one that was in
 * front before, or opens the session of that one again. */
static bool went_back(struct conversation *c)
{
    struct error e;
    char before[UUID_LEN + 1];
    memcpy(before, c->seat.before, sizeof before);
    if (c->engine->options.serves)
        journal_close(&c->journal);
    else if (!*c->journal.info.id && !engine_hand_over(&c->seat, before, NULL) &&
             (!*before || !conversation_open_session(c, before, JOURNAL_RESUME, &e)))
        conversation_begin_session(c, NULL);
    return false;
}

bool converse_create(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_create_params *p = params;
    struct session_info *out = result, *info = &c->journal.info;
    auto_free char *directory = NULL;
    char *labels = NULL;
    if (!conversation_find_directory(p->directory, &directory, e) ||
        ((p->provider || p->model) && !backend_choose(&c->backend, p->provider, p->model, e)) ||
        (p->labels && !session_labels_change(c->labels, p->labels, &labels, e)))
        return went_back(c);
    conversation_begin_session(c, directory);
    if (p->labels)
        mem_replace(&info->labels, labels);
    if (p->system)
        mem_replace(&info->system, mem_strdup(p->system));
    if (p->labels || p->system)
        tell_session(c, false);
    if (!conversation_talk_on(c, e))
        return false;
    if ((c->journal.lasting && !journal_write_row(&c->journal, e)) ||
        (p->tools != TOOLS_CONFIGURED && !conversation_set_tools(c, p->tools, e)))
        return went_back(c);
    session_info_release(out);
    *out = session_info_clone(info);
    return true;
}

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

/* Changes the working directory of the session. */
static bool move_to(struct conversation *c, const char *given, struct error *e)
{
    auto_free char *directory = NULL;
    if (!conversation_find_directory(given, &directory, e))
        return false;
    bool other = directory && strcmp(directory, c->root) != 0;
    bool ok = !other || c->doing == IDLE ||
              err_set(e, ERR_SESSION_BUSY,
                      "a turn is running in another directory; wait for its end or interrupt it");
    if (ok && other) {
        mem_replace(&c->journal.info.directory, mem_strdup(directory));
        conversation_work_in(c, directory);
        conversation_open_learned(c);
        ok = journal_save_info(&c->journal, e);
    }
    return ok;
}

bool converse_open(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_open_params *p = params;
    struct session_info *out = result;
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
    session_info_release(out);
    *out = session_info_clone(&c->journal.info);
    return true;
}

/* The newest session of the project that the engine was started in. A directory below the project's
 * top may be another project. */
static bool find_here(struct conversation *c, char id[UUID_LEN + 1], struct error *e)
{
    AUTO(session_list_release) struct session_list list = {0};
    auto_free char *project = project_of(c->engine->root);
    bool ok = sessions_list(c->store, &(struct session_filter){.project = project}, &list, NULL, e);
    *id = '\0';
    for (size_t i = 0; i < list.items.len && !*id; i++) {
        const struct session_info *info = &list.items.items[i];
        auto_free char *its = project_of(info->directory);
        if (!info->imported && strcmp(its, project) == 0)
            memcpy(id, info->id, UUID_LEN + 1);
    }
    if (ok && !*id)
        ok = err_set(e, ERR_SESSION_NOT_FOUND,
                     "no session of this project is saved (%s); 'tiro -r last' opens the newest "
                     "of all",
                     project);
    return ok;
}

void conversation_begin(struct conversation *c)
{
    const struct engine_options *o = &c->engine->options;
    const char *resume = o->resume;
    char here[UUID_LEN + 1];
    struct error e = {0};
    char *labels = NULL;
    bool valid = !c->labels || session_labels_change(NULL, c->labels, &labels, &e);
    mem_replace(&c->labels, labels);
    valid = valid && approval_policy_read(&c->policy, c->config, &c->tools, o->allow, &e);
    if (!c->is_first)
        return;
    if (!valid)
        tell_fault(c, &e);

    bool found = resume && (strcmp(resume, RESUME_HERE) != 0 || find_here(c, here, &e));
    if (found && strcmp(resume, RESUME_HERE) == 0)
        resume = here;
    bool resumed = found && conversation_open_session(
                                c, resume, o->read_only ? JOURNAL_READ : JOURNAL_RESUME, &e);
    if (resume && !resumed)
        tell_fault(c, &e);
    if (resumed && o->system)
        mem_replace(&c->journal.info.system, mem_strdup(o->system));
    else if (!resumed && !offer_unsent(c))
        conversation_begin_session(c, NULL);
    const char *effort = o->effort;
    bool chosen = conversation_choose(c, &e);
    /* Another model may take the word later: only the first has to. */
    if (!chosen || (effort && *c->backend.choice.model && !o->serves &&
                    !backend_need_effort(&c->backend, effort, &e)))
        tell_fault(c, &e);
    if (chosen)
        tell_provider(c);
}

/* --- changing the open session or another ----------------------------------------------------- */

bool conversation_means_current(struct conversation *c, const char *reference)
{
    AUTO(catalog_release) struct catalog catalog = {0};
    AUTO(session_info_release) struct session_info info = {0};
    struct error e;
    if (!reference || !*reference || strcmp(reference, c->journal.info.id) == 0)
        return true;
    borrow_catalog(c, &catalog);
    return c->journal.stored && catalog_find(&catalog, reference, &info, &e) &&
           strcmp(info.id, c->journal.info.id) == 0;
}

/* Writes the row of the open session, after a change of its data in memory. */
static bool save_current(struct conversation *c, struct session_changed *out, struct error *e)
{
    bool saved = journal_save_info(&c->journal, e);
    memcpy(out->id, c->journal.info.id, sizeof out->id);
    tell_session(c, false);
    return saved;
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

/* Changes a session that is not open, or open for reading; the row of that one is read again. */
static bool change_kept(struct conversation *c, const struct operation *o, const void *params,
                        struct session_changed *out, struct error *e)
{
    struct session_info *info = &c->journal.info, now;
    struct error fault;
    bool ok = conversation_run_row(c, o, params, out, e);
    if (ok && c->journal.read_only && strcmp(out->id, info->id) == 0 &&
        sessions_get(c->store, info->id, &now, &fault)) {
        session_info_release(info);
        *info = now;
        tell_session(c, false);
    }
    return ok;
}

/* The session that a request means: the open one without a reference. */
static const char *name_of(const struct conversation *c, const char *reference)
{
    return reference && *reference ? reference : c->journal.info.id;
}

bool converse_rename(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_rename_params p = *(const struct session_rename_params *)params;
    struct session_info *info = &c->journal.info;
    if (c->journal.read_only || !conversation_means_current(c, p.session)) {
        p.session = name_of(c, p.session);
        return change_kept(c, &operation_session_rename, &p, result, e);
    }
    mem_replace(&info->title, session_title_from(p.title ? p.title : "", ""));
    info->title_set = *info->title != '\0';
    if (!info->title_set && c->journal.stored) { /* the catalog makes it of the first message */
        AUTO(catalog_release) struct catalog catalog = {0};
        struct session_info named;
        struct error fault;
        borrow_catalog(c, &catalog);
        if (catalog_rename(&catalog, info->id, "", NULL, &fault) &&
            catalog_find(&catalog, info->id, &named, &fault)) {
            mem_replace(&info->title, mem_strdup(named.title));
            session_info_release(&named);
        }
    }
    return save_current(c, result, e);
}

bool converse_label(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_label_params p = *(const struct session_label_params *)params;
    struct session_info *info = &c->journal.info;
    char *labels;
    if (c->journal.read_only || !conversation_means_current(c, p.session)) {
        p.session = name_of(c, p.session);
        return change_kept(c, &operation_session_label, &p, result, e);
    }
    if (!session_labels_change(info->labels, p.changes ? p.changes : "", &labels, e))
        return false;
    mem_replace(&info->labels, labels);
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
    mem_replace(&c->journal.info.system, p->text && *p->text ? mem_strdup(p->text) : NULL);
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
    mem_replace(&c->newer_draft, mem_strdup(p->text));
    return journal_save_draft(&c->journal, p->text, e);
}

/* --- leaving ---------------------------------------------------------------------------------- */

/* Archives or deletes a session. The open one is gone also if its row was deleted and then removing
 * its files failed: it must not be written again. A session without a row leaves nothing. */
static bool put_away(struct conversation *c, const struct operation *o, const void *params,
                     struct session_changed *out, struct error *e)
{
    struct session_params p = *(const struct session_params *)params;
    AUTO(session_info_release) struct session_info info = {0};
    struct error fault = {0};
    if (!conversation_means_current(c, p.session))
        return change_kept(c, o, &p, out, e);
    p.session = c->journal.info.id;
    bool ok = !c->journal.stored || conversation_run_row(c, o, &p, out, e);
    memcpy(out->id, c->journal.info.id, sizeof out->id);
    c->gone = ok || (!sessions_get(c->store, c->journal.info.id, &info, &fault) &&
                     fault.code == ERR_SESSION_NOT_FOUND);
    return ok;
}

void conversation_give_way(struct conversation *c)
{
    struct error e = {0};
    c->gone = c->looked_at = false;
    if (!engine_has_in_front(&c->seat)) {
        conversation_end_tasks(c);
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

bool converse_close(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_close_params *p = params;
    const struct session_info *info = &c->journal.info;
    struct session_changed gone;
    (void)result;
    if (!*info->id || !conversation_means_current(c, p->session))
        return true;
    c->gone = true;
    bool unused = c->begun && info->last_seq == 0 && !info->draft && !info->title_set &&
                  !info->labels && !info->system;
    const struct session_params own = {.session = info->id};
    return !p->discard_unused || !unused || !c->journal.stored ||
           conversation_run_row(c, &operation_session_delete, &own, &gone, e);
}
