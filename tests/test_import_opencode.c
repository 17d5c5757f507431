/* Sessions of opencode. */
#include <sqlite3.h>

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

static void run(const char *sql)
{
    sqlite3 *db;
    import_case_write(".local/share/opencode/here", "");
    assert_int_equal(sqlite3_open(support_path(DB), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

TEST(test_a_session_of_the_database_becomes_one)
{
    run(SCHEMA SESSION("ses_1", "Tax", "1772359202000") TALK("ses_1", "m1", "m2"));
    struct import_counts counts = import_case_scan(NULL);
    assert_string_equal(counts.name, "opencode");
    assert_int_equal(counts.not_understood, 0);
    import_case_expect((const char *const[]){"== Tax | /home/u/shop | m | opencode", LINES, NULL});
    run("UPDATE session SET time_updated = 1772359300000;" MESSAGE("m3", "ses_1", "1772359299000",
                                                                   "\"role\":\"user\"")
            PART("m31", "m3", "\"type\":\"text\",\"text\":\"Thanks.\""));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_expect((const char *const[]){"== Tax | /home/u/shop | m | opencode", LINES,
                                             "user: Thanks.", NULL});
}

TEST(test_a_fork_brings_only_its_own_words)
{
    run(SCHEMA SESSION("ses_1", "Tax", "1772359202000") TALK("ses_1", "m1", "m2")
            SESSION("ses_2", "Tax (fork #1)", "1772359302000") TALK("ses_2", "n1", "n2")
                MESSAGE("n3", "ses_2", "1772359301000", "\"role\":\"user\"")
                    PART("n31", "n3", "\"type\":\"text\",\"text\":\"And the fee?\""));
    import_case_scan(NULL);
    import_case_expect((const char *const[]){"== Tax | /home/u/shop | m | opencode", LINES,
                                             "== Tax (fork #1) | /home/u/shop | m | opencode",
                                             "user: And the fee?", NULL});
}

TEST(test_messages_that_were_reverted_are_left_out)
{
    run(SCHEMA SESSION("ses_1", "Tax", "1772359202000") TALK("ses_1", "m1", "m2")
            MESSAGE("m3", "ses_1", "1772359299000", "\"role\":\"user\"")
                PART("m31", "m3", "\"type\":\"text\",\"text\":\"Delete it.\""));
    run("UPDATE session SET revert = '{\"messageID\":\"m3\"}';");
    import_case_scan(NULL);
    import_case_expect((const char *const[]){"== Tax | /home/u/shop | m | opencode", LINES, NULL});
    run("UPDATE session SET revert = NULL, time_updated = 1772359400000; DELETE FROM part WHERE "
        "message_id = 'm2'; DELETE FROM message WHERE id IN ('m2', 'm3');" MESSAGE(
            "m4", "ses_1", "1772359398000", "\"role\":\"user\"")
            PART("m41", "m4", "\"type\":\"text\",\"text\":\"Keep it.\""));
    import_case_scan(NULL);
    import_case_expect((const char *const[]){"== Tax | /home/u/shop | m | opencode",
                                             "user: Where is it?", "user: Keep it.", NULL});
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
    import_case_expect(
        (const char *const[]){"== Tax | /home/u/shop |  | opencode", "user: Where?", NULL});
}
