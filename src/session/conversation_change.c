/* Changing what is kept of sessions, the open one or another, and leaving them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/capability.h"
#include "session/catalog.h"
#include "session/conversation_private.h"
#include "session/image_file.h"
#include "session/projection.h"

/* --- changing ----------------------------------------------------------------------------------
 */

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

/* What is open for reading only has changed in the store. */
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

bool conversation_run_row(struct conversation *c, const struct operation *o, const void *params,
                          void *result, struct error *e)
{
    struct operation_context context = {.config = c->config, .project = c->root};
    borrow_catalog(c, &context.catalog);
    bool ok = o->run(&context, params, result, e);
    catalog_release(&context.catalog);
    return ok;
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

bool run_rename(struct conversation *c, const void *params, void *result, struct error *e)
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

bool run_label(struct conversation *c, const void *params, void *result, struct error *e)
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

bool run_set_model(struct conversation *c, const void *params, void *result, struct error *e)
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

bool run_set_system(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_text_params *p = params;
    (void)result;
    free(c->journal.info.system);
    c->journal.info.system = p->text && *p->text ? mem_strdup(p->text) : NULL;
    bool saved = journal_save_info(&c->journal, e);
    tell_session(c, false);
    return saved;
}

bool run_add_image(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_image_params *p = params;
    struct catalog catalog;
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    char *directory = projection_directory(&catalog, c->journal.info.id);
    bool ok = directory ? image_file_add(directory, p->data, result, e)
                        : capability_need_store(false, e);
    free(directory);
    catalog_release(&catalog);
    return ok;
}

bool run_set_draft(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_text_params *p = params;
    (void)result;
    free(c->newer_draft);
    c->newer_draft = mem_strdup(p->text);
    return journal_save_draft(&c->journal, p->text, e);
}

/* --- leaving -----------------------------------------------------------------------------------
 */

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
    if (!engine_has_in_front(c)) {
        journal_close(&c->journal); /* the loop sees that it is done with */
        if (!c->engine->options.serves)
            engine_note_session(c, "");
        return;
    }
    conversation_begin_session(c, NULL);
    if (!conversation_talk_on(c, &e))
        tell_fault(c, &e);
}

bool run_archive(struct conversation *c, const void *params, void *result, struct error *e)
{
    bool ok = put_away(c, &operation_session_archive, params, result, e);
    if (ok)
        extractor_want(c->engine->extractor);
    return ok;
}

bool run_unarchive(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct session_params p = *(const struct session_params *)params;
    p.session = name_of(c, p.session);
    return change_kept(c, &operation_session_unarchive, &p, result, e);
}

bool run_delete(struct conversation *c, const void *params, void *result, struct error *e)
{
    bool ok = put_away(c, &operation_session_delete, params, result, e);
    if (ok)
        memory_desk_purge(c->engine->desk);
    return ok;
}

/* Begun by somebody who then had no use for it. */
static bool is_untouched(const struct conversation *c)
{
    const struct session_info *info = &c->journal.info;
    return c->begun && info->last_seq == 0 && !info->draft && !info->title_set && !info->labels &&
           !info->system;
}

bool run_close(struct conversation *c, const void *params, void *result, struct error *e)
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
