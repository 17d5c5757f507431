#include "agent/skill.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/mem.h"

static const char fence[] = "---\n";

/* A front matter that does not end is text. */
static const char *behind_front_matter(const char *markdown)
{
    if (strncmp(markdown, fence, sizeof fence - 1) != 0)
        return markdown;
    const char *end = strstr(markdown, "\n---\n");
    return end ? end + 5 : markdown;
}

char *skill_body(const char *markdown)
{
    const char *body = behind_front_matter(markdown);
    body += strspn(body, "\n");
    return mem_strdup(body);
}

char *skill_text(const char *name)
{
    char *path = mem_printf("skills/%s/SKILL.md", name);
    const char *markdown = embedded_text(path);
    free(path);
    return markdown ? skill_body(markdown) : NULL;
}
