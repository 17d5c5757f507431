/* rename, label, archive, unarchive, fork, delete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/verb.h"
#include "session/extractor.h"

static bool change(struct operation_context *c, const struct operation *o, const void *params,
                   struct error *e)
{
    struct session_changed changed;
    return operation_call(c, o, params, &changed, e);
}

static bool run_rename(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct session_rename_params params = {.session = o->words.items[0],
                                                 .title = o->words.items[1]};
    return change(c, &operation_session_rename, &params, e);
}

const struct verb verb_sessions_rename =
    VERB(operation_session_rename, run_rename, .name = "rename",
         .synopsis = "sessions rename SESSION TITLE",
         .help = N_("change the title of a session; an empty title restores the first"),
         .details = NAMES_A_SESSION, VERB_WORDS(2, 2, OFFER_SESSIONS, .first = true));

static bool run_label(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    char *changes = verb_join(o, 1);
    const struct session_label_params params = {.session = o->words.items[0], .changes = changes};
    bool ok = change(c, &operation_session_label, &params, e);
    free(changes);
    return ok;
}

const struct verb verb_sessions_label =
    VERB(operation_session_label, run_label, .name = "label",
         .synopsis = "sessions label SESSION [+]LABEL|-LABEL...",
         .help = N_("add labels to a session, or remove them"), .details = NAMES_A_SESSION,
         VERB_WORDS(2, CLI_MANY, OFFER_SESSIONS, .first = true), .dashes = true);

bool sessions_change_one(struct operation_context *c, const struct operation *o,
                         const char *session, struct error *e)
{
    const struct session_params params = {.session = session};
    return change(c, o, &params, e);
}

void sessions_add_fault(struct error *e, const struct error *fault)
{
    if (e->code != ERR_OK)
        cli_fail(e);
    *e = *fault;
}

/* One that cannot be changed does not keep the others from it. */
static bool change_each(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    for (size_t i = 0; i < o->words.len; i++) {
        struct error fault = {0};
        if (!sessions_change_one(c, o->verb->operation, o->words.items[i], &fault))
            sessions_add_fault(e, &fault);
    }
    return e->code == ERR_OK;
}

/* What cannot be asked of a model now does not undo the archiving. */
static bool run_archive(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct error fault = {0};
    int proposed;
    bool ok = change_each(c, o, e);
    if (!extractor_run(c, &proposed, &fault))
        fprintf(stderr,
                _("tiro: no model was asked what to remember; the next try is at the next "
                  "start: %s\n"),
                fault.text);
    if (proposed > 0)
        fprintf(stderr,
                ngettext("%d item waits to be remembered; a model proposed it. tiro learned list "
                         "shows it.\n",
                         "%d items wait to be remembered; a model proposed some. tiro learned list "
                         "shows them.\n",
                         (unsigned long)proposed),
                proposed);
    return ok;
}

const struct verb verb_sessions_archive =
    VERB(operation_session_archive, run_archive, .name = "archive",
         .synopsis = "sessions archive SESSION...", .help = N_("archive sessions"),
         .details = NAMES_A_SESSION, VERB_WORDS(1, CLI_MANY, OFFER_SESSIONS));

const struct verb verb_sessions_unarchive = VERB(
    operation_session_unarchive, change_each, .name = "unarchive",
    .synopsis = "sessions unarchive SESSION...", .help = N_("move sessions out of the archive"),
    .details = NAMES_A_SESSION, VERB_WORDS(1, CLI_MANY, OFFER_SESSIONS));

void sessions_print_made(const struct operation *o, struct session_info *made, bool json)
{
    if (json)
        verb_print_json(o, NULL, made);
    else
        puts(made->id);
    session_info_release(made);
}

static bool run_fork(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    const struct session_fork_params params = {
        .session = o->words.items[0], .at = o->at, .before_compaction = o->before_compaction};
    struct session_info fork;
    if (!operation_call(c, &operation_session_fork, &params, &fork, e))
        return false;
    sessions_print_made(&operation_session_fork, &fork, o->json);
    return true;
}

static bool take_at(const struct option *self, void *options, const char *value, struct error *e)
{
    struct verb_options *o = options;
    o->before_compaction = strcmp(value, "~before-compaction") == 0;
    return o->before_compaction || cli_number(self->name, value, INT64_MAX, &o->at, e);
}

static const struct option fork_options[] = {
    {"at", 0, OPTION_VALUE, "N",
     N_("up to the message of event N (\"seq\" of show --json), or ~before-compaction; default: "
        "all"),
     .take = take_at},
    VERB_JSON,
    {0},
};

const struct verb verb_sessions_fork =
    VERB(operation_session_fork, run_fork, .name = "fork",
         .synopsis = "sessions fork [OPTION]... SESSION",
         .help = N_("start a session with the messages of another; prints its id"),
         .details = NAMES_A_SESSION, .options = fork_options, VERB_WORDS(1, 1, OFFER_SESSIONS));

static bool is_among(const struct session_list *list, const char *id)
{
    for (size_t i = 0; i < list->items.len; i++)
        if (strcmp(list->items.items[i].id, id) == 0)
            return true;
    return false;
}

/* All that are named, each once: before the first goes, as "last" is another one afterwards. */
static bool find_all(struct operation_context *c, const struct verb_options *o,
                     struct session_list *out, struct error *e)
{
    for (size_t i = 0; i < o->words.len; i++) {
        struct session_info info;
        const struct session_params params = {.session = o->words.items[i]};
        if (!operation_call(c, &operation_session_read, &params, &info, e))
            return false;
        if (is_among(out, info.id))
            session_info_release(&info);
        else
            vec_push(&out->items, info);
    }
    return true;
}

static bool may_delete(const struct session_list *list, bool yes, struct error *e)
{
    struct buf text = BUF_INIT;
    size_t count = list->items.len;
    for (size_t i = 0; i < count; i++) {
        const struct session_info *s = &list->items.items[i];
        buf_addf(&text, "%s  ", sessions_short_id(s->id));
        utf8_clean(&text, s->title, strlen(s->title), UTF8_ONE_LINE);
        buf_addch(&text, '\n');
    }
    buf_addf(&text,
             ngettext("Delete %zu session for good? [y/N] ", "Delete %zu sessions for good? [y/N] ",
                      (unsigned long)count),
             count);
    bool may = verb_may_delete(yes, &text, e);
    buf_release(&text);
    return may;
}

static bool run_delete(struct operation_context *c, const struct verb_options *o, struct error *e)
{
    struct session_list list = {0};
    bool ok = find_all(c, o, &list, e) && may_delete(&list, o->yes, e);
    for (size_t i = 0; ok && i < list.items.len; i++) {
        struct error fault = {0};
        if (!sessions_change_one(c, &operation_session_delete, list.items.items[i].id, &fault))
            sessions_add_fault(e, &fault);
    }
    session_list_release(&list);
    return e->code == ERR_OK;
}

static const struct option delete_options[] = {VERB_YES, {0}};

const struct verb verb_sessions_delete =
    VERB(operation_session_delete, run_delete, .name = "delete",
         .synopsis = "sessions delete [--yes] SESSION...",
         .help = N_("delete sessions with all their messages and entries of memory"),
         .details = N_("Asks once; without a terminal, --yes is required."),
         .options = delete_options, VERB_WORDS(1, CLI_MANY, OFFER_SESSIONS));
