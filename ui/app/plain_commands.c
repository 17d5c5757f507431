/* The slash commands of the line surface. Names, arguments and help come from slash.h; here are the
 * requests that each makes of the engine and the lines that its answer becomes. */
#include "ui/app/plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "ui/app/cards.h"
#include "ui/app/corpora.h"
#include "ui/app/imports.h"
#include "ui/app/lines.h"
#include "ui/app/picker.h"
#include "ui/app/slash.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/context_view.h"
#include "ui/view/sessions.h"

enum { LISTED = 20, LEARNED_LISTED = 30, PAGE_EVENTS = 200 };

/* Says the result of an operation, or that it was done. */
static void take_told(struct plain *p, struct operation_answer *a)
{
    auto_free char *told = slash_told(a);
    if (told)
        plain_write(&p->out, told);
}

/* Corpora: /corpus and /cite */

static void take_corpora(struct plain *p, struct operation_answer *a)
{
    const struct corpus_list *list = a->result;
    int64_t failed = 0;
    for (size_t i = 0; i < list->items.len; i++) {
        const struct corpus_info *n = &list->items.items[i];
        plain_writef(&p->out, _("%s: documents %lld, passages %lld, unreadable %lld%s"), n->name,
                     (long long)n->documents, (long long)n->passages, (long long)n->failed,
                     n->pending ? _(" (being read)") : "");
        failed += n->failed;
    }
    if (failed > 0)
        plain_write(&p->out,
                    _("'tiro corpus show --failed NAME' says what could not be read and why."));
    if (list->items.len == 0)
        plain_write(&p->out, _("There is no corpus. /corpus add NAME PATH makes one."));
    else
        plain_write(
            &p->out,
            _("@corpus:NAME in a message lets the model search it; /corpus QUERY does so here."));
}

static void write_passage(struct plain *p, const struct corpus_passage *n, int number)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addf(&text, "[%d] ", number);
    lines_passage(&text, n);
    plain_write(&p->out, text.data);
}

static void take_passages(struct plain *p, struct operation_answer *a)
{
    const struct corpus_found *found = a->result;
    for (size_t i = 0; i < found->items.len; i++)
        write_passage(p, &found->items.items[i], (int)i + 1);
    if (found->badge)
        plain_write(&p->out, found->badge);
    plain_writef(
        &p->out,
        ngettext("%lld passage searched", "%lld passages searched", (unsigned long)found->searched),
        (long long)found->searched);
}

static void take_begun(struct plain *p, struct operation_answer *a)
{
    auto_free char *text = corpora_begun_text(a->result);
    plain_write(&p->out, text);
}

static void run_corpus(struct plain *p, const char *arguments)
{
    AUTO(corpora_order_release) struct corpora_order o = {0};
    corpora_order_read(arguments, &o);
    const char *paths[] = {o.path};
    const struct corpus_add change = {
        .name = o.name, .paths = {paths, o.path != NULL, 1}, .consent = o.consent};
    const struct corpus_search search = {.query = o.query, .hybrid_weight = -1};
    if (o.complaint)
        plain_write(&p->out, o.complaint);
    else if (o.kind == CORPORA_ADD)
        plain_ask(p, &operation_corpus_add, &change, take_begun);
    else if (o.kind == CORPORA_UPDATE)
        plain_ask(p, &operation_corpus_update, &change, take_begun);
    else if (*o.query)
        plain_ask(p, &operation_corpus_search, &search, take_passages);
    else
        plain_ask(p, &operation_corpus_list, NULL, take_corpora);
}

static void take_cited(struct plain *p, struct operation_answer *a)
{
    const struct corpus_passages *given = a->result;
    for (size_t i = 0; i < given->items.len; i++)
        if (given->items.items[i].number == p->cited) {
            write_passage(p, &given->items.items[i], p->cited);
            return;
        }
    plain_write(&p->out, _("The model was given no passage with this number."));
}

static void run_cite(struct plain *p, const char *arguments)
{
    const char *complaint = corpora_read_citation(arguments, &p->cited);
    if (complaint)
        plain_write(&p->out, complaint);
    else
        plain_ask(p, &operation_corpus_cited, &(struct corpus_cited){p->session.id, 0}, take_cited);
}

/* Learned memory: /remember, /learned, and /memory off, read or write */

static void take_items(struct plain *p, struct operation_answer *a)
{
    if (((const struct learned_items *)a->result)->items.len == 0) {
        plain_write(&p->out, _("Nothing was learned of this project yet. /remember TEXT keeps "
                               "something."));
        return;
    }
    take_told(p, a);
    plain_write(&p->out, _("/learned accept, reject or forget and an id changes one of these."));
}

/* The items that a query of /forget finds, beside the entries of memory. */
static void take_forgettable_items(struct plain *p, struct operation_answer *a)
{
    take_told(p, a);
    if (((const struct learned_items *)a->result)->items.len > 0)
        plain_write(&p->out, _("/learned forget ID deletes one of these."));
}

static void run_learned(struct plain *p, const char *arguments)
{
    size_t len = strcspn(arguments, " ");
    const char *id = arguments + len + strspn(arguments + len, " ");
    const struct learned_id_params one = {id};
    const struct learned_forget_params forgotten = {.ids = {.items = &id, .len = 1}};
    const struct learned_list_params all = {.limit = LEARNED_LISTED};
    const struct learned_search_params search = {.query = arguments, .limit = LEARNED_LISTED};
    const struct {
        const char *word;
        const struct operation *operation;
        const void *params;
    } verbs[] = {{"accept", &operation_learned_accept, &one},
                 {"reject", &operation_learned_reject, &one},
                 {"forget", &operation_learned_forget, &forgotten},
                 {"restore", &operation_learned_restore, NULL}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strlen(verbs[i].word) == len && strncmp(arguments, verbs[i].word, len) == 0) {
            plain_ask(p, verbs[i].operation, verbs[i].params, take_told);
            return;
        }
    if (*arguments)
        plain_ask(p, &operation_learned_search, &search, take_items);
    else
        plain_ask(p, &operation_learned_list, &all, take_items);
}

/* Sessions */

static void take_sessions(struct plain *p, struct operation_answer *a)
{
    const struct session_list *found = &((struct session_list_result *)a->result)->sessions;
    int64_t now_ms = clock_wall_ms();
    for (size_t i = 0; i < found->items.len; i++) {
        const struct session_info *s = &found->items.items[i];
        AUTO(buf_release) struct buf age = BUF_INIT;
        auto_free char *title = sessions_title(s);
        format_age(&age, s->updated_ms, now_ms);
        plain_writef(
            &p->out,
            ngettext("%s  %s, %d turn: %s", "%s  %s, %d turns: %s", (unsigned long)s->turns),
            session_short_id(s->id), age.data, s->turns, title);
    }
    if (found->items.len == 0)
        plain_write(&p->out, _("The session was not found."));
    else
        plain_write(&p->out, _("/resume and the letters in front of a session open it."));
}

static void run_sessions(struct plain *p, const char *arguments)
{
    const struct session_filter filter = {.text = arguments, .limit = LISTED};
    plain_ask(p, &operation_session_list, &filter, take_sessions);
}

static void run_resume(struct plain *p, const char *arguments)
{
    const struct session_open_params params = {.session = *arguments ? arguments : p->session.id};
    if (!*arguments && !p->read_only)
        run_sessions(p, "");
    else
        plain_ask(p, &operation_session_open, &params, NULL);
}

static void say_archived(struct plain *p, struct operation_answer *a)
{
    const char *title = p->session.title;
    auto_free char *text = slash_parting(title ? title : "", p->options->engine->persist);
    (void)a;
    plain_write(&p->out, text);
}

static void run_export(struct plain *p, const char *arguments)
{
    auto_free char *path = slash_export_path(arguments, p->session.title);
    const struct session_export_params params = {
        .session = p->session.id, .path = path, .format = export_format_of_path(path)};
    plain_ask(p, &operation_session_export, &params, take_told);
}

static void run_stop(struct plain *p, const char *arguments)
{
    (void)arguments;
    if (!p->busy)
        plain_write(&p->out, _("Nothing is running."));
    plain_forget_questions(p);
    plain_send(p, &operation_turn_interrupt, NULL);
}

static void run_compact(struct plain *p, const char *arguments)
{
    struct compaction_run_params params;
    auto_free char *complaint = compact_read(arguments, &params);
    if (complaint) {
        plain_write(&p->out, complaint);
        return;
    }
    if (!p->busy)
        plain_began(p);
    plain_send(p, &operation_compaction_run, &params);
}

static void take_report(struct plain *p, struct operation_answer *a)
{
    const struct report_result *r = a->result;
    for (size_t i = 0; i < r->facts.len; i++)
        plain_writef(&p->out, "%s: %s", r->facts.items[i].name, r->facts.items[i].value);
}

static void take_context(struct plain *p, struct operation_answer *a)
{
    const struct context *c = a->result;
    for (int i = 0; i < CONTEXT_KINDS; i++) {
        enum context_kind kind = (enum context_kind)i;
        int64_t tokens = 0;
        for (size_t j = 0; j < c->parts.len; j++)
            tokens += c->parts.items[j].kind == kind ? c->parts.items[j].tokens : 0;
        if (tokens > 0)
            plain_writef(&p->out, "%s: ~%lld", context_kind_name(kind), (long long)tokens);
        for (size_t j = 0; kind == CONTEXT_TOOLS && j < c->parts.len; j++)
            if (c->parts.items[j].kind == kind) /* a line for each source of tools */
                plain_writef(&p->out, "  %s: ~%lld", c->parts.items[j].source,
                             (long long)c->parts.items[j].tokens);
    }
    plain_writef(&p->out, _("total ~%lld tokens"), (long long)c->tokens);
    if (c->window > 0)
        plain_writef(&p->out, "%s: %lld", _("window"), (long long)c->window);
    if (c->threshold > 0)
        plain_writef(&p->out, "%s: %lld", _("threshold"), (long long)c->threshold);
}

static void take_found(struct plain *p, struct operation_answer *a)
{
    const struct memory_hits *hits = &((const struct memory_found *)a->result)->hits;
    vec_free_each(&p->found);
    for (size_t i = 0; i < hits->items.len; i++) {
        const struct memory_hit *h = &hits->items.items[i];
        auto_free char *passage = memory_hit_passage(h);
        vec_push(&p->found, mem_strdup(h->entry.id));
        const char *who = message_row_speaker(&h->entry);
        bool told = h->entry.from && strcmp(who, h->entry.from) != 0;
        auto_free char *from = told ? mem_printf(" (%s)", h->entry.from) : mem_strdup("");
        plain_writef(&p->out, "%zu. %.2f %s%s: %s%s%s%s", i + 1, h->score, who, from,
                     h->question ? "> " : "", h->question ? h->question : "",
                     h->question ? "\n" : "", passage);
    }
    if (hits->badge)
        plain_write(&p->out, hits->badge);
    if (hits->items.len == 0)
        plain_write(&p->out, _("No matches in memory."));
    else
        plain_write(&p->out, _("/forget NUMBER deletes an entry."));
}

static void run_memory(struct plain *p, const char *arguments)
{
    const struct memory_search search = {.query = arguments, .limit = LISTED, .typing = true};
    struct session_memory_params params = {.access = MEMORY_ACCESS_WRITE};
    if (cards_access_of(arguments, &params.access))
        plain_ask(p, &operation_session_set_memory, &params, take_told);
    else
        plain_ask(p, &operation_memory_search, &search, take_found);
}

static void take_left_out(struct plain *p, struct operation_answer *a)
{
    const struct memory_leave_out_params *asked = a->request->params;
    plain_write(&p->out, asked->back ? _("may be sent with messages again")
                                     : _("left out of this session's messages"));
}

/* False: the text is not a number from 1 on. */
static bool read_number(const char *text, size_t *number)
{
    char *end;
    long n = strtol(text, &end, 10);
    *number = n > 0 ? (size_t)n : 0;
    return *text && !*end && n >= 1;
}

static void run_recalled(struct plain *p, const char *arguments)
{
    const struct recalled *r = transcript_last_sent(p->transcript);
    size_t number, count = r ? r->hits.items.len : 0;
    if (read_number(arguments, &number) && number <= count) {
        const struct memory_hit *h = &r->hits.items.items[number - 1];
        const struct memory_leave_out_params params = {.id = h->entry.id, .back = h->left_out};
        plain_ask(p, &operation_memory_leave_out, &params, take_left_out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct memory_hit *h = &r->hits.items.items[i];
        plain_writef(&p->out, "%zu. %.2f %s%s: %s", i + 1, h->score, message_row_speaker(&h->entry),
                     h->left_out ? _(", left out") : "", h->entry.content);
    }
    plain_write(&p->out,
                count > 0 ? _("/recalled NUMBER leaves a passage out, or takes it back.")
                          : _("No message of this session was sent with passages of memory yet."));
}

static void take_graph(struct plain *p, struct operation_answer *a)
{
    const struct graph_part *part = a->result;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (operation_answers(a, &operation_graph_search)) {
        lines_graph(&text, part);
        plain_write(&p->out, part->entities.len > 0 ? text.data : _("No matches in the graph."));
        return;
    }
    for (size_t i = 0; i < part->entities.len; i++) {
        const struct graph_entity *n = &part->entities.items[i];
        buf_clear(&text);
        buf_addf(&text, "%s (%s)", n->name, n->type);
        buf_addf(&text,
                 ngettext(": %d observation", ": %d observations", (unsigned long)n->observed),
                 n->observed);
        plain_write(&p->out, text.data);
    }
    if (part->entities.len == 0)
        plain_write(&p->out, _("The graph is empty. The model fills it with its tools, tiro graph "
                               "add and import do."));
    else if ((int64_t)part->entities.len < part->total)
        plain_writef(&p->out, _("%zu of %lld entities; /graph QUERY searches all of them."),
                     part->entities.len, (long long)part->total);
}

static void run_graph(struct plain *p, const char *arguments)
{
    const struct graph_search search = {.query = arguments, .limit = LISTED, .typing = true};
    const struct graph_list_params list = {.limit = LISTED};
    if (*arguments)
        plain_ask(p, &operation_graph_search, &search, take_graph);
    else
        plain_ask(p, &operation_graph_list, &list, take_graph);
}

static void take_forgettable(struct plain *p, struct operation_answer *a)
{
    const struct learned_search_params params = {
        .query = ((const struct memory_search *)a->request->params)->query,
        .limit = LEARNED_LISTED};
    take_found(p, a);
    plain_ask(p, &operation_learned_search, &params, take_forgettable_items);
}

static void take_indexed(struct plain *p, struct operation_answer *a)
{
    const struct memory_index_params *asked = a->request->params;
    plain_write(&p->out, asked->sessions == MEMORY_INDEX_NONE
                             ? _("Earlier conversations stay out of memory.")
                             : _("Earlier conversations are indexed in the background."));
}

static void run_index(struct plain *p, const char *arguments)
{
    bool none = strcmp(arguments, "none") == 0;
    const struct memory_index_params params = {.sessions =
                                                   none ? MEMORY_INDEX_NONE : MEMORY_INDEX_ALL};
    if (*arguments && !none && strcmp(arguments, "all") != 0)
        plain_write(&p->out, _("/index takes all or none."));
    else
        plain_ask(p, &operation_memory_index, &params, take_indexed);
}

static void take_imported(struct plain *p, struct operation_answer *a)
{
    auto_free char *told =
        imports_told(a->result, _("/sessions lists them, /memory finds what was said."));
    plain_write(&p->out, told);
}

static void run_import(struct plain *p, const char *arguments)
{
    const struct import_params params = {.paths = {.items = &arguments, .len = *arguments != 0}};
    plain_ask(p, &operation_import_run, &params, take_imported);
}

bool plain_imports(const struct plain *p)
{
    return p->asked.open && p->asked.take == take_imported;
}

bool plain_stop_import(struct plain *p)
{
    if (!plain_imports(p))
        return false;
    engine_withdraw(p->engine, p->asked.id);
    p->asked.open = false;
    plain_write(&p->out, _("The import is stopped. What was read is kept, and /import goes on from "
                           "there."));
    return true;
}

static void run_forget(struct plain *p, const char *arguments)
{
    size_t number;
    const struct memory_search search = {.query = arguments, .limit = LISTED, .typing = true};
    if (!read_number(arguments, &number)) {
        plain_ask(p, &operation_memory_search, &search, take_forgettable);
    } else if (number > p->found.len) {
        plain_write(&p->out, _("The last list has no such entry; /memory prints a list."));
    } else {
        const char *ids[] = {p->found.items[number - 1]};
        const struct memory_forget_params params = {.ids = {.items = ids, .len = 1}};
        plain_ask(p, &operation_memory_forget, &params, take_told);
    }
}

static void run_model(struct plain *p, const char *arguments)
{
    if (!*arguments) {
        plain_ask(p, &operation_models_list, &(struct models_params){0}, plain_take_models);
        return;
    }
    struct session_model_params params;
    auto_free char *provider = picker_read_model(arguments, &params);
    plain_ask(p, &operation_session_set_model, &params, NULL);
}

static void take_efforts(struct plain *p, struct operation_answer *a)
{
    const struct session_settings *s = a->result;
    auto_free char *line =
        s->efforts
            ? mem_printf("%s (%s default)", s->effort ? s->effort : "default", s->efforts)
            : mem_printf(_("No effort is known for the model %s."), s->model ? s->model : "");
    plain_write(&p->out, line);
}

static void run_effort(struct plain *p, const char *arguments)
{
    const struct session_effort_params params = {.effort = arguments};
    const struct session_params current = {.session = p->session.id};
    if (*arguments)
        plain_ask(p, &operation_session_set_effort, &params, take_told);
    else
        plain_ask(p, &operation_session_settings, &current, take_efforts);
}

/* Sends the text that was kept, or else the last message again. */
static void run_retry(struct plain *p, const char *arguments)
{
    auto_free char *text = p->busy ? NULL : p->unsent;
    (void)arguments;
    if (p->busy) {
        plain_write(&p->out, _("A turn is running; use /retry when it has ended."));
    } else if (text) {
        p->unsent = NULL;
        plain_say(p, text);
        plain_keep(p, NULL);
    } else {
        plain_began(p);
        plain_send(p, &operation_turn_retry, NULL);
    }
}

static void run_config(struct plain *p, const char *arguments)
{
    auto_free char *path = paths_config_file();
    (void)arguments;
    plain_writef(&p->out, _("The configuration is in %s; \"tiro config show\" lists all settings."),
                 path);
}

static void run_quit(struct plain *p, const char *arguments)
{
    (void)arguments;
    p->leaving = true;
}

/* With the next message. Without an argument: the files that go with it. */
static void run_attach(struct plain *p, const char *arguments)
{
    AUTO(buf_release) struct buf names = BUF_INIT;
    auto_free char *name = *arguments ? mention_of_path(arguments) : NULL;
    const char *directory =
        p->session.directory && *p->session.directory ? p->session.directory : ".";
    if (name && attach_look(directory, name).kind == ATTACH_NOTHING) {
        plain_writef(&p->out, _("There is no %s."), name);
        return;
    }
    if (name && !mentions_have(&p->attach, name) && p->attach.items.len < MENTIONS_MOST)
        vec_push(&p->attach.items, mem_strdup(name));
    mentions_add(&names, &p->attach);
    if (names.len > 0)
        plain_writef(&p->out, _("With your next message: %s"), names.data);
    else
        plain_write(&p->out, _("/attach FILE sends a file, an image or the names in a folder with "
                               "your next message; so does @FILE in it."));
}

/* The files that can be taken back, as a line each, and how. */
static void take_changes(struct plain *p, struct operation_answer *a)
{
    const struct session_files *list = a->result;
    for (size_t i = 0; i < list->files.len; i++) {
        const struct restorable *r = &list->files.items[i];
        plain_writef(&p->out, "%s  +%lld -%lld%s", r->path, (long long)r->added,
                     (long long)r->removed,
                     r->state == RESTORABLE_CHANGED ? _(", changed meanwhile")
                     : r->state == RESTORABLE_LOST  ? _(", not covered")
                     : r->removes                   ? _(", is removed")
                                                    : "");
    }
    for (size_t i = 0; i < list->commands.len; i++)
        plain_writef(&p->out, _("not covered: %s"), list->commands.items[i]);
    if (list->files.len > 0)
        plain_write(&p->out, _("/restore takes back what tools did to these files, /restore FILE "
                               "to one of them; else they stay."));
}

static void take_unrewound(struct plain *p, struct operation_answer *a)
{
    (void)a;
    plain_ask(p, &operation_session_changes, NULL, take_changes);
}

/* Prints the text of the message that was taken back, so that it can be sent in other words. */
static void take_rewound(struct plain *p, struct operation_answer *a)
{
    const struct session_rewound *r = a->result;
    plain_writef(&p->out, _("Your message was:\n%s"), r->text);
    take_unrewound(p, a);
}

static void run_rewind(struct plain *p, const char *arguments)
{
    auto_free void *params = slash_params(&operation_session_rewind, NULL, arguments);
    plain_ask(p, &operation_session_rewind, params, take_rewound);
}

/* The table */

static void run_help(struct plain *p, const char *arguments);

/* A command that is not here asks for its operation, and the answer is written as its row says. */
static const struct own {
    const char *name;
    void (*run)(struct plain *p, const char *arguments);
    plain_taker *take; /* without `run`: takes the operation's answer */
} own[] = {
    {"help", .run = run_help},         {"resume", .run = run_resume},
    {"sessions", .run = run_sessions}, {"archive", .take = say_archived},
    {"export", .run = run_export},     {"stop", .run = run_stop},
    {"compact", .run = run_compact},   {"context", .take = take_context},
    {"memory", .run = run_memory},     {"index", .run = run_index},
    {"learned", .run = run_learned},   {"graph", .run = run_graph},
    {"corpus", .run = run_corpus},     {"cite", .run = run_cite},
    {"forget", .run = run_forget},     {"recalled", .run = run_recalled},
    {"effort", .run = run_effort},     {"model", .run = run_model},
    {"retry", .run = run_retry},       {"config", .run = run_config},
    {"doctor", .take = take_report},   {"quit", .run = run_quit},
    {"rewind", .run = run_rewind},     {"unrewind", .take = take_unrewound},
    {"attach", .run = run_attach},     {"import", .run = run_import},
};

static const struct own *own_of(const struct slash_command *c)
{
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, c->name) == 0)
            return &own[i];
    return NULL;
}

static void run_help(struct plain *p, const char *arguments)
{
    (void)arguments;
    for (const struct slash_command *c = slash_commands(); c->name; c++)
        if (c->operation || c->skill || own_of(c))
            plain_writef(&p->out, "/%s%s%s: %s", c->name, *c->arguments ? " " : "", c->arguments,
                         slash_help(c, p->options->engine->persist));
    plain_write(&p->out, _("A text that begins with \"//\" is sent with one slash."));
    plain_write(&p->out, _("Ctrl-C stops a turn; pressed twice within two seconds, it quits. "
                           "Ctrl-D (end of input) quits."));
}

void plain_command(struct plain *p, const char *text)
{
    struct slash_choice choice = slash_choose(text);
    const struct slash_command *c = choice.command;
    const struct own *self = c ? own_of(c) : NULL;
    auto_free char *value = c && !*choice.arguments ? slash_value(c->operation, &p->session) : NULL;
    if (choice.complaint || value) {
        plain_write(&p->out, value ? value : choice.complaint);
    } else if (c->skill) {
        auto_free char *line = mem_printf("/%s %s", c->name, choice.arguments);
        plain_say(p, line);
    } else if (self && self->run) {
        self->run(p, choice.arguments);
    } else if (c->operation) {
        auto_free void *params = slash_params(c->operation, p->session.id, choice.arguments);
        plain_ask(p, c->operation, params,
                  self                       ? self->take
                  : c->kind == ARGUMENT_TURN ? NULL /* an event tells of it */
                                             : take_told);
    } else {
        plain_writef(&p->out, _("/%s needs the full screen; start tiro without --plain to use it."),
                     c->name);
    }
    slash_choice_release(&choice);
}
