/* A person at a terminal in the kill campaign: writes, sends, and changes the session, until the
 * program is hit or left. Waits end with the program. */
#include <signal.h>

#include "tests/kill_private.h"
#include "tests/scene.h"
#include "tests/suite.h"

enum { ROWS = 30, COLUMNS = 90, LONGEST = 6, SOON_MS = 1500 };

struct chat {
    struct kill_stage *stage;
    struct screen *screen;
    struct kill_session *session; /* NULL: none that is known */
    struct kill_session *left;    /* it may still be there: what leaves it can be refused */
    double since;                 /* when the newest question was sent */
    bool hung_up;                 /* nobody saw what became of the terminal */
};

static long most; /* calls that a chat came to so far */

static bool is_alive(const struct chat *c)
{
    return screen_status(c->screen) < 0;
}

/* False when the program ended before. */
static bool wait_for(struct chat *c, bool (*holds)(struct chat *c, const char *text),
                     const char *text)
{
    double until = screen_clock() + KILL_DEADLINE_MS;
    while (is_alive(c)) {
        if (holds(c, text))
            return true;
        if (screen_clock() > until) {
            screen_dump(c->screen, text);
            fail_msg("waited in vain for \"%s\"", text);
        }
        screen_pump(c->screen, 50);
    }
    return false;
}

static bool is_shown(struct chat *c, const char *text)
{
    return strstr(screen_text(c->screen), text) != NULL;
}

/* The caret stands in the editor, whose text may have several rows. */
static bool is_idle(struct chat *c, const char *text)
{
    int row, col;
    bool visible;
    (void)text;
    screen_cursor(c->screen, &row, &col, &visible);
    while (row > ROWS / 2 && !screen_cell_is(c->screen, row, 0, '>'))
        row--;
    return visible && screen_alternate(c->screen) && screen_cell_is(c->screen, row, 0, '>') &&
           !is_shown(c, "Esc stops");
}

static void type(struct chat *c, const char *text)
{
    kill_texts_add(&c->stage->model.typed, text);
    screen_type(c->screen, text);
}

static void send(struct chat *c, const char *text)
{
    type(c, text);
    screen_key(c->screen, SCREEN_ENTER);
}

/* --- actions of a user ------------------------------------------------------------------------ */

static void promise_answer(struct chat *c, int number, const char *word)
{
    auto_free char *sql = mem_printf(
        "SELECT count(*) FROM event WHERE type = 'text_complete'"
        " AND payload LIKE '%%answer-%d: %s%%'",
        number, word);
    kill_promise(c->stage, sql);
}

static bool is_answered_or_refused(struct chat *c, const char *answer)
{
    return is_shown(c, answer) || (is_shown(c, "> ask-") && screen_clock() - c->since > SOON_MS);
}

/* Sends it, and waits for its answer. False when there is none: the program was hit, or refused it,
 * as it does while it still compacts. */
static bool question_is_answered(struct chat *c, const char *question, const char *answer)
{
    send(c, question);
    c->since = screen_clock();
    return wait_for(c, is_answered_or_refused, answer) && is_shown(c, answer);
}

/* An answer that the screen shows as complete must be kept. */
static void ask(struct chat *c)
{
    static const enum kill_plan plans[] = {KILL_PLAN_PLAIN, KILL_PLAN_LONG, KILL_PLAN_REASONED,
                                           KILL_PLAN_READS, KILL_PLAN_RETRIED};
    char word[KILL_WORD_LEN + 1];
    int number = ++c->stage->number;
    kill_word(word);
    auto_free char *question = kill_question(number, plans[kill_below(5)], word, 0);
    auto_free char *answer = mem_printf("answer-%d", number);
    if (c->session)
        kill_texts_add(&c->session->archived.tried, "no");
    if (question_is_answered(c, question, answer) && wait_for(c, is_idle, "the end of a turn"))
        promise_answer(c, number, word);
}

static void ask_and_interrupt(struct chat *c)
{
    char word[KILL_WORD_LEN + 1];
    int number = ++c->stage->number;
    kill_word(word);
    auto_free char *question = kill_question(number, KILL_PLAN_STALLED, word, 0);
    auto_free char *answer = mem_printf("answer-%d", number);
    if (question_is_answered(c, question, answer)) {
        screen_key(c->screen, SCREEN_ESCAPE);
        if (wait_for(c, is_idle, "the end of a turn"))
            promise_answer(c, number, word);
    }
}

static void write_draft(struct chat *c)
{
    auto_free char *text = mem_printf("a draft %d that nobody sends", ++c->stage->number);
    type(c, text);
    wait_for(c, is_shown, text);
}

/* The new title is only a possibility: if another program has the session open, another session
 * gets the title. */
static void rename_it(struct chat *c)
{
    auto_free char *title = mem_printf("Named %d", ++c->stage->number);
    auto_free char *command = mem_printf("/rename %s", title);
    if (c->session || c->left)
        kill_texts_add(&(c->session ? c->session : c->left)->title.tried, title);
    send(c, command);
    wait_for(c, is_idle, "the prompt");
}

static void command(struct chat *c)
{
    static const char *const words[] = {"/pin",     "/unpin",   "/pin 1",     "/compact",
                                        "/compact", "/compact", "/uncompact", "/label +x"};
    send(c, words[kill_below(sizeof words / sizeof *words)]);
    wait_for(c, is_idle, "the prompt");
}

/* After leaving, the test does not know which session is in front. */
static void leave_session(struct chat *c)
{
    static const char *const words[] = {"/fork", "/archive", "/new", "/fork 1"};
    if (c->session) {
        kill_texts_add(&c->session->archived.tried, "yes");
        kill_texts_add(&c->session->archived.tried, "no");
        c->left = c->session;
    }
    send(c, words[kill_below(4)]);
    wait_for(c, is_idle, "the prompt");
    c->session = NULL;
}

static void take_step(struct chat *c)
{
    static void (*const acts[])(struct chat *) = {
        ask, ask, ask, ask_and_interrupt, write_draft, rename_it, command, command, leave_session};
    screen_ctrl(c->screen, 'u'); /* a command would be written behind a draft */
    acts[kill_below(sizeof acts / sizeof *acts)](c);
}

/* --- its end ---------------------------------------------------------------------------------- */

static void leave(struct chat *c)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGKILL};
    size_t how = kill_below(6);
    if (!is_alive(c))
        return;
    if (how < 4)
        screen_signal(c->screen, signals[how]);
    else
        screen_ctrl(c->screen, 'c');
    if (how == 5 && is_alive(c))
        screen_ctrl(c->screen, 'd');
    c->hung_up = how == 4;
    if (c->hung_up)
        screen_hang_up(c->screen);
}

static bool has_ended(struct chat *c, const char *text)
{
    (void)text;
    return !is_alive(c);
}

void kill_chat(struct kill_stage *stage)
{
    struct chat c = {.stage = stage};
    struct kill_argv argv = {0};
    struct kill_moment moment = kill_choose_moment(most);
    struct kill_watch *watch = kill_watch_new(moment.at, moment.signal_number);
    c.session = kill_choose_session(stage);
    kill_watch_argv(watch, &argv);
    vec_push(&argv.items, support_program());
    vec_push(&argv.items, c.session ? "--resume" : NULL);
    vec_push(&argv.items, c.session ? c.session->id : NULL);
    vec_push(&argv.items, NULL);
    c.screen = screen_start(argv.items.items, stage->work, ROWS, COLUMNS);
    if (c.session)
        kill_texts_add(&c.session->archived.tried, "no");
    wait_for(&c, is_idle, "the prompt");
    for (size_t i = kill_below(LONGEST); i-- > 0 && is_alive(&c);)
        take_step(&c);
    leave(&c);
    wait_for(&c, has_ended, "the program's end");
    int status = screen_status(c.screen);
    struct kill_count count = kill_watch_end(watch);
    most = count.exact && count.calls > most ? count.calls : most;
    kill_trace("chat", c.session ? c.session->id : "", status, count.calls);
    if (status != 0 && status <= 128)
        fail_msg("a chat ended with status %d: %s", status, screen_text(c.screen));
    if (status != 128 + SIGKILL && !c.hung_up)
        scene_assert_restored(c.screen);
    kill_count_end(stage, status);
    stage->chats++;
    screen_free(c.screen);
    vec_release(&argv.items);
}
