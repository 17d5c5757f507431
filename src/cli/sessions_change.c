#include <stdio.h>
#include <stdlib.h>

#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/sessions.h"

char *sessions_join(const struct sessions_options *o, size_t first)
{
    struct buf text = BUF_INIT;
    for (size_t i = first; i < o->words.len; i++)
        buf_addf(&text, "%s%s", i > first ? " " : "", o->words.items[i]);
    return buf_take(&text);
}

void sessions_print_made(const struct operation *o, struct session_info *made, bool json)
{
    if (!json)
        puts(made->id);
    else
        output_json(shape_to_json(o->result, made));
    session_info_release(made);
}

static int change(struct operation_context *c, const struct operation *o, const void *params)
{
    struct session_changed changed;
    struct error e = {0};
    return operation_call(c, o, params, &changed, &e) ? 0 : cli_fail(&e);
}

int verb_rename(struct operation_context *c, const struct sessions_options *o)
{
    const struct session_rename_params params = {.session = o->words.items[0],
                                                 .title = o->words.items[1]};
    return change(c, &operation_session_rename, &params);
}

int verb_label(struct operation_context *c, const struct sessions_options *o)
{
    char *changes = sessions_join(o, 1);
    const struct session_label_params params = {.session = o->words.items[0], .changes = changes};
    int status = change(c, &operation_session_label, &params);
    free(changes);
    return status;
}

/* One that cannot be changed does not keep the others from it. */
static int change_each(struct operation_context *c, const struct operation *operation,
                       const struct sessions_options *o)
{
    int status = 0;
    for (size_t i = 0; i < o->words.len; i++) {
        const struct session_params params = {.session = o->words.items[i]};
        int changed = change(c, operation, &params);
        status = changed ? changed : status;
    }
    return status;
}

int verb_archive(struct operation_context *c, const struct sessions_options *o)
{
    return change_each(c, &operation_session_archive, o);
}

int verb_unarchive(struct operation_context *c, const struct sessions_options *o)
{
    return change_each(c, &operation_session_unarchive, o);
}

int verb_fork(struct operation_context *c, const struct sessions_options *o)
{
    const struct session_fork_params params = {
        .session = o->words.items[0], .at = o->at, .before_compaction = o->before_compaction};
    struct session_info fork;
    struct error e = {0};
    if (!operation_call(c, &operation_session_fork, &params, &fork, &e))
        return cli_fail(&e);
    sessions_print_made(&operation_session_fork, &fork, o->json);
    return 0;
}
