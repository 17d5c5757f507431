#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "cli/input.h"
#include "cli/run_output.h"
#include "cli/session_options.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "cli/verb.h"

#define MAX_INPUT ((size_t)16 * 1024 * 1024)

enum { STATUS_STOPPED = 2, STATUS_DENIED = 3 };

struct run_options {
    struct session_options session;
    const struct output_format *format;
    bool compact; /* before the message */
    struct buf words;
    bool quiet;
    bool trust; /* the programs of the project */
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
     N_("open a session: the start or end of its id, its title or a part of it, last or ~2"),
     SESSION_AT(resume), .offer = {.what = OFFER_SESSIONS}},
    {"compact", 0, OPTION_FLAG, NULL, N_("shorten the session's history before the message"),
     .at = offsetof(struct run_options, compact)},
    {"quiet", 'q', OPTION_FLAG, NULL, N_("on standard error, only warnings and errors"),
     .at = offsetof(struct run_options, quiet)},
    {"trust", 0, OPTION_FLAG, NULL, N_("trust the programs of this project, such as its hooks"),
     .at = offsetof(struct run_options, trust)},
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

/* The message is the pipes of -f, the words, and standard input unless it is a terminal, separated
 * by blank lines. "-" is standard input alone. A message with text of standard input is PIPED as a
 * whole, because nothing marks where the words end. Files without words are mentioned in it. */
static bool read_prompt(const struct session_options *o, const char *words, struct buf *out,
                        struct mentions *files, enum input_origin *origin, struct error *e)
{
    bool input_alone = strcmp(words, "-") == 0;
    AUTO(buf_release) struct buf input = {.data = buf_empty, .max = MAX_INPUT};
    if (!check_text(words, strlen(words), _("the prompt"), e) ||
        !session_options_files(o, out, files, e))
        return false;
    if (!input_alone)
        buf_addstr(out, words);
    *origin = *attached_files_end(out->data) ? INPUT_TYPED : INPUT_ATTACHED;
    buf_trim_end(out, "\n");
    if ((input_alone || !isatty(STDIN_FILENO)) &&
        (!input_read(&input, e) || !check_text(input.data, input.len, _("standard input"), e)))
        return false;
    buf_trim_end(&input, "\n");
    if (input.len > 0) {
        buf_addstr(out, out->len > 0 ? "\n\n" : "");
        buf_add(out, input.data, input.len);
        *origin = INPUT_PIPED;
    }
    if (out->len == 0)
        mentions_add(out, files);
    return out->len > 0 || err_set(e, ERR_USAGE, _("nothing to send; use: tiro run PROMPT"));
}

/* --- the turn --- */

/* One turn: the prompt is sent when the session is open and its provider known, and the answer to
 * it ends the turn. A compaction runs before the prompt, or in place of it. */
struct turn {
    struct engine *engine;
    struct run_output *out;
    const char *prompt;                          /* NULL: the compaction alone */
    struct mentions files;                       /* that go with it; borrowed */
    enum input_origin origin;                    /* of the prompt */
    const struct compaction_run_params *compact; /* NULL: none */
    bool print_result;                           /* of the compaction, as JSON */
    bool sent, over;
    bool closed; /* standard output is closed */
    int signal;  /* the signal that interrupted; 0: none */
    int tasks;   /* commands in the background */
    struct error error;
};

static void fail(struct turn *t, const struct error *e)
{
    if (t->error.code == ERR_OK)
        t->error = *e;
}

static void send_prompt(struct turn *t)
{
    (void)engine_start(
        t->engine, &operation_turn_start,
        &(struct turn_start_params){.text = t->prompt, .attach = t->files, .origin = t->origin});
}

static void on_event(struct turn *t, const struct event *ev)
{
    if (ev->type == EVENT_TURN_FAILED) {
        struct error e;
        err_set(&e, err_from_name(ev->name), "%s", ev->text ? ev->text : "");
        fail(t, &e);
    }
    /* Without a prompt, the answer to the compaction reports the failure. */
    bool repeated = !t->prompt && ev->type == EVENT_COMPACTION_FAILED;
    if (!t->closed && !repeated)
        t->closed = !run_output_event(t->out, ev);
}

/* A turn that follows goes on with the history as it is: its failed compaction was reported by an
 * event, or is printed here. */
static void on_compacted(struct turn *t, const struct operation_answer *a)
{
    const struct compaction_result *result = a->result;
    const struct error *fault = a->error.code != ERR_OK ? &a->error : &result->fault;
    if (t->prompt && !t->signal) {
        if (a->error.code != ERR_OK)
            cli_fail(&a->error);
        send_prompt(t);
        return;
    }
    if (fault->code != ERR_OK)
        fail(t, fault);
    else if (t->print_result)
        verb_print_json(&operation_compaction_run, NULL, a->result);
    t->over = true;
}

static void handle(struct turn *t, const struct notice *n)
{
    switch (n->type) {
    case NOTICE_EVENT:
        on_event(t, n->event);
        break;
    case NOTICE_SESSION:
        memcpy(t->out->session_id, n->info.id, sizeof t->out->session_id);
        break;
    case NOTICE_PROVIDER:
        free(t->out->provider);
        free(t->out->model);
        t->out->provider = mem_strdup(n->provider);
        t->out->model = n->model && *n->model ? mem_strdup(n->model) : NULL;
        if (!t->sent && t->compact)
            (void)engine_start(t->engine, &operation_compaction_run, t->compact);
        else if (!t->sent)
            send_prompt(t);
        t->sent = true;
        break;
    case NOTICE_ANSWER:
        if (operation_answers(n->answer, &operation_compaction_run))
            on_compacted(t, n->answer);
        if (operation_answers(n->answer, &operation_turn_start)) {
            if (n->answer->error.code != ERR_OK)
                fail(t, &n->answer->error);
            t->over = true;
        }
        break;
    case NOTICE_TASKS:
        t->tasks = n->meters.tasks;
        break;
    case NOTICE_ERROR:
        fail(t, &n->error);
        t->over = t->over || !t->sent; /* no turn follows an error before it */
        break;
    default:
        break;
    }
}

/* Handles notices and signals until the turn is over or standard output is closed. */
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
        int number = signals_take();
        if (number != 0) {
            t->signal = number;
            if (t->sent)
                (void)engine_start(t->engine, &operation_turn_interrupt, NULL);
            else
                t->over = true;
        }
        while (!t->over && (n = mailbox_pop(notices))) {
            handle(t, n);
            notice_free(n);
        }
    }
    if (t->signal && t->error.code == ERR_OK)
        err_set(&t->error, ERR_INTERRUPTED,
                _("signal %d stopped the turn; send the message again, or another one"), t->signal);
}

static int run_turn(const struct run_options *o, const struct setup *setup, const char *prompt,
                    const struct mentions *files, enum input_origin origin)
{
    struct run_output out;
    struct engine_options engine = session_options_service(&o->session, setup->config);
    engine.trust = o->trust;
    run_output_init(&out, o->format);
    out.hints = config_boolean(setup->config, CONFIG_COMPACTION_HINT);
    out.quiet = o->quiet;
    int signal_fd = signals_open(), status;
    const struct compaction_run_params compact = {.mode = NULL};
    struct turn t = {.engine = engine_new(&engine),
                     .out = &out,
                     .prompt = prompt,
                     .files = *files,
                     .origin = origin,
                     .compact = o->compact ? &compact : NULL};
    carry(&t, signal_fd);
    if (!t.closed) {
        out.format->finish(&out, t.error.code == ERR_OK ? NULL : &t.error);
        fflush(stdout);
    }
    engine_free(t.engine);
    if (t.tasks > 0) {
        fprintf(stderr, "tiro: ");
        fprintf(stderr,
                ngettext("%d command in the background was ended.",
                         "%d commands in the background were ended.", (unsigned long)t.tasks),
                t.tasks);
        fputc('\n', stderr);
    }
    bool stopped = out.end && (out.end->stop_reason == STOP_MAX_CALLS ||
                               out.end->stop_reason == STOP_REPEATED);
    if (t.signal) /* the user asked for the interrupt, so no error is printed */
        status = 128 + t.signal;
    else if (t.error.code != ERR_OK)
        status = cli_fail(&t.error);
    else
        status = out.tally.denied.len > 0 ? STATUS_DENIED : stopped ? STATUS_STOPPED : 0;
    run_output_release(&out);
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct run_options o = {
        .session = SESSION_OPTIONS_INIT, .format = &output_formats[0], .words = BUF_INIT};
    struct error e = {0};
    AUTO(buf_release) struct buf prompt = BUF_INIT;
    AUTO(mentions_release) struct mentions files = {0};
    struct setup setup;
    enum input_origin origin;
    int status;
    if (!cli_parse(self, argc, argv, &o, &status))
        goto out;
    if (!read_prompt(&o.session, o.words.data, &prompt, &files, &origin, &e)) {
        status = cli_fail(&e);
        goto out;
    }
    setup_load(&setup);
    setup_print_problems(&setup);
    status = run_turn(&o, &setup, prompt.data, &files, origin);
    setup_release(&setup);
out:
    session_options_release(&o.session);
    buf_release(&o.words);
    return status;
}

const struct cli_command cmd_run = {
    .name = "run",
    .synopsis = "run [OPTION]... PROMPT|-",
    .help = N_("run one turn without a screen"),
    .details = N_("Standard input is added to the prompt; with -, it is the whole prompt.\ntiro "
                  "run asks nothing: a tool that would have to ask does not run.\nExit status: 0 "
                  "answered, 1 failed, 2 a limit of [budget] is reached, 3 answered, but a\ntool "
                  "was refused, 64 bad usage, 128 + the signal that interrupted."),
    .options = options,
    .most = CLI_MANY,
    .word = take_word,
    .run = run,
};

/* --- sessions compact --- */

bool verb_compact(struct verb_call *v, struct error *e)
{
    struct run_output out;
    const struct session_options session = {
        .resume = v->words.items[0], .persist = -1, .compaction = -1, .memory = -1};
    const struct engine_options engine = session_options_service(&session, v->context->config);
    struct compaction_run_params compact = *(const struct compaction_run_params *)v->params;
    compact.session = NULL; /* the one in front */
    run_output_init(&out, output_format_find(v->json ? "json" : "text", e));
    int signal_fd = signals_open();
    struct turn t = {
        .engine = engine_new(&engine), .out = &out, .compact = &compact, .print_result = v->json};
    carry(&t, signal_fd);
    engine_free(t.engine);
    run_output_release(&out);
    *e = t.error;
    return e->code == ERR_OK;
}
