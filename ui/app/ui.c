#include "ui/app/run.h"

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
#include "ui/app/dispatch.h"
#include "ui/app/notices.h"
#include "ui/app/screen.h"
#include "ui/term/rows.h"
#include "ui/term/term.h"
#include "ui/term/tty.h"

/* Handled of one kind before the other kinds get their turn. */
#define NOTICES_MAX 256
#define KEYS_MAX 1024

static void handle_signal(struct app *app, int number)
{
    switch (number) {
    case SIGWINCH:
        term_resized();
        term_redraw(); /* the terminal may have rewrapped its text */
        approval_hidden(&app->approval);
        draft_review_hidden(&app->draft);
        app_touch_now(app, DIRTY_ALL);
        break;
    case SIGTSTP:
        dispatch_suspend(app);
        break;
    case SIGCONT: /* stopped by force: the shell has changed the terminal */
        term_suspend();
        term_resume();
        app_touch_now(app, DIRTY_ALL);
        break;
    default:
        app->signal_number = number;
        app->leaving = true;
    }
}

/* Returns whether keys are left for the next round. */
static bool handle_keys(struct app *app)
{
    struct key key;
    int count = 0;
    for (; count < KEYS_MAX && !app->leaving && term_read(&key); count++) {
        if (key.code == K_GROUND) { /* the terminal reports its background */
            app->light_ground = key.cp == 1;
            if (app->theme_name && strcmp(app->theme_name, THEME_AUTO) == 0)
                app_set_theme(app, THEME_AUTO);
        } else if (!notification_saw(&app->focus, &key)) {
            dispatch_key(app, &key);
        }
    }
    if (term_facts().hung_up) {
        app->signal_number = SIGHUP;
        app->leaving = true;
    }
    return count == KEYS_MAX;
}

/* Until the user leaves, or a signal says so. */
static bool run_loop(struct app *app, struct error *e)
{
    struct mailbox *notices = engine_notices(app->engine);
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = mailbox_fd(notices), .events = POLLIN},
                           {.fd = signals_fd(), .events = POLLIN},
                           {.fd = mailbox_fd(errands_back(app->errands)), .events = POLLIN}};
    bool keys_left = false, dozed = false;
    struct notice *n;
    struct errand *errand;
    while (!app->leaving) {
        int ready = poll(fds, 4, keys_left ? 0 : app_timeout(app, clock_mono_ms()));
        if (ready < 0 && errno != EINTR)
            return err_set_errno(e, ERR_AGENT_ERROR, "cannot wait for keys");
        /* A key may be readable before the signal that came first has been written. */
        if (ready > 0 && (fds[2].revents || fds[0].revents))
            for (int number; (number = signals_next());)
                handle_signal(app, number);
        if (keys_left || (ready > 0 && fds[0].revents))
            keys_left = handle_keys(app);
        if (dozed || (ready > 0 && fds[1].revents))
            for (int i = 0; i < NOTICES_MAX && (n = mailbox_pop(notices)); i++)
                notices_take(app, n);
        if (ready > 0 && fds[3].revents)
            while ((errand = mailbox_pop(errands_back(app->errands))))
                errand_finish(app, errand);
        int64_t now_ms = clock_mono_ms();
        app_timers(app, now_ms);
        if (!app->leaving && app_frame_due(app, now_ms))
            screen_draw(app);
        dozed = app->dirty && !app->urgent; /* a frame is due anyhow */
        mailbox_doze(notices, dozed);
    }
    return true;
}

/* The notes of the start that depend on the terminal. */
static void say_terminal(struct app *app)
{
    const char *name = getenv("TERM"), *assumed = term_facts().assumed;
    auto_free char *note = glyph_note();
    if (assumed && name && *name)
        app_note(
            app, STYLE_WARNING,
            _("The terminal \"%.60s\" (TERM) is unknown here; it is taken for %s. If the screen "
              "looks wrong, set TERM to another, or use \"tiro --plain\"."),
            name, assumed);
    else if (assumed)
        app_note(app, STYLE_WARNING,
                 _("TERM is not set; the terminal is taken for %s. If the screen looks wrong, set "
                   "TERM to its name, or use \"tiro --plain\"."),
                 assumed);
    if (note)
        app_note(app, STYLE_WARNING, "%s", note);
}

int ui_run(const struct ui_options *options, struct error *e)
{
    struct app app;
    int status = 1;
    glyph_set_up(false);
    if (!signals_init(tty_emergency_release, e))
        return 1;
    if (!term_init(NULL, config_boolean(options->config, CONFIG_UI_MOUSE), e))
        goto out;
    app_init(&app, options);
    dispatch_init(&app);
    app_set_theme(&app, config_string(options->config, CONFIG_UI_THEME));
    say_terminal(&app);
    screen_draw(&app);
    struct engine_options engine = *options->engine;
    engine.many = true;
    app.engine = engine_new(&engine);
    bool left = run_loop(&app, e);
    app_save_draft(&app);
    term_release();
    engine_free(app.engine);
    status = app.signal_number ? 128 + app.signal_number : left ? 0 : 1;
    app_release(&app);
out:
    signals_release();
    return status;
}
