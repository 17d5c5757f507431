/* Sessions as texts to take away, and back again. */
#include <locale.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "chat/history.h"
#include "session/export.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "store/sql.h"
#include "tests/imported.h"
#include "tests/kept.h"
#include "tests/record.h"
#include "tests/suite.h"

struct sheet {
    struct buf text;
    size_t longest; /* piece */
    int pieces, stop_after;
};

static struct buf meanwhile = BUF_INIT;

static bool gather(void *context, const char *bytes, size_t len, struct error *fault)
{
    struct sheet *s = context;
    s->pieces++;
    s->longest = len > s->longest ? len : s->longest;
    buf_add(&s->text, bytes, len);
    return s->pieces != s->stop_after || err_set(fault, ERR_FILE_ERROR, "the printer burns");
}

static char *export(const char *reference, enum export_format format)
{
    struct sheet s = {.text = BUF_INIT};
    assert_ok(export_session(&catalog, reference, format, gather, &s, &e), e);
    return support_keep(buf_take(&s.text));
}

static struct session_info import(const char *text)
{
    struct session_info info;
    if (!imported_text(&catalog, text, strlen(text), NULL, "/here", &info, &e))
        fail_msg("%s\n%.300s", e.text, text);
    return info;
}

static int64_t session_count(void)
{
    AUTO(session_list_release) struct session_list list = {0};
    struct session_filter filter = {0};
    int64_t total;
    assert_true(catalog_list(&catalog, &filter, &list, &total, &e));
    return total;
}

/* --- export ----------------------------------------------------------------------------------- */

static void make_talk(struct record *r)
{
    record_begin(r, store);
    memcpy(r->info.id, "01890a5d-ac96-774b-bcce-b302099a8057", UUID_LEN);
    record_save(r);
    record_add(r, EVENT_TURN_STARTED, "Look\x1b at x");
    record_add(r, EVENT_CALL_STARTED, NULL);
    record_add(r, EVENT_TOOL_CALL_REQUESTED, "{\"path\":\"x\"}");
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup("c1");
    ev->name = mem_strdup("read_file");
    ev->text = mem_strdup("1234567");
    ev->number = 1250;
    record_event(r, ev);
    record_add(r, EVENT_TEXT_COMPLETE, "It is **x**.\n");
    record_add(r, EVENT_TURN_COMPLETED, "It is **x**.\n");
    ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_strdup("And?");
    ev->attachments = mem_strdup("[{\"type\":\"image\",\"text\":\"/a b.png\"}]");
    record_event(r, ev);
    record_add(r, EVENT_INTERRUPTED, NULL);
    record_save(r);
}

static const char markdown[] =
    "# Look␛ at x\n"
    "\n"
    "01890a5d-ac96-774b-bcce-b302099a8057 · 2026-03-09 14:05 UTC · openai · m-1 · "
    "/home/ana/größe\n"
    "\n"
    "## you · 2026-03-09 14:05 UTC\n"
    "\n"
    "Look␛ at x\n"
    "\n"
    "> read_file {\"path\":\"x\"}\n"
    "> 7 bytes, 1.3 s\n"
    "\n"
    "## tiro\n"
    "\n"
    "It is **x**.\n"
    "\n"
    "## you · 2026-03-09 14:05 UTC\n"
    "\n"
    "![](</a b.png>)\n"
    "\n"
    "And?\n"
    "\n"
    "! interrupted\n"
    "\n";

FIXTURE(kept_setup, kept_teardown);

TEST(test_markdown)
{
    AUTO(record_release) struct record r = {0};
    make_talk(&r);
    setenv("TZ", "Asia/Kathmandu", 1);
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one */
    char *text = export("last", EXPORT_MARKDOWN);
    unsetenv("TZ");
    setlocale(LC_ALL, "C.UTF-8");
    assert_string_equal(text, markdown);
}

/* Runs that end in each of the ways in which streamed text can be left alone. */
static void make_crashes(struct record *r)
{
    record_begin(r, store);
    record_add(r, EVENT_TURN_STARTED, "One");
    record_add(r, EVENT_TEXT_DELTA, "I look.");
    record_add(r, EVENT_TEXT_COMPLETE, "I look.");
    record_add(r, EVENT_TOOL_CALL_REQUESTED, "{}");
    record_save(r); /* as between two runs: the row does not include the later events */
    record_add(r, EVENT_TURN_STARTED, "Two");
    record_add(r, EVENT_TEXT_DELTA, "Thrown away.");
    record_add(r, EVENT_RETRYING, "overloaded");
    record_add(r, EVENT_TEXT_DELTA, "It ");
    record_add(r, EVENT_TEXT_DELTA, "is\x1b");
    record_add(r, EVENT_REASONING_DELTA, "Hm.");
    record_add(r, EVENT_TEXT_DELTA, "so");
    record_add(r, EVENT_TURN_STARTED, "Three");
    struct event *ev = event_new(EVENT_TEXT_COMPLETE);
    ev->text = mem_strdup("Part");
    ev->flag = true;
    record_event(r, ev);
    record_add(r, EVENT_INTERRUPTED, NULL);
    record_add(r, EVENT_TURN_STARTED, "Four");
    record_add(r, EVENT_TEXT_DELTA, "Lost");
    record_add(r, EVENT_INTERRUPTED, NULL);
    record_add(r, EVENT_TURN_STARTED, "Five");
    record_add(r, EVENT_TEXT_DELTA, " \n");
    record_add(r, EVENT_TURN_STARTED, "Six");
    record_add(r, EVENT_TEXT_DELTA, "Going");
}

#define YOU(text) "## you · 2026-03-09 14:05 UTC\n\n" text "\n\n"

TEST(test_crashes)
{
    AUTO(record_release) struct record r = {0};
    make_crashes(&r);
    char *text = export("last", EXPORT_MARKDOWN);
    const char *turns = strstr(text, "## you");
    assert_non_null(turns);
    assert_string_equal(turns,
                        YOU("One") "## tiro\n\nI look.\n\n> read_file {}\n\n! cut off\n\n"
                        YOU("Two") "## tiro · cut off\n\nIt is␛\n\nso\n\n! cut off\n\n"
                        YOU("Three") "## tiro · cut off\n\nPart\n\n! interrupted\n\n"
                        YOU("Four") "## tiro · cut off\n\nLost\n\n! interrupted\n\n"
                        YOU("Five") "! cut off\n\n"
                        YOU("Six") "## tiro · unfinished\n\nGoing\n\n"
                        "! unfinished: interrupted, or still running\n\n");
}

TEST(test_json)
{
    AUTO(record_release) struct record r = {0};
    make_talk(&r);
    char *text = export("last", EXPORT_JSON);
    char *lines = support_keep(record_lines(store, r.info.id));
    AUTO(json_free_local) struct json *v = json_parse(text, strlen(text), &e);
    assert_non_null(v);
    assert_int_equal(json_get_int(v, "tiro", 0), 1);
    assert_string_equal(json_get_string(json_get(v, "session"), "id"), r.info.id);
    assert_int_equal(json_len(json_get(v, "events")), 8);

    text = export("last", EXPORT_JSONL);
    assert_int_equal(strncmp(text, "{\"type\":\"session\",\"tiro\":1,\"id\":\"0189", 36), 0);
    assert_string_equal(strchr(text, '\n') + 1, lines);
}

TEST(test_without_events)
{
    AUTO(record_release) struct record r = {0};
    record_begin(&r, store);
    r.info.draft = mem_strdup("not yet");
    record_save(&r);
    for (int i = 0; i < 2; i++) {
        char *text = export("last", i == 0 ? EXPORT_JSON : EXPORT_JSONL);
        AUTO(session_info_release) struct session_info info = import(text);
        assert_string_equal(info.draft, "not yet");
        assert_string_not_equal(info.id, r.info.id);
        assert_true(catalog_delete(&catalog, info.id, NULL, &e));
    }
}

TEST(test_in_pieces)
{
    char said_again[450];
    memset(said_again, 'w', sizeof said_again);
    said_again[sizeof said_again - 1] = '\0';
    AUTO(record_release) struct record r = {0};
    record_begin(&r, store);
    for (int i = 0; i < 800; i++)
        record_run(&r, "What about a text of some length?", said_again);
    for (int f = 0; f < EXPORT_FORMAT_COUNT; f++) {
        struct sheet s = {.text = BUF_INIT};
        assert_true(export_session(&catalog, "last", (enum export_format)f, gather, &s, &e));
        assert_true(s.pieces > 5);
        assert_true(s.longest < 70 * 1024);
        buf_clear(&s.text);
        int all = s.pieces;
        s.pieces = 0;
        s.stop_after = 2;
        assert_false(export_session(&catalog, "last", (enum export_format)f, gather, &s, &e));
        assert_string_equal(e.text, "the printer burns");
        assert_int_equal(s.pieces, 2); /* not asked again */
        s.pieces = 0;
        s.stop_after = all;
        assert_false(export_session(&catalog, "last", (enum export_format)f, gather, &s, &e));
        buf_release(&s.text);
    }
}

static bool gather_while_it_goes_on(void *context, const char *bytes, size_t len,
                                    struct error *fault)
{
    struct record *r = context;
    (void)fault;
    buf_add(&meanwhile, bytes, len);
    record_run(r, "Still there?", "Yes.");
    return true;
}

/* The text is that of the session as it was when its head was written. */
TEST(test_while_it_goes_on)
{
    AUTO(record_release) struct record r = {0};
    record_begin(&r, store);
    for (int i = 0; i < 800; i++)
        record_run(&r, "What about a text of some length that is said again and again?", "Well.");
    char *before = export("last", EXPORT_JSON);
    assert_true(export_session(&catalog, "last", EXPORT_JSON, gather_while_it_goes_on, &r, &e));
    assert_string_equal(meanwhile.data, before);
    buf_release(&meanwhile);
}

TEST(test_formats)
{
    enum export_format f;
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        assert_true(export_format_from_name(export_format_name((enum export_format)i), &f));
        assert_int_equal(f, i);
    }
    assert_true(export_format_from_name("md", &f));
    assert_int_equal(f, EXPORT_MARKDOWN);
    assert_false(export_format_from_name("pdf", &f));
    assert_int_equal(export_format_of_path("/a.b/c.JSON"), EXPORT_JSON);
    assert_int_equal(export_format_of_path("x.jsonl"), EXPORT_JSONL);
    assert_int_equal(export_format_of_path("x.md"), EXPORT_MARKDOWN);
    assert_int_equal(export_format_of_path("json"), EXPORT_MARKDOWN);
    assert_int_equal(export_format_of_path("x.txt"), EXPORT_MARKDOWN);
}

static void check_file(const char *file, const char *wanted)
{
    struct stat st;
    assert_string_equal(support_read(file), wanted);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 1);
}

TEST(test_to_a_file)
{
    AUTO(record_release) struct record r = {0};
    make_talk(&r);
    char *dir = support_path("out");
    char *file = support_path("out/talk.md");
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_true(export_to_file(&catalog, "last", EXPORT_MARKDOWN, file, false, &e));
    check_file(file, markdown);
    support_write(file, "mine");
    assert_error(export_to_file(&catalog, "last", EXPORT_MARKDOWN, file, false, &e), e,
                 ERR_FILE_ERROR, file);
    check_file(file, "mine");
    assert_true(export_to_file(&catalog, "last", EXPORT_MARKDOWN, file, true, &e));
    check_file(file, markdown);
    assert_int_equal(unlink(file), 0);

    assert_err(export_to_file(&catalog, "who?", EXPORT_MARKDOWN, file, false, &e), e,
               ERR_SESSION_NOT_FOUND);
    assert_err(export_to_file(&catalog, "last", EXPORT_MARKDOWN, dir, true, &e), e, ERR_FILE_ERROR);
    assert_err(export_to_file(&catalog, "last", EXPORT_MARKDOWN, "/dev/null", true, &e), e,
               ERR_FILE_ERROR);
    assert_int_equal(symlink("nowhere", file), 0); /* a name that is taken, too */
    assert_false(export_to_file(&catalog, "last", EXPORT_MARKDOWN, file, false, &e));
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(dir), 0); /* nothing half was left */
}

/* --- there and back --------------------------------------------------------------------------- */

static char *replaced(const char *text, const char *old, const char *by)
{
    struct buf out = BUF_INIT;
    for (const char *at; (at = strstr(text, old)); text = at + strlen(old)) {
        buf_add(&out, text, (size_t)(at - text));
        buf_addstr(&out, by);
    }
    buf_addstr(&out, text);
    return support_keep(buf_take(&out));
}

/* The member that an import adds to a log that names no origin. */
#define IMPORTED ",\"origin\":\"imported\""

/* Into this store, where the id is taken, and again after the first one is gone. */
static void check_round_trip(const char *id, enum export_format format)
{
    char *text = export(id, format);
    AUTO(session_info_release) struct session_info copy = import(text);
    assert_string_not_equal(copy.id, id);
    char *again = replaced(export(copy.id, format), IMPORTED, "");
    char *unmarked = replaced(text, IMPORTED, "");
    assert_string_equal(replaced(again, copy.id, id), unmarked);
    assert_true(catalog_delete(&catalog, copy.id, NULL, &e));

    AUTO(session_info_release) struct session_info kept = {0}, back = {0};
    assert_true(catalog_find(&catalog, id, &kept, &e));
    assert_true(catalog_delete(&catalog, id, NULL, &e));
    back = import(text);
    assert_string_equal(back.id, id);
    again = replaced(export(id, format), IMPORTED, "");
    assert_string_equal(again, unmarked);
    assert_int_equal(back.title_set, kept.title_set);
}

static void adorn(struct record *r)
{
    struct session_info *info = &r->info;
    info->system = entropy_unit() < 0.5 ? mem_strdup("Be \"brief\".\nPlease.") : NULL;
    info->labels = entropy_unit() < 0.5 ? mem_strdup("+even -odd food") : NULL;
    info->archived_ms = entropy_unit() < 0.3 ? 1773065107777 : 0;
    if (entropy_unit() < 0.5) {
        free(info->title);
        info->title = mem_strdup("By hand");
        info->title_set = true;
    }
    if (entropy_unit() < 0.5) {
        memcpy(info->parent, "01890a5d-ac96-774b-bcce-b302099a8057", sizeof info->parent);
        info->parent_seq = 7;
    }
}

TEST(test_round_trips)
{
    entropy_seed(support_seed());
    for (int i = 0; i < (int)suite_sample(15, 40); i++) {
        AUTO(record_release) struct record r = {0};
        record_begin(&r, store);
        adorn(&r);
        for (size_t runs = 1 + (size_t)(entropy_unit() * 5); runs > 0; runs--)
            record_random_run(&r);
        if (entropy_unit() < 0.3)
            r.info.draft = mem_strdup("what I was about to say");
        r.info.updated_ms += 17;
        record_save(&r);
        check_round_trip(r.info.id, EXPORT_JSON);
        check_round_trip(r.info.id, EXPORT_JSONL);
    }
}

/* The file that is derived from a log has no line for the session. */
static int64_t settings_of(const char *id)
{
    int64_t count = 0;
    struct query q =
        sql_query(store, &e, "SELECT count(*) FROM session_setting WHERE session = ?", "t", id);
    if (query_next(&q))
        count = sqlite3_column_int64(q.handle, 0);
    assert_true(query_end(&q));
    return count;
}

/* A list of messages has what was said before a compaction, and nothing that was taken back. */
TEST(test_a_list_of_messages)
{
    AUTO(record_release) struct record r = {0};
    make_talk(&r);
    char *list = export(r.info.id, EXPORT_MESSAGES);
    assert_non_null(
        strstr(list,
               "{\"role\":\"assistant\",\"content\":\"It is **x**.\\n\",\"tool_calls\":[{\"id\":"
               "\"c1\",\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":"
               "\"{\\\"path\\\":\\\"x\\\"}\"}}],\"timestamp\":"));
    record_random_compaction(&r);
    struct event *back = event_new(EVENT_REWOUND);
    back->number = r.info.last_seq + 1;
    record_run(&r, "Taken back", "Yes.");
    record_event(&r, back);
    record_save(&r);
    assert_string_equal(export(r.info.id, EXPORT_MESSAGES), list);
    AUTO(session_info_release) struct session_info copy = import(list);
    assert_int_equal(copy.turns, 2);
}

/* A level of tools was given by the person here: no text brings one along, and a session takes its
 * own with it. */
TEST(test_settings_stay)
{
    AUTO(record_release) struct record r = {0};
    make_talk(&r);
    assert_true(session_setting_put(store, r.info.id, "tools", "full", &e));
    for (int format = EXPORT_JSON; format < EXPORT_FORMAT_COUNT; format++) {
        AUTO(session_info_release)
        struct session_info copy = import(export(r.info.id, (enum export_format)format));
        assert_int_equal(settings_of(copy.id), 0);
    }
    assert_int_equal(settings_of(r.info.id), 1);
    char *text = export(r.info.id, EXPORT_JSON);
    assert_true(sessions_delete(store, r.info.id, &e));
    AUTO(session_info_release) struct session_info back = import(text);
    assert_int_equal(settings_of(back.id), 0);
    assert_int_equal(settings_of(r.info.id), 0);
}

TEST(test_lines_without_a_head)
{
    AUTO(record_release) struct record r = {0};
    make_talk(&r);
    char *lines = support_keep(record_lines(store, r.info.id));
    assert_true(catalog_delete(&catalog, "last", NULL, &e));
    char *spaced = support_text("\xef\xbb\xbf\n\r\n%s\n\n", lines);
    AUTO(session_info_release) struct session_info info = import(spaced);
    assert_string_equal(info.id, r.info.id);
    assert_string_equal(info.title, "Look␛ at x");
    assert_string_equal(info.directory, "/here");
    assert_int_equal(info.created_ms, 1773065107123);
    assert_int_equal(info.turns, 2);
    assert_string_equal(replaced(support_keep(record_lines(store, info.id)), IMPORTED, ""), lines);
}

/* A text cannot say that its messages were typed here. */
TEST(test_imported_messages_say_so)
{
    static const char *const members[] = {"", ",\"origin\":\"typed\"", ",\"origin\":\"new\""};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        AUTO(session_info_release)
        struct session_info info =
            import(support_text("{\"type\":\"run_started\",\"seq\":1,\"session_id\":\"01890a5d-"
                                "ac96-774b-bcce-b302099a8057\","
                                "\"at\":\"2026-03-09T14:05:07.123Z\",\"prompt\":\"Hello\"%s}",
                                members[i]));
        assert_non_null(strstr(support_keep(record_lines(store, info.id)), IMPORTED));
        assert_true(catalog_delete(&catalog, info.id, NULL, &e));
    }
    AUTO(session_info_release)
    struct session_info info = import("[{\"role\":\"user\",\"content\":\"Hello\"}]");
    assert_non_null(strstr(support_keep(record_lines(store, info.id)), IMPORTED));
}

TEST(test_titles)
{
    static const char talk[] = "[{\"role\":\"user\",\"content\":\"Hi there\"}]";
    struct session_info info;
    assert_true(imported_text(&catalog, talk, strlen(talk), "My\ntalk", "/d", &info, &e));
    assert_string_equal(info.title, "My");
    assert_true(info.title_set);
    session_info_release(&info);
    info = import(talk);
    assert_string_equal(info.title, "Hi there");
    assert_false(info.title_set);
    session_info_release(&info);
    static const char own[] =
        "{\"type\":\"session\",\"tiro\":1,\"title\":\"Theirs\",\"draft\":\"d\"}\n";
    assert_true(imported_text(&catalog, own, strlen(own), "Mine", NULL, &info, &e));
    assert_string_equal(info.title, "Theirs");
    session_info_release(&info);
}

/* --- lists of messages ------------------------------------------------------------------------ */

static const char openai_list[] =
    "{\"model\":\"gpt-x\",\"messages\":["
    "{\"role\":\"system\",\"content\":\"Be brief.\"},"
    "{\"role\":\"developer\",\"content\":[{\"type\":\"text\",\"text\":\"Be kind.\"}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Weather\"},"
    "{\"type\":\"text\",\"text\":\"in Rome?\"},"
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x.org/a.png\"}}]},"
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
    "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"sky\",\"arguments\":\"{}\"}},"
    "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"sea\",\"arguments\":\"{}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"calm\"},"
    "{\"role\":\"tool\",\"tool_call_id\":\"lost\",\"content\":\"?\"},"
    "{\"role\":\"assistant\",\"content\":\"Calm.\"},"
    "{\"role\":\"user\",\"content\":\"Thanks\"},"
    "{\"role\":\"user\",\"content\":\"Bye\"},"
    "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":\"No.\"}]}";

static const char openai_lines[] =
    "run_started Weather\nin Rome?|turn_started|tool_call_requested {}|tool_call_requested {}|"
    "turn_completed|tool_execution_completed calm|tool_execution_completed ?|turn_started|"
    "text_complete Calm.|turn_completed|run_completed Calm.|run_started Thanks|interrupted|"
    "run_started Bye|turn_started|text_complete No.|turn_completed|run_completed No.|";

static bool add_short(void *out, const struct event *ev)
{
    buf_addf(out, "%s%s%s|", event_name(ev->type), ev->text ? " " : "", ev->text ? ev->text : "");
    assert_int_equal(ev->wall_ms, 1700000000000 + ev->seq - 1);
    return true;
}

static int64_t fixed_time(void)
{
    return 1700000000000;
}

TEST(test_openai)
{
    AUTO(history_release) struct history h = {0};
    AUTO(buf_release) struct buf events = BUF_INIT;
    clock_replace(fixed_time, NULL);
    AUTO(session_info_release) struct session_info info = import(openai_list);
    clock_replace(NULL, NULL);
    assert_true(event_log_read(store, info.id, 0, add_short, &events, &e));
    assert_string_equal(events.data, openai_lines);
    assert_string_equal(info.system, "Be brief.\n\nBe kind.");
    assert_string_equal(info.model, "gpt-x");
    assert_string_equal(info.title, "Weather");
    assert_int_equal(info.turns, 3);
    assert_true(snapshot_resume(store, info.id, &h, &e));
    assert_false(h.running);
    assert_int_equal(h.messages.len, 7);
    const struct message *m = h.messages.items;
    assert_int_equal(m[0].blocks.items[0].type, BLOCK_IMAGE);
    assert_string_equal(m[0].blocks.items[0].text, "https://x.org/a.png");
    assert_int_equal(m[1].blocks.len, 2);
    assert_int_equal(m[2].role, ROLE_TOOL);
    assert_int_equal(m[2].blocks.len, 2); /* the lost one is none, the open call got one */
    assert_string_equal(m[2].blocks.items[0].name, "sea");
    assert_string_equal(m[2].blocks.items[1].id, "a");
    assert_true(m[2].blocks.items[1].is_error);
    assert_int_equal(m[4].role, ROLE_USER);
    assert_int_equal(m[5].role, ROLE_USER);
    assert_string_equal(m[6].blocks.items[0].text, "No.");
}

/* --- refusals --------------------------------------------------------------------------------- */

#define AT "'at':'2026-03-09T14:05:07.123Z'"
#define ID "'session_id':'01890a5d-ac96-774b-bcce-b302099a8057'"
#define SAID(seq) "{'type':'run_started','seq':" seq "," ID "," AT ",'prompt':'x'}"
#define USER "{'role':'user','content':'x'}"
#define JSON(session, events) "{'tiro':1,'session':" session ",'events':[" events "]}"

static const struct {
    const char *text, *place, *named;
} bad[] = {
    {"", "the text", "nothing"},
    {" \n\t", "the text", "nothing"},
    {"hello", "the text", "JSON"},
    {"{'a':1}", "the text", "neither"},
    {"3", "the text", "neither"},
    {"[]", "the text", "no message"},
    {"[" USER "] x", "the text", "JSON"},
    {"\xff[" USER "]", "the text", "JSON"},
    {"[{'role':'user','content':'\xff'}]", "messages[0]", "UTF-8"},
    {"[" USER, "messages[0]", "JSON"},
    {"[" USER ",", "messages[1]", "JSON"},
    {"[" USER ",]", "messages[1]", "JSON"},
    {"[" USER " " USER "]", "messages[0]", "JSON"},
    {"{'messages':[" USER "]", "the text", "JSON"},
    {"{'messages' [" USER "]}", "the text", "JSON"},
    {"{messages:[" USER "]}", "the text", "JSON"},
    {"{'messages':[" USER "],'messages':[]}", "the text", "second"},
    {"{'messages':[" USER "],'x':[}", "'x'", "JSON"},
    {"[{'role':'user',\n'content':'a\\u0000b'}]", "line 2", "NUL"},
    /* Ours. */
    {"{'tiro':1,'session':{'labels':['a']},'session':{'labels':['b']},'events':[]}", "the text",
     "second"},
    {"{'tiro':2,'session':{},'events':[" SAID("1") "]}", "the text", "newer"},
    {"{'tiro':0,'session':{},'events':[" SAID("1") "]}", "the text", "version"},
    {"{'tiro':'1','session':{},'events':[" SAID("1") "]}", "the text", "version"},
    {"{'tiro':1,'events':[" SAID("1") "]}", "session", "no object"},
    {"{'tiro':1,'session':{}}", "the text", "events"},
    {JSON("{}", ""), "the text", "no message"},
    {JSON("{'id':'x'}", SAID("1")), "session", "'id'"},
    {JSON("{'id':7}", SAID("1")), "session", "'id'"},
    {JSON("{'title':7}", SAID("1")), "session", "'title'"},
    {JSON("{'system':[]}", SAID("1")), "session", "'system'"},
    {JSON("{'labels':'a b'}", SAID("1")), "session", "'labels'"},
    {JSON("{'labels':['a b']}", SAID("1")), "session", "'labels'"},
    {JSON("{'labels':['a',1]}", SAID("1")), "session", "'labels'"},
    {JSON("{'created':'yesterday'}", SAID("1")), "session", "'created'"},
    {JSON("{'parent':'x'}", SAID("1")), "session", "'parent'"},
    {JSON("{'id':'01890a5d-0000-774b-bcce-b302099a8057'}", SAID("1")), "events[0]", "session_id"},
    {JSON("{}", SAID("1") ",7"), "events[1]", "no object"},
    {JSON("{}", SAID("1") "," SAID("1")), "events[1]", "'seq'"},
    {JSON("{}", SAID("2") "," SAID("1")), "events[1]", "'seq'"},
    {JSON("{}", SAID("0")), "events[0]", "'seq'"},
    {JSON("{}", SAID("1.5")), "events[0]", "'seq'"},
    {JSON("{}", SAID("9007199254740993")), "events[0]", "'seq'"},
    {JSON("{}", SAID("4294967296")), "events[0]", "'seq'"},
    {JSON("{}", SAID("'1'")), "events[0]", "'seq'"},
    {JSON("{}", "{'type':'tea','seq':1," ID "," AT "}"), "events[0]", "unknown type"},
    {JSON("{}", "{'seq':1," ID "," AT "}"), "events[0]", "type"},
    {JSON("{}", "{'type':'run_started','version':9,'seq':1," ID "," AT ",'prompt':''}"),
     "events[0]", "version 9"},
    {JSON("{}", "{'type':'run_started','seq':1," ID "," AT ",'prompt':3}"), "events[0]", "prompt"},
    {JSON("{}", "{'type':'run_started','seq':1," ID ",'at':3,'prompt':''}"), "events[0]", "'at'"},
    {JSON("{}", "{'type':'run_started','seq':1," AT ",'prompt':''}"), "events[0]", "session_id"},
    {"{'type':'session','tiro':2}\n" SAID("1"), "line 1", "newer"},
    {"{'type':'session'}\n" SAID("1"), "line 1", "version"},
    {"{'type':'session','tiro':1}\n", "the text", "no message"},
    {SAID("1") "\n\n" SAID("1") "\n", "line 3", "'seq'"},
    {SAID("1") "\n{'type':'session','tiro':1}\n", "line 2", "second"},
    {SAID("1") "\n{'type':", "line 2", "JSON"},
    {SAID("1") "\n[]", "line 2", "no object"},
    /* Lists of messages. */
    {"{'messages':7}", "messages", "no list"},
    {"[7]", "messages[0].role", "no text"},
    {"[" USER ",{'role':'tea','content':''}]", "messages[1].role", "tea"},
    {"[{'role':'user'}]", "messages[0]", "content"},
    {"[{'role':'user','content':null}]", "messages[0]", "content"},
    {"[{'role':'user','content':''}]", "messages[0]", "empty"},
    {"[{'role':'user','content':[{}]}]", "messages[0].content[0]", "type"},
    {"[{'role':'user','content':[{'type':'input_audio'}]}]", "messages[0].content[0]",
     "input_audio"},
    {"[{'role':'user','content':[{'type':'text'}]}]", "messages[0].content[0]", "text"},
    {"[{'role':'user','content':[{'type':'image_url','image_url':"
     "{'url':'/etc/passwd'}}]}]",
     "messages[0].content[0]", "address"},
    {"[" USER ",{'role':'assistant','content':[{'type':'image_url'}]}]", "messages[1].content[0]",
     "image_url"},
    {"[{'role':'assistant','content':'Hi'}]", "messages[0]", "before"},
    {"[{'role':'tool','tool_call_id':'a','content':''}]", "messages[0]", "before"},
    {"[" USER ",{'role':'tool','content':''}]", "messages[1]", "tool_call_id"},
    {"[" USER ",{'role':'assistant','function_call':{}}]", "messages[1]", "function_call"},
    {"[" USER ",{'role':'assistant','tool_calls':{}}]", "messages[1]", "tool_calls"},
    {"[" USER ",{'role':'assistant','tool_calls':[{'id':'a','function':"
     "{'name':'n','arguments':{}}}]}]",
     "messages[1].tool_calls[0]", "function.arguments"},
    {"[" USER ",{'role':'assistant','tool_calls':[{'id':'a','type':'custom'}]}]",
     "messages[1].tool_calls[0]", "custom"},
};

static void refuse(const char *text, size_t len, const char *place, const char *named)
{
    struct session_info info;
    struct error fault = {0};
    int64_t before = session_count();
    assert_false(imported_text(&catalog, text, len, NULL, "/", &info, &fault));
    print_message("%s\n", fault.text);
    assert_int_equal(fault.code, ERR_FILE_ERROR);
    assert_int_equal(strncmp(fault.text, place, strlen(place)), 0);
    assert_int_equal(fault.text[strlen(place)], ':');
    assert_non_null(strstr(fault.text, named));
    assert_int_equal(session_count(), before);
}

/* The text ends at its length; a sanitizer detects any read beyond it. */
static void refuse_exactly(const char *text, const char *place, const char *named)
{
    size_t len = strlen(text);
    char *copy = support_keep(malloc(len > 0 ? len : 1));
    memcpy(copy, support_json(text), len);
    refuse(copy, len, support_json(place), support_json(named));
}

TEST(test_refuses_by_place)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse_exactly(bad[i].text, bad[i].place, bad[i].named);
    refuse("[\0]", 3, "line 1", "NUL");
}

TEST(test_bounds)
{
    size_t depth = 200000;
    char *deep = support_keep(mem_alloc(depth));
    memset(deep, '[', depth);
    refuse(deep, depth, "messages[0]", "nested");
    refuse(deep, 1200, "messages[0]", "JSON");

    AUTO(buf_release) struct buf calls = BUF_INIT;
    buf_addstr(&calls, "[" USER ",{'role':'assistant','tool_calls':[");
    for (int i = 0; i < 1001; i++)
        buf_addf(&calls, "%s{'id':'%d','function':{'name':'n','arguments':''}}", i > 0 ? "," : "",
                 i);
    buf_addstr(&calls, "]}]");
    refuse(support_json(calls.data), calls.len, "messages[1].tool_calls[1000]", "1000");
}

/* Sums of figures in the text are bounded, too. */
TEST(test_endless_runs)
{
    AUTO(record_release) struct record r = {0};
    record_begin(&r, store);
    for (int i = 0; i < 1100; i++)
        record_run(&r, "How long?", "Long.");
    char *text = export(r.info.id, EXPORT_JSONL);
    char *longer = replaced(text, "\"duration_ms\":0", "\"duration_ms\":9007199254740991");
    AUTO(session_info_release) struct session_info info = import(longer);
    assert_true(info.run_ms == INT64_MAX);
}

/* A store that fails in the middle. */
TEST(test_all_or_nothing)
{
    struct session_info info;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(support_path("tiro.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TRIGGER full BEFORE INSERT ON event WHEN NEW.seq = 5"
                                  " BEGIN SELECT RAISE(ABORT, 'full'); END",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_false(imported_text(&catalog, openai_list, strlen(openai_list), NULL, "/", &info, &e));
    assert_int_equal(session_count(), 0);
}

/* Any mutilation of a good text is imported or refused, and leaves a store that can be read. */
TEST(test_mutilated_texts)
{
    AUTO(record_release) struct record r = {0};
    make_talk(&r);
    char *own = export("last", EXPORT_JSON);
    char *lines = export("last", EXPORT_JSONL);
    const char *const texts[] = {own, lines, openai_list};
    entropy_seed(support_seed());
    for (int i = 0; i < 1500; i++) {
        struct session_info info;
        char *text = support_keep(mem_strdup(texts[i % 3]));
        size_t len = strlen(text);
        for (int k = 0; k < 1 + i % 4; k++)
            text[(size_t)(entropy_unit() * (double)len)] =
                "\"{}[],:0 x\n\\"[(int)(entropy_unit() * 12)];
        if (i % 5 == 0)
            len = (size_t)(entropy_unit() * (double)len);
        int64_t before = session_count();
        struct error fault = {0};
        if (imported_text(&catalog, text, len, NULL, "/", &info, &fault)) {
            free(record_lines(store, info.id));
            assert_true(catalog_delete(&catalog, info.id, NULL, &e));
            session_info_release(&info);
        } else {
            assert_int_equal(fault.code, ERR_FILE_ERROR);
        }
        assert_int_equal(session_count(), before);
    }
}
