/* skill/list, and the skills of a conversation. */
#include <stdlib.h>
#include <string.h>

#include "agent/mcp_prompts.h"
#include "base/json.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "knowledge/skills.h"
#include "session/conversation_private.h"

/* The skills that can be reached from a directory. `trusted`: the parts of its project if the user
 * trusts them; NULL: he does not. */
static void read_skills(const struct config *config, const char *directory,
                        const struct project_parts *trusted, struct skills *out)
{
    auto_free char *configuration = paths_dir(PATHS_CONFIG);
    const struct project_parts none = {.directory = NULL};
    const char *home = getenv("HOME");
    skills_release(out);
    if (!config_boolean(config, CONFIG_PROJECT_SKILLS))
        return;
    skills_add_project(out, directory, home);
    trust_mark_skills(trusted ? trusted : &none, trusted, out);
    skills_add_own(out, home, configuration);
}

/* Whether a command of tiro has the name: that of an operation, or of the terminal alone. */
static bool is_taken(const char *name)
{
    static const char *const screen[] = {TERMINAL_COMMANDS};
    const struct operation *o;
    bool taken = false;
    for (size_t i = 0; !taken && (o = operation_at(i)); i++)
        taken = operation_is_slash(o, name, strlen(name));
    for (size_t i = 0; !taken && i < sizeof screen / sizeof *screen; i++)
        taken = strcmp(screen[i], name) == 0;
    return taken;
}

/* --- the skills of a conversation ------------------------------------------------------------- */

/* Pinned messages keep the text of a skill. */
static bool was_opened(void *context, const char *name)
{
    const struct conversation *c = context;
    const struct history *h = &c->journal.history;
    bool found = false;
    for (size_t i = 0; !found && i < h->messages.len; i++) {
        struct message room;
        const struct message *m = &h->messages.items[i];
        if (!m->pinned || m->role == ROLE_ASSISTANT)
            continue;
        m = message_whole(h->source, m, &room);
        for (size_t k = 0; k < m->blocks.len; k++)
            found = found || skill_opened_in(m->blocks.items[k].text, name);
        message_release(&room);
    }
    return found;
}

void conversation_know_skills(struct conversation *c)
{
    c->tool_skills = (struct tool_skills){.list = &c->skills, .opened = was_opened, .context = c};
}

void conversation_read_skills(struct conversation *c)
{
    read_skills(c->config, c->root, conversation_trusted_parts(c), &c->skills);
    mem_replace(&c->skills_told, skills_prompt(&c->skills));
}

/* Opens a skill for a message. One that was opened before is not needed again, unless `anew`. */
static bool add_skill(struct conversation *c, const char *name, const char *arguments, bool anew,
                      struct json *blocks, struct error *e)
{
    const struct skill *s = skills_find(&c->skills, name);
    AUTO(buf_release) struct buf opened = BUF_INIT;
    if (!skill_open(s, arguments, &opened, e))
        return false;
    if (anew || !was_opened(c, name))
        json_push(blocks, json_pack("{type:'text' name:s text:s}", name, opened.data));
    return true;
}

bool conversation_add_skills(struct conversation *c, const char *text,
                             const struct mentions *attached, bool anew, char **attachments,
                             struct error *e)
{
    bool typed = c->origin == INPUT_TYPED, read = false;
    size_t len = typed && text && *text == '/' ? strcspn(text + 1, " \t\n") : 0;
    auto_free char *name = mem_strndup(len > 0 ? text + 1 : "", len);
    const char *all = *attachments ? *attachments : "[]", mark[] = MENTION_SKILL;
    for (size_t i = 0; i < attached->items.len; i++)
        read = read || strncmp(attached->items.items[i], mark, sizeof mark - 1) == 0;
    if (len == 0 && !read && !anew)
        return true;
    if (len > 0 || read) {
        conversation_trust_project(c, true);
        conversation_read_skills(c);
    }
    AUTO(json_free_local) struct json *old = json_parse(all, strlen(all), NULL);
    AUTO(json_free_local) struct json *blocks = json_new_array();
    const char *arguments = len > 0 ? text + 1 + len : "";
    AUTO(buf_release) struct buf prompt = BUF_INIT;
    if (skill_names_prompt(name) && !conversation_open_prompt(c, name, arguments, &prompt, e))
        return false;
    if (prompt.len > 0)
        json_push(blocks, json_pack("{type:'text' name:s text:s}", name, prompt.data));
    if (len > 0 && !is_taken(name) && skills_find(&c->skills, name) &&
        !add_skill(c, name, arguments + strspn(arguments, " \t\n"), anew, blocks, e))
        return false;
    for (size_t i = 0; i < attached->items.len; i++) {
        auto_free char *mention = mem_printf("@%s", attached->items.items[i]);
        const char *other = mention + sizeof mark;
        if (strncmp(mention + 1, mark, sizeof mark - 1) != 0)
            continue;
        bool found = skills_find(&c->skills, other);
        if (!found && !(text && strstr(text, mention))) /* it is only a word there */
            return err_set(e, ERR_USAGE, "there is no skill %.60s; /skills lists them", other);
        if (found && !add_skill(c, other, "", anew, blocks, e))
            return false;
    }
    /* A new text of the message is without the skills of the old one. */
    for (const struct json *v = json_first(old); v; v = json_next(v)) {
        const char *type = json_get_string(v, "type"), *label = json_get_string(v, "name");
        if (!type || strcmp(type, "text") != 0 || (label && *label == '@'))
            json_push(blocks, json_clone(v));
    }
    mem_replace(attachments, json_first(blocks) ? json_print(blocks) : NULL);
    return true;
}

/* --- the list --------------------------------------------------------------------------------- */

/* Adds to the detail of each skill what a person has to know besides. */
static void add_details(struct skills *list)
{
    for (size_t i = 0; i < list->items.len; i++) {
        struct skill *s = &list->items.items[i];
        AUTO(buf_release) struct buf all = BUF_INIT;
        if (s->state == SKILL_SHADOWED)
            buf_addf(&all, "%s is used", s->detail);
        else if (s->detail)
            buf_addstr(&all, s->detail);
        s->taken = is_taken(s->name);
        if (s->state == SKILL_READY && s->taken)
            buf_addf(&all, "/%s is a command of tiro%s", s->name,
                     s->command ? "" : "; the model alone can open the skill");
        if (s->allowed_tools)
            buf_addf(&all, "%snames the tools %s, which are asked about as always",
                     all.len > 0 ? "; " : "", s->allowed_tools);
        mem_replace(&s->detail, all.len > 0 ? buf_take(&all) : NULL);
    }
}

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const char *directory = c->project ? c->project : ".";
    AUTO(project_parts_release) struct project_parts parts;
    (void)params, (void)e;
    project_parts_gather(directory, &parts);
    read_skills(c->config, directory, trust_holds(&parts) ? &parts : NULL, result);
    add_details(result);
    return true;
}

bool converse_list_skills(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)params, (void)e;
    if (c->doing == IDLE)
        conversation_trust_project(c, false);
    read_skills(c->config, c->root, conversation_trusted_parts(c), result);
    add_details(result);
    if (c->mcp)
        mcp_prompts_list(c->mcp, result);
    return true;
}

const struct operation operation_skill_list = {
    OPERATION("skill/list", CLIENT, CONVERSATION,
              "Lists skills and commands: where they are, and which cannot be used."),
    SLASH("skills", "", N_("list the skills and commands, and what is wrong with them")),
    COMMAND("skills list", "", N_("list the skills and commands, and what is wrong with them")),
    .lines = "skills",
    .line = "{name}  ({_state}, {tokens} tokens)  {place}  {detail}",
    .none = N_("There are no skills."),
    .params = &session_params_shape,
    .result = &skills_shape,
    .run = run_list,
    CONVERSE(list_skills, NOW, READING),
};
