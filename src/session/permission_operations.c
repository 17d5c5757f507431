/* permission/list: the grants of this session and of its project. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

/* --- the list --------------------------------------------------------------------------------- */

static const char *const scope_words[] = {
    [PERMISSION_SESSION] = "session", [PERMISSION_PROJECT] = "project"};
static const struct shape_names scopes = {scope_words, PERMISSION_PROJECT + 1, -1};

static const struct shape permission_shape =
    SHAPE_OF("permission", struct permission, SHAPE_REQ(permission, number, "Number in the list."),
             SHAPE_REQ(permission, text,
                       "A tool's name, or in back quotes a command: with \"…\", whatever follows; "
                       "without, this command alone."),
             SHAPE_REQ_WORD(permission, scope, scopes,
                            "How long the permission holds: always in the "
                            "project, or until the session is closed."));

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

/* Lists the grants. `session`: those of the session; NULL: there is no session. */
static bool list(const struct approval_names *session, const char *project,
                 struct permission_list *out, struct error *e)
{
    struct permissions always;
    if (!permissions_read(project, &always, e))
        return false;
    for (size_t i = 0; session && i < session->len; i++)
        add(out, session->items[i], PERMISSION_SESSION);
    for (size_t i = 0; i < always.len; i++)
        add(out, always.items[i], PERMISSION_PROJECT);
    out->project = mem_strdup(project);
    permissions_release(&always);
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
    return list_after(&c->policy.session, conversation_project_path(c), p->revoke, result, e) &&
           conversation_read_permissions(c, e);
}

const struct operation operation_permission_list = {
    OPERATION("permission/list", OWNER, CONVERSATION,
              "Lists what the user allowed tools in a session and always in its project, and takes "
              "a permission back."),
    SLASH("permissions", "[N]",
          N_("list what you allowed tools beyond once; with its number or text: take it back")),
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
