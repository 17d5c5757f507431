/* Histories of Cursor, Copilot CLI and aider. */
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

TEST(test_composers_of_cursor)
{
    import_case_sql(
        "c/state.vscdb",
        "CREATE TABLE cursorDiskKV (key TEXT, value BLOB);"
        "INSERT INTO cursorDiskKV VALUES ('composerData:a', "
        "'{\"composerId\":\"a\",\"name\":\"Tax\","
        "\"createdAt\":1772359200000,\"lastUpdatedAt\":1772359300000,"
        "\"fullConversationHeadersOnly\":[{\"bubbleId\":\"b1\",\"type\":1},{\"bubbleId\":\"b2\","
        "\"type\":2},{\"bubbleId\":\"b3\",\"type\":2}]}'), ('composerData:n', NULL), "
        "('bubbleId:a:b1', '{\"type\":1,\"text\":\"Where is it?\",\"workspaceProjectDir\":"
        "\"/home/u/shop\"}'), ('bubbleId:a:b2', '{\"type\":2,\"text\":\"\",\"toolFormerData\":{"
        "\"name\":\"grep\",\"rawArgs\":\"{}\",\"result\":\"tax.c\"}}'), ('bubbleId:a:b3', "
        "'{\"type\":2,\"text\":\"There.\",\"modelInfo\":{\"modelName\":\"m\"}}');"
        "INSERT INTO cursorDiskKV VALUES ('composerData:o', "
        "'{\"composerId\":\"o\",\"name\":\"Old\","
        "\"conversation\":[{\"bubbleId\":\"x\",\"type\":1,\"text\":\"Hello?\"}]}');");
    import_case_read("c/state.vscdb", "cursor",
                     TEXTS("== Tax | /home/u/shop | m | cursor", "user: Where is it?",
                           "call grep {}", "result grep: tax.c", "assistant: There.",
                           "== Old |  |  | cursor", "user: Hello?"));
}

TEST(test_chats_of_cursors_command_line)
{
    import_case_sql(
        "chats/h/a/store.db",
        "CREATE TABLE meta (key TEXT, value TEXT); CREATE TABLE blobs (id TEXT, data BLOB);"
        "INSERT INTO meta VALUES ('0', hex('{\"agentId\":\"a\",\"name\":\"Tax\",\"createdAt\":"
        "1772359200000}'));"
        "INSERT INTO blobs VALUES ('1', CAST('{\"role\":\"system\",\"content\":\"rules\"}' AS "
        "BLOB)),"
        "('2', CAST('{\"role\":\"user\",\"content\":\"<user_info>the machine</user_info>\"}' AS "
        "BLOB)), ('3', CAST('{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
        "\"<user_query>Where is it?</user_query>\"}]}' AS BLOB)), ('4', x'0a0b'), ('5', CAST('{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"tool-call\",\"toolCallId\":\"t\","
        "\"toolName\":\"Grep\",\"args\":{\"q\":\"x\"}}]}' AS BLOB)), ('6', "
        "CAST('{\"role\":\"tool\","
        "\"content\":[{\"type\":\"tool-result\",\"toolCallId\":\"t\",\"toolName\":\"Grep\","
        "\"result\":\"tax.c\"}]}' AS BLOB)), ('7', CAST('{\"role\":\"assistant\",\"content\":[{"
        "\"type\":\"text\",\"text\":\"There.\"}]}' AS BLOB));");
    import_case_read("chats/h/a/store.db", "cursor",
                     TEXTS("== Tax |  |  | cursor", "user: Where is it?", "call Grep {\"q\":\"x\"}",
                           "result Grep: tax.c", "assistant: There."));
}

#define EVENT(id, type, data)                                                                      \
    "{'type':'" type "','id':'" id "','timestamp':'2026-03-01T10:00:01Z','data':" data "}\n"
#define EVENTS ".copilot/session-state/a/events.jsonl"

TEST(test_events_of_copilot)
{
    import_case_write(
        EVENTS,
        EVENT("e1", "session.start",
              "{'sessionId':'a','copilotVersion':'1.0','selectedModel':'m',"
              "'context':{'cwd':'/home/u/shop'}}")
            EVENT("e2", "user.message", "{'content':'Where is it?','transformedContent':'rules'}")
                EVENT("e3", "assistant.message",
                      "{'messageId':'1','content':'','toolRequests':[{'toolCallId'"
                      ":'c1','name':'bash','arguments':{'command':'ls'}}]}")
                    EVENT("e4", "tool.execution_start", "{'toolCallId':'c1'}")
                        EVENT("e5", "tool.execution_complete",
                              "{'toolCallId':'c1','success':true,'result':{"
                              "'content':'tax.c'}}"));
    import_case_scan(NULL);
    import_case_append(EVENTS, EVENT("e6", "user.message", "{'content':'Open it.'}"));
    struct import_counts counts = import_case_scan(NULL);
    assert_string_equal(counts.name, "copilot");
    assert_int_equal(counts.messages, 1);
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(TEXTS("== Where is it? | /home/u/shop | m | copilot", "user: Where is it?",
                             "call bash {\"command\":\"ls\"}", "result bash: tax.c",
                             "user: Open it."));
}

TEST(test_two_texts_with_one_id_are_two_messages)
{
    static const char events[] =
        EVENT("e1", "session.start", "{'sessionId':'a','copilotVersion':'1.0'}")
            EVENT("e2", "user.message", "{'content':'One.'}")
                EVENT("e2", "user.message", "{'content':'Two.'}")
                    EVENT("e2", "user.message", "{'content':'One.'}")
                        EVENT("e3", "user.message", "{'content':'Three.'}");
    import_case_write(EVENTS, events);
    assert_int_equal(import_case_scan(NULL).messages, 3);
    import_case_write("copy/events.jsonl", events);
    assert_int_equal(import_case_scan("copy").messages, 0);
    import_case_expect(
        TEXTS("== One. |  |  | copilot", "user: One.", "user: Two.", "user: Three."));
}

TEST(test_the_history_of_aider)
{
    import_case_write(
        "shop/.aider.chat.history.md",
        "\n# aider chat started at 2026-03-01 10:00:00\n\n> Aider v0.80\n> Model: m\n\n"
        "#### Where is it?\n#### In which file?\n\nIn tax.c:\n\n    rate = 19\n\n"
        "> Tokens: 2k sent\n\n#### Thanks.\n\nWelcome.\n\n"
        "# aider chat started at 2026-03-02 10:00:00\n\n#### And the fee?\n");
    const char *directory = support_path("shop");
    import_case_read(
        "shop", "aider",
        TEXTS(support_text("== Where is it? | %s |  | aider", directory),
              "user: Where is it?\\nIn which file?", "assistant: In tax.c:\\n\\n    rate = 19",
              "user: Thanks.", "assistant: Welcome.",
              support_text("== And the fee? | %s |  | aider", directory), "user: And the fee?"));
    assert_int_equal(import_case_scan("shop").messages, 0);
}
