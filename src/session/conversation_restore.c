/* Files that tools have changed since the point of a rewind, and their content from before it. The
 * point is the time of the message before which the conversation goes on; of a rewind that was
 * undone, the time of the rewind: what was given back then can be taken back.
 *
 * The log has the texts of each change (chat/change.h). They are undone from the last to the first
 * on the text that the file has now; if each fits, the file is as the tools left it. */
#include <stdlib.h>
#include <string.h>

#include "agent/confine.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "session/conversation_private.h"

enum {
    RESTORE_MS = 60 * 1000, /* time for all files */
    COMMAND_BYTES = 200,
    COMMANDS_MOST = 50
};

/* A file that was changed since the point. */
struct traced {
    char *path;  /* as it was named first */
    char *where; /* resolved; NULL: it may not be reached, `why` says why */
    char *why;
    bool newer;                  /* a turn that stands has changed it after the rewind */
    VEC(struct event *) changes; /* oldest first; borrowed from `events` */
};

struct trace {
    struct tool_host host; /* without the surface: files are those of the disk */
    struct tool_context context;
    const struct toolset *tools;
    int64_t point, rewound; /* the events; 0: there was no rewind */
    bool undone;            /* the rewind was undone */
    struct event_list events;
    VEC(struct traced) files;
    VEC(char *) commands; /* whose changes are not covered */
};

static void trace_release(struct trace *t)
{
    for (size_t i = 0; i < t->files.len; i++) {
        free(t->files.items[i].path);
        free(t->files.items[i].where);
        free(t->files.items[i].why);
        vec_release(&t->files.items[i].changes);
    }
    vec_release(&t->files);
    vec_free_each(&t->commands);
    event_list_release(&t->events);
}

/* --- the log since the point ------------------------------------------------------------------ */

static bool take_first(void *out, const struct event *ev)
{
    *(struct event **)out = event_clone(ev);
    return false;
}

/* The number in the event `seq`, if it is a rewind; else 0. */
static bool rewound_message(struct conversation *c, int64_t seq, int64_t *message, struct error *e)
{
    struct event *ev = NULL;
    bool ok = event_log_read_whole(c->store, c->journal.info.id, seq - 1, take_first, &ev, e);
    *message = ok && ev && ev->type == EVENT_REWOUND && ev->seq == seq ? ev->number : 0;
    event_free(ev);
    return ok;
}

/* Finds the newest rewind that is in force or was undone. */
static bool find_point(struct conversation *c, struct trace *t, struct error *e)
{
    const struct history *h = &c->journal.history;
    int64_t in_force = h->rewound.len > 0 ? vec_last(&h->rewound) : 0, message = 0;
    struct undone_list undone;
    if (!event_log_undone(c->store, c->journal.info.id, &undone, e))
        return false;
    bool ok = true;
    for (size_t i = undone.items.len; ok && i-- > 0 && undone.items.items[i].seq > in_force;) {
        int64_t of = undone.items.items[i].of;
        ok = rewound_message(c, of, &message, e);
        if (ok && message > 0) {
            t->point = t->rewound = of;
            t->undone = true;
            break;
        }
    }
    vec_release(&undone.items);
    if (ok && t->point == 0 && in_force > 0) {
        t->rewound = in_force;
        ok = rewound_message(c, in_force, &t->point, e);
    }
    return ok;
}

/* `content`: that was written, if it is known. The log keeps no change where a file had it already.
 */
static void add_change(struct trace *t, const char *path, const char *content, struct event *ev)
{
    AUTO(buf_release) struct buf why = BUF_INIT;
    AUTO(file_present_release) struct file_present now = {.text = BUF_INIT};
    size_t i = 0, count = t->files.len;
    while (i < count && strcmp(t->files.items[i].path, path) != 0)
        i++;
    if (i == count && file_present_read(&t->context, path, &now, &why)) /* another name of it? */
        for (i = 0; i < count &&
                    (!t->files.items[i].where || strcmp(t->files.items[i].where, now.where) != 0);)
            i++;
    if (i == count) {
        struct traced new = {.path = mem_strdup(path),
                             .where = now.where ? mem_strdup(now.where) : NULL,
                             .why = now.where ? NULL : mem_strdup(why.data)};
        vec_push(&t->files, new);
    }
    struct traced *f = &t->files.items[i];
    const struct file_change *last = f->changes.len > 0 ? &vec_last(&f->changes)->change : NULL;
    if (!ev->change.after && content && last && last->after && last->line == 0 &&
        strcmp(last->after, content) == 0)
        return;
    vec_push(&f->changes, ev);
    f->newer = f->newer || (ev->type == EVENT_TOOL_EXECUTION_COMPLETED && ev->seq > t->rewound);
}

/* Notes what a command or the tool of a server did, of which the log does not tell. */
static void add_command(struct trace *t, const char *before, const char *text)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    AUTO(buf_release) struct buf clean = BUF_INIT;
    buf_addstr(&line, before);
    utf8_clean(&clean, text, strlen(text), UTF8_ONE_LINE);
    utf8_add_cut(&line, clean.data, clean.len, COMMAND_BYTES);
    if (t->commands.len < COMMANDS_MOST)
        vec_push(&t->commands, buf_take(&line));
}

/* A call that came to its end. */
static void add_call(struct trace *t, struct event *ev)
{
    const struct event *call = NULL;
    for (size_t i = t->events.items.len; !call && ev->id && i-- > 0;)
        if (t->events.items.items[i]->type == EVENT_TOOL_CALL_REQUESTED &&
            strcmp(t->events.items.items[i]->id, ev->id) == 0)
            call = t->events.items.items[i];
    if (!call || ev->denied)
        return;
    const struct tool *tool = toolset_find(t->tools, call->name);
    AUTO(json_free_local) struct json *args = json_parse(call->text, strlen(call->text), NULL);
    const char *path = json_get_string(args, "path"), *command = json_get_string(args, "command");
    bool writes = strcmp(call->name, tool_write_file.spec.name) == 0 ||
                  strcmp(call->name, tool_edit_file.spec.name) == 0;
    bool runs = !tool || tool->source == &tool_source_mcp ||
                (tool->class == TOOL_EXECUTE && strcmp(call->name, tool_task_stop.spec.name) != 0);
    if (writes && path && !ev->flag)
        add_change(t, path, json_get_string(args, "content"), ev);
    else if (!writes && runs && ev->seq < t->rewound)
        add_command(t, "", command ? command : call->name);
}

static bool trace_event(void *trace, const struct event *ev)
{
    struct trace *t = trace;
    if (ev->type != EVENT_TOOL_CALL_REQUESTED && ev->type != EVENT_TOOL_EXECUTION_COMPLETED &&
        ev->type != EVENT_FILE_RESTORED && ev->type != EVENT_TURN_STARTED)
        return true;
    struct event *kept = event_clone(ev);
    vec_push(&t->events.items, kept);
    if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED)
        add_call(t, kept);
    else if (ev->type == EVENT_FILE_RESTORED)
        add_change(t, ev->name, NULL, kept);
    else if (ev->type == EVENT_TURN_STARTED && ev->origin == INPUT_COMMAND && ev->seq < t->rewound)
        add_command(t, COMMAND_CALL, ev->text);
    return true;
}

static bool trace_begin(struct conversation *c, struct trace *t, struct error *e)
{
    *t = (struct trace){.host = c->tools.host, .tools = &c->tools};
    t->host.surface = NULL;
    t->context = (struct tool_context){
        .self = &t->host, .deadline_ms = clock_mono_ms() + RESTORE_MS, .wakeup = &c->wakeup};
    return conversation_need_history(c, e) && find_point(c, t, e) &&
           (t->point == 0 ||
            event_log_read_whole(c->store, c->journal.info.id, t->point - 1, trace_event, t, e));
}

/* --- the content of then ---------------------------------------------------------------------- */

/* A file's content; `text` is empty where there is no file. */
struct content {
    bool exists;
    struct buf text;
};

static void set_content(struct content *c, const char *text)
{
    c->exists = text != NULL;
    buf_clear(&c->text);
    buf_addstr(&c->text, text ? text : "");
}

/* Undoes the change on the text, which must be as the change left it. */
static bool undo_change(const struct event *ev, struct content *c)
{
    const struct file_change *change = &ev->change;
    size_t at = 0, len = change->after ? strlen(change->after) : 0;
    if (!change->after || c->exists == (ev->type == EVENT_FILE_RESTORED && ev->flag))
        return false;
    for (int64_t line = 1; line < change->line && at < c->text.len; at++)
        line += c->text.data[at] == '\n';
    if (c->text.len - at < len || memcmp(c->text.data + at, change->after, len) != 0 ||
        (change->line == 0 && len != c->text.len))
        return false;
    if (change->line == 0)
        set_content(c, change->before);
    else
        buf_splice(&c->text, at, len, change->before, strlen(change->before));
    return true;
}

/* The content of then, made of the present one. If the file is not as it was left, the first
 * change tells it, if that has the whole text. */
static enum restorable_state find_then(const struct traced *f, const struct file_present *now,
                                       struct content *then)
{
    size_t left = f->changes.len;
    then->exists = now->exists;
    buf_clear(&then->text);
    buf_add(&then->text, now->text.data, now->text.len);
    while (left > 0 && undo_change(f->changes.items[left - 1], then))
        left--;
    if (left == 0)
        return RESTORABLE_READY;
    const struct file_change *first = &f->changes.items[0]->change;
    if (!first->after || first->line > 0)
        return RESTORABLE_LOST;
    set_content(then, first->before);
    return RESTORABLE_CHANGED;
}

/* Fills the element; false: there is nothing to do about the file. */
static bool judge(struct trace *t, const struct traced *f, struct restorable *out,
                  struct file_present *now, struct content *then)
{
    AUTO(buf_release) struct buf why = BUF_INIT, difference = BUF_INIT;
    *out = (struct restorable){.state = RESTORABLE_LOST};
    if (f->newer)
        return false;
    bool read = f->where && file_present_read(&t->context, f->path, now, &why);
    if (read)
        out->state = find_then(f, now, then);
    bool offered = out->state != RESTORABLE_LOST;
    if (offered && now->exists == then->exists && now->text.len == then->text.len &&
        memcmp(now->text.data, then->text.data, now->text.len) == 0)
        return false;
    out->path = mem_strdup(f->path);
    if (!offered)
        out->why = mem_strdup(!f->where ? f->why
                              : !read   ? why.data
                                        : "the log does not have its earlier text");
    if (!offered)
        return true;
    out->removes = !then->exists;
    struct difference_size size = difference_write(&difference, &now->text, &then->text, 1);
    out->added = (int64_t)size.added;
    out->removed = (int64_t)size.removed;
    if (difference.len <= TOOL_MAX_PREVIEW && utf8_valid(difference.data, difference.len))
        out->difference = buf_take(&difference);
    return true;
}

/* --- the operations --------------------------------------------------------------------------- */

/* Gives the file its content of then, and keeps an event about it. */
static bool give_back(struct conversation *c, struct trace *t, struct restorable *r,
                      const struct file_present *now, const struct content *then, struct error *e)
{
    AUTO(buf_release) struct buf why = BUF_INIT;
    static const struct buf nothing = BUF_INIT;
    if (!file_give_back(&t->context, r->path, now, then->exists ? &then->text : NULL, &why)) {
        r->state = RESTORABLE_FAILED;
        r->why = mem_strdup(why.data);
        return true;
    }
    r->state = RESTORABLE_DONE;
    struct event *ev = event_new(EVENT_FILE_RESTORED);
    ev->name = mem_strdup(r->path);
    ev->flag = r->removes;
    change_keep(&ev->change, now->exists ? &now->text : NULL,
                then->exists ? &then->text : &nothing);
    if (ev->flag && now->text.len == 0) {
        ev->change.before = mem_strdup("");
        ev->change.after = mem_strdup("");
    }
    return journal_emit(&c->journal, ev, e);
}

static bool restore(struct conversation *c, const struct session_restore_params *p, bool gives,
                    struct session_files *out, struct error *e)
{
    struct trace t;
    bool ok = trace_begin(c, &t, e), found = false;
    bool all = !p || !p->file || !*p->file;
    for (size_t i = 0; ok && i < t.files.len; i++) {
        struct restorable r;
        struct file_present now = {.text = BUF_INIT};
        struct content then = {.text = BUF_INIT};
        if (judge(&t, &t.files.items[i], &r, &now, &then)) {
            bool named = !all && strcmp(r.path, p->file) == 0;
            found = found || named;
            if (gives && (all ? r.state == RESTORABLE_READY : named && r.state != RESTORABLE_LOST))
                ok = give_back(c, &t, &r, &now, &then, e);
            vec_push(&out->files, r);
        }
        file_present_release(&now);
        buf_release(&then.text);
    }
    if (ok && !all && !found)
        ok = err_set(e, ERR_USAGE, "no file of that name was changed since the rewind");
    for (size_t i = 0; i < t.commands.len; i++)
        vec_push(&out->commands, t.commands.items[i]);
    vec_release(&t.commands);
    trace_release(&t);
    return ok;
}

bool converse_changes(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)params;
    return restore(c, NULL, false, result, e);
}

bool converse_restore(struct conversation *c, const void *params, void *result, struct error *e)
{
    if (!conversation_is_live(c, e))
        return false;
    bool ok = restore(c, params, true, result, e);
    conversation_project(c);
    tell_session(c, false);
    return ok;
}

/* --- told to the model ------------------------------------------------------------------------ */

static bool add_restored(void *list, const struct event *ev)
{
    struct buf *out = list;
    if (ev->type != EVENT_FILE_RESTORED)
        return true;
    AUTO(buf_release) struct buf path = BUF_INIT;
    utf8_clean(&path, ev->name, strlen(ev->name), UTF8_ONE_LINE);
    buf_addf(out, "\n- %s%s", path.data, ev->flag ? " (removed)" : "");
    return true;
}

char *conversation_restored_files(const struct conversation *c, int64_t retries)
{
    const struct history *h = &c->journal.history;
    AUTO(buf_release) struct buf list = BUF_INIT;
    size_t i = h->messages.len;
    while (i > 0 && retries > 0 && h->messages.items[i - 1].seq >= retries)
        i--;
    int64_t since = i > 0 ? h->messages.items[i - 1].seq : 0;
    if (!event_log_read_whole(c->store, c->journal.info.id, since, add_restored, &list,
                              &(struct error){0}) ||
        list.len == 0)
        return NULL;
    return mem_printf(
        "Since the message before this one, the user has given these files an "
        "earlier content, or taken that back. Read them again before you rely on "
        "them:%s",
        list.data);
}
