#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/command_line.h"
#include "cli/transcript_text.h"
#include "session/service.h"

enum { SESSIONS_JSON = 1, SESSIONS_LIMIT };

static const struct option options[] = {
    {SESSIONS_JSON, "json", 0, OPTION_FLAG, NULL, N_("print JSON")},
    {SESSIONS_LIMIT, "limit", 'n', OPTION_VALUE, "N",
     N_("list: the newest N sessions; show: the last N turns")},
    {0},
};

struct sessions_options {
    const char *verb, *reference;
    int limit; /* 0: all */
    bool json;
};

/* --- list --------------------------------------------------------------------------------------
 */

enum { SHORT_ID = 8, UNBOUNDED = 1 << 20 };

/* Columns of the terminal; without one lines are as long as they are. */
static size_t line_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return UNBOUNDED;
    return size.ws_col;
}

/* An id begins with the time and ends in chance: its end tells sessions apart. */
static void print_row(const struct session_info *s, size_t width)
{
    struct buf line = BUF_INIT;
    char *at = transcript_text_time(s->updated_ms);
    buf_addf(&line, "%s  %s  %4d  ", s->id + UUID_LEN - SHORT_ID, at, s->turns);
    utf8_clean(&line, s->title, strlen(s->title), UTF8_ONE_LINE);
    if (s->model && *s->model) {
        buf_addstr(&line, "  · ");
        utf8_clean(&line, s->model, strlen(s->model), UTF8_ONE_LINE);
    }
    printf("%.*s\n", (int)utf8_cut_width(line.data, line.len, width), line.data);
    free(at);
    buf_release(&line);
}

static void print_list(const struct session_list *list)
{
    size_t width = line_width();
    if (list->items.len == 0)
        fprintf(stderr, "%s\n", _("no sessions yet; tiro begins one"));
    for (size_t i = 0; i < list->items.len; i++)
        print_row(&list->items.items[i], width);
}

static void print_list_json(const struct session_list *list)
{
    struct json *array = json_new_array();
    for (size_t i = 0; i < list->items.len; i++)
        json_push(array, session_info_to_json(&list->items.items[i]));
    char *text = json_print_pretty(array);
    puts(text);
    free(text);
    json_free(array);
}

static int list(const struct sessions_options *o)
{
    struct session_list list = {0};
    struct error e = {0};
    if (o->reference) {
        err_set(&e, ERR_USAGE, _("one word too many: \"%s\""), o->reference);
        return cli_fail(&e);
    }
    if (!service_list(NULL, o->limit, &list, &e))
        return cli_fail(&e);
    (o->json ? print_list_json : print_list)(&list);
    session_list_release(&list);
    return 0;
}

/* --- show --------------------------------------------------------------------------------------
 */

/* What is printed of the session, and where in it each turn begins. */
struct text {
    bool json;
    struct buf out;
    VEC(size_t) turns;
};

static bool add_event(void *context, const struct event *ev)
{
    struct text *t = context;
    if (ev->type == EVENT_RUN_STARTED)
        vec_push(&t->turns, t->out.len);
    if (!t->json) {
        transcript_text_add(&t->out, ev);
        return true;
    }
    char *line = event_to_line(ev);
    buf_addf(&t->out, "%s,\n", line);
    free(line);
    return true;
}

static const char *last_turns(const struct text *t, int limit)
{
    size_t count = t->turns.len;
    if (limit == 0 || (size_t)limit >= count)
        return t->out.data;
    return t->out.data + t->turns.items[count - (size_t)limit];
}

static void print_header(const struct session_info *s)
{
    struct buf line = BUF_INIT;
    char *at = transcript_text_time(s->created_ms);
    buf_addstr(&line, "# ");
    utf8_clean(&line, s->title, strlen(s->title), UTF8_ONE_LINE);
    buf_addf(&line, "\n\n%s · %s", s->id, at);
    const char *const facts[] = {s->provider, s->model, s->directory};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (!facts[i] || !*facts[i])
            continue;
        buf_addstr(&line, " · ");
        utf8_clean(&line, facts[i], strlen(facts[i]), UTF8_ONE_LINE);
    }
    printf("%s\n\n", line.data);
    free(at);
    buf_release(&line);
}

static void print_session_json(const struct session_info *info, const char *events)
{
    struct json *v = session_info_to_json(info);
    char *head = json_print(v);
    size_t len = strlen(events);
    printf("{\"session\":%s,\n\"events\":[\n", head);
    fwrite(events, 1, len >= 2 ? len - 2 : 0, stdout); /* all but the last comma */
    puts("\n]}");
    free(head);
    json_free(v);
}

static int show(const struct sessions_options *o)
{
    struct text t = {.json = o->json, .out = BUF_INIT};
    struct session_info info = {0};
    struct error e = {0};
    int status = 0;
    if (!service_read(NULL, o->reference ? o->reference : "last", &info, add_event, &t, &e)) {
        status = cli_fail(&e);
    } else if (o->json) {
        print_session_json(&info, last_turns(&t, o->limit));
    } else {
        print_header(&info);
        fputs(last_turns(&t, o->limit), stdout);
    }
    session_info_release(&info);
    buf_release(&t.out);
    vec_release(&t.turns);
    return status;
}

static const struct {
    const char *name;
    int (*run)(const struct sessions_options *o);
} verbs[] = {{"list", list}, {"show", show}};

enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static bool take(void *context, int id, const char *value, struct error *e)
{
    struct sessions_options *o = context;
    if (id == SESSIONS_LIMIT)
        return cli_count("limit", value, &o->limit, e);
    if (id == SESSIONS_JSON)
        o->json = true;
    else if (!o->verb)
        o->verb = value;
    else if (!o->reference)
        o->reference = value;
    else
        return err_set(e, ERR_USAGE, _("one word too many: \"%s\""), value);
    return true;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct sessions_options o = {0};
    const char *names[VERB_COUNT];
    struct error e = {0};
    int status;
    if (!cli_parse(self, argc, argv, take, &o, &status))
        return status;
    for (size_t i = 0; i < VERB_COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(names[i], o.verb ? o.verb : "list") == 0)
            return verbs[i].run(&o);
    }
    cli_unknown(_("sessions command"), o.verb, names, VERB_COUNT, &e);
    return cli_fail(&e);
}

const struct cli_command cmd_sessions = {
    .name = "sessions",
    .synopsis = "sessions list|show [SESSION] [--json] [--limit N]",
    .help = N_("list the sessions that were kept, or show one"),
    .details = N_("list    every session, the newest first (the default)\n"
                  "show    the transcript of one: an id's beginning or end, a title, last, ~2"),
    .options = options,
    .run = run,
};
