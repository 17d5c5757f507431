/* Learned memory in lines: /remember, /learned and /memory off, read or write. */
#include <string.h>

#include "base/i18n.h"
#include "session/learned_operations.h"
#include "ui/app/cards.h"
#include "ui/app/plain_private.h"

enum { LISTED = 30 };

static void write_item(struct plain *p, const struct learned_item *item)
{
    plain_writef(&p->out, "%s  %s  %s", item->id, learned_state_word(item->state), item->text);
}

static void take_items(struct plain *p, struct operation_answer *a)
{
    const struct learned_items *items = a->result;
    for (size_t i = 0; i < items->items.len; i++)
        write_item(p, &items->items.items[i]);
    if (items->items.len == 0)
        plain_write(&p->out, _("Nothing was learned of this project yet. /remember TEXT keeps "
                               "something."));
    else
        plain_write(&p->out,
                    _("/learned accept, reject or forget and an id changes one of these."));
}

static void take_forgettable(struct plain *p, struct operation_answer *a)
{
    const struct learned_items *items = a->result;
    for (size_t i = 0; i < items->items.len; i++)
        write_item(p, &items->items.items[i]);
    if (items->items.len > 0)
        plain_write(&p->out, _("/learned forget ID deletes one of these."));
}

void plain_find_learned(struct plain *p, const char *query)
{
    const struct learned_search_params params = {.query = query, .limit = LISTED};
    plain_ask(p, &operation_learned_search, &params, take_forgettable);
}

static void take_item(struct plain *p, struct operation_answer *a)
{
    write_item(p, a->result);
}

static void take_added(struct plain *p, struct operation_answer *a)
{
    write_item(p, &((const struct learned_add_result *)a->result)->item);
}

static void take_done(struct plain *p, struct operation_answer *a)
{
    (void)a;
    plain_write(&p->out, _("Done."));
}

void plain_remember(struct plain *p, const char *arguments)
{
    const struct learned_add_params params = {.text = arguments};
    plain_ask(p, &operation_learned_add, &params, take_added);
}

static void accept(struct plain *p, const char *id)
{
    plain_ask(p, &operation_learned_accept, &(struct learned_id_params){id}, take_item);
}

static void reject(struct plain *p, const char *id)
{
    plain_ask(p, &operation_learned_reject, &(struct learned_id_params){id}, take_item);
}

static void forget(struct plain *p, const char *id)
{
    const struct learned_forget_params params = {.ids = {.items = &id, .len = 1}};
    plain_ask(p, &operation_learned_forget, &params, take_done);
}

static void restore(struct plain *p, const char *nothing)
{
    (void)nothing;
    plain_ask(p, &operation_learned_restore, NULL, take_item);
}

void plain_learned(struct plain *p, const char *arguments)
{
    static const struct {
        const char *word;
        void (*run)(struct plain *p, const char *id);
    } verbs[] = {{"accept", accept}, {"reject", reject}, {"forget", forget}, {"restore", restore}};
    const struct learned_list_params all = {.limit = LISTED};
    const struct learned_search_params search = {.query = arguments, .limit = LISTED};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t len = strlen(verbs[i].word);
        if (strncmp(arguments, verbs[i].word, len) == 0 && strchr(" ", arguments[len])) {
            verbs[i].run(p, arguments + len + strspn(arguments + len, " "));
            return;
        }
    }
    if (*arguments)
        plain_ask(p, &operation_learned_search, &search, take_items);
    else
        plain_ask(p, &operation_learned_list, &all, take_items);
}

bool plain_set_access(struct plain *p, const char *word)
{
    struct session_memory_params params = {.access = MEMORY_ACCESS_WRITE};
    bool is = cards_access_of(word, &params.access);
    if (is)
        plain_ask(p, &operation_session_set_memory, &params, take_done);
    return is;
}
