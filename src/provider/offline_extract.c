/* The offline provider's answer to a request for a summary: an extract. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "chat/extract.h"
#include "provider/offline_plan.h"

#define PROMPT_BYTES 2000

/* In a request for a summary the results of tools are texts of the user's. */
static enum role role_of(const struct request *request, size_t i)
{
    static const char result[] = "[result of ", failed[] = "[error of ";
    struct message room;
    const struct message *m = message_whole(request->source, &request->messages[i], &room);
    const char *text = m->role == ROLE_USER && m->blocks.len > 0 ? m->blocks.items[0].text : NULL;
    bool is_result = text && (strncmp(text, result, sizeof result - 1) == 0 ||
                              strncmp(text, failed, sizeof failed - 1) == 0);
    enum role role = is_result ? ROLE_TOOL : m->role;
    message_release(&room);
    return role;
}

/* With the roles that they have; their blocks are borrowed. The caller frees. */
static struct message *messages_of(const struct request *request, size_t count)
{
    struct message *said = mem_alloc(count * sizeof *said);
    for (size_t i = 0; i < count; i++) {
        said[i] = request->messages[i];
        said[i].role = role_of(request, i);
    }
    return said;
}

static size_t count_role(const struct message *messages, size_t count, enum role role)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += messages[i].role == role;
    return found;
}

static void add_extract(struct buf *out, const struct message *said, size_t count,
                        struct message_source *source)
{
    VEC(const struct message *) list = {0};
    for (size_t i = 0; i < count; i++)
        vec_push(&list, &said[i]);
    extract_add(out, list.items, list.len, source);
    vec_release(&list);
}

/* A transcript that stands in the prompt itself, below its first paragraph. */
static void add_prompt(struct buf *out, const char *prompt)
{
    const char *rest = strstr(prompt, "\n\n");
    if (!rest) {
        buf_addstr(out, "There is nothing to summarise yet.\n");
        return;
    }
    utf8_add_cut(out, rest + 2, strlen(rest + 2), PROMPT_BYTES);
    buf_addch(out, '\n');
}

void offline_extract(struct buf *out, const struct request *request, size_t count,
                     const char *prompt)
{
    struct message *messages = messages_of(request, count);
    buf_addf(out,
             "## Extract, made without a model\n\n%zu messages: %zu user, %zu assistant, "
             "%zu tool.",
             count, count_role(messages, count, ROLE_USER),
             count_role(messages, count, ROLE_ASSISTANT), count_role(messages, count, ROLE_TOOL));
    if (count > 0) {
        add_extract(out, messages, count, request->source);
        buf_addch(out, '\n');
    } else {
        buf_addstr(out, "\n\n");
        add_prompt(out, prompt);
    }
    free(messages);
}
