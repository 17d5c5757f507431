#include "cli/prompt.h"

#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/input.h"

#define MAX_INPUT ((size_t)16 * 1024 * 1024)

static bool check_text(const char *text, size_t len, const char *what, struct error *e)
{
    if (utf8_valid(text, len) && !memchr(text, '\0', len))
        return true;
    return err_set(e, ERR_USAGE, _("%s is not UTF-8 text; convert it first"), what);
}

static bool add_input(struct buf *out, struct error *e)
{
    struct buf input;
    buf_init(&input, MAX_INPUT);
    bool ok = input_read(&input, e) && check_text(input.data, input.len, _("standard input"), e);
    while (input.len > 0 && input.data[input.len - 1] == '\n')
        buf_splice(&input, input.len - 1, 1, "", 0);
    if (ok && input.len > 0) {
        if (out->len > 0)
            buf_addstr(out, "\n\n");
        buf_add(out, input.data, input.len);
    }
    buf_release(&input);
    return ok;
}

bool prompt_read(const struct session_options *o, const char *words, struct buf *out,
                 struct error *e)
{
    bool input_alone = strcmp(words, "-") == 0;
    bool input_joins = !isatty(STDIN_FILENO);
    if (!check_text(words, strlen(words), _("the prompt"), e) || !session_options_files(o, out, e))
        return false;
    if (!input_alone)
        buf_addstr(out, words);
    while (out->len > 0 && out->data[out->len - 1] == '\n')
        buf_splice(out, out->len - 1, 1, "", 0);
    if ((input_alone || input_joins) && !add_input(out, e))
        return false;
    if (out->len == 0)
        return err_set(e, ERR_USAGE, _("nothing to send; use: tiro run PROMPT"));
    return true;
}
