/* The tool that opens a skill, or a file of its folder. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/tool.h"
#include "base/mem.h"
#include "knowledge/skills.h"

static bool is_idle(const void *self)
{
    return !skills_offered(((const struct tool_host *)self)->skills->list);
}

/* A file of the folder: `..` and links cannot leave it. */
static bool read_file(const struct tool_context *context, const struct skill *s, const char *file,
                      struct buf *out)
{
    auto_free char *folder = skill_folder(s), *where = NULL;
    struct error e;
    int root = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = root < 0 ? -1 : confine_open(root, folder, file, O_RDONLY, &where, &e);
    bool ok = fd >= 0 && builtin_read(context, fd, file, where, 1, INT64_MAX - 1, out);
    if (root < 0)
        buf_addf(out, "the folder of the skill %s cannot be opened", s->name);
    else if (fd < 0)
        buf_addstr(out, e.text);
    if (fd >= 0)
        close(fd);
    if (root >= 0)
        close(root);
    return ok;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct tool_host *host = context->self;
    const struct tool_skills *skills = host->skills;
    const char *name = json_get_string(args, "name"), *file = json_get_string(args, "file");
    const struct skill *s = skills_find(skills->list, name);
    struct error e;
    if (!s || s->command) {
        buf_addf(out, "there is no skill named \"%.64s\"", name);
        return false;
    }
    if (file && *file)
        return read_file(context, s, file, out);
    if (skills->opened(skills->context, name)) {
        buf_addf(out, "The skill %s was opened before: its text is in this conversation.", name);
        return true;
    }
    if (!skill_open(s, NULL, out, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    if (context->pins)
        *context->pins = true;
    return true;
}

static const struct tool tool_skill = {
    .spec = {.name = "skill",
             .description = "Open a skill: instructions for a kind of task. Once is enough, its "
                            "text stays in the conversation. With `file`: read a file of its "
                            "folder instead.",
             .schema = TOOL_SCHEMA(
                 TOOL_ARG("string", "name", "as the list of skills has it") "," TOOL_ARG(
                     "string", "file", "relative to the skill's folder"),
                 TOOL_NEEDS("\"name\""))},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .idle = is_idle,
    .run = run,
};

static void list(struct tool_host *host, struct toolset *out)
{
    if (host->skills)
        toolset_add(out, &tool_skill, host);
}

const struct tool_source tool_source_skills = {.name = "skills", .list = list};
