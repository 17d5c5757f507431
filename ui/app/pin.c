#include "ui/app/pin.h"

#include "base/i18n.h"
#include "ui/app/turns.h"

enum { NEWEST = 0 }; /* in place of a message's number */

static void send_pin(struct app *app, int64_t message, bool pin)
{
    (void)app_ask(app, pin ? &operation_compaction_pin : &operation_compaction_unpin,
                  &(struct compaction_pin_params){.seq = message}, NULL);
}

static void pin_turn(struct app *app, const struct turn_found *turn, bool pin)
{
    if (turn->seq == 0)
        app_note(app, STYLE_WARNING,
                 ngettext("You have sent %zu message in this session.",
                          "You have sent %zu messages in this session.", turn->count),
                 turn->count);
    else
        send_pin(app, turn->seq, pin);
}

static void pin_found(struct app *app, const struct turn_found *turn)
{
    pin_turn(app, turn, true);
}

static void unpin_found(struct app *app, const struct turn_found *turn)
{
    pin_turn(app, turn, false);
}

static void run(struct app *app, const char *arguments, bool pin)
{
    size_t number;
    app_follow(app);
    if (!*arguments)
        send_pin(app, NEWEST, pin);
    else if (turns_number(arguments, &number))
        turns_find(app, number, pin ? pin_found : unpin_found);
    else
        app_note(app, STYLE_WARNING, "%s",
                 _("/pin and /unpin take the number of one of your messages, counted from 1; Tab "
                   "lists them."));
}

void pin_run(struct app *app, const char *arguments)
{
    run(app, arguments, true);
}

void unpin_run(struct app *app, const char *arguments)
{
    run(app, arguments, false);
}
