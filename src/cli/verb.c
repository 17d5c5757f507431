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
#include "ui/text/format.h"

enum { LABEL_LEAST = 12, SHOWN_BYTES = 60 }; /* of a text that is to be deleted */

const struct option verb_json_options[] = {VERB_JSON, {0}};
const struct option verb_export_options[] = {
    {"output", 'o', OPTION_VALUE, "FILE", N_("write to FILE instead of standard output"),
     VERB_AT(output), .offer = {.what = OFFER_FILES}},
    {"force", 0, OPTION_FLAG, NULL, N_("overwrite an existing file"), VERB_AT(force)},
    {0},
};

/* Operands of a command that changes each session by a call of its own. */
#define EACH_SESSION "SESSION..."

/* --- words ------------------------------------------------------------------------------------ */

/* A word of "SESSION [+]LABEL|-LABEL..." or of "[NAME]". */
struct operand {
    const char *name;
    size_t len;
    bool may_lack, many;
    const struct shape_field *field; /* NULL: it is no member */
};

/* The operand at *at, and its member: the next one of *field that is no option. */
static bool next_operand(const char **at, const struct shape_field **field, struct operand *out)
{
    const char *text = *at + strspn(*at, " ");
    size_t len = strcspn(text, " ");
    bool bracket = text[0] == '[' && text[1] != '+';
    *out = (struct operand){.name = text + bracket,
                            .len = len - bracket,
                            .may_lack = bracket,
                            .many = len > 3 && memchr(text, '.', len)};
    *at = text + len;
    if (len == 0 || *text == '|') /* another way to write the command follows */
        return false;
    while (*field && (*field)->name && (*field)->option)
        ++*field;
    if (*field && (*field)->name && strncmp(out->name, "FILE", 4) != 0)
        out->field = (*field)++;
    return true;
}

static const struct shape_field *fields_of(const struct operation *o)
{
    return o->params ? o->params->fields : NULL;
}

/* Gives the words to the members. Members of other kinds than texts are left to the command. */
static void fill_params(struct verb_call *v)
{
    const struct operation *o = v->verb->operation;
    const struct shape_field *field = fields_of(o);
    const char *at = o->operands;
    struct operand operand;
    for (size_t i = 0; i < v->words.len && next_operand(&at, &field, &operand); i++) {
        if (!operand.field)
            continue;
        void *member = (char *)v->params + operand.field->offset;
        bool text = operand.field->type == SHAPE_STRING;
        VEC(const char *) *texts = operand.field->type == SHAPE_STRINGS ? member : NULL;
        size_t end = operand.many && strcmp(o->operands, EACH_SESSION) != 0 ? v->words.len : i + 1;
        if (text)
            *(const char **)member = v->words.items[i];
        for (size_t k = i; texts && k < end; k++)
            vec_push(texts, v->words.items[k]);
        for (size_t k = i + 1; text && k < end; k++) { /* they are one text */
            char *joined = mem_printf("%s %s", *(const char **)member, v->words.items[k]);
            free(v->joined);
            *(const char **)member = v->joined = joined;
        }
    }
}

static bool take_word(void *call, const char *word, struct error *e)
{
    struct verb_call *v = call;
    (void)e;
    vec_push(&v->words, word);
    return true;
}

/* --- options ---------------------------------------------------------------------------------- */

/* A member of SHAPE_STRINGS whose texts are borrowed. */
struct texts {
    VEC(const char *) list;
};

bool verb_take_member(const struct option *self, void *call, const char *value, struct error *e)
{
    const struct shape_field *f = self->field;
    void *at = (char *)((struct verb_call *)call)->params + f->offset;
    int i = 0;
    switch (f->type) {
    case SHAPE_BOOLEAN:
        *(bool *)at = true;
        return true;
    case SHAPE_COUNT:
        return cli_take_count(self, at, value, e) &&
               (f->most == 0 || f->nearest || *(int *)at <= f->most ||
                err_set(e, ERR_USAGE, _("--limit is at most %d here; give a smaller number"),
                        (int)f->most));
    case SHAPE_NUMBER:
        return (config_value_real(value, at) && *(double *)at >= f->least &&
                *(double *)at <= f->most) ||
               err_set(e, ERR_USAGE, _("--%s takes a number from 0 to 1, not \"%.40s\""),
                       self->name, value);
    case SHAPE_ENUM:
        while (i < f->names->count && strcmp(f->names->words[i], value) != 0)
            i++;
        *(int *)at = i;
        ((struct verb_call *)call)->chosen = true;
        return i < f->names->count ||
               cli_unknown(self->name, value, f->names->words, (size_t)f->names->count, e);
    case SHAPE_STRINGS:
        vec_push(&((struct texts *)at)->list, value);
        return true;
    default:
        *(const char **)at = value;
        return true;
    }
}

static struct cli_offer offer_of(const char *name, size_t len, const struct shape_field *f)
{
    static const struct {
        const char *name;
        struct cli_offer offer;
    } known[] = {{"SESSION", {.what = OFFER_SESSIONS}},
                 {"FILE", {.what = OFFER_FILES}},
                 {"PATH", {.what = OFFER_FILES}},
                 {"DIR", {.what = OFFER_DIRECTORIES}}};
    struct cli_offer offer = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (len >= strlen(known[i].name) && memcmp(name, known[i].name, strlen(known[i].name)) == 0)
            offer = known[i].offer;
    if (f && f->type == SHAPE_ENUM) {
        struct buf words = BUF_INIT;
        for (int i = 0; i < f->names->count; i++)
            buf_addf(&words, "%s%s", i > 0 ? " " : "", f->names->words[i]);
        offer = (struct cli_offer){.what = OFFER_CHOICES, .fixed = buf_take(&words)};
    }
    return offer;
}

/* "-l, --label LABEL". */
static struct option option_of(const struct shape_field *f)
{
    const char *name = strstr(f->option, "--") + 2;
    size_t len = strcspn(name, " ");
    const char *value = name[len] ? name + len + 1 : NULL;
    return (struct option){.name = mem_strndup(name, len),
                           .letter = f->option[1] == '-' ? '\0' : f->option[1],
                           .kind = value ? OPTION_VALUE : OPTION_FLAG,
                           .value = value,
                           .help = f->option_help,
                           .take = verb_take_member,
                           .offer = offer_of(value ? value : "", value ? strlen(value) : 0, f),
                           .field = f};
}

/* --- the tables ------------------------------------------------------------------------------- */

struct options {
    VEC(struct option) rows;
};

/* A command's own option of the name of a member's changes how that is taken or completed. */
static void add_option(struct options *options, struct option o)
{
    for (size_t i = 0; i < options->rows.len; i++) {
        struct option *member = &options->rows.items[i];
        if (strcmp(member->name, o.name) != 0)
            continue;
        member->take = o.take ? o.take : member->take;
        member->offer = o.offer.what != OFFER_NOTHING ? o.offer : member->offer;
        return;
    }
    vec_push(&options->rows, o);
}

static const struct option *make_options(const struct operation *o, const struct verb_more *more)
{
    static const struct option json = VERB_JSON, yes = {"yes",
                                                        'y',
                                                        OPTION_FLAG,
                                                        NULL,
                                                        N_("do not ask for confirmation"),
                                                        VERB_AT(yes)};
    struct options options = {0};
    for (const struct shape_field *f = fields_of(o); f && f->name; f++)
        if (f->option)
            add_option(&options, option_of(f));
    for (const struct option *own = more->options; own && own->name; own++)
        add_option(&options, *own);
    if (more->asks)
        add_option(&options, yes);
    if (o->line || more->print)
        add_option(&options, json);
    vec_push(&options.rows, (struct option){0});
    return options.rows.items;
}

/* Words and completion from the operands, and the synopsis. */
static void add_operands(struct cli_command *c, const struct operation *o, const char *words,
                         const struct verb_more *more)
{
    struct buf synopsis = BUF_INIT;
    const struct option *one = c->options;
    const struct shape_field *field = fields_of(o);
    const char *at = o->operands;
    struct operand operand;
    buf_addstr(&synopsis, words);
    if (one->name && one[1].name)
        buf_addstr(&synopsis, " [OPTION]...");
    else if (one->name)
        buf_addf(&synopsis, " [--%s%s%s]", one->name, one->value ? " " : "",
                 one->value ? one->value : "");
    buf_addf(&synopsis, "%s%s", *at ? " " : "", at);
    c->synopsis = buf_take(&synopsis);
    for (size_t i = 0; next_operand(&at, &field, &operand); i++) {
        struct cli_offer offer = offer_of(operand.name, operand.len, NULL);
        c->least += !operand.may_lack;
        c->most = operand.many ? (size_t)CLI_MANY : i + 1;
        if (operand.many && operand.field && operand.field->type == SHAPE_STRINGS &&
            operand.field->most > 0)
            c->most = i + (size_t)operand.field->most;
        if (offer.what != OFFER_NOTHING) {
            c->words = offer;
            c->words.first = i == 0 && !operand.many;
        }
    }
    if (more->most > 0)
        c->most = more->most;
}

/* `self` is the first member of a struct verb. */
static int run_verb(const struct cli_command *self, int argc, char **argv)
{
    const struct verb *verb = (const struct verb *)self;
    const struct operation *o = verb->operation;
    const struct verb_more *more = verb->more;
    struct verb_call v = {.verb = verb, .params = o->params ? mem_alloc(o->params->size) : NULL};
    struct operation_context context;
    struct setup setup;
    struct error e = {0};
    int status;
    if (v.params)
        shape_init(o->params, v.params);
    if (cli_parse(self, argc, argv, &v, &status)) {
        setup_load(&setup);
        setup_print_problems(&setup);
        auto_free char *directory = realpath(".", NULL); /* NULL: the directory is gone */
        fill_params(&v);
        v.context = &context;
        bool ok = operation_open(&context, more->opens ? more->opens : o, setup.config, NULL,
                                 directory, &e) &&
                  (more->run ? more->run : verb_call)(&v, &e);
        status = ok ? 0 : cli_fail(&e);
        operation_close(&context);
        setup_release(&setup);
    }
    for (const struct shape_field *f = fields_of(v.verb->operation); f && f->name; f++) {
        VEC(const char *) *texts = (void *)((char *)v.params + f->offset);
        if (f->type == SHAPE_STRINGS)
            vec_release(texts);
    }
    free(v.params);
    free(v.joined);
    vec_release(&v.words);
    return status;
}

static struct cli_command *make(const struct operation *o, const char *words,
                                const struct verb_more *more)
{
    struct verb *verb = mem_alloc(sizeof *verb);
    bool own = more->words != NULL;
    *verb = (struct verb){.command = {.name = strchr(words, ' ') + 1,
                                      .help = own ? more->help : o->help,
                                      .details = own ? more->details : o->details,
                                      .options = make_options(o, more),
                                      .dashes = o->dashes,
                                      .word = take_word,
                                      .run = run_verb},
                          .operation = o,
                          .more = more};
    add_operands(&verb->command, o, words, more);
    return &verb->command;
}

const struct cli_command *const *verb_table(const struct cli_command *const **made,
                                            const char *group, const struct verb_more *more)
{
    VEC(const struct cli_command *) verbs = {0};
    const struct operation *o;
    size_t len = strlen(group);
    for (size_t i = 0; !*made && (o = operation_at(i)); i++) {
        if (!o->words || strncmp(o->words, group, len) != 0 || o->words[len] != ' ')
            continue;
        const struct verb_more *m = more;
        while (m->operation && (m->operation != o || m->words))
            m++;
        const struct cli_command *c = make(o, o->words, m);
        vec_insert(&verbs, strcmp(c->name, "list") == 0 ? 0 : verbs.len, c);
        for (m = more; m->operation; m++)
            if (m->operation == o && m->words)
                vec_push(&verbs, make(o, m->words, m));
    }
    if (!*made) {
        vec_push(&verbs, NULL);
        *made = verbs.items;
    }
    return *made;
}

/* --- results ---------------------------------------------------------------------------------- */

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

void verb_print_figures(const struct verb_call *v, const void *result)
{
    static const struct grid_column columns[] = {{.shrink = LABEL_LEAST}, {.right = true}};
    struct grid g = GRID(columns);
    for (const struct shape_field *f = v->verb->operation->result->fields; f->name; f++) {
        const void *at = (const char *)result + f->offset;
        if (!f->label || (f->there && !f->there(result)))
            continue;
        auto_free char *value = f->type == SHAPE_INTEGER ? format_exact(*(const int64_t *)at)
                                                         : mem_strdup(*(char *const *)at);
        grid_add(&g, _(f->label));
        grid_add(&g, value);
    }
    grid_print(&g);
}

static void print_result(const struct verb_call *v, const struct operation *o, const void *result)
{
    const struct verb_more *more = v->verb->more;
    auto_free char *lines = v->json || more->print ? NULL : operation_lines(o, result, gettext);
    if (v->json)
        verb_print_json(o, more->member, result);
    else if (lines && !*lines && o->none)
        fprintf(stderr, "%s\n", _(o->none));
    else if (lines)
        output_text(lines);
    else if (more->print)
        more->print(v, result);
    if (more->remark)
        more->remark(v, result);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Progress on standard error, if that is a terminal. */
struct watch {
    bool terminal;
    const char *shown; /* the counter on its last line; NULL: the line is empty */
    int64_t done;      /* that is there */
};

static bool show_progress(void *context, const char *counter, int64_t done, int64_t of)
{
    struct watch *w = context;
    bool percent = strcmp(counter, "percent") == 0;
    if (!w->terminal || (percent && w->shown && w->done == done))
        return signals_take() == 0;
    if (w->shown && strcmp(w->shown, counter) != 0)
        fputc('\n', stderr);
    if (percent) {
        fprintf(stderr, "\r%d %%", (int)done);
    } else if (strcmp(counter, "entries") == 0) {
        auto_free char *number = format_exact(done);
        fputc('\r', stderr);
        fprintf(stderr, ngettext("%s entry", "%s entries", (unsigned long)done), number);
    } else if (of > 0) {
        fprintf(stderr, "\r%s %" PRId64 "/%" PRId64,
                strcmp(counter, "words") == 0      ? _("words")
                : strcmp(counter, "files") == 0    ? _("files")
                : strcmp(counter, "sessions") == 0 ? _("conversations")
                                                   : _("vectors"),
                done, of);
    } else {
        return signals_take() == 0;
    }
    w->shown = counter;
    w->done = done;
    return signals_take() == 0;
}

static bool call_with(struct operation_context *c, const struct operation *o, const void *params,
                      void *result, struct operation_stream *stream, struct error *e)
{
    struct watch watch = {.terminal = isatty(STDERR_FILENO)};
    stream->tell = show_progress;
    stream->wake_fd = signals_open();
    stream->context = &watch;
    c->stream = stream;
    bool ok = operation_call(c, o, params, result, e);
    c->stream = NULL;
    if (watch.shown)
        fputs(strcmp(watch.shown, "percent") == 0 ? "\r     \r" : "\n", stderr);
    return ok;
}

bool verb_call_watched(struct operation_context *c, const struct operation *o, const void *params,
                       void *result, struct error *e)
{
    return call_with(c, o, params, result, &(struct operation_stream){0}, e);
}

/* The target of an export: a file that appears whole or not at all, else standard output. */
struct export
{
    struct whole_file *file; /* NULL: standard output, cleaned if it is a terminal */
    struct output output;
};

static bool write_piece(void *context, const char *bytes, size_t len, struct error *e)
{
    struct export *to = context;
    if (to->file)
        return whole_file_write(to->file, bytes, len, e);
    return output_write(&to->output, bytes, len) ||
           err_set_errno(e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
}

/* Ends without an error when standard output is closed, which main() reports. */
static bool call_export(struct verb_call *v, void *result, struct error *e)
{
    const struct operation *o = v->verb->operation;
    bool named = strncmp(o->operands, "[FILE", 5) == 0 && v->words.len > 0;
    const char *path = v->output ? v->output : named ? v->words.items[0] : "-";
    struct whole_file file;
    struct export to = {.file = strcmp(path, "-") == 0 ? NULL : &file};
    const struct operation_stream stream = {.write = write_piece, .wake_fd = -1, .context = &to};
    if (v->output && named)
        return err_set(e, ERR_USAGE,
                       _("FILE is given twice; give it with -o or without, not both"));
    if (to.file &&
        (!output_may_write(path, v->force, e) || !whole_file_begin(&file, path, v->force, e)))
        return false;
    output_init(&to.output);
    v->context->stream = &stream;
    bool ok = operation_call(v->context, o, v->params, result, e);
    v->context->stream = NULL;
    output_end(&to.output);
    if (!to.file)
        return ok || ferror(stdout);
    ok = ok && whole_file_finish(&file, e);
    whole_file_drop(&file);
    return ok;
}

static bool call_import(struct verb_call *v, void *result, struct error *e)
{
    const char *path = v->words.items[0];
    struct operation_stream stream = {.in = input_open(path, e)};
    if (!stream.in)
        return false;
    stream.name = stream.in == stdin ? _("standard input") : path;
    bool ok = call_with(v->context, v->verb->operation, v->params, result, &stream, e);
    if (stream.in != stdin)
        fclose(stream.in);
    return ok;
}

static bool call_once(struct verb_call *v, struct error *e)
{
    const struct operation *o = v->verb->operation;
    auto_free void *result = o->result ? mem_alloc(o->result->size) : NULL;
    bool ok = o->content == CONTENT_OUT  ? call_export(v, result, e)
              : o->content == CONTENT_IN ? call_import(v, result, e)
              : (o->needs & NEED_STREAM) || v->verb->more->watched
                  ? verb_call_watched(v->context, o, v->params, result, e)
                  : operation_call(v->context, o, v->params, result, e);
    v->failed = !ok;
    if (result && (ok || v->verb->more->keeps))
        print_result(v, o, result);
    if (result)
        shape_release(o->result, result);
    return ok;
}

void verb_add_fault(struct error *e, const struct error *fault)
{
    if (e->code != ERR_OK)
        cli_fail(e);
    *e = *fault;
}

/* After an error, the other sessions of "SESSION..." are changed nevertheless. */
bool verb_call(struct verb_call *v, struct error *e)
{
    if (strcmp(v->verb->operation->operands, EACH_SESSION) != 0)
        return call_once(v, e);
    for (size_t i = 0; i < v->words.len; i++) {
        struct error fault = {0};
        ((struct session_params *)v->params)->session = v->words.items[i];
        if (!call_once(v, &fault))
            verb_add_fault(e, &fault);
    }
    return e->code == ERR_OK;
}

/* --- questions -------------------------------------------------------------------------------- */

bool verb_read_named(const struct verb_call *v, const struct operation *read, const char *text,
                     struct verb_named *named, struct buf *question, struct error *e)
{
    bool session = read == &operation_session_read;
    auto_free void *result = mem_alloc(read->result->size);
    for (size_t i = 0; i < v->words.len; i++) {
        AUTO(buf_release) struct buf line = BUF_INIT;
        if (!operation_call(v->context, read, &(struct session_params){v->words.items[i]}, result,
                            e))
            return false;
        AUTO(json_free_local) struct json *found = shape_to_json(read->result, result);
        const struct json *number = json_get(found, "id");
        auto_free char *printed = json_get_string(found, "id") ? NULL : json_print(number);
        const char *id = printed ? printed : json_get_string(found, "id");
        const char *shown = json_get_string(found, text);
        bool known = false;
        shape_release(read->result, result);
        for (size_t k = 0; k < named->ids.len && !known; k++)
            known = strcmp(named->ids.items[k], id) == 0;
        if (known)
            continue;
        vec_push(&named->ids, mem_strdup(id));
        buf_addf(&line, "%s  ", session ? session_short_id(id) : id);
        utf8_add_cut(&line, shown ? shown : "", strlen(shown ? shown : ""), SHOWN_BYTES);
        utf8_clean(question, line.data, line.len, UTF8_ONE_LINE);
        buf_addch(question, '\n');
    }
    return true;
}

bool verb_may_delete(const struct verb_call *v, const struct buf *question, struct error *e)
{
    if (v->yes)
        return true;
    if (!confirm_possible())
        return err_set(e, ERR_USAGE,
                       _("cannot ask without a terminal; --yes deletes without asking"));
    return confirm(question->data) ||
           err_set(e, ERR_INTERRUPTED,
                   _("not confirmed, so nothing was deleted; --yes deletes without asking"));
}
