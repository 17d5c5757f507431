#include "ui/app/attention.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/app/app.h"
#include "ui/term/term.h"

bool attention_is_due(const struct config *config, enum focus focus, int64_t took_ms)
{
    int64_t after = config_integer(config, CONFIG_UI_NOTIFY_AFTER);
    bool off = notification_by_word(config_string(config, CONFIG_UI_NOTIFY)) == NOTIFICATION_OFF;
    return !off && after > 0 && took_ms >= after * 1000 && focus != FOCUS_HERE;
}

bool attention_saw(enum focus *focus, const struct key *key)
{
    bool told = key->code == K_FOCUS_IN || key->code == K_FOCUS_OUT;
    if (told)
        *focus = key->code == K_FOCUS_IN ? FOCUS_HERE : FOCUS_ELSEWHERE;
    else if (*focus == FOCUS_ELSEWHERE && key->code <= K_F)
        *focus = FOCUS_HERE;
    return told;
}

/* In which conversation, and what. */
static void tell(struct app *app, const char *what)
{
    const char *title = app->session.title;
    struct buf text = BUF_INIT;
    if (title && *title) {
        utf8_clean(&text, title, strlen(title), UTF8_ONE_LINE);
        buf_addstr(&text, ": ");
    }
    utf8_clean(&text, what, strlen(what), UTF8_ONE_LINE);
    term_notify(notification_by_word(config_string(app->config, CONFIG_UI_NOTIFY)), text.data);
    buf_release(&text);
}

void attention_turn_ended(struct app *app)
{
    if (attention_is_due(app->config, app->focus, clock_mono_ms() - app->activity.started_ms))
        tell(app, app->activity.failed ? _("the turn failed") : _("the answer is complete"));
}

void attention_asked(struct app *app, const char *what)
{
    if (attention_is_due(app->config, app->focus, INT64_MAX))
        tell(app, what);
}
