#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "ui/view/sessions_private.h"

static bool opens(enum command_type command)
{
    return command == COMMAND_RESUME || command == COMMAND_OPEN || command == COMMAND_FORK;
}

static bool changes(enum command_type command)
{
    return command == COMMAND_RENAME || command == COMMAND_LABEL || command == COMMAND_ARCHIVE ||
           command == COMMAND_DELETE;
}

static enum sessions_input input_of(enum command_type command)
{
    return command == COMMAND_RENAME   ? INPUT_TITLE
           : command == COMMAND_LABEL  ? INPUT_LABELS
           : command == COMMAND_DELETE ? INPUT_DELETE
                                       : INPUT_NONE;
}

/* At once: what is gone cannot be asked for. */
static void forget_session(struct sessions *s, const char *id)
{
    for (size_t i = s->list.items.len; i-- > 0;)
        if (strcmp(s->list.items.items[i].id, id) == 0) {
            session_info_release(&s->list.items.items[i]);
            vec_remove(&s->list.items, i, 1);
            s->matching--;
        }
    for (size_t i = s->hits.items.len; i-- > 0;)
        if (strcmp(s->hits.items.items[i].session_id, id) == 0) {
            free(s->hits.items.items[i].title);
            free(s->hits.items.items[i].snippet);
            vec_remove(&s->hits.items, i, 1);
        }
    if (strcmp(s->previewed.id, id) == 0)
        sessions_forget_preview(s);
    s->all -= s->all > 0;
    sessions_stay_within(s);
}

/* At once: the next key may be the same one, and would do the same again. */
static void mark_archived(struct sessions *s, const char *id, bool archived)
{
    for (size_t i = 0; i < s->list.items.len; i++)
        if (strcmp(s->list.items.items[i].id, id) == 0)
            s->list.items.items[i].archived_ms = archived ? clock_wall_ms() : 0;
    for (size_t i = 0; i < s->hits.items.len; i++)
        if (strcmp(s->hits.items.items[i].session_id, id) == 0)
            s->hits.items.items[i].archived = archived;
}

static void say_done(struct sessions *s, const struct notice *n)
{
    const char *text = n->command == COMMAND_RENAME   ? _("Renamed.")
                       : n->command == COMMAND_LABEL  ? _("The labels are changed.")
                       : n->command == COMMAND_DELETE ? _("Deleted.")
                       : n->number == 1               ? _("Moved out of the archive.")
                                                      : _("Archived.");
    sessions_say(s, STYLE_NOTE, text);
}

bool sessions_done(struct sessions *s, const struct notice *n)
{
    if (!changes(n->command))
        return false;
    sessions_input_answered(s, input_of(n->command), true);
    say_done(s, n);
    if (n->command == COMMAND_DELETE && n->text)
        forget_session(s, n->text);
    else if (n->command == COMMAND_ARCHIVE && n->text)
        mark_archived(s, n->text, n->number == 0);
    sessions_forget_question(s, &s->list_question);
    sessions_forget_question(s, &s->search_question);
    sessions_forget_question(s, &s->preview_question);
    s->pinned = true;
    sessions_ask(s);
    return true;
}

bool sessions_failed(struct sessions *s, enum command_type command, const char *words)
{
    if (!changes(command) && !opens(command))
        return false;
    if (opens(command))
        s->opening = false;
    sessions_input_answered(s, input_of(command), false);
    sessions_say(s, STYLE_ERROR, words);
    return true;
}
