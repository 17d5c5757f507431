/* Histories in a table of sessions and a table of messages: goose, Crush, Hermes, llm. */
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

/* The file is read; reading it again when it has changed adds nothing. */
static void expect(const char *path, const char *name, const char *const *lines)
{
    import_case_read(path, name, lines);
    import_case_sql(path, "CREATE TABLE more (x)");
    struct import_counts counts = import_case_scan(path);
    assert_int_equal(counts.read, 1);
    assert_int_equal(counts.messages, 0);
}

TEST(test_goose)
{
    import_case_sql(
        "g/sessions.db",
        "CREATE TABLE sessions (id TEXT, description TEXT, working_dir TEXT, created_at TEXT, "
        "updated_at TEXT); CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role "
        "TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);"
        "INSERT INTO sessions VALUES ('20260301_1', 'Tax', '/home/u/shop', '2026-03-01 10:00:00', "
        "'2026-03-01 10:05:00');"
        "INSERT INTO messages VALUES (1, '20260301_1', 'user', '[{\"type\":\"text\",\"text\":"
        "\"Where is it?\"}]', 1772359200, '{\"userVisible\":true}'), (2, '20260301_1', 'assistant',"
        "'[{\"type\":\"text\",\"text\":\"I look.\"},{\"type\":\"toolRequest\",\"id\":\"t1\","
        "\"toolCall\":{\"status\":\"success\",\"value\":{\"name\":\"shell\",\"arguments\":{"
        "\"command\":\"ls\"}}}}]', 1772359201, '{}'), (3, '20260301_1', 'user', '[{\"type\":"
        "\"toolResponse\",\"id\":\"t1\",\"toolResult\":{\"status\":\"success\",\"value\":[{"
        "\"type\":"
        "\"text\",\"text\":\"tax.c\"}]}}]', 1772359202, '{}'), (4, '20260301_1', 'user', "
        "'[{\"type\":\"text\",\"text\":\"a summary\"}]', 1772359203, '{\"userVisible\":false}');");
    expect("g/sessions.db", "goose",
           TEXTS("== Tax | /home/u/shop |  | goose", "user: Where is it?", "assistant: I look.",
                 "call shell {\"command\":\"ls\"}", "result shell: tax.c"));
}

TEST(test_crush)
{
    import_case_sql(
        "shop/.crush/crush.db",
        "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER, "
        "updated_at INTEGER); CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts "
        "TEXT, model TEXT, created_at INTEGER, is_summary_message INTEGER DEFAULT 0);"
        "INSERT INTO sessions VALUES ('s1', NULL, 'Tax', 1772359200, 1772359300);"
        "INSERT INTO messages VALUES ('m1', 's1', 'user', '[{\"type\":\"text\",\"data\":{\"text\":"
        "\"Where is it?\"}}]', NULL, 1772359200, 0), ('m2', 's1', 'assistant', '[{\"type\":"
        "\"reasoning\",\"data\":{\"thinking\":\"Hm.\"}},{\"type\":\"tool_call\",\"data\":{\"id\":"
        "\"c1\",\"name\":\"ls\",\"input\":\"{}\"}},{\"type\":\"finish\",\"data\":{}}]', 'm', "
        "1772359201, 0), ('m3', 's1', 'tool', "
        "'[{\"type\":\"tool_result\",\"data\":{\"tool_call_id\""
        ":\"c1\",\"name\":\"ls\",\"content\":\"tax.c\",\"is_error\":false}}]', NULL, 1772359202, "
        "0),"
        "('m4', 's1', 'assistant', '[{\"type\":\"text\",\"data\":{\"text\":\"All.\"}}]', 'm', "
        "1772359203, 1);");
    expect("shop/.crush/crush.db", "crush",
           TEXTS(support_text("== Tax | %s | m | crush", support_path("shop")),
                 "user: Where is it?", "call ls {}", "result ls: tax.c"));
}

TEST(test_hermes)
{
    import_case_sql(
        "h/state.db",
        "CREATE TABLE sessions (id TEXT, source TEXT, model TEXT, started_at REAL, title TEXT, cwd "
        "TEXT); CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content "
        "TEXT, tool_calls TEXT, tool_call_id TEXT, timestamp REAL, active INTEGER);"
        "INSERT INTO sessions VALUES ('s1', 'cli', 'm', 1772359200.5, 'Tax', '/home/u/shop');"
        "INSERT INTO messages VALUES (1, 's1', 'system', 'rules', NULL, NULL, 1772359200.5, 1), "
        "(2, 's1', 'user', 'Where is it?', NULL, NULL, 1772359200.5, 1), (3, 's1', 'user', "
        "'Taken back.', NULL, NULL, 1772359200.6, 0), (4, 's1', 'assistant', '', '[{\"id\":\"c1\","
        "\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]', NULL, 1772359201, 1), (5, 's1', "
        "'tool', 'tax.c', NULL, 'c1', 1772359202, 1), (6, 's1', 'assistant', char(0) || "
        "'json:[{\"type\":\"text\",\"text\":\"There.\"}]', NULL, NULL, 1772359203, 1);");
    expect("h/state.db", "hermes",
           TEXTS("== Tax | /home/u/shop | m | hermes", "user: Where is it?", "call ls {}",
                 "result ls: tax.c", "assistant: There."));
}

TEST(test_llm_in_both_generations)
{
    import_case_sql(
        "l/logs.db",
        "CREATE TABLE conversations (id TEXT, name TEXT, model TEXT); CREATE TABLE responses (id "
        "TEXT, conversation_id TEXT, model TEXT, prompt TEXT, system TEXT, response TEXT, "
        "datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER);"
        "INSERT INTO conversations VALUES ('c1', 'Tax', 'm');"
        "INSERT INTO responses VALUES ('r1', 'c1', 'm', 'Where is it?', 'rules', 'There.', "
        "'2026-03-01T10:00:00', 3, 4);"
        "CREATE TABLE threads (id TEXT, name TEXT, tip_message_hash TEXT, forked_from TEXT); "
        "CREATE "
        "TABLE turns (thread_id TEXT, model TEXT, datetime_utc TEXT); CREATE TABLE messages (hash "
        "TEXT, parent_hash TEXT, role TEXT); CREATE TABLE parts (message_hash TEXT, position "
        "INTEGER, type TEXT, text TEXT);"
        "INSERT INTO threads VALUES ('t1', 'Fee', 'b2:2', NULL); INSERT INTO turns VALUES ('t1', "
        "'n', '2026-09-01T10:00:00'); INSERT INTO messages VALUES ('b2:1', NULL, 'user'), ('b2:2', "
        "'b2:1', 'assistant'), ('b2:3', 'b2:1', 'assistant'); INSERT INTO parts VALUES ('b2:1', 0, "
        "'text', 'And the fee?'), ('b2:2', 0, 'text', 'Here.'), ('b2:3', 0, 'text', "
        "'Elsewhere.');");
    expect("l/logs.db", "llm",
           TEXTS("== Tax |  | m | llm", "user: Where is it?", "assistant: There.",
                 "== Fee |  | n | llm", "user: And the fee?", "assistant: Here."));
}
