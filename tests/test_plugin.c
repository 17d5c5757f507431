/* tiro as a plugin of Claude Code: transcripts come into memory, and `tiro hook` gives back what a
 * compaction dropped. */
#include "base/clock.h"
#include "session/capability.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/suite.h"

#define PLUGIN_TEST(f) TEST_IF(capability_store() && capability_memory(), f)
#define SESSION "11111111-2222-4333-8444-555555555555"

static struct buf transcript;
static int lines;

static int setup(void **state)
{
    buf_clear(&transcript);
    lines = 0;
    return support_setup(state);
}

static int teardown(void **state)
{
    buf_release(&transcript);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

/* A line with the id "u1", "u2" …, its session and time, and these members (with ' for "). */
static void line(const char *members)
{
    lines++;
    buf_addf(&transcript,
             "{\"parentUuid\":null,\"uuid\":\"u%d\",\"sessionId\":\"" SESSION
             "\",\"timestamp\":\"2026-11-02T10:%02d:00.000Z\",%s}\n",
             lines, lines, support_json(members));
}

static void user(const char *text)
{
    line(support_text("'type':'user','message':{'role':'user','content':'%s'}", text));
}

static void assistant(const char *text)
{
    line(
        support_text("'type':'assistant','message':{'role':'assistant','model':'m','content':"
                     "[{'type':'thinking','thinking':'secretly'},{'type':'text','text':'%s'}]}",
                     text));
}

static void compaction(const char *metadata)
{
    line(support_text("'type':'system','subtype':'compact_boundary','compactMetadata':{%s}",
                      metadata));
}

static const char *path_of_transcript(void)
{
    char *path = support_path("transcript.jsonl");
    support_write(path, transcript.data);
    return path;
}

/* Returns the output of the hook on this event; the hook never fails. */
static const char *hook(const char *event, const char *source)
{
    const char *told =
        support_json(support_text("{'session_id':'" SESSION "','transcript_path':'%s','cwd':'/tmp',"
                                  "'hook_event_name':'any','source':'%s'}",
                                  path_of_transcript(), source));
    struct result r = RUN_WITH(told, "hook", event);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    return r.out;
}

static const char *given_back(void)
{
    const struct json *answer =
        json_get(parse_json(hook("session-start", "compact")), "hookSpecificOutput");
    assert_string_equal(json_get_string(answer, "hookEventName"), "SessionStart");
    return json_get_string(answer, "additionalContext");
}

static const char *memory_list(void)
{
    return program_output(RUN("memory", "export"));
}

static int64_t entries(void)
{
    return json_get_int(program_json(RUN("memory", "stats", "--json")), "entries", -1);
}

PLUGIN_TEST(what_was_said_comes_into_memory)
{
    buf_addstr(&transcript, "{\"type\":\"summary\",\"summary\":\"A talk\",\"leafUuid\":\"x\"}\n");
    user("the heron database has port 7431");
    assistant("I note the port.");
    line(
        "'type':'user','message':{'role':'user','content':[{'type':'text','text':'two parts'},"
        "{'type':'image','source':{}},{'type':'text','text':'<system-reminder>no'}]}");
    line("'type':'user','isMeta':true,'message':{'role':'user','content':'Caveat of the program'}");
    line("'type':'user','message':{'role':'user','content':'<command-name>/cost</command-name>'}");
    line("'type':'assistant','isSidechain':true,'message':{'role':'assistant','content':'aside'}");
    line("'type':'assistant','message':{'role':'assistant','model':'<synthetic>','content':'401'}");
    line(
        "'type':'user','message':{'role':'user','content':[{'type':'tool_result',"
        "'content':[{'type':'text','text':'from a tool'}]}]}");
    buf_addstr(&transcript, "this is no line\n{\"type\":\"progress\"}\n[1]\n");
    user("as far as thi");
    buf_truncate(&transcript, transcript.len - 20); /* the last line is still being written */
    assert_string_equal(hook("pre-compact", ""), "");
    assert_int_equal(entries(), 3);
    const char *list = memory_list();
    assert_text(list,
                "\"id\":\"u1\",\"session_id\":\"" SESSION "\",\"origin\":\"session\",\"turn\":1");
    assert_text(list, "\"created_at\":\"2026-11-02T10:01:00.000Z\"");
    assert_text(list, "\"content\":\"I note the port.\"");
    assert_text(list, "\"content\":\"two parts\"");
    assert_no_text(list, "secretly");
}

PLUGIN_TEST(results_of_tools_come_as_configured)
{
    write_config("[memory]\nindex_tool_results = true\n");
    line(
        "'type':'user','message':{'role':'user','content':[{'type':'tool_result',"
        "'content':[{'type':'text','text':'from a tool'}]},"
        "{'type':'tool_result','content':'and another'}]}");
    run_ok(RUN("memory", "import", path_of_transcript()));
    assert_text(memory_list(), "\"role\":\"tool\"");
    assert_text(memory_list(), "from a tool\\n\\nand another");
}

PLUGIN_TEST(what_is_indexed_is_the_users_choice)
{
    user("first");
    write_config("[memory]\nindex = off\n");
    hook("pre-compact", "");
    hook("session-end", "");
    assert_int_equal(entries(), 0);
    write_config("[memory]\nindex = dropped\n");
    hook("session-end", "");
    assert_int_equal(entries(), 0);
    hook("pre-compact", "");
    assert_int_equal(entries(), 1);
}

/* It comes again with each event, longer each time. */
PLUGIN_TEST(a_transcript_that_comes_again_adds_what_is_new)
{
    user("first");
    assistant("second");
    hook("pre-compact", "");
    user("third");
    hook("session-end", "");
    hook("session-end", "");
    assert_int_equal(entries(), 3);
    run_ok(RUN("memory", "delete", "--yes", "u2"));
    hook("session-end", "");
    assert_int_equal(entries(), 2); /* what was forgotten stays so */
    transcript.len = 0;
    lines = 0;
    buf_addstr(&transcript, support_json("{'type':'user','uuid':'u1','sessionId':'another',"
                                         "'message':{'role':'user','content':'first'}}\n"));
    expect(RUN("memory", "import", path_of_transcript()), 0, ""); /* copied by a resumed session */
    assert_int_equal(entries(), 2);
}

PLUGIN_TEST(a_compaction_gives_back_what_the_question_needs)
{
    user("the heron database listens on port 7431");
    assistant("I note that the heron database has port 7431.");
    for (int i = 0; i < 40; i++)
        user(support_text("lantern number %d is lit", i));
    assistant("Kept: the heron database moves to Oslo."); /* u43 */
    user("which port has the heron database?");
    hook("pre-compact", "");
    compaction("'preservedSegment':{'headUuid':'u43','tailUuid':'u43'}");
    line(
        "'type':'user','isCompactSummary':true,'message':{'role':'user','content':"
        "'Summary: I note that the heron database has port 7431. Lanterns.'}");
    const char *back = given_back();
    assert_text(back, "#");
    assert_text(back, "the heron database listens on port 7431");
    assert_no_text(back, "I note that"); /* the summary has it */
    assert_no_text(back, "Oslo");        /* it was kept */
    assert_no_text(back, "which port");  /* the question itself */
    assert_no_text(back, "lantern");
    assert_string_equal(hook("session-start", "startup"), "");
}

PLUGIN_TEST(it_is_short_and_quick)
{
    enum { TOKENS = 1500, TOKEN_BYTES = 4, LATE_MS = 1500 };
    AUTO(buf_release) struct buf filler = BUF_INIT;
    while (filler.len < 3000)
        buf_addf(&filler, "the heron builds part %zu of its nest. ", filler.len);
    for (int i = 0; i < 500; i++)
        assistant(support_text("%d: %s", i, filler.data));
    user("what did the heron build?");
    user("<command-name>/compact</command-name>");
    hook("pre-compact", "");
    compaction("");
    int64_t begun = clock_mono_ms();
    const char *back = given_back();
    assert_true(clock_mono_ms() - begun < LATE_MS); /* 150 ms on a machine that does nothing else */
    assert_text(back, "nest");
    assert_true(strlen(back) <= TOKENS * TOKEN_BYTES);
}

/* Claude Code runs the hook before it writes the compaction, also a second one. */
PLUGIN_TEST(a_compaction_that_is_not_written_yet_has_dropped_all)
{
    user("the heron database listens on port 7431");
    assistant("Noted.");
    user("which port has the heron database?");
    hook("pre-compact", "");
    assert_text(given_back(), "port 7431");
    compaction("");
    line("'type':'user','isCompactSummary':true,'message':{'role':'user','content':'Little.'}");
    user("the owl database listens on port 8642");
    user("which port has the owl database?");
    hook("pre-compact", "");
    assert_text(given_back(), "port 8642");
}

/* "go on" alone finds nothing: the question is the one before it. */
PLUGIN_TEST(a_question_without_words_is_about_the_one_before)
{
    user("the heron database has port 7431");
    assistant("Noted.");
    user("which port has the heron database?");
    assistant("I will look.");
    user("and?");
    hook("pre-compact", "");
    compaction("");
    assert_text(given_back(), "port 7431");
}

/* The host shows what a hook says on standard error, and stops at some statuses. */
PLUGIN_TEST(faults_are_the_logs)
{
    static const char *const events[] = {
        "",
        "[]",
        "{",
        "{'session_id':'s'}",
        "{'session_id':'s','transcript_path':'/nowhere/at/all','source':'compact'}",
        "{'session_id':'s','transcript_path':'/dev/null','source':'compact'}"};
    static const char *const names[] = {"session-start", "pre-compact", "session-end"};
    write_config("[log]\nlevel = error\n");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct result r = RUN_WITH(support_json(events[i]), "hook", names[k]);
            assert_int_equal(r.status, 0);
            assert_string_equal(r.out, "");
            assert_string_equal(r.err, "");
        }
    assert_text(support_read(support_path(".local/state/tiro/tiro.log")), "hook session-start: ");
    expect(RUN("hook", "stop"), 64, "session-start pre-compact session-end");
}

/* --- the files -------------------------------------------------------------------------------- */

static const struct json *file(const char *name)
{
    return parse_json(support_read(support_text("%s/data/plugin/%s", getenv("SOURCE_DIR"), name)));
}

TEST(the_plugin_says_what_the_program_has)
{
    static const char *const manifests[] = {"plugin.json", ".claude-plugin/plugin.json"};
    static const char *const events[] = {"SessionStart", "PreCompact", "SessionEnd"};
    for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++) {
        assert_string_equal(json_get_string(file(manifests[i]), "name"), "tiro");
        assert_string_equal(json_get_string(file(manifests[i]), "version"), PACKAGE_VERSION);
    }
    const struct json *server = json_get(json_get(file("mcp.json"), "mcpServers"), "tiro");
    assert_string_equal(json_get_string(server, "command"), "tiro");
    VEC(const char *) args = {0};
    for (const struct json *a = json_first(json_get(server, "args")); a; a = json_next(a))
        vec_push(&args, json_string(a));
    vec_push(&args, NULL);
    if (capability_memory() && capability_store())
        run_ok(program_run("", args.items));
    vec_release(&args);
    const struct json *hooks = json_get(file("hooks/hooks.json"), "hooks");
    assert_int_equal(json_len(hooks), 3);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const struct json *run =
            json_first(json_get(json_first(json_get(hooks, events[i])), "hooks"));
        const char *command = json_get_string(run, "command");
        assert_memory_equal(command, "tiro hook ", 10);
        assert_int_equal(RUN("hook", command + 10).status, 0);
    }
    assert_text(
        support_read(support_text("%s/data/plugin/skills/memory/SKILL.md", getenv("SOURCE_DIR"))),
        "name: memory\n");
}
