/* Lines that begin with "/", and keys: their effects on the state of the screen, without a terminal
 * or an engine. */
#include <ctype.h>

#include "base/clock.h"
#include "session/session_operations.h"
#include "tests/seen.h"
#include "tests/still_app.h"
#include "tests/suite.h"
#include "tests/told.h"
#include "ui/app/app.h"
#include "ui/app/completion.h"
#include "ui/app/dispatch.h"
#include "ui/app/notices.h"
#include "ui/app/picker.h"
#include "ui/app/screen.h"
#include "ui/app/slash.h"
#include "ui/app/turns.h"

TEST(test_lines)
{
    static const struct {
        const char *text;
        enum slash_kind kind;
        const char *name, *arguments;
    } cases[] = {{"hello", SLASH_TEXT, "", ""},
                 {"", SLASH_TEXT, "", ""},
                 {" /help", SLASH_TEXT, "", ""},
                 {"//etc is a folder", SLASH_LITERAL, "", ""},
                 {"!ls -l", SLASH_SHELL, "", ""},
                 {"!", SLASH_TEXT, "", ""},
                 {" !ls", SLASH_TEXT, "", ""},
                 {"! so", SLASH_TEXT, "", ""},
                 {"![a picture](x.png)", SLASH_TEXT, "", ""},
                 {"/", SLASH_COMMAND, "", ""},
                 {"/help", SLASH_COMMAND, "help", ""},
                 {"/help  ", SLASH_COMMAND, "help", ""},
                 {"/rename  My  trip ", SLASH_COMMAND, "rename", "My  trip "},
                 {"/system You\nare terse", SLASH_COMMAND, "system", "You\nare terse"},
                 {"/usr/bin/env x", SLASH_COMMAND, "usr/bin/env", "x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slash_line line = slash_parse(cases[i].text);
        assert_int_equal(line.kind, cases[i].kind);
        if (line.kind != SLASH_COMMAND)
            continue;
        assert_int_equal(line.name_len, strlen(cases[i].name));
        assert_memory_equal(cases[i].text + 1, cases[i].name, line.name_len);
        assert_string_equal(cases[i].text + line.arguments, cases[i].arguments);
    }
}

TEST(test_table_is_sound)
{
    size_t count = 0;
    for (const struct slash_command *c = slash_commands(); c->name; c++, count++) {
        assert_true(c->run || c->act || c->operation);
        assert_true(*c->help);
        assert_ptr_equal(slash_find(c->name, strlen(c->name)), c);
        for (const char *p = c->name; *p; p++)
            assert_true(islower((unsigned char)*p));
    }
    assert_true(count >= 15);
    static const char *const aliases[][2] = {{"exit", "quit"},
                                             {"clear", "new"},
                                             {"undo", "uncompact"},
                                             {"cost", "context"},
                                             {"status", "doctor"}};
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        assert_string_equal(slash_find(aliases[i][0], strlen(aliases[i][0]))->name, aliases[i][1]);
    assert_null(slash_find("hel", 3));
    assert_null(slash_find("", 0));
    assert_true(slash_needs_argument(slash_find("rename", 6)));
    assert_false(slash_needs_argument(slash_find("resume", 6)));
    assert_false(slash_needs_argument(slash_find("new", 3)));
}

/* A skill is the last to be meant, and never in place of a command. */
TEST(skills_are_commands)
{
    static const struct {
        const char *text, *name; /* NULL: several */
    } cases[] = {{"/pdf a form", "pdf"}, {"/pd", "pdf"},    {"/compos x", "compose"},
                 {"/comp", "compact"},   {"/help", "help"}, {"/unp", "unpin"}};
    char names[][8] = {"pdf", "compose", "unpack", "help", "taken", "broken"};
    char description[] = "Reads PDF files.";
    struct skill all[sizeof names / sizeof *names] = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        all[i] = (struct skill){.name = names[i],
                                .description = description,
                                .taken = i == 4,
                                .state = i == 5 ? SKILL_BROKEN : SKILL_READY};
    struct skills skills = {.items = {.items = all, .len = sizeof all / sizeof *all}};
    assert_true(slash_know_skills(&skills));
    assert_false(slash_know_skills(&skills)); /* an open list stays as it is */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(slash_choice_release) struct slash_choice choice = slash_choose(cases[i].text);
        assert_null(choice.complaint);
        assert_string_equal(choice.command->name, cases[i].name);
    }
    assert_string_equal(slash_help(slash_find("pdf", 3), true), "Reads PDF files.");
    assert_false(slash_find("help", 4)->skill);
    assert_null(slash_find("taken", 5));
    assert_null(slash_find("broken", 6));
    skills.items.len = 0;
    assert_true(slash_know_skills(&skills));
    assert_null(slash_find("pdf", 3));
}

/* A prompt of a server says what it needs; one of a server that has not started is sent. */
TEST(prompts_of_servers_are_commands)
{
    char name[] = "s:greet", description[] = "Greets a person.", arguments[] = "who [style]";
    struct skill one = {.name = name, .description = description, .arguments = arguments};
    struct skills skills = {.items = {.items = &one, .len = 1}};
    static const struct {
        const char *text, *name, *arguments, *complaint;
    } cases[] = {{"/s:greet", "s:greet", "", "/s:greet who [style]: Greets a person."},
                 {"/s:greet Ada", "s:greet", "Ada", NULL},
                 {"/s:gr Ada", "s:greet", "Ada", NULL},
                 {"/other:one  two ", "other:one", "two", NULL}};
    (void)slash_know_skills(&skills);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(slash_choice_release) struct slash_choice choice = slash_choose(cases[i].text);
        assert_string_equal(choice.command->name, cases[i].name);
        assert_true(choice.command->skill);
        assert_string_equal(choice.arguments, cases[i].arguments);
        assert_string_equal(choice.complaint ? choice.complaint : "",
                            cases[i].complaint ? cases[i].complaint : "");
    }
    AUTO(slash_choice_release) struct slash_choice path = slash_choose("/usr/bin:/bin");
    assert_non_null(path.complaint);
    skills.items.len = 0;
    (void)slash_know_skills(&skills);
}

/* The engine knows the names of the screen's own commands. */
TEST(names_of_commands_are_taken)
{
    static const char *const screen[] = {TERMINAL_COMMANDS};
    size_t own = 0;
    for (const struct slash_command *c = slash_commands(); c->name; c++)
        own += c->operation ? 0 : c->alias ? 2 : 1;
    assert_int_equal(own, sizeof screen / sizeof *screen);
    for (size_t i = 0; i < own; i++)
        assert_non_null(slash_find(screen[i], strlen(screen[i])));
}

TEST(test_nearest)
{
    static const char *const cases[][2] = {
        {"/hepl", "/help?"}, {"/modle", "/model?"}, {"/xyzzyplugh", "/help lists"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(slash_choice_release) struct slash_choice choice = slash_choose(cases[i][0]);
        assert_non_null(strstr(choice.complaint, cases[i][1]));
    }
}

/* Replaces the engine's function: records the requests. */
static VEC(struct operation_request *) requests;

uint64_t engine_start(struct engine *s, const struct operation *o, const void *params)
{
    (void)s;
    vec_push(&requests, operation_request_new(o, params));
    return vec_last(&requests)->id = requests.len;
}

void engine_withdraw(struct engine *s, uint64_t id)
{
    (void)s, (void)id;
}

static void forget(void)
{
    for (size_t i = 0; i < requests.len; i++)
        operation_request_free(requests.items[i]);
    vec_release(&requests);
}

/* The last request; NULL: there is none. */
static const struct operation_request *asked(void)
{
    return requests.len > 0 ? vec_last(&requests) : NULL;
}

/* Parameters of the last request for the row; NULL: there is none. */
static const void *asked_last(const struct operation *o)
{
    for (size_t i = requests.len; i-- > 0;)
        if (requests.items[i]->operation == o)
            return requests.items[i]->params;
    return NULL;
}

static size_t asked_count(const struct operation *o)
{
    size_t count = 0;
    for (size_t i = 0; i < requests.len; i++)
        count += requests.items[i]->operation == o;
    return count;
}

static const char *opened(void)
{
    const struct session_open_params *p = asked_last(&operation_session_open);
    assert_false(p->read_only);
    return p->session;
}

/* The engine's answer to the last request. */
static struct notice *answer(void)
{
    struct notice *n = notice_new(NOTICE_ANSWER);
    n->answer = operation_answer_new(vec_last(&requests));
    requests.len--;
    return n;
}

static int64_t now_ms;

static int64_t stopped_clock(void)
{
    return now_ms;
}

static int key(const struct key *k)
{
    struct key own = *k;
    dispatch_key(&app, &own);
    return 0;
}

static const struct person person = {.key = key};

static int set_up(void **state)
{
    seen_by(&person);
    now_ms = 1000;
    clock_replace(NULL, stopped_clock);
    int fault = still_app_setup(state);
    transcript_resize(app.transcript, 78, 20);
    return fault;
}

static int tear_down(void **state)
{
    forget();
    clock_replace(NULL, NULL);
    return still_app_teardown(state);
}

/* Checks the answer to a line: looks at the transcript. */
#define answered(line, ...)                                                                        \
    do {                                                                                           \
        (void)slash_run(&app, line);                                                               \
        seen_transcript_says(app.transcript, __VA_ARGS__);                                         \
    } while (0)
#define refused(line, ...)                                                                         \
    do {                                                                                           \
        assert_false(slash_run(&app, line));                                                       \
        seen_transcript_says(app.transcript, __VA_ARGS__);                                         \
    } while (0)

FIXTURE(set_up, tear_down);

TEST(test_running)
{
    assert_true(slash_run(&app, "/help"));
    assert_true(list_count(list_view_find(&app.views, LIST_HELP)) > 40);
    assert_true(slash_run(&app, "/find  needle "));
    assert_null(app.views.at[VIEW_LIST]);
    assert_true(app.find.active);
    assert_string_equal(editor_text(app.find.line), "needle");
    assert_true(slash_run(&app, "/config theme"));
    assert_non_null(list_view_find(&app.views, LIST_CONFIG));
    assert_true(slash_run(&app, "/qui")); /* the only one that begins so */
    assert_true(app.leaving);
}

/* A request to the front session names no session. */
#define FRONT "{\"session_id\":\"\""

static void assert_params(const char *expected)
{
    AUTO(json_free_local)
    struct json *v = shape_to_json(asked()->operation->params, asked()->params);
    auto_free char *text = json_print(v);
    assert_string_equal(text, expected);
}

static void say(int64_t seq, enum event_type type, const char *text)
{
    AUTO(event_free_local) struct event *ev = event_new(type);
    ev->seq = seq;
    ev->text = mem_strdup(text);
    transcript_apply(app.transcript, ev);
}

static void say_two_turns(void)
{
    say(3, EVENT_TURN_STARTED, "first");
    say(4, EVENT_TURN_COMPLETED, NULL);
    say(7, EVENT_TURN_STARTED, "second");
    say(9, EVENT_TURN_COMPLETED, NULL);
}

/* The requests to the engine that each line makes. */
TEST(test_lines_ask)
{
    static const struct {
        const char *line;
        const struct operation *operation;
        const char *params;
    } cases[] = {
        {"/new", &operation_session_create, "{}"},
        {"/resume Kyoto in May", &operation_session_open, "{\"session_id\":\"Kyoto in May\"}"},
        {"/rename Kyoto  in May ", &operation_session_rename,
         "{\"session_id\":\"open\",\"title\":\"Kyoto  in May\"}"},
        {"/archive", &operation_session_archive, "{\"session_id\":\"open\"}"},
        {"/label +garden -spring", &operation_session_label,
         "{\"session_id\":\"open\",\"changes\":\"+garden -spring\"}"},
        {"/stop", &operation_turn_interrupt, NULL},
        {"/background", &operation_turn_background, FRONT "}"},
        {"/fork", &operation_session_fork, "{\"session_id\":\"open\"}"},
        {"/fork 1", &operation_session_fork, "{\"session_id\":\"open\",\"turn\":1}"},
        {"/fork ~before-compaction", &operation_session_fork,
         "{\"session_id\":\"open\",\"before_compaction\":true}"},
        {"/pin", &operation_compaction_pin, FRONT "}"},
        {"/pin 1", &operation_compaction_pin, FRONT ",\"turn\":1}"},
        {"/unpin 2", &operation_compaction_unpin, FRONT ",\"turn\":2}"},
        {"/unpin", &operation_compaction_unpin, FRONT "}"},
        {"/compact", &operation_compaction_run, FRONT "}"},
        {"/compact structured --preview the  names ", &operation_compaction_run,
         FRONT ",\"mode\":\"structured\",\"focus\":\"the  names\",\"preview\":true}"},
        {"/compact handof it", &operation_compaction_run, FRONT ",\"focus\":\"handof it\"}"},
        {"/compact hotels", &operation_compaction_run, FRONT ",\"focus\":\"hotels\"}"},
        {"/compact handoff handof", &operation_compaction_run,
         FRONT ",\"mode\":\"handoff\",\"focus\":\"handof\"}"},
        {"/uncompact", &operation_compaction_undo, NULL},
        {"/rewind", &operation_session_rewind, FRONT "}"},
        {"/rewind 2", &operation_session_rewind, FRONT ",\"turn\":2}"},
        {"/unrewind", &operation_session_unrewind, NULL},
        {"/model openai/gpt", &operation_session_set_model,
         FRONT ",\"provider\":\"openai\",\"model\":\"gpt\"}"},
        {"/model openai", &operation_session_set_model, FRONT ",\"provider\":\"openai\"}"},
        {"/model some/thing", &operation_session_set_model, FRONT ",\"model\":\"some/thing\"}"},
        {"/effort high", &operation_session_set_effort, FRONT ",\"effort\":\"high\"}"},
    };
    say_two_turns();
    memcpy(app.session.id, "open", 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(slash_run(&app, cases[i].line));
        assert_ptr_equal(asked()->operation, cases[i].operation);
        if (cases[i].params)
            assert_params(cases[i].params);
    }
}

TEST(test_unknown_and_incomplete_lines_are_refused)
{
    refused("/hepl me", "/help");
    refused("/re", "/resume, /rename, /rewind,");
    assert_false(slash_run(&app, "/"));
    refused("/rename  ", "/rename TITLE");
    refused("/remember", "/remember TEXT");
    refused("/quit now", "/quit takes no arguments");
    assert_false(slash_run(&app, "/new x"));
    assert_false(slash_run(&app, "/uncompact 2"));
    assert_false(app.leaving);
}

TEST(test_notes_of_the_commands)
{
    /* A lone word that is nearly a mode is asked about; more words are a focus. */
    answered("/compact structred", "There is no mode structred. Did you mean structured?");
    answered("/compact --quick", "/compact has no option --quick");
    answered("/copy", "nothing to copy");
    answered("/copy all", "/copy code");
    answered("/label", "no labels");
    app.session.labels = mem_strdup("draft trip");
    answered("/label", "Labels: draft trip");
    answered("/edit", "No message was sent");
    assert_string_equal(editor_text(app.editor), "");
}

TEST(test_given_back_texts_lose_nothing)
{
    editor_set(app.editor, "being written");
    app_give_back(&app, "refused");
    assert_string_equal(editor_text(app.editor), "refused\n\nbeing written");
    editor_set(app.editor, " ");
    app_give_back(&app, "again");
    assert_string_equal(editor_text(app.editor), "again");
    app_give_back(&app, "again");
    assert_string_equal(editor_text(app.editor), "again");
}

/* A draft is saved within 100 ms of the last key, and every 500 ms while the user types on. */
TEST(test_drafts_are_saved_soon)
{
    int64_t before = clock_mono_ms();
    app_edited(&app);
    assert_in_range(app.draft_at, before, clock_mono_ms() + 100);
    app.draft_since = clock_mono_ms() - 450;
    before = app.draft_since;
    app_edited(&app);
    assert_in_range(app.draft_at, before + 450, before + 500);
    app.draft_at = 0;
}

/* An idle program needs no timer, so it sleeps for ever. */
TEST(test_idle_needs_no_timer)
{
    app.dirty = 0;
    app.urgent = false;
    assert_int_equal(app_timeout(&app, 1000), -1);
    app.draft_at = 1400;
    assert_int_equal(app_timeout(&app, 1000), 400);
    app.draft_at = 0;
    app.activity.busy = true;
    app.tick_at = 1700;
    assert_int_equal(app_timeout(&app, 1000), 700);
    app.dirty = DIRTY_BODY;
    app.drawn_ms = 990;
    assert_true(app_timeout(&app, 1000) > 0 && app_timeout(&app, 1000) <= 33);
    assert_false(app_frame_due(&app, 1000));
    app.urgent = true;
    assert_int_equal(app_timeout(&app, 1000), 0);
    assert_true(app_frame_due(&app, 1000));
}

/* A status line that another line hides, or that has no room, needs no timer either. */
TEST(test_hidden_status_needs_no_timer)
{
    for (int i = 0; i < 2; i++) {
        app.find.active = i;
        app.status_dirty = true;
        app.status_ms = 0;
        app_timers(&app, clock_mono_ms());
        screen_draw(&app);
        assert_int_equal(app_timeout(&app, clock_mono_ms()), -1);
    }
}

/* --- compactions --- */

FIXTURES(plain, NULL, NULL);

TEST(test_what_stands_behind_compact)
{
    static const struct {
        const char *text, *mode, *focus, *unknown;
        bool preview;
    } cases[] = {
        {"", NULL, "", NULL, false},
        {"handoff", "handoff", "", NULL, false},
        {"handoff the tests", "handoff", "the tests", NULL, false},
        {"the handoff", NULL, "the handoff", NULL, false},
        {"handoffs", NULL, "handoffs", NULL, false},
        {"--preview", NULL, "", NULL, true},
        {" --preview  structured\tfile  names", "structured", "file  names", NULL, true},
        {"llm_replace --preview", "llm_replace", "", NULL, true},
        {"handoff structured", "handoff", "structured", NULL, false},
        {"keep --preview in mind", NULL, "keep --preview in mind", NULL, false},
        {"--perview", NULL, "", "--perview", false},
        {"handoff --dry run", "handoff", "", "--dry run", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct compact_words words = compact_parse(cases[i].text);
        if (cases[i].mode)
            assert_string_equal(words.mode, cases[i].mode);
        else
            assert_null(words.mode);
        assert_string_equal(words.focus, cases[i].focus);
        assert_int_equal(words.preview, cases[i].preview);
        assert_string_equal(words.unknown ? words.unknown : "-",
                            cases[i].unknown ? cases[i].unknown : "-");
    }
}

FIXTURES(own, set_up, tear_down);

/* The answers stand at the end of the transcript, wherever the user was reading. */
TEST(test_answers_are_shown)
{
    static const char *const lines[] = {"/compact", "/compact --quick", "/uncompact", "/pin",
                                        "/unpin x", "/uncompact 2",     "/rename",    "/nonsense"};
    for (int i = 0; i < 60; i++)
        say(10 + i, EVENT_TURN_STARTED, "a line of the past");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_true(transcript_scroll(app.transcript, 20));
        slash_run(&app, lines[i]);
        assert_false(transcript_scroll(app.transcript, -TRANSCRIPT_ALL));
    }
    assert_true(transcript_scroll(app.transcript, 20));
    slash_run(&app, "/copy");
    assert_true(transcript_scroll(app.transcript, -TRANSCRIPT_ALL));
}

static bool give_to_nobody(struct view *v, struct operation_answer *a, const char *words)
{
    (void)v, (void)a, (void)words;
    fail();
    return true;
}

static void answer_with(struct event *event)
{
    struct notice *n = answer();
    struct session_history_result *page = n->answer->result;
    vec_push(&page->events.items, event);
    notices_take(&app, n);
}

/* A closed view gets no answer, but an error of its request is reported all the same. */
TEST(test_what_a_closed_view_asked_for)
{
    static const struct {
        const struct operation *operation;
        bool told;
    } rows[] = {{&operation_session_export, true}, {&operation_session_list, false}};
    struct view view = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        transcript_clear(app.transcript);
        app.host.ask(&app, &view, rows[i].operation, NULL, give_to_nobody);
        app.host.withdraw(&app, &view, 0);
        struct notice *n = answer();
        operation_answer_fail(n->answer, &(struct error){ERR_FILE_ERROR, "the disk is full"});
        notices_take(&app, n);
        seen_transcript_says(app.transcript, rows[i].told ? "the disk is full" : "!the disk");
    }
}

/* The keys of selected messages name them by their events. */
TEST(a_selected_message_is_acted_on)
{
    memcpy(app.session.id, "open", 5);
    say(3, EVENT_TURN_STARTED, "first ");
    say(4, EVENT_TEXT_COMPLETE, "one");
    say(5, EVENT_TURN_COMPLETED, "one");
    say(7, EVENT_TURN_STARTED, "second");
    say(8, EVENT_TEXT_COMPLETE, "two");
    say(9, EVENT_TURN_COMPLETED, "two");
    act("<alt-up>f");
    assert_params("{\"session_id\":\"open\",\"at\":8}");
    assert_false(app.selecting.active);
    act("<alt-up*2>f"); /* the newest with its answer: all */
    assert_params("{\"session_id\":\"open\"}");
    act("<alt-up*9><alt-down><up>f");
    assert_params("{\"session_id\":\"open\",\"at\":4}");
    act("<alt-up*2>p");
    assert_params(FRONT ",\"seq\":7}");
    assert_true(app.selecting.active);
    act("<down*2>"); /* past the newest */
    assert_false(app.selecting.active);
    act("<alt-up*3>w"); /* an answer stands for its turn */
    assert_params(FRONT ",\"seq\":3}");
    forget();
    act("<alt-up*3>e");
    assert_string_equal(editor_text(app.editor), "first ");
    assert_null(asked());
    act("<enter>");
    const struct session_rewind_params *rewind = asked_last(&operation_session_rewind);
    assert_int_equal(rewind->seq, 3);
    assert_non_null(asked_last(&operation_turn_start));
    act("<alt-up>x"); /* no key of the selection: it is written */
    assert_string_equal(editor_text(app.editor), "x");
    act("<ctrl-u><alt-up>e"); /* the turn runs */
    assert_true(app.selecting.active);
    assert_non_null(strstr(app.selecting.told, "A turn is running"));
    assert_string_equal(editor_text(app.editor), "");
    act("<escape>");
    assert_false(app.selecting.active);
}

/* The completions that Tab offers for this text, each followed by a blank; "" and a changed text if
 * there is only one. */
static char *offered(const char *text)
{
    struct buf all = BUF_INIT;
    editor_set(app.editor, text);
    completion_start(&app);
    struct list *list = list_view_find(&app.views, LIST_COMPLETION);
    if (list)
        for (size_t i = 0, n = list_count(list); i < n; i++) {
            buf_addf(&all, "%s ", list_value(list));
            struct key down = {.code = K_DOWN};
            list_key(list, ACTION_DOWN, &down);
        }
    app_close_list(&app);
    return buf_take(&all);
}

TEST(test_completion_of_compact)
{
    static const struct {
        const char *text, *offered, *completed;
    } cases[] = {
        {"/compact ", "handoff structured recency_preserving deterministic llm_replace --preview ",
         "/compact "},
        {"/compact st", "", "/compact structured "},
        {"/compact --", "", "/compact --preview "},
        {"/compact handoff ", "", "/compact handoff --preview "},
        {"/compact handoff --p", "", "/compact handoff --preview "},
        {"/compact --preview --", "", "/compact --preview --"},
        {"/compact --preview de", "", "/compact --preview deterministic "},
        {"/compact handoff names ", "", "/compact handoff names "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_free char *got = offered(cases[i].text);
        assert_string_equal(got, cases[i].offered);
        assert_string_equal(editor_text(app.editor), cases[i].completed);
    }
}

/* An answer of models/list; `fault` NULL: it has this model. */
static void list_models(const char *provider, const char *model, const char *fault)
{
    static const char *const names[] = {"anthropic", "openai", "ollama", "offline"};
    struct notice *n = answer();
    struct models_result *m = n->answer->result;
    m->provider = mem_strdup(provider);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct provider_offer offer = {.name = mem_strdup(names[i])};
        vec_push(&m->providers, offer);
    }
    m->providers.items[0].wants = mem_strdup("ANTHROPIC_API_KEY");
    struct model_offer offer = {.name = mem_strdup(model),
                                .window = 400000,
                                .input_price = 1.25,
                                .output_price = 10,
                                .price_date = mem_strdup("2026-11-21")};
    if (fault)
        err_set(&m->fault, ERR_AGENT_ERROR, "%s", fault);
    if (model)
        vec_push(&m->models, offer);
    else
        free(offer.price_date);
    notices_take(&app, n);
}

TEST(models_of_all_providers_are_listed)
{
    app.provider = mem_strdup("openai");
    app.model = mem_strdup("gpt-5");
    slash_run(&app, "/model");
    assert_params("{}");
    list_models("openai", "gpt-5", NULL);
    assert_params("{\"provider\":\"ollama\"}"); /* anthropic has no key */
    size_t before = requests.len;
    list_models("ollama", NULL, "ollama: nothing listens there");
    assert_int_equal(requests.len, before - 1); /* and offline no server */
    struct list *list = list_view_find(&app.views, LIST_MODELS);
    assert_string_equal(list_value(list), "openai/gpt-5");
    const char *rows = seen_text(list_rows(list, 100, 10));
    assert_non_null(strstr(rows, "openai, in use · 400k · $1.25 in, $10 out · 2026-11-21"));
    assert_non_null(strstr(rows, "set ANTHROPIC_API_KEY"));
    assert_non_null(strstr(rows, "ollama     nothing listens there"));
    act("olla");
    (void)app_ask(&app, &operation_models_list, &(struct models_params){.provider = "ollama"},
                  picker_take_models);
    list_models("ollama", "gpt-oss:20b", NULL);
    act("<enter>"); /* the marked row is still the provider */
    assert_params(FRONT ",\"provider\":\"ollama\"}");
    auto_free char *got = offered("/model ");
    assert_string_equal(got, "gpt-5 ollama/gpt-oss:20b openai ollama offline ");
}

TEST(efforts_are_those_of_the_model)
{
    slash_run(&app, "/effort");
    seen_transcript_says(app.transcript, "No effort is known");
    assert_null(asked());
    struct notice *n = notice_new(NOTICE_PROVIDER);
    n->provider = mem_strdup("openai");
    n->model = mem_strdup("gpt-5");
    n->name = mem_strdup("low");
    n->args = mem_strdup("minimal low high");
    notices_take(&app, n);
    auto_free char *got = offered("/effort ");
    assert_string_equal(got, "minimal low high default ");
    act("<ctrl-u>");
    slash_run(&app, "/effort");
    assert_string_equal(list_value(list_view_find(&app.views, LIST_EFFORTS)), "low");
    act("<down><enter>");
    assert_params(FRONT ",\"effort\":\"high\"}");
}

/* The numbers are counted from the first message, which is on an older page. */
TEST(a_list_of_turns_waits_for_older_ones)
{
    struct event *second = told_event(EVENT_TURN_STARTED, 7, "second");
    told_earlier(app.transcript, &second, 1, true);
    auto_free char *none = offered("/pin ");
    assert_string_equal(none, "");
    const struct session_history_params *page = asked()->params;
    assert_ptr_equal(asked()->operation, &operation_session_history);
    assert_int_equal(page->before, 7);
    assert_true(page->newest);
    answer_with(told_event(EVENT_TURN_STARTED, 3, "first"));
    auto_free char *got = offered("/pin ");
    assert_string_equal(got, "2 1 ");
}

TEST(test_completion_of_fork)
{
    say_two_turns();
    char *got = offered("/fork ");
    assert_string_equal(got, "2 1 ");
    free(got);
    app.meters.compactions = 1;
    got = offered("/fork ");
    assert_string_equal(got, "2 1 ~before-compaction ");
    free(got);
    free(offered("/fork ~"));
    assert_string_equal(editor_text(app.editor), "/fork ~before-compaction ");
    got = offered("/pin ");
    assert_string_equal(got, "2 1 ");
    free(got);
}

/* The open list of commands, 80 columns wide. */
static const char *popup(void)
{
    return seen_text(list_rows(list_view_find(&app.views, LIST_COMPLETION), 80, 9));
}

TEST(commands_are_listed_with_their_keys)
{
    auto_free char *got = offered("/co"), *all = offered("/");
    assert_string_equal(got, "compact context cost corpus copy config ");
    assert_null(strstr(all, "cost ")); /* an alias is listed once it is typed */
    act("<ctrl-u>/cont");
    assert_non_null(strstr(popup(), " F4\n"));
    assert_true(keymap_bind(&app.keymap, "context", "f9", NULL));
    act("<backspace>");
    assert_non_null(strstr(popup(), " F9\n"));
}

TEST(enter_runs_the_marked_command_unless_it_lacks_its_argument)
{
    act("/renam<enter>");
    assert_string_equal(editor_text(app.editor), "/rename ");
    assert_null(asked());
    seen_transcript_says(app.transcript, "/rename TITLE: ");
    act("x<enter>");
    assert_non_null(asked_last(&operation_session_rename));
    act("<ctrl-p>rename<enter>");
    assert_string_equal(editor_text(app.editor), "/rename ");
    act("<ctrl-u><ctrl-p>doctor<enter>");
    assert_int_equal(asked_count(&operation_doctor_report), 1);
}

TEST(other_skills_do_not_move_the_mark)
{
    char name[] = "comb", description[] = "Combs.";
    struct skill one = {.name = name, .description = description};
    struct skills skills = {.items = {.items = &one, .len = 1}};
    act("/co<down><down>");
    (void)slash_know_skills(&skills);
    assert_string_equal(list_value(list_view_find(&app.views, LIST_COMPLETION)), "cost");
    app.engine = (struct engine *)&app;
    completion_ask_skills(&app);
    notices_take(&app, answer()); /* there are none */
    assert_null(strstr(popup(), "comb"));
    assert_string_equal(list_value(list_view_find(&app.views, LIST_COMPLETION)), "cost");
}

/* --- Ctrl-C --- */

TEST(it_leaves_at_the_second_press)
{
    act("<ctrl-c>");
    assert_false(app.leaving);
    assert_int_not_equal(app.leave_until, 0); /* the status line says so */
    now_ms += 1999;
    act("<ctrl-c>");
    assert_true(app.leaving);
}

TEST(it_leaves_within_two_seconds_alone)
{
    act("<ctrl-c>");
    assert_in_range(app_timeout(&app, now_ms), 0, 2000);
    now_ms += 2000;
    app_timers(&app, now_ms);
    assert_int_equal(app.leave_until, 0);
    act("<ctrl-c>");
    assert_false(app.leaving);
    now_ms += 2000; /* before the timer was seen */
    act("<ctrl-c>");
    assert_false(app.leaving);
}

TEST(another_key_makes_the_next_press_the_first)
{
    act("<ctrl-c>x");
    assert_int_equal(app.leave_until, 0);
    act("<ctrl-c>");
    assert_string_equal(editor_text(app.editor), "");
    assert_false(app.leaving);
    act("<ctrl-c>");
    assert_false(app.leaving);
    act("<ctrl-c>");
    assert_true(app.leaving);
}

/* The turn ends between two presses that were both meant to stop it. */
TEST(stopping_is_no_first_press)
{
    app.activity.busy = true;
    act("<ctrl-c>");
    assert_int_equal(asked_count(&operation_turn_interrupt), 1);
    assert_int_equal(app.leave_until, 0);
    app.activity.busy = false;
    act("<ctrl-c>");
    assert_false(app.leaving);
    assert_int_equal(asked_count(&operation_turn_interrupt), 1);
}

/* The whole text of F1. */
static const char *help(int width)
{
    act("<f1>");
    struct list *list = list_view_find(&app.views, LIST_HELP);
    assert_non_null(list);
    return seen_text(list_rows(list, width, 400));
}

static void assert_in_order(const char *text, const char *const *parts)
{
    for (const char *at = text; *parts; parts++)
        if (!(at = strstr(at, *parts)))
            fail_msg("\"%s\" is not there in order: %s", *parts, text);
}

TEST(help_begins_with_the_message)
{
    const char *const parts[] = {" Help",
                                 "\n Write a message and send it",
                                 "\n /  ",
                                 "\n !  ",
                                 "\n @  ",
                                 "file, folder, corpus or skill",
                                 "\n Keys ([keys]",
                                 "send the message",
                                 "\n Sessions\n",
                                 "Alt-v",
                                 "\n Memory and context\n",
                                 "F2",
                                 "F4",
                                 "\n Transcript\n",
                                 "Ctrl-F",
                                 "\n Editing a message\n",
                                 "Ctrl-K",
                                 "\n While a tool runs or asks\n",
                                 "allow this call",
                                 "\n In the context and in a compaction\n",
                                 "\n In the memory pane\n",
                                 "\n Commands\n",
                                 "/help",
                                 "\n In lists\n",
                                 "Up Down PageUp PageDown",
                                 "letters",
                                 "\n Status line\n",
                                 NULL};
    const char *text = help(100);
    assert_in_order(text, parts);
    assert_null(strstr(text, "\n Here\n"));
}

TEST(help_begins_with_the_pane_that_has_the_keyboard)
{
    const char *const parts[] = {"\n Here\n",       "show archived sessions, too",
                                 "Ctrl-N Ctrl-P",   "\n Write a message",
                                 "\n Keys ([keys]", NULL};
    act("<f3>");
    (void)view_draw(views_holder(&app.views), 100, 24);
    assert_in_order(help(100), parts);
}

TEST(closing_a_list_is_no_press)
{
    act("<ctrl-c><f1>");
    assert_non_null(list_view_find(&app.views, LIST_HELP));
    act("<ctrl-c>");
    assert_null(app.views.at[VIEW_LIST]);
    assert_false(app.leaving);
    act("<ctrl-c>");
    assert_false(app.leaving);
}

/* --- /edit --- */

TEST(a_changed_message_is_not_sent_while_a_turn_runs)
{
    app.last_sent = mem_strdup("the old words");
    message_edit(&app);
    assert_true(app.replacing);
    assert_string_equal(editor_text(app.editor), "the old words");
    app.activity.busy = true;
    act("<enter>");
    assert_string_equal(editor_text(app.editor), "the old words");
    assert_true(app.replacing);
    assert_null(app.waiting);
    app.activity.busy = false;
    act("<enter>");
    const struct turn_retry_params *p = asked_last(&operation_turn_retry);
    assert_string_equal(p->text, "the old words");
    assert_false(app.replacing);
}

TEST(a_running_turn_is_not_changed)
{
    app.last_sent = mem_strdup("the old words");
    app.activity.busy = true;
    message_edit(&app);
    assert_false(app.replacing);
    assert_string_equal(editor_text(app.editor), "");
}

/* --- Esc after a jump --- */

static const char here[] = "00000000-0000-7000-8000-000000000001";
static const char there[] = "00000000-0000-7000-8000-000000000002";

static void open_one(const char *id, bool read_only)
{
    way_back_session(&app, id);
    memcpy(app.session.id, id, UUID_LEN + 1);
    app.read_only = read_only;
    app.fresh = false;
    way_back_page(&app);
}

TEST(what_is_written_after_a_jump_stays)
{
    open_one(here, false);
    act("half");
    way_back_mark(&app, NULL);
    act(" a thought<escape>");
    assert_int_equal(app.way_back.places.len, 0);
    assert_string_equal(editor_text(app.editor), "half a thought");
    assert_int_equal(editor_caret(app.editor), strlen("half a thought"));
    assert_int_equal(requests.len, 0);
}

TEST(the_last_jump_is_the_first_to_go_back)
{
    open_one(here, false);
    way_back_mark(&app, there);
    open_one(there, true);
    way_back_mark(&app, NULL);
    act("<escape>");
    assert_int_equal(asked_count(&operation_session_open), 0);
    act("<escape>");
    assert_string_equal(opened(), here);
    act("<escape>"); /* it is on its way */
    assert_int_equal(asked_count(&operation_session_open), 1);
    open_one(here, false);
    act("<escape>");
    assert_int_equal(asked_count(&operation_session_open), 1);
}

TEST(reading_what_is_open_has_a_way_back)
{
    open_one(here, false);
    way_back_mark(&app, here);
    open_one(here, true);
    act("<escape>");
    assert_string_equal(opened(), here);
}

TEST(another_session_or_a_message_ends_it)
{
    open_one(here, false);
    way_back_mark(&app, NULL);
    open_one(there, false);
    assert_int_equal(app.way_back.places.len, 0);
    way_back_mark(&app, NULL);
    message_send(&app, "go on");
    assert_int_equal(app.way_back.places.len, 0);
}

TEST(what_cannot_be_opened_leaves_nothing_behind)
{
    open_one(here, false);
    (void)app.host.ask(&app, NULL, &operation_session_open,
                       &(struct session_open_params){.session = there, .read_only = true}, NULL);
    struct notice *n = answer();
    operation_answer_fail(n->answer, &(struct error){ERR_SESSION_NOT_FOUND, "gone"});
    notices_take(&app, n);
    assert_int_equal(app.way_back.places.len, 0);
    open_one(there, false); /* later, by another way */
    assert_int_equal(app.way_back.places.len, 0);
}

TEST(a_session_without_a_word_is_begun_again)
{
    memcpy(app.session.id, here, sizeof here);
    way_back_mark(&app, there);
    open_one(there, true);
    app.session.draft = mem_strdup("its own draft");
    editor_set(app.editor, "its own draft");
    act("<escape>");
    assert_int_equal(asked_count(&operation_session_create), 1);
    assert_string_equal(editor_text(app.editor), ""); /* the draft of the read-only session is not
                                                       * taken along */
}

/* --- Ctrl-F --- */

TEST(a_search_begins_empty)
{
    act("<ctrl-f>needle");
    assert_string_equal(editor_text(app.find.line), "needle");
    act("<escape><ctrl-f>");
    assert_string_equal(editor_text(app.find.line), "");
    assert_false(app.find.failed);
    act("<up>");
    assert_string_equal(editor_text(app.find.line), "needle");
    act("<escape><ctrl-f>");
    act("<escape>"); /* without a word */
    act("<ctrl-f><up>");
    assert_string_equal(editor_text(app.find.line), "needle");
}
