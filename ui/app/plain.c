#include "ui/app/plain.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "ui/app/app.h"
#include "ui/app/notices.h"
#include "ui/app/slash.h"
#include "ui/term/rows.h"
#include "ui/term/tty.h"

enum { LEAVE_MS = 2000 };

/* Sending */

void plain_send(struct plain *p, const struct operation *o, const void *params)
{
    (void)engine_start(p->engine, o, params);
}

void plain_ask(struct plain *p, const struct operation *o, const void *params, plain_taker *take)
{
    p->asked = (struct plain_asked){true, engine_start(p->engine, o, params), take};
}

static void save_draft(struct plain *p)
{
    AUTO(buf_release) struct buf both = BUF_INIT;
    const char *texts[] = {p->unsent, p->waiting};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i])
            buf_addf(&both, "%s%s", both.len > 0 ? "\n\n" : "", texts[i]);
    if (!p->read_only)
        plain_send(p, &operation_session_set_draft,
                   &(struct session_text_params){.text = both.data});
}

void plain_say_unsent(struct plain *p, const char *text)
{
    plain_writef(&p->out, _("Not sent; /retry sends it, Ctrl-C drops it: %s"), text);
}

void plain_keep(struct plain *p, char *text)
{
    if (text)
        plain_say_unsent(p, text);
    char *joined = p->unsent && text ? mem_printf("%s\n\n%s", p->unsent, text) : mem_strdup(text);
    free(p->unsent);
    free(text);
    p->unsent = joined;
    save_draft(p);
}

void plain_began(struct plain *p)
{
    p->busy = true;
    p->began_ms = clock_mono_ms();
}

/* "!COMMAND" of a person; a program that writes lines gets no shell by one. */
static bool is_shell(const struct plain *p, const char *text)
{
    return p->in.terminal && slash_parse(text).kind == SLASH_SHELL;
}

static void start_turn(struct plain *p, const char *text)
{
    if (is_shell(p, text)) {
        plain_began(p);
        plain_send(p, &operation_turn_start,
                   &(struct turn_start_params){.text = text, .origin = INPUT_COMMAND});
        return;
    }
    struct turn_start_params params = {.origin = p->in.terminal ? INPUT_TYPED : INPUT_PIPED};
    AUTO(buf_release) struct buf said = BUF_INIT;
    mentions_add(&said, &p->attach);
    buf_addf(&said, "%s%s", said.len > 0 ? " " : "", text);
    auto_free char *whole = p->files ? mem_printf("%s\n\n%s", p->files, said.data) : NULL;
    mem_replace(&p->files, NULL);
    params.text = whole ? whole : said.data;
    if (p->in.terminal) { /* lines that a program writes mention no files */
        mentions_find(said.data, &params.attach);
    } else {
        params.attach = p->attach;
        p->attach = (struct mentions){0};
    }
    plain_began(p);
    plain_send(p, &operation_turn_start, &params);
    mentions_release(&params.attach);
    mentions_release(&p->attach);
    p->attach = (struct mentions){0};
    if (p->unsent) /* sending uses up the draft of the session */
        save_draft(p);
}

void plain_say(struct plain *p, const char *text)
{
    if (!p->busy) {
        start_turn(p, text);
        return;
    }
    if (is_shell(p, text)) {
        plain_keep(p, mem_strdup(text));
        plain_write(&p->out, _("A turn is running; run the command when it has ended."));
        return;
    }
    char *joined = p->waiting ? mem_printf("%s\n\n%s", p->waiting, text) : mem_strdup(text);
    free(p->waiting);
    p->waiting = joined;
    save_draft(p);
    plain_write(&p->out, _("Queued; the message is sent when the turn ends."));
}

/* Lines */

/* A terminal is always read, a pipe only when its next line can be acted on. */
static bool wants_text(const struct plain *p)
{
    return p->in.terminal || plain_is_asked(p) || (!p->busy && !p->asked.open);
}

static bool is_free(const struct plain *p)
{
    return !p->busy && !p->asked.open && !p->waiting;
}

static void take_texts(struct plain *p)
{
    while (!p->leaving && wants_text(p)) {
        auto_free char *text = plain_reader_next(&p->in);
        if (!text)
            return;
        const struct slash_line line = slash_parse(text);
        p->leave_until_ms = 0;
        plain_typed(&p->out);
        if (plain_fills(p))
            (void)plain_answer(p, text);
        else if (line.kind == SLASH_COMMAND)
            plain_command(p, text);
        else if (plain_is_asked(p) && plain_answer(p, text))
            ;
        else if (text[strspn(text, " \t\n")])
            plain_say(p, text + (line.kind == SLASH_LITERAL));
    }
}

void plain_drain(struct plain *p)
{
    struct pollfd ready = {.fd = p->in.fd, .events = POLLIN};
    if (!p->in.terminal || p->in.ended || poll(&ready, 1, 0) <= 0)
        return;
    plain_reader_fill(&p->in);
    take_texts(p);
}

/* Signals */

/* Ctrl-C stops what runs, else drops the unsent message, else leaves at the second press. */
static void take_signal(struct plain *p, int number)
{
    int64_t now_ms = clock_mono_ms();
    switch (number) {
    case SIGINT:
        plain_typed(&p->out); /* the terminal has ended the line with ^C */
        plain_write(&p->out, "");
        if (plain_stop_import(p)) {
            ;
        } else if (p->busy) {
            char *text = p->waiting;
            plain_forget_questions(p);
            plain_send(p, &operation_turn_interrupt, NULL);
            p->waiting = NULL;
            if (text)
                plain_keep(p, text);
        } else if (p->unsent) {
            plain_writef(&p->out, _("Dropped: %s"), p->unsent);
            plain_keep(p, NULL);
        } else if (now_ms < p->leave_until_ms) {
            p->leaving = true;
        } else {
            p->leave_until_ms = now_ms + LEAVE_MS;
            plain_write(&p->out, _("Ctrl-C again within two seconds quits, like /quit."));
        }
        break;
    case SIGTSTP:
        signals_stop();
        p->out.prompted = false;
        break;
    case SIGCONT:
    case SIGWINCH:
        break;
    default:
        p->signal_number = number;
        p->leaving = true;
    }
}

/* The loop */

/* The input has ended: questions are refused, and when nothing runs the program leaves. */
static void end_input(struct plain *p)
{
    if (p->in.too_long)
        plain_writef(&p->out, _("A text longer than %d MiB is not read; the input ends here."),
                     PLAIN_LINE_MAX >> 20);
    p->in.too_long = false;
    if (!plain_is_asked(p) && is_free(p))
        p->leaving = true;
    while (plain_is_asked(p))
        (void)plain_answer(p, NULL);
}

static bool run_loop(struct plain *p, struct error *e)
{
    struct mailbox *notices = engine_notices(p->engine);
    struct notice *n;
    while (!p->leaving && p->out.failed == 0) {
        bool read = wants_text(p) && !p->in.ended;
        if (!p->out.prompted && p->in.terminal && (plain_is_asked(p) || is_free(p)))
            plain_prompt(&p->out, plain_is_asked(p) ? plain_question(p) : "> ");
        struct pollfd fds[] = {{.fd = mailbox_fd(notices), .events = POLLIN},
                               {.fd = signals_fd(), .events = POLLIN},
                               {.fd = read ? p->in.fd : -1, .events = POLLIN}};
        bool held = wants_text(p) && plain_reader_holds(&p->in);
        if (poll(fds, 3, held ? 0 : -1) < 0 && errno != EINTR)
            return err_set_errno(e, ERR_AGENT_ERROR, "%s", _("cannot wait for input"));
        for (int number; (number = signals_next());)
            take_signal(p, number);
        if (read && fds[2].revents)
            plain_reader_fill(&p->in);
        take_texts(p); /* first: a line typed before a question came does not answer it */
        while (!p->leaving && (n = mailbox_pop(notices)))
            plain_take(p, n);
        if (p->waiting && !p->busy && !p->asked.open) {
            auto_free char *text = p->waiting;
            p->waiting = NULL;
            p->echo = true;
            start_turn(p, text);
            save_draft(p);
        }
        if (p->in.ended && !plain_reader_holds(&p->in))
            end_input(p);
    }
    return true;
}

/* Beginning and end */

static void greet(struct plain *p)
{
    auto_free char *charset_note = glyph_note();
    for (char *const *w = p->options->warnings; w && *w; w++)
        plain_write(&p->out, *w);
    if (charset_note)
        plain_write(&p->out, charset_note);
    plain_write(&p->out, _("tiro, line by line. /help lists the commands; a line that ends with a "
                           "backslash continues on the next line."));
    if (p->files)
        plain_write(&p->out, _("The files are attached to your first message."));
}

static void release(struct plain *p)
{
    plain_reader_release(&p->in);
    approval_release(&p->approval.view);
    session_info_release(&p->session);
    transcript_free(p->transcript);
    vec_free_each(&p->found);
    free(p->provider);
    free(p->waiting);
    free(p->unsent);
    free(p->files);
    mentions_release(&p->attach);
}

int plain_run(const struct ui_options *options, struct error *e)
{
    struct plain p = {.options = options,
                      .config = options->config,
                      .reasoning = app_reasoning(options->config),
                      .files = mem_strdup(options->first_draft),
                      .asked = {.open = true}};
    glyph_set_up(true); /* screen readers and printers know ASCII best */
    /* No mode of the terminal is changed, so a crash leaves nothing to restore. */
    if (!signals_init(NULL, e)) {
        free(p.files);
        return 1;
    }
    for (size_t i = 0; options->attach && i < options->attach->items.len; i++)
        vec_push(&p.attach.items, mem_strdup(options->attach->items.items[i]));
    p.transcript = transcript_new();
    transcript_set_hints(p.transcript, NULL, NULL, NULL,
                         config_boolean(options->config, CONFIG_COMPACTION_HINT));
    plain_reader_init(&p.in, STDIN_FILENO);
    approval_init(&p.approval, NULL);
    session_info_init(&p.session);

    greet(&p);
    p.engine = engine_new(options->engine);
    bool ok = run_loop(&p, e);
    auto_free char *ended = notices_task(&(struct notice){.flag = true, .number = p.tasks});
    plain_end_line(&p.out);
    if (ended)
        plain_write(&p.out, ended);
    engine_free(p.engine);

    errno = p.out.failed;
    if (ok && p.out.failed != 0 && p.out.failed != EPIPE)
        ok = err_set_errno(e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
    int status = p.signal_number != 0    ? 128 + p.signal_number
                 : p.out.failed == EPIPE ? 128 + SIGPIPE /* reported by the status alone */
                 : ok                    ? 0
                                         : 1;
    release(&p);
    signals_release();
    return status;
}
