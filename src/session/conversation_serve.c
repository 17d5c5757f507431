#include <string.h>

#include "session/conversation_private.h"
#include "store/sessions.h"

/* The part of a conversation that an engine without a front needs: what a request names is found
 * and opened for it. */

static const char *named_by(const struct conversation *c, const struct operation_request *r)
{
    char **named = operation_request_session((struct operation_request *)r);
    bool serves = c->engine->options.serves && conversation_wants(r) != WANTS_NOTHING;
    return serves && named && *named && **named ? *named : NULL;
}

bool conversation_takes_up(struct conversation *c, struct operation_request *r)
{
    const char *reference = named_by(c, r);
    char id[UUID_LEN + 1];
    struct error e;
    bool own = reference && strcmp(reference, c->seat.session) == 0;
    if (!reference || (own && *c->journal.info.id))
        return true;
    bool found = sessions_resolve(c->store, reference, id, &e);
    if (found && own &&
        strcmp(id, reference) != 0) /* it was deleted, and is the title of another */
        found = err_set(&e, ERR_SESSION_NOT_FOUND, "session %.40s was deleted; choose another",
                        reference);
    if (!found) {
        conversation_refuse(c, r, &e);
        return false;
    }
    operation_request_name(r, id);
    memcpy(r->session, id, sizeof r->session);
    return engine_claim(c, id, r);
}

/* What is open to be read may have changed: another process writes it. */
bool conversation_must_open(const struct conversation *c, const struct operation_request *r)
{
    enum want want = conversation_wants(r);
    return named_by(c, r) && want >= WANTS_READING &&
           (!*c->journal.info.id || c->journal.read_only);
}

/* What somebody put away, or opened to look at it, is written to when somebody opens it again. */
static bool may_resume(struct conversation *c, const struct operation_request *r, struct error *e)
{
    struct session_info info = {0};
    if (r->operation == &operation_session_open)
        return true;
    if (c->looked_at)
        return conversation_is_live(c, e);
    bool archived =
        sessions_get(c->store, named_by(c, r), &info, &(struct error){0}) && info.archived_ms > 0;
    session_info_release(&info);
    return !archived || err_set(e, ERR_SESSION_NOT_FOUND,
                                "session %.40s is archived; open it to continue", named_by(c, r));
}

/* A session that is opened to be read stays so, whatever else opens it to be read. */
static void note_opened(struct conversation *c, const struct operation_request *r)
{
    if (r->operation == &operation_session_open)
        c->looked_at = c->journal.read_only;
}

bool conversation_opens_for(struct conversation *c, const struct operation_request *r,
                            struct error *e)
{
    if (!conversation_must_open(c, r))
        return true;
    struct error fault;
    enum journal_access access =
        conversation_wants(r) == WANTS_READING ? JOURNAL_READ : JOURNAL_RESUME;
    if (access == JOURNAL_RESUME && !may_resume(c, r, e))
        return false;
    if (!conversation_open_session(c, named_by(c, r), access, e))
        return false;
    note_opened(c, r);
    if (conversation_choose(c, &fault))
        tell_provider(c);
    else /* who needs a model will say what lacks */
        backend_forget(&c->backend);
    return true;
}
