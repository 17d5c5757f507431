/* The offline provider's answer to a request for a summary: an extract, the same bytes each time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "provider/offline_plan.h"

#define LINE_BYTES 160
#define ANSWER_BYTES 400
#define FIRST 3
#define LAST 5
#define REQUESTS 3

/* The first line that is not empty. */
static void add_line(struct buf *out, const char *text)
{
    size_t len;
    text += strspn(text, " \t\n\r");
    len = strcspn(text, "\n");
    utf8_add_cut(out, text, len, LINE_BYTES);
    buf_addch(out, '\n');
}

/* In a request for a summary the results of tools are texts of the user's. */
static enum role role_of(const struct message *m)
{
    static const char result[] = "[result of ", failed[] = "[error of ";
    const char *text = m->role == ROLE_USER && m->blocks.len > 0 ? m->blocks.items[0].text : NULL;
    bool is_result = text && (strncmp(text, result, sizeof result - 1) == 0 ||
                              strncmp(text, failed, sizeof failed - 1) == 0);
    return is_result ? ROLE_TOOL : m->role;
}

static size_t count_role(const struct message *messages, size_t count, enum role role)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += role_of(&messages[i]) == role;
    return found;
}

/* Where the last `want` messages of the role begin. */
static size_t last_of_role(const struct message *messages, size_t count, enum role role,
                           size_t want)
{
    size_t found = 0;
    for (size_t i = count; i > 0; i--)
        if (role_of(&messages[i - 1]) == role && ++found == want)
            return i - 1;
    return 0;
}

static void add_requests(struct buf *out, const struct message *messages, size_t count)
{
    buf_addstr(out, "\n### Last requests\n\n");
    for (size_t i = last_of_role(messages, count, ROLE_USER, REQUESTS); i < count; i++) {
        char *text;
        if (role_of(&messages[i]) != ROLE_USER)
            continue;
        text = message_text(&messages[i]);
        buf_addstr(out, "- ");
        add_line(out, text);
        free(text);
    }
}

static void add_answer(struct buf *out, const struct message *messages, size_t count)
{
    size_t at = last_of_role(messages, count, ROLE_ASSISTANT, 1);
    char *text;
    if (count == 0 || messages[at].role != ROLE_ASSISTANT)
        return;
    text = message_text(&messages[at]);
    buf_addstr(out, "\n### Current work\n\n");
    utf8_add_cut(out, text, strlen(text), ANSWER_BYTES);
    buf_addch(out, '\n');
    free(text);
}

static void add_timeline(struct buf *out, const struct message *messages, size_t count)
{
    buf_addstr(out, "\n### Timeline\n\n");
    for (size_t i = 0; i < count; i++) {
        char *text;
        if (i == FIRST && count > FIRST + LAST) {
            buf_addf(out, "- (%zu messages omitted)\n", count - FIRST - LAST);
            i = count - LAST;
        }
        text = message_text(&messages[i]);
        buf_addf(out, "- %s: ", role_name(role_of(&messages[i])));
        add_line(out, *text ? text : "(no text)");
        free(text);
    }
}

/* A transcript that stands in the prompt itself, below its first paragraph. */
static void add_prompt(struct buf *out, const char *prompt)
{
    const char *rest = strstr(prompt, "\n\n");
    if (!rest) {
        buf_addstr(out, "There is nothing to summarise yet.\n");
        return;
    }
    utf8_add_cut(out, rest + 2, strlen(rest + 2), (size_t)LAST * ANSWER_BYTES);
    buf_addch(out, '\n');
}

void offline_extract(struct buf *out, const struct message *messages, size_t count,
                     const char *prompt)
{
    buf_addf(out,
             "## Extract, made without a model\n\n%zu messages: %zu user, %zu assistant, "
             "%zu tool.\n",
             count, count_role(messages, count, ROLE_USER),
             count_role(messages, count, ROLE_ASSISTANT), count_role(messages, count, ROLE_TOOL));
    if (count == 0) {
        buf_addch(out, '\n');
        add_prompt(out, prompt);
        return;
    }
    add_requests(out, messages, count);
    add_answer(out, messages, count);
    add_timeline(out, messages, count);
}
