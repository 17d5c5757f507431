#include "cli/verb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/signals.h"

enum { SHOWN_BYTES = 60 }; /* of a text that is to be deleted */

const struct option verb_json_options[] = {VERB_JSON, {0}};
const struct option verb_yes_options[] = {VERB_YES, {0}};

bool verb_take_word(void *options, const char *word, struct error *e)
{
    struct verb_options *o = options;
    (void)e;
    vec_push(&o->words, word);
    return true;
}

/* `self` is the first member of a struct verb. */
int verb_run(const struct cli_command *self, int argc, char **argv)
{
    struct verb_options o = {.verb = (const struct verb *)self, .weight = -1};
    struct setup setup;
    struct operation_context context;
    struct error e = {0};
    int status;
    if (cli_parse(self, argc, argv, &o, &status)) {
        setup_load(&setup);
        setup_print_problems(&setup);
        auto_free char *directory = realpath(".", NULL); /* NULL: the directory is gone */
        bool ok = operation_open(&context, o.verb->operation, setup.config, NULL, directory, &e) &&
                  o.verb->run(&context, &o, &e);
        status = ok ? 0 : cli_fail(&e);
        operation_close(&context);
        setup_release(&setup);
    }
    vec_release(&o.words);
    return status;
}

char *verb_join(const struct verb_options *o, size_t first)
{
    struct buf text = BUF_INIT;
    for (size_t i = first; i < o->words.len; i++)
        buf_addf(&text, "%s%s", i > first ? " " : "", o->words.items[i]);
    return buf_take(&text);
}

void verb_print_json(const struct operation *o, const char *member, const void *result)
{
    AUTO(buf_release) struct buf written = BUF_INIT, text = BUF_INIT;
    struct json_out out = {.buf = &written};
    if (member)
        shape_write_value(o->result, member, result, &out);
    else
        shape_write(o->result, result, &out);
    json_out_pretty(written.data, &text);
    buf_addch(&text, '\n');
    output_text(text.data);
}

bool verb_show(struct operation_context *c, const struct verb_options *o,
               const struct operation *operation, const void *params, const char *member,
               void (*print)(const void *result), struct error *e)
{
    auto_free void *result = mem_alloc(operation->result->size);
    if (!operation_call(c, operation, params, result, e))
        return false;
    if (o->json)
        verb_print_json(operation, member, result);
    else
        print(result);
    shape_release(operation->result, result);
    return true;
}

/* Ends the operation when standard output is closed, which main() reports. */
static bool write_piece(void *output, const char *bytes, size_t len, struct error *e)
{
    return output_write(output, bytes, len) ||
           err_set_errno(e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
}

bool verb_write_output(struct operation_context *c, const struct operation *o, const void *params,
                       void *result, struct error *e)
{
    struct output output;
    const struct operation_stream stream = {
        .write = write_piece, .wake_fd = -1, .context = &output};
    output_init(&output);
    c->stream = &stream;
    bool ok = operation_call(c, o, params, result, e);
    c->stream = NULL;
    output_end(&output);
    return ok || ferror(stdout);
}

struct watch {
    bool terminal;     /* standard error is one: progress is shown on it */
    const char *shown; /* the counter on its last line; NULL: the line is empty */
};

static bool show_progress(void *context, const char *counter, int64_t done, int64_t of)
{
    struct watch *w = context;
    if (w->terminal && of > 0) {
        if (w->shown && strcmp(w->shown, counter) != 0)
            fputc('\n', stderr);
        fprintf(stderr, "\r%s %" PRId64 "/%" PRId64,
                strcmp(counter, "words") == 0      ? _("words")
                : strcmp(counter, "files") == 0    ? _("files")
                : strcmp(counter, "sessions") == 0 ? _("conversations")
                                                   : _("vectors"),
                done, of);
        w->shown = counter;
    }
    return signals_take() == 0;
}

bool verb_call_watched(struct operation_context *c, const struct operation *o, const void *params,
                       void *result, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    const struct operation_stream stream = {
        .tell = show_progress, .wake_fd = signals_open(), .context = &watch};
    c->stream = &stream;
    bool ok = operation_call(c, o, params, result, e);
    c->stream = NULL;
    if (watch.shown)
        fputc('\n', stderr);
    return ok;
}

static bool write_to_file(void *file, const char *bytes, size_t len, struct error *e)
{
    return whole_file_write(file, bytes, len, e);
}

bool verb_write_file(struct operation_context *c, const struct operation *o, const char *path,
                     bool replace, void *result, struct error *e)
{
    struct whole_file file;
    const struct operation_stream stream = {
        .write = write_to_file, .wake_fd = -1, .context = &file};
    if (!output_may_write(path, replace, e) || !whole_file_begin(&file, path, replace, e))
        return false;
    c->stream = &stream;
    bool ok = operation_call(c, o, NULL, result, e) && whole_file_finish(&file, e);
    c->stream = NULL;
    whole_file_drop(&file);
    return ok;
}

void verb_add_deleted(struct buf *question, const char *id, const char *text)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    buf_addf(&line, "%s  ", id);
    utf8_add_cut(&line, text, strlen(text), SHOWN_BYTES);
    utf8_clean(question, line.data, line.len, UTF8_ONE_LINE);
    buf_addch(question, '\n');
}

bool verb_may_delete(bool yes, const struct buf *question, struct error *e)
{
    if (yes)
        return true;
    if (!confirm_possible())
        return err_set(e, ERR_USAGE,
                       _("cannot ask without a terminal; --yes deletes without asking"));
    return confirm(question->data) ||
           err_set(e, ERR_INTERRUPTED,
                   _("not confirmed, so nothing was deleted; --yes deletes without asking"));
}
