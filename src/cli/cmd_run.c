#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "chat/attached_file.h"
#include "cli/input.h"
#include "cli/run_output.h"
#include "cli/session_options.h"
#include "cli/setup.h"
#include "cli/signals.h"

#define MAX_INPUT ((size_t)16 * 1024 * 1024)

enum { STATUS_DENIED = 3 };

struct run_options {
    struct session_options session;
    const struct output_format *format;
    struct buf words;
    bool quiet;
};

static char *formats(void)
{
    struct buf out = BUF_INIT;
    for (const struct output_format *f = output_formats; f->name; f++)
        buf_addf(&out, "%s ", f->name);
    return buf_take(&out);
}

static bool take_format(const struct option *self, void *at, const char *value, struct error *e)
{
    const struct output_format **format = at;
    (void)self;
    *format = output_format_find(value, e);
    return *format != NULL;
}

static const struct option options[] = {
    {"output-format", 'o', OPTION_VALUE, "FORMAT",
     N_("text, json (one object at the end) or stream-json (one event per line)"),
     .at = offsetof(struct run_options, format), .take = take_format,
     .offer = {OFFER_CHOICES, .choices = formats}},
    {"resume", 'r', OPTION_VALUE, "SESSION",
     N_("open a session: the start or end of its id, its title, last or ~2"), SESSION_AT(resume),
     .offer = {.what = OFFER_SESSIONS}},
    {"quiet", 'q', OPTION_FLAG, NULL, N_("on standard error, only warnings and errors"),
     .at = offsetof(struct run_options, quiet)},
    SESSION_OPTIONS,
    {0},
};

static bool take_word(void *context, const char *word, struct error *e)
{
    struct run_options *o = context;
    (void)e;
    buf_addf(&o->words, "%s%s", o->words.len > 0 ? " " : "", word);
    return true;
}

/* --- the prompt --- */

static bool check_text(const char *text, size_t len, const char *what, struct error *e)
{
    if (utf8_valid(text, len) && !memchr(text, '\0', len))
        return true;
    return err_set(e, ERR_USAGE, _("%s is not UTF-8 text; convert it first"), what);
}

static void cut_newlines(struct buf *text)
{
    while (text->len > 0 && text->data[text->len - 1] == '\n')
        buf_splice(text, text->len - 1, 1, "", 0);
}

static bool add_input(struct buf *out, enum input_origin *origin, struct error *e)
{
    struct buf input;
    buf_init(&input, MAX_INPUT);
    bool ok = input_read(&input, e) && check_text(input.data, input.len, _("standard input"), e);
    cut_newlines(&input);
    if (ok && input.len > 0) {
        if (out->len > 0)
            buf_addstr(out, "\n\n");
        buf_add(out, input.data, input.len);
        *origin = INPUT_PIPED;
    }
    buf_release(&input);
    return ok;
}

/* Parted by blank lines: the files of -f, the words, and standard input where it is no terminal.
 * "-" is standard input alone. A message with text of standard input is PIPED as a whole, because
 * nothing marks where the words end. */
static bool read_prompt(const struct session_options *o, const char *words, struct buf *out,
                        enum input_origin *origin, struct error *e)
{
    bool input_alone = strcmp(words, "-") == 0;
    bool input_joins = !isatty(STDIN_FILENO);
    if (!check_text(words, strlen(words), _("the prompt"), e) || !session_options_files(o, out, e))
        return false;
    if (!input_alone)
        buf_addstr(out, words);
    *origin = *attached_files_end(out->data ? out->data : "") ? INPUT_TYPED : INPUT_ATTACHED;
    cut_newlines(out);
    if ((input_alone || input_joins) && !add_input(out, origin, e))
        return false;
    if (out->len == 0)
        return err_set(e, ERR_USAGE, _("nothing to send; use: tiro run PROMPT"));
    return true;
}

/* --- the turn --- */

/* One turn: the prompt goes out once the session is open and its provider known; the turn is over
 * when that is answered. */
struct turn {
    struct engine *engine;
    struct run_output *out;
    const char *prompt;
    enum input_origin origin;                    /* of the prompt */
    bool sent, over;
    bool closed; /* standard output: nobody listens any more */
    int signal;  /* that interrupted; 0: none */
    struct error error;
};

static void fail(struct turn *t, const struct error *e)
{
    if (t->error.code == ERR_OK)
        t->error = *e;
}

static void on_session(struct turn *t, struct notice *n)
{
    memcpy(t->out->session_id, n->info.id, sizeof t->out->session_id);
}

static void on_provider(struct turn *t, struct notice *n)
{
    free(t->out->provider);
    free(t->out->model);
    t->out->provider = mem_strdup(n->provider);
    t->out->model = n->model && *n->model ? mem_strdup(n->model) : NULL;
    if (!t->sent)
        (void)engine_start(t->engine, &operation_turn_start,
                           &(struct turn_start_params){.text = t->prompt, .origin = t->origin});
    t->sent = true;
}

static void on_event(struct turn *t, struct notice *n)
{
    if (n->event->type == EVENT_TURN_FAILED) {
        struct error e;
        err_set(&e, err_from_name(n->event->name), "%s", n->event->text ? n->event->text : "");
        fail(t, &e);
    }
    if (!t->closed)
        t->closed = !run_output_event(t->out, n->event);
}

static void on_answer(struct turn *t, struct notice *n)
{
    if (!operation_answers(n->answer, &operation_turn_start))
        return;
    if (n->answer->error.code != ERR_OK)
        fail(t, &n->answer->error);
    t->over = true;
}

/* An error before the turn starts ends the wait: no turn follows. */
static void on_error(struct turn *t, struct notice *n)
{
    fail(t, &n->error);
    t->over = t->over || !t->sent;
}

static void handle(struct turn *t, struct notice *n)
{
    static void (*const handlers[])(struct turn *, struct notice *) = {
        [NOTICE_EVENT] = on_event,   [NOTICE_SESSION] = on_session, [NOTICE_PROVIDER] = on_provider,
        [NOTICE_ANSWER] = on_answer, [NOTICE_ERROR] = on_error,
    };
    if ((size_t)n->type < sizeof handlers / sizeof *handlers && handlers[n->type])
        handlers[n->type](t, n);
    notice_free(n);
}

static void handle_signal(struct turn *t)
{
    int number = signals_take();
    if (number == 0)
        return;
    t->signal = number;
    if (t->sent)
        (void)engine_start(t->engine, &operation_turn_interrupt, NULL);
    else
        t->over = true;
}

static void carry(struct turn *t, int signal_fd)
{
    struct mailbox *notices = engine_notices(t->engine);
    struct pollfd fds[] = {{.fd = mailbox_fd(notices), .events = POLLIN},
                           {.fd = signal_fd, .events = POLLIN}};
    while (!t->over && !t->closed) {
        struct notice *n;
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            err_set_errno(&t->error, ERR_AGENT_ERROR, "%s", _("cannot wait for the answer"));
            break;
        }
        handle_signal(t);
        while (!t->over && (n = mailbox_pop(notices)))
            handle(t, n);
    }
}

static void note_signal(struct turn *t)
{
    if (t->signal && t->error.code == ERR_OK)
        err_set(&t->error, ERR_INTERRUPTED,
                _("signal %d stopped the turn; send it again, or go on"), t->signal);
}

/* The user asked for the interrupt, so nothing is printed. */
static int status_of(const struct turn *t)
{
    if (t->signal)
        return 128 + t->signal;
    if (t->error.code != ERR_OK)
        return cli_fail(&t->error);
    return t->out->tally.denied.len > 0 ? STATUS_DENIED : 0;
}

static int run_turn(const struct run_options *o, const struct setup *setup, const char *prompt,
                    enum input_origin origin)
{
    struct run_output out;
    struct engine_options engine = session_options_service(&o->session, setup->config);
    run_output_init(&out, o->format);
    out.hints = config_boolean(setup->config, CONFIG_COMPACTION_HINT);
    out.quiet = o->quiet;
    int signal_fd = signals_open();
    struct turn t = {
        .engine = engine_new(&engine), .out = &out, .prompt = prompt, .origin = origin};
    carry(&t, signal_fd);
    note_signal(&t);
    if (!t.closed)
        run_output_finish(&out, t.error.code == ERR_OK ? NULL : &t.error);
    engine_free(t.engine);
    int status = status_of(&t);
    run_output_release(&out);
    return status;
}

static int run_options(const struct run_options *o)
{
    struct error e = {0};
    struct buf prompt = BUF_INIT;
    struct setup setup;
    enum input_origin origin;
    int status;
    if (read_prompt(&o->session, o->words.data, &prompt, &origin, &e)) {
        setup_load(&setup);
        setup_print_problems(&setup);
        status = run_turn(o, &setup, prompt.data, origin);
        setup_release(&setup);
    } else {
        status = cli_fail(&e);
    }
    buf_release(&prompt);
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct run_options o = {
        .session = SESSION_OPTIONS_INIT, .format = &output_formats[0], .words = BUF_INIT};
    int status;
    if (cli_parse(self, argc, argv, &o, &status))
        status = run_options(&o);
    session_options_release(&o.session);
    buf_release(&o.words);
    return status;
}

const struct cli_command cmd_run = {
    .name = "run",
    .synopsis = "run [OPTION]... PROMPT|-",
    .help = N_("one turn without a screen"),
    .details =
        N_("What comes on standard input joins the prompt; - is standard input alone.\n"
           "Nothing is asked: a tool that may not run without a question does not run.\n"
           "Exit status: 0 answered, 1 failed, 2 a limit of [budget] is reached, 3 answered, "
           "but a\ntool was refused, 64 bad usage, 128 + the signal that interrupted."),
    .options = options,
    .most = CLI_MANY,
    .word = take_word,
    .run = run,
};
