/* permission/list: the grants of this session and of its project, and the trusted directories; the
 * question whether a project is trusted. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/project.h"
#include "session/conversation_private.h"

const char *conversation_project_path(struct conversation *c)
{
    if (!c->project)
        c->project = project_of(c->root);
    return c->project;
}

bool conversation_read_permissions(struct conversation *c, struct error *e)
{
    permissions_release(&c->policy.project);
    return permissions_read(conversation_project_path(c), &c->policy.project, e);
}

/* --- trust in the project --------------------------------------------------------------------- */

void conversation_forget_trust(struct conversation *c)
{
    c->hooks.project = NULL;
    project_parts_release(&c->trust.parts);
    c->trust = (struct project_trust){.decided = false};
}

const struct project_parts *conversation_trusted_parts(const struct conversation *c)
{
    return c->trust.trusted ? &c->trust.parts : NULL;
}

/* Tells with the turn that begins what was not started. */
static void warn_of_parts(struct conversation *c, bool unasked)
{
    const struct project_parts *p = &c->trust.parts;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (unasked) {
        buf_addstr(&text, "the project is not trusted, and this was not started:");
        project_parts_name(p, &text);
        buf_addstr(&text,
                   "; see it with \"tiro chat\", which asks, or trust it for one run with "
                   "\"tiro run --trust\"");
    }
    if (p->faults)
        buf_addf(&text, "%s%s", text.len > 0 ? "; " : "", p->faults);
    if (text.len > 0)
        mem_replace(&c->hooks.warning, buf_take(&text));
}

/* The text of the parts that were gathered is what runs: the files are read again only for the next
 * session, or when a program of a hook has changed (hooks.project is NULL then). */
void conversation_trust_project(struct conversation *c, bool asks)
{
    struct project_trust *t = &c->trust;
    struct error e;
    const struct engine_options *options = &c->engine->options;
    bool changed = t->trusted && !c->hooks.project;
    if ((t->decided && !changed) || !c->root)
        return;
    conversation_forget_trust(c);
    project_parts_gather(c->root, &t->parts);
    bool may_run = t->parts.items.len > 0 && !t->parts.excessive;
    bool can_ask = options->can_ask && !options->nobody_allows;
    t->trusted = may_run && (options->trust || trust_holds(&t->parts));
    t->decided = t->trusted || !may_run || !can_ask;
    if (may_run && !t->decided && asks) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        project_parts_describe(&t->parts, &text);
        enum approval_answer answer = conversation_ask(
            c, (struct question){.id = QUESTION_OF_TRUST, .args = "{}", .preview = text.data});
        t->decided = c->question.answered;
        t->trusted = answer != ANSWER_DENY;
        free(c->question.reason);
        c->question = (struct question){0};
        if (answer == ANSWER_PROJECT && !trust_grant(&t->parts, &e))
            tell_fault(c, &e);
    }
    if (t->decided)
        warn_of_parts(c, !t->trusted && !can_ask && may_run);
    c->hooks.project = conversation_trusted_parts(c);
}

/* --- the list --------------------------------------------------------------------------------- */

static const char *const scope_words[] = {[PERMISSION_SESSION] = "session",
                                          [PERMISSION_PROJECT] = "project",
                                          [PERMISSION_DIRECTORY] = "trusted"};
static const struct shape_names scopes = {scope_words, PERMISSION_DIRECTORY + 1, -1};

static const struct shape permission_shape =
    SHAPE_OF("permission", struct permission, SHAPE_REQ(permission, number, "Number in the list."),
             SHAPE_REQ(permission, text,
                       "A tool's name, or in back quotes a command: with \"…\", whatever follows; "
                       "without, this command alone. A path: of a trusted directory."),
             SHAPE_REQ_WORD(permission, scope, scopes,
                            "How long the permission holds: always in the project, or until "
                            "the session is closed. Programs of a trusted directory run until "
                            "they change."));

static const struct shape list_shape =
    SHAPE_OF("permissions", struct permission_list,
             SHAPE_REQ_LIST("permissions", permission_list, items, permission_shape,
                            "Those of the session first."),
             SHAPE_REQ(permission_list, project, "Real path of the project's top directory."));

static void release_list(struct permission_list *l)
{
    shape_release(&list_shape, l);
}

static void add(struct permission_list *out, const char *text, enum permission_scope scope)
{
    const struct permission p = {
        .number = (int64_t)out->items.len + 1, .text = mem_strdup(text), .scope = scope};
    vec_push(&out->items, p);
}

/* Lists the grants, and all trusted directories. `session`: those of the session; NULL: there is no
 * session. */
static bool list(const struct approval_names *session, const char *project,
                 struct permission_list *out, struct error *e)
{
    AUTO(permissions_release) struct permissions always = {0}, trusted = {0};
    if (!permissions_read(project, &always, e) || !trust_list(&trusted, e))
        return false;
    for (size_t i = 0; session && i < session->len; i++)
        add(out, session->items[i], PERMISSION_SESSION);
    for (size_t i = 0; i < always.len; i++)
        if (!trust_is_permission(always.items[i]))
            add(out, always.items[i], PERMISSION_PROJECT);
    for (size_t i = 0; i < trusted.len; i++)
        add(out, trusted.items[i], PERMISSION_DIRECTORY);
    out->project = mem_strdup(project);
    return true;
}

/* Whether a person means this permission: by its number, its text, or its text without the back
 * quotes and "…". */
static bool is_named(const struct permission *p, const char *name)
{
    auto_free char *number = mem_printf("%lld", (long long)p->number);
    auto_free char *line = mem_printf("`%s`", name), *set = mem_printf("`%s …`", name);
    return strcmp(name, number) == 0 || strcmp(name, p->text) == 0 || strcmp(line, p->text) == 0 ||
           strcmp(set, p->text) == 0;
}

/* Takes back every permission that the name means, and lists the others. `revoke` NULL: only lists.
 */
static bool list_after(struct approval_names *session, const char *project, const char *revoke,
                       struct permission_list *out, struct error *e)
{
    AUTO(release_list) struct permission_list before = {0};
    bool any = !revoke, ok = list(session, project, &before, e);
    for (size_t i = 0; ok && revoke && i < before.items.len; i++) {
        const struct permission *p = &before.items.items[i];
        if (!is_named(p, revoke))
            continue;
        any = true;
        if (p->scope == PERMISSION_PROJECT)
            ok = permissions_set(project, p->text, false, e);
        if (p->scope == PERMISSION_DIRECTORY)
            ok = trust_revoke(p->text, e);
        for (size_t k = p->scope == PERMISSION_SESSION ? session->len : 0; k > 0; k--) {
            if (strcmp(session->items[k - 1], p->text) != 0)
                continue;
            free(session->items[k - 1]);
            vec_remove(session, k - 1, 1);
        }
    }
    if (ok && !any)
        ok = err_set(e, ERR_USAGE, "\"%.100s\" is not among the permissions; list them first",
                     revoke);
    return ok && list(session, project, out, e);
}

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct permission_list_params *p = params;
    auto_free char *project = project_of(c->project ? c->project : ".");
    return list_after(NULL, project, p->revoke, result, e);
}

bool converse_list_permissions(struct conversation *c, const void *params, void *result,
                               struct error *e)
{
    const struct permission_list_params *p = params;
    struct project_trust *t = &c->trust;
    bool held = t->trusted && trust_holds(&t->parts);
    bool ok = list_after(&c->policy.session, conversation_project_path(c), p->revoke, result, e) &&
              conversation_read_permissions(c, e);
    if (held && !trust_holds(&t->parts)) /* the parts stay: their text may run at this moment */
        c->hooks.project = NULL;
    return ok;
}

const struct operation operation_permission_list = {
    OPERATION("permission/list", OWNER, CONVERSATION,
              "Lists what the user allowed tools in a session and always in its project, and takes "
              "a permission back."),
    SLASH(
        "permissions", "[N]",
        N_("list what you allowed tools beyond once and which projects you trust; with its number "
           "or text: take it back")),
    COMMAND("permissions list", "", N_("list what tools may always do in this project")),
    .lines = "permissions",
    .line = "{number}  {text}  ({scope})",
    .none = N_("Nothing is allowed beyond the configuration."),
    .params = PARAMETERS(
        permission_list_params,
        SHAPE_OPT_AS(SESSION_MEMBER, permission_list_params, session,
                     "The session; absent: only what is allowed always.", .least = 1),
        SHAPE_OPT(permission_list_params, revoke,
                  "A permission that is taken back first: its number in the list, or its text.",
                  SHAPE_OPTION("--revoke PERMISSION",
                               N_("take a permission back: its number, or its text")))),
    .result = &list_shape,
    .lasting = true,
    .run = run_list,
    CONVERSE(list_permissions, NOW, READING),
};
