/* Sessions of opencode. */
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#define DB ".local/share/opencode/opencode.db"
#define STORAGE ".local/share/opencode/storage/"
#define SCHEMA                                                                                     \
    "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, "     \
    "time_created INTEGER, time_updated INTEGER); CREATE TABLE message (id TEXT, session_id "      \
    "TEXT, "                                                                                       \
    "time_created INTEGER, data TEXT); CREATE TABLE part (id TEXT, message_id TEXT, session_id "   \
    "TEXT, data TEXT);"
#define SESSION(id, title, updated)                                                                \
    "INSERT INTO session VALUES ('" id "', NULL, '/home/u/shop', '" title                          \
    "', NULL, "                                                                                    \
    "1772359200000, " updated ");"
#define MESSAGE(id, session, ms, data)                                                             \
    "INSERT INTO message VALUES ('" id "', '" session "', " ms ", '{\"time\":{\"created\":" ms     \
    ",\"completed\":" ms "}," data "}');"
#define PART(id, message, data)                                                                    \
    "INSERT INTO part VALUES ('" id "', '" message "', 's', '{" data "}');"
#define TALK(s, a, b)                                                                              \
    MESSAGE(a, s, "1772359200000", "\"role\":\"user\"")                                            \
    PART(a "1", a, "\"type\":\"text\",\"text\":\"Where is it?\"")                                  \
    PART(a "2", a, "\"type\":\"text\",\"text\":\"the file\",\"synthetic\":true")                   \
    MESSAGE(b, s, "1772359201000",                                                                 \
            "\"role\":\"assistant\",\"modelID\":\"m\",\"cost\":0.5,\"tokens\":{\"input\":3,"       \
            "\"output\":4,\"reasoning\":1,\"cache\":{\"read\":5,\"write\":0}}")                    \
    PART(b "1", b, "\"type\":\"step-start\"")                                                      \
    PART(b "2", b, "\"type\":\"text\",\"text\":\"I look.\"")                                       \
    PART(b "3", b,                                                                                 \
         "\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"c1\",\"state\":{\"status\":"            \
         "\"completed\",\"input\":{\"command\":\"ls\"},\"output\":\"tax.c\"}")                     \
    PART(b "4", b, "\"type\":\"text\",\"text\":\"In tax.c.\"")
#define LINES                                                                                      \
    "user: Where is it?", "assistant: I look.", "call bash {\"command\":\"ls\"}",                  \
        "result bash: tax.c", "assistant: In tax.c."

TEST(test_a_session_of_the_database_becomes_one)
{
    import_case_sql(DB, SCHEMA SESSION("ses_1", "Tax", "1772359202000") TALK("ses_1", "m1", "m2"));
    struct import_counts counts = import_case_scan(NULL);
    assert_string_equal(counts.name, "opencode");
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(TEXTS("== Tax | /home/u/shop | m | opencode", LINES));
    import_case_sql(DB, "UPDATE session SET time_updated = 1772359300000;" MESSAGE(
                            "m3", "ses_1", "1772359299000", "\"role\":\"user\"")
                            PART("m31", "m3", "\"type\":\"text\",\"text\":\"Thanks.\""));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_expect(TEXTS("== Tax | /home/u/shop | m | opencode", LINES, "user: Thanks."));
}

TEST(test_a_fork_brings_only_its_own_words)
{
    import_case_sql(DB,
                    SCHEMA SESSION("ses_1", "Tax", "1772359202000") TALK("ses_1", "m1", "m2")
                        SESSION("ses_2", "Tax (fork #1)", "1772359302000") TALK("ses_2", "n1", "n2")
                            MESSAGE("n3", "ses_2", "1772359301000", "\"role\":\"user\"")
                                PART("n31", "n3", "\"type\":\"text\",\"text\":\"And the fee?\""));
    import_case_scan(NULL);
    import_case_expect(TEXTS("== Tax | /home/u/shop | m | opencode", LINES,
                             "== Tax (fork #1) | /home/u/shop | m | opencode",
                             "user: And the fee?"));
}

TEST(test_messages_that_were_reverted_are_left_out)
{
    import_case_sql(DB, SCHEMA SESSION("ses_1", "Tax", "1772359202000") TALK("ses_1", "m1", "m2")
                            MESSAGE("m3", "ses_1", "1772359299000", "\"role\":\"user\"")
                                PART("m31", "m3", "\"type\":\"text\",\"text\":\"Delete it.\""));
    import_case_sql(DB, "UPDATE session SET revert = '{\"messageID\":\"m3\"}';");
    import_case_scan(NULL);
    import_case_expect(TEXTS("== Tax | /home/u/shop | m | opencode", LINES));
    import_case_sql(
        DB,
        "UPDATE session SET revert = NULL, time_updated = 1772359400000; DELETE FROM part WHERE "
        "message_id = 'm2'; DELETE FROM message WHERE id IN ('m2', 'm3');" MESSAGE(
            "m4", "ses_1", "1772359398000", "\"role\":\"user\"")
            PART("m41", "m4", "\"type\":\"text\",\"text\":\"Keep it.\""));
    import_case_scan(NULL);
    import_case_expect(
        TEXTS("== Tax | /home/u/shop | m | opencode", "user: Where is it?", "user: Keep it."));
}

TEST(test_files_of_older_versions_are_read)
{
    import_case_write(STORAGE "session/p1/ses_1.json",
                      "{'id':'ses_1','projectID':'p1','directory':'/home/u/shop','title':'Tax',"
                      "'time':{'created':1772359200000,'updated':1772359202000}}");
    import_case_write(STORAGE "message/ses_1/msg_1.json",
                      "{'id':'msg_1','role':'user','time':{'created':1772359200000}}");
    import_case_write(STORAGE "part/msg_1/prt_1.json", "{'type':'text','text':'Where?'}");
    import_case_scan(NULL);
    import_case_expect(TEXTS("== Tax | /home/u/shop |  | opencode", "user: Where?"));
}
