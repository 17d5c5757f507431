#include <stdio.h>
#include <stdlib.h>

#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/sessions.h"

static int status_of(bool ok, const struct error *e)
{
    return ok ? 0 : cli_fail(e);
}

char *sessions_join(const struct sessions_options *o, size_t first)
{
    struct buf text = BUF_INIT;
    for (size_t i = first; i < o->words.len; i++)
        buf_addf(&text, "%s%s", i > first ? " " : "", o->words.items[i]);
    return buf_take(&text);
}

void sessions_print_new(const struct session_info *info, bool json)
{
    if (json)
        output_json(shape_to_json(&session_info_shape, info));
    else
        puts(info->id);
}

int verb_rename(struct catalog *c, const struct sessions_options *o)
{
    struct error e = {0};
    return status_of(catalog_rename(c, o->words.items[0], o->words.items[1], NULL, &e), &e);
}

int verb_label(struct catalog *c, const struct sessions_options *o)
{
    struct error e = {0};
    char *changes = sessions_join(o, 1);
    bool ok = catalog_label(c, o->words.items[0], changes, NULL, &e);
    free(changes);
    return status_of(ok, &e);
}

/* One that cannot be changed does not keep the others from it. */
static int archive_each(struct catalog *c, const struct sessions_options *o, bool archived)
{
    int status = 0;
    for (size_t i = 0; i < o->words.len; i++) {
        struct error e = {0};
        if (!catalog_archive(c, o->words.items[i], archived, NULL, &e))
            status = cli_fail(&e);
    }
    return status;
}

int verb_archive(struct catalog *c, const struct sessions_options *o)
{
    return archive_each(c, o, true);
}

int verb_unarchive(struct catalog *c, const struct sessions_options *o)
{
    return archive_each(c, o, false);
}

int verb_fork(struct catalog *c, const struct sessions_options *o)
{
    struct session_info fork = {0};
    struct error e = {0};
    bool ok = catalog_fork(c, o->words.items[0], o->at, &fork, &e);
    if (ok)
        sessions_print_new(&fork, o->json);
    session_info_release(&fork);
    return status_of(ok, &e);
}
