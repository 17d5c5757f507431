/* Skills in a conversation: offered, opened by the model and by hand, kept by every compaction. */
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "chat/knowledge.h"
#include "session/conversation_operations.h"
#include "tests/suite.h"
#include "tests/surface.h"

#define STEPS "Follow the seven steps"

static void put(const char *path, const char *text)
{
    auto_free char *parent = paths_parent(support_path(path));
    struct error e;
    assert_true(paths_make_dir(parent, &e));
    support_write(support_path(path), text);
}

static int set_up(void **state)
{
    surface_setup(state);
    put(".agents/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF files.\n"
        "allowed-tools: Bash\n---\n" STEPS " for $ARGUMENTS.\n");
    put(".agents/skills/pdf/forms/fields.md", "Fields have names.\n");
    put(".agents/skills/compact/SKILL.md",
        "---\nname: compact\ndescription: Has the name of a command.\n---\nNever by hand.\n");
    put(".claude/commands/fix.md", "Fix the issue $ARGUMENTS now.\n");
    put("secret", "the key\n");
    return 0;
}

FIXTURE(set_up, surface_teardown);

static const char *count_text(size_t body, const char *text)
{
    int count = 0;
    for (const char *at = surface_body(body); (at = strstr(at, text)); at += strlen(text))
        count++;
    return support_text("%d", count);
}

#define assert_in_last(text, times)                                                                \
    assert_string_equal(count_text(surface_requests() - 1, text), #times)

static void call_skill(struct engine *s, const char *args)
{
    QUEUE(surface_server(), .tool_name = "skill", .tool_args = args);
    surface_ask(s, "go on");
}

static void say(struct engine *s, const char *text, enum input_origin origin)
{
    engine_start(s, &operation_turn_start,
                 &(struct turn_start_params){.text = text, .origin = origin});
    surface_expect_answer(s, &operation_turn_start);
}

static void compact_in(struct engine *s, const char *mode)
{
    auto_free char *words = mem_alloc(40001);
    for (size_t i = 0; i < 40000; i++)
        words[i] = i % 5 == 4 ? ' ' : 'x';
    surface_ask(s, words);
    surface_ask(s, words);
    surface_send_for(s, &operation_compaction_run, mode, NULL, 0);
    surface_expect_event(s, EVENT_COMPACTION_COMPLETED);
    surface_expect_idle(s);
}

TEST(the_model_opens_a_skill_once)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_ask(s, "hello");
    assert_in_last("- pdf: Reads PDF files.", 1);
    assert_in_last("fix", 0); /* a command is not the model's */
    assert_in_last(STEPS, 0);
    call_skill(s, "{\"name\":\"pdf\"}");
    assert_in_last(STEPS " for $ARGUMENTS.", 1);
    assert_in_last("forms/fields.md (19 bytes)", 1);
    call_skill(s, "{\"name\":\"pdf\"}");
    assert_in_last(STEPS, 1);
    assert_in_last("The skill pdf was opened before", 1);
    call_skill(s, "{\"name\":\"fix\"}");
    assert_in_last("there is no skill named \\\"fix\\\"", 1);
}

TEST(a_file_of_a_skill_is_in_its_folder)
{
    static const char *const out[] = {"../../../secret", "/etc/passwd", "link", "forms/../../x"};
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    assert_int_equal(symlink(support_path("secret"), support_path(".agents/skills/pdf/link")), 0);
    call_skill(s, "{\"name\":\"pdf\",\"file\":\"forms/fields.md\"}");
    assert_in_last("Fields have names.", 1);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        call_skill(s, support_text("{\"name\":\"pdf\",\"file\":\"%s\"}", out[i]));
        assert_in_last("the key", 0);
        assert_in_last(": outside of ", 1);
        engine_free(s);
        s = surface_open(NULL, true);
    }
}

TEST_IF(capability_compaction() && capability_store(), no_compaction_takes_a_skill)
{
    static const char *const modes[] = {"handoff", "structured", "deterministic", "llm_replace"};
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
    surface_set(CONFIG_COMPACTION_PROTECT_HEAD, "0");
    surface_set(CONFIG_COMPACTION_PROTECT_TAIL, "1");
    surface_set(CONFIG_COMPACTION_TAIL_RATIO, "0.05");
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_ask(s, "hello");
    call_skill(s, "{\"name\":\"pdf\"}");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        compact_in(s, modes[i]);
        surface_ask(s, "next");
        assert_in_last(STEPS, 1);
        assert_in_last("\"tool_calls\"", 1); /* the result has its call */
    }
    engine_free(s);
    s = surface_open("last", true);
    call_skill(s, "{\"name\":\"pdf\"}");
    assert_in_last(STEPS, 1);
    assert_in_last("was opened before", 1);
}

TEST_IF(capability_compaction(), a_person_opens_a_skill_or_a_command)
{
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    say(s, "/pdf a form", INPUT_TYPED);
    assert_in_last(STEPS " for a form.", 1);
    assert_in_last("/pdf a form", 1);
    say(s, "/fix 12", INPUT_TYPED);
    assert_in_last("Fix the issue 12 now.", 1);
    say(s, "/compact it", INPUT_TYPED); /* the command of tiro has that name */
    assert_in_last("Never by hand", 0);
    say(s, "/fix 13", INPUT_PROGRAM);
    assert_in_last("Fix the issue 13", 0);
    compact_in(s, "handoff");
    surface_ask(s, "next");
    assert_in_last(STEPS " for a form.", 1);
    assert_in_last("Fix the issue 12 now.", 0);
    call_skill(s, "{\"name\":\"pdf\"}");
    assert_in_last("was opened before", 1);
    say(s, "/pdf another", INPUT_TYPED);
    assert_in_last(STEPS, 1);
}

TEST(a_message_that_is_edited_has_its_new_skill)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    say(s, "/pdf a form", INPUT_TYPED);
    engine_start(s, &operation_turn_retry,
                 &(struct turn_retry_params){.text = "/pdf a table", .origin = INPUT_TYPED});
    surface_expect_answer(s, &operation_turn_retry);
    assert_in_last(STEPS " for a table.", 1);
    assert_in_last("for a form", 0);
    engine_start(s, &operation_turn_retry,
                 &(struct turn_retry_params){.text = "nothing", .origin = INPUT_TYPED});
    surface_expect_answer(s, &operation_turn_retry);
    assert_in_last(STEPS, 0);
}

TEST(the_skills_are_listed)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    struct operation_answer *a = surface_call(s, &operation_skill_list, NULL);
    const struct skills *list = a->result;
    assert_int_equal(list->items.len, 3);
    assert_string_equal(list->items.items[0].detail,
                        "/compact is a command of tiro; the model alone can open the skill");
    assert_string_equal(list->items.items[1].detail,
                        "names the tools Bash, which are asked about as always");
    assert_true(list->items.items[2].command);
}

TEST(a_project_is_trusted_before_its_skills_are_told)
{
    struct engine_options options = surface_options(NULL, true);
    auto_free char *top = realpath(support_path(""), NULL);
    put("work/.git/HEAD", "");
    put("work/.agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Nearer.\n---\nNear.\n");
    put("work/.claude/commands/deploy.md", "Deploy $ARGUMENTS.\n");
    auto_free char *work = paths_join(top, "work");
    options.directory = work;
    options.can_ask = false;
    struct engine *s = engine_new(&options);
    say(s, "/deploy it", INPUT_TYPED);
    assert_in_last("Nearer.", 0);
    assert_in_last("Deploy it.", 0);
    assert_in_last("- pdf: Reads PDF files.", 1); /* not shadowed by what is not trusted */
    const struct skills *list = surface_call(s, &operation_skill_list, NULL)->result;
    assert_int_equal(list->items.items[0].state, SKILL_UNTRUSTED);
    engine_free(s);
    options.trust = true;
    s = engine_new(&options);
    say(s, "/deploy it", INPUT_TYPED);
    assert_in_last("- pdf: Nearer.", 1);
    assert_in_last("Reads PDF files", 0);
    assert_in_last("Deploy it.", 1);
    engine_free(s);
}

TEST(without_skills_nothing_is_offered)
{
    surface_set(CONFIG_PROJECT_SKILLS, "false");
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_ask(s, "hello");
    assert_in_last("skill", 0);
    say(s, "/pdf a form", INPUT_TYPED);
    assert_in_last(STEPS, 0);
}
