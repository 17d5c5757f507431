#include "ui/app/cards.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/learned_operations.h"
#include "ui/view/memory_view.h"

enum { SHOWN_BYTES = 120, LISTED = 1000 };

/* Cards */

static void remove_card(struct app *app, const char *id)
{
    for (size_t i = app->cards.len; i-- > 0;)
        if (strcmp(app->cards.items[i].id, id) == 0) {
            free(app->cards.items[i].id);
            free(app->cards.items[i].text);
            vec_remove(&app->cards, i, 1);
        }
}

static void add_card(struct app *app, const char *id, const char *text, bool active)
{
    remove_card(app, id);
    const struct learned_card card = {
        .id = mem_strdup(id), .text = mem_strdup(text), .active = active};
    vec_push(&app->cards, card);
}

static char *shown(const char *text)
{
    AUTO(buf_release) struct buf cut = BUF_INIT;
    struct buf out = BUF_INIT;
    utf8_add_cut(&cut, text, strlen(text), SHOWN_BYTES);
    utf8_clean(&out, cut.data, cut.len, UTF8_ONE_LINE);
    return buf_take(&out);
}

static char *keys_of(const struct app *app, enum action action)
{
    struct buf out = BUF_INIT;
    keymap_describe_first(&app->keymap, action, &out);
    return out.len > 0 ? buf_take(&out) : mem_strdup("-");
}

/* The keys of the newest card. */
static void say_keys(struct app *app, bool active)
{
    auto_free char *accept = keys_of(app, ACTION_LEARNED_ACCEPT);
    auto_free char *edit = keys_of(app, ACTION_LEARNED_EDIT);
    auto_free char *reject = keys_of(app, ACTION_LEARNED_REJECT);
    size_t waiting = 0;
    for (size_t i = 0; i < app->cards.len; i++)
        waiting += !app->cards.items[i].active;
    if (active)
        app_note_briefly(app, STYLE_NOTE, _("%s undoes it · %s changes it"), reject, edit);
    else if (waiting > 1)
        app_note_briefly(
            app, STYLE_NOTE,
            _("the newest: %s keeps it · %s changes it · %s rejects it · or later: /learned"),
            accept, edit, reject);
    else
        app_note_briefly(app, STYLE_NOTE,
                         _("%s keeps it · %s changes it · %s rejects it · or later: /learned"),
                         accept, edit, reject);
}

void cards_event(struct app *app, const struct event *ev, bool live)
{
    if (ev->type == EVENT_LEARNED_NOTED && live && ev->id && ev->text) {
        add_card(app, ev->id, ev->text, ev->flag);
        app->cards_new = true;
    } else if (ev->type == EVENT_CALL_STARTED) {
        if (app->cards_new && app->cards.len > 0)
            say_keys(app, vec_last(&app->cards).active);
        app->cards_new = false;
    }
}

/* Marks the noted items of a page: the log does not contain the decisions. */
static bool take_decided(struct app *app, struct operation_answer *a, const char *words)
{
    const struct learned_items *found = a->result;
    for (size_t i = 0; !words && i < found->items.len; i++) {
        const struct learned_item *item = &found->items.items[i];
        auto_free char *text = shown(item->text);
        if (item->state != LEARNED_CANDIDATE)
            transcript_decided(app->transcript, item->id, item->state != LEARNED_REJECTED, text);
    }
    return true;
}

void cards_page_came(struct app *app, const struct notice *n)
{
    const struct learned_list_params params = {.session = app->session.id};
    bool noted = false;
    for (size_t i = 0; i < n->events.len; i++)
        noted = noted || n->events.items[i]->type == EVENT_LEARNED_NOTED;
    if (noted)
        (void)app_ask(app, &operation_learned_list, &params, take_decided);
}

static bool take_waiting(struct app *app, struct operation_answer *a, const char *words)
{
    const struct learned_stats *stats = a->result;
    int count = words ? 0 : (int)stats->candidates;
    if (count > 0)
        app_note(app, STYLE_NOTE,
                 ngettext("%d item waits to be remembered. /learned shows it.",
                          "%d items wait to be remembered. /learned shows them.",
                          (unsigned long)count),
                 count);
    return true;
}

void cards_begin(struct app *app)
{
    static const struct learned_stats_params here = {.session = NULL};
    if (app->pane_host.offers(app, &operation_learned_stats))
        (void)app_ask(app, &operation_learned_stats, &here, take_waiting);
}

static const struct learned_card *waiting_card(const struct app *app)
{
    for (size_t i = app->cards.len; i-- > 0;)
        if (!app->cards.items[i].active)
            return &app->cards.items[i];
    return NULL;
}

/* Decisions */

static bool take_decision(struct app *app, struct operation_answer *a, const char *words)
{
    if (words)
        return false;
    const struct learned_item *item = a->result;
    bool kept = !operation_answers(a, &operation_learned_reject);
    auto_free char *text = shown(item->text);
    if (kept)
        add_card(app, item->id, item->text, true);
    else
        remove_card(app, item->id);
    transcript_decided(app->transcript, item->id, kept, text);
    app_note(app, STYLE_NOTE, kept ? _("Remembered: %s") : _("Not remembered: %s"), text);
    if (kept)
        say_keys(app, true);
    /* The next card that waits is shown. */
    const struct learned_card *next = waiting_card(app);
    if (next) {
        auto_free char *waits = shown(next->text);
        app_note(app, STYLE_NOTE, _("Remember this? %s"), waits);
        say_keys(app, false);
    }
    return true;
}

static void decide(struct app *app, const struct operation *o, const char *id)
{
    const struct learned_id_params params = {.id = id};
    app_follow(app);
    (void)app_ask(app, o, &params, take_decision);
}

void cards_decide(struct app *app, enum action action)
{
    const struct learned_card *card = action == ACTION_LEARNED_ACCEPT ? waiting_card(app)
                                      : app->cards.len > 0            ? &vec_last(&app->cards)
                                                                      : NULL;
    if (!card) {
        app_note_briefly(app, STYLE_WARNING, "%s",
                         _("No proposal waits for your answer; /learned lists what was learned."));
    } else if (action == ACTION_LEARNED_ACCEPT) {
        decide(app, &operation_learned_accept, card->id);
    } else if (action == ACTION_LEARNED_REJECT) {
        decide(app, &operation_learned_reject, card->id);
    } else if (*editor_text(app->editor)) {
        app_note_briefly(app, STYLE_WARNING, "%s", _("Send or clear what is written first."));
    } else { /* as /remember, which then changes the item */
        free(app->reworded);
        app->reworded = mem_strdup(card->id);
        auto_free char *line = mem_printf("/remember %s", card->text);
        editor_paste(app->editor, line, strlen(line));
        app_edited(app);
    }
}

/* The answer to /remember, /learned forget and /learned restore. A restored item needs no card. */
static bool take_changed(struct app *app, struct operation_answer *a, const char *words)
{
    const struct learned_forget_params *forgotten =
        operation_answers(a, &operation_learned_forget) ? a->request->params : NULL;
    const struct learned_add_result *added =
        operation_answers(a, &operation_learned_add) ? a->result : NULL;
    const struct learned_item *item = added ? &added->item : a->result;
    if (words)
        return false;
    if (forgotten) {
        for (size_t i = 0; i < forgotten->ids.len; i++)
            remove_card(app, forgotten->ids.items[i]);
        app_note(app, STYLE_NOTE, "%s", _("Forgotten. /learned restore brings it back."));
        return true;
    }
    if (operation_answers(a, &operation_learned_edit)) { /* a reworded proposal is accepted */
        decide(app, &operation_learned_accept, item->id);
        return true;
    }
    auto_free char *text = shown(item->text);
    if (added)
        add_card(app, item->id, item->text, true);
    app_note(app, STYLE_NOTE, added && added->known ? _("Known already: %s") : _("Remembered: %s"),
             text);
    if (added)
        say_keys(app, true);
    return true;
}

void cards_remember(struct app *app, const char *text)
{
    auto_free char *id = app->reworded;
    app->reworded = NULL;
    app_follow(app);
    if (id) {
        const struct learned_edit_params params = {.id = id, .text = text};
        (void)app_ask(app, &operation_learned_edit, &params, take_changed);
    } else {
        const struct learned_add_params params = {.text = text};
        (void)app_ask(app, &operation_learned_add, &params, take_changed);
    }
}

/* /learned and /forget */

static bool take_found(struct app *app, struct operation_answer *a, const char *words)
{
    if (words)
        return false;
    const struct learned_items *items = a->result;
    int count = (int)items->items.len;
    AUTO(buf_release) struct buf key = BUF_INIT, text = BUF_INIT;
    keymap_describe_first(&app->keymap, ACTION_PANE_NEXT, &key);
    buf_addf(&text,
             ngettext("%d learned item has these words, too; %s shows it.",
                      "%d learned items have these words, too; %s shows them.",
                      (unsigned long)count),
             count, key.data ? key.data : "");
    if (count > 0)
        memory_view_say(app->memory, text.data);
    return true;
}

/* With a query the keyboard goes to its hits, and the number of learned items that match is shown.
 */
void cards_forget(struct app *app, const char *arguments)
{
    const struct learned_search_params params = {.query = arguments, .limit = LISTED};
    if (*arguments) /* so that the tab of learned items shows the same query */
        (void)memory_view_open_tab(app->memory, "learned", arguments);
    memory_view_open(app->memory, arguments);
    if (!*arguments)
        return;
    memory_view_to_hits(app->memory);
    (void)app_ask(app, &operation_learned_search, &params, take_found);
}

void cards_show(struct app *app, const char *arguments)
{
    enum { FORGET, RESTORE, ACCEPT, REJECT, VERBS };
    static const char *const verbs[] = {"forget", "restore", "accept", "reject"};
    int verb = 0;
    for (; verb < VERBS; verb++) {
        size_t len = strlen(verbs[verb]);
        if (strncmp(arguments, verbs[verb], len) == 0 && strchr(" ", arguments[len]))
            break;
    }
    const char *id = arguments + strcspn(arguments, " ");
    id += strspn(id, " ");
    if (verb < VERBS)
        app_follow(app);
    if (verb == FORGET)
        (void)app_ask(app, &operation_learned_forget,
                      &(struct learned_forget_params){.ids = {.items = &id, .len = 1}},
                      take_changed);
    else if (verb == RESTORE)
        (void)app_ask(app, &operation_learned_restore, NULL, take_changed);
    else if (verb < VERBS)
        decide(app, verb == ACCEPT ? &operation_learned_accept : &operation_learned_reject, id);
    else if (!memory_view_open_tab(app->memory, "learned", arguments))
        memory_view_open(app->memory, ""); /* says why there is none */
}

/* Access to memory */

static bool take_access(struct app *app, struct operation_answer *a, const char *words)
{
    static const char *const texts[] = {
        [MEMORY_ACCESS_OFF] = N_("Memory is off in this session: nothing is recalled and nothing "
                                 "remembered."),
        [MEMORY_ACCESS_READ] =
            N_("Memory is read only in this session: nothing new is remembered."),
        [MEMORY_ACCESS_WRITE] = N_("Memory is read and written in this session."),
    };
    const struct session_memory_params *p = a->request->params;
    if (!words)
        app_note_briefly(app, STYLE_NOTE, "%s", _(texts[p->access]));
    return !words;
}

void cards_next_access(struct app *app)
{
    bool last = app->meters.access == MEMORY_ACCESS_OFF;
    const struct session_memory_params params = {.access = last ? MEMORY_ACCESS_WRITE
                                                                : app->meters.access - 1};
    (void)app_ask(app, &operation_session_set_memory, &params, take_access);
}

bool cards_access_of(const char *word, enum memory_access *access)
{
    *access = MEMORY_ACCESS_WRITE;
    if (strcmp(word, "on") == 0) /* as the status line calls it */
        return true;
    for (int i = 0; i < memory_access_names.count; i++)
        if (strcmp(word, memory_access_names.words[i]) == 0) {
            *access = (enum memory_access)i;
            return true;
        }
    return false;
}

void cards_memory(struct app *app, const char *arguments)
{
    struct session_memory_params params = {0};
    if (cards_access_of(arguments, &params.access))
        (void)app_ask(app, &operation_session_set_memory, &params, take_access);
    else
        memory_view_open(app->memory, arguments);
}

void cards_recalled(struct app *app)
{
    memory_view_open_recalled(app->memory);
}
