/* The parts of a model call: they are sent as shown, and their sizes add up to the request's. */
#include <stdlib.h>
#include <string.h>

#include "agent/prompt.h"
#include "base/mem.h"
#include "knowledge/project.h"
#include "play.h"
#include "tests/suite.h"
#include "tests/support.h"

static const struct tool_memory memory = {.search = NULL};

static int setup(void **state)
{
    if (play_setup(state) != 0)
        return -1;
    play.memory = &memory;
    play.prompt = "You are a clerk.";
    return 0;
}

static struct agent agent(void)
{
    return (struct agent){.config = play.config,
                          .system = play.prompt,
                          .tools = play_tools(),
                          .offer = play.offer,
                          .policy = &play.policy,
                          .history = &play.history};
}

static struct context assemble(void)
{
    struct context c = {.mode = NULL};
    const struct agent a = agent();
    prompt_assemble(&c, &a);
    prompt_describe(&c, &a);
    return c;
}

static const struct context_part *part(const struct context *c, size_t i, enum context_kind kind,
                                       const char *source)
{
    assert_true(i < c->parts.len);
    const struct context_part *p = &c->parts.items[i];
    assert_int_equal(p->kind, kind);
    if (source)
        assert_string_equal(p->source, source);
    else
        assert_null(p->source);
    return p;
}

FIXTURE(setup, play_teardown);

TEST(passages_of_memory_are_a_part_beside_the_message)
{
    PLAY({.text = "Nothing."});
    struct context c = {.mode = NULL};
    struct agent a = agent();
    int64_t before = prompt_overhead(&a);
    a.recalled = "Somebody said so.";
    prompt_assemble(&c, &a);
    assert_string_equal(part(&c, 4, CONTEXT_RECALLED, NULL)->text, a.recalled);
    part(&c, 5, CONTEXT_MESSAGE, NULL);
    assert_int_equal(prompt_overhead(&a) - before, strlen(a.recalled) / 4);
    context_release(&c);
}

TEST(a_small_window_gets_the_beginning_of_a_skill)
{
    char *skill = support_keep(skill_text("memory-retrieval"));
    struct context c = {.mode = NULL};
    struct agent a = agent();
    a.window = 8192;
    prompt_assemble(&c, &a);
    const char *text = part(&c, 1, CONTEXT_SKILLS, "memory-retrieval")->text;
    assert_int_equal(strncmp(text, skill, strlen(text)), 0);
    assert_true(strlen(text) < strlen(skill) * 2 / 3);
    assert_non_null(strstr(text, "evidence, not truth"));
    context_release(&c);
}

TEST(its_parts_are_in_the_order_of_the_request)
{
    PLAY({.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE}, {.text = "Nothing."});
    struct context c = assemble();
    char *skill = support_keep(skill_text("memory-retrieval"));
    assert_string_equal(part(&c, 0, CONTEXT_SYSTEM, NULL)->text, "You are a clerk.");
    assert_string_equal(part(&c, 1, CONTEXT_SKILLS, "memory-retrieval")->text, skill);
    const char *tools = part(&c, 2, CONTEXT_TOOLS, "built-in")->text;
    const char *names =
        "read_file, list_directory, search_files, write_file, edit_file, run_command, "
        "fetch_url\n\n"
        "read_file\nRead a text file";
    assert_int_equal(strncmp(tools, names, strlen(names)), 0);
    assert_null(strstr(tools, "memory_search"));
    tools = part(&c, 3, CONTEXT_TOOLS, "memory")->text;
    names = "memory_search, memory_read\n\nmemory_search\nSearch what";
    assert_int_equal(strncmp(tools, names, strlen(names)), 0);
    assert_non_null(strstr(tools, "{\"type\":\"object\""));
    assert_string_equal(part(&c, 4, CONTEXT_MESSAGE, NULL)->text, "hello");
    assert_string_equal(part(&c, 5, CONTEXT_MESSAGE, NULL)->text, "[call] list_directory {}");
    assert_string_equal(part(&c, 7, CONTEXT_MESSAGE, NULL)->text, "Nothing.");
    assert_int_equal(c.parts.len, 8);
    context_release(&c);
}

static bool offers_search(const struct agent *a)
{
    struct tool_spec *specs;
    size_t count = prompt_tools(a, &specs);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || specs[i].by_provider;
    free(specs);
    return found;
}

TEST(the_search_of_the_web_is_a_matter_of_the_provider_and_the_user)
{
    PLAY({.text = "Yes."});
    struct agent a = agent();
    a.offer = "read";
    assert_false(offers_search(&a));
    play.tools.host.web_search = true;
    assert_false(offers_search(&a));
    a.provider = &provider_openai;
    assert_false(offers_search(&a));
    static const struct {
        const char *url;
        bool offered;
    } hosts[] = {{"https://api.openai.com/v1", true},
                 {"https://api.openai.com:443/v1", true},
                 {"https://api.openai.com.example/v1", false},
                 {"https://api.openai.com@host.example/v1", false},
                 {"http://localhost:8080/://api.openai.com/v1", false}};
    struct endpoint endpoint = {.name = "openai"};
    a.endpoint = &endpoint;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        endpoint.base_url = (char *)hosts[i].url;
        assert_int_equal(offers_search(&a), hosts[i].offered);
    }
    a.provider = &provider_anthropic;
    assert_true(offers_search(&a));
    a.offer = "none";
    assert_false(offers_search(&a));
    a.offer = "full";
    const char *const lists[] = {"web_search", "network"};
    for (size_t i = 0; i < 2; i++) {
        struct approval_policy policy;
        struct error e;
        assert_true(config_set(play.config, CONFIG_TOOLS_DENY, lists[i], NULL));
        assert_true(approval_policy_read(&policy, play.config, &play.tools, NULL, &e));
        a.policy = &policy;
        assert_false(offers_search(&a));
        approval_policy_release(&policy);
    }
}

TEST(long_messages_are_shown_by_their_beginning)
{
    char *text = support_keep(mem_alloc(100001));
    memset(text, 'x', 100000);
    PLAY({.text = text});
    struct context c = assemble();
    const struct context_part *p = &vec_last(&c.parts);
    assert_int_equal(strlen(p->text), 64 * 1024 + strlen("…"));
    assert_string_equal(p->text + 64 * 1024, "…");
    assert_true(p->tokens > 100000 / 8); /* it counts whole */
    context_release(&c);
}

TEST(what_is_sent_is_what_its_parts_say)
{
    PLAY({.text = "Hello."});
    struct context c = assemble();
    assert_string_equal(play.system.data, support_keep(prompt_system(&c)));
    auto_free struct tool_spec *specs = NULL;
    const struct agent a = agent();
    size_t count = prompt_tools(&a, &specs);
    AUTO(buf_release) struct buf offered = BUF_INIT;
    for (size_t i = 0; i < count; i++)
        buf_addf(&offered, " %s", specs[i].name);
    assert_string_equal(play.offered.data, offered.data);
    context_release(&c);
}

TEST(what_is_not_offered_is_no_part)
{
    static const struct {
        const char *prompt, *offer, *deny;
        size_t parts;
        int64_t tokens; /* -1: some */
    } rows[] = {
        {"0123456789abcdef", "none", "", 1, 4},
        {"", "none", "", 0, 0},
        {NULL, "none", "", 0, 0},
        {NULL, "full", "memory_search memory_read", 1, -1},
        {NULL, "full", "read write execute network", 0, 0},
        {NULL, "full", "", 3, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play.prompt = rows[i].prompt;
        play.offer = rows[i].offer;
        play_policy(NULL, NULL, rows[i].deny);
        struct context c = assemble();
        assert_int_equal(c.parts.len, rows[i].parts);
        if (rows[i].tokens >= 0)
            assert_int_equal(c.tokens, rows[i].tokens);
        context_release(&c);
    }
}

/* Bytes over four, rounded once: two sources lose no token to each other. */
TEST(figures_are_those_of_the_request)
{
    PLAY({.text = "Hello."});
    struct context c = assemble();
    auto_free struct tool_spec *specs = NULL;
    const struct agent a = agent();
    size_t count = prompt_tools(&a, &specs), bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(specs[i].name) + strlen(specs[i].description) + strlen(specs[i].schema);
    const struct context_part *p = c.parts.items;
    assert_int_equal(p[0].tokens, 4);
    assert_int_equal(p[1].tokens, strlen(p[1].text) / 4);
    assert_int_equal(p[2].tokens + p[3].tokens, bytes / 4);
    assert_true(p[2].tokens > p[3].tokens && p[3].tokens > 50);
    assert_int_equal(prompt_overhead(&a), 4 + strlen(p[1].text) / 4 + bytes / 4);
    assert_int_equal(c.tokens, prompt_overhead(&a) + play.history.estimate);
    assert_int_equal(agent_request_estimate(&a), c.tokens);
    context_release(&c);
}

/* --- caps and warnings --- */

static int warnings(const char *code)
{
    int count = 0, other = 0;
    while (play_event(EVENT_WARNING, count + other)) {
        bool meant = strcmp(play_event(EVENT_WARNING, count + other)->name, code) == 0;
        count += meant;
        other += !meant;
    }
    return count;
}

TEST(a_system_prompt_leaves_room_in_the_window)
{
    char prompt[2001];
    memset(prompt, 's', sizeof prompt - 1);
    prompt[2000] = '\0';
    play.prompt = prompt;
    play.memory = NULL;
    play.window = 668;
    PLAY({.text = "Hello."}); /* it fits */
    assert_string_equal(play.system.data, prompt);
    assert_int_equal(warnings("prompt_cut"), 0);
    play.window = 400;
    PLAY({.text = "Hello."});
    assert_string_equal(play.system.data + 1200, "\n[cut: 1200 of 2000 bytes shown]");
    assert_int_equal(warnings("prompt_cut"), 1);
    assert_non_null(strstr(play_event(EVENT_WARNING, 0)->text,
                           "the system prompt was cut to 300 of its 500 tokens; "));
    PLAY({.text = "Hello."}); /* once is enough */
    assert_int_equal(warnings("prompt_cut"), 1);
    play.window = 200;
    PLAY({.text = "Hello."});
    assert_int_equal(warnings("prompt_cut"), 2);
    play.window = 0; /* nobody knows it */
    PLAY({.text = "Hello."});
    assert_string_equal(play.system.data, prompt);
    assert_int_equal(warnings("prompt_cut"), 2);
}

TEST(a_part_says_that_it_was_cut)
{
    struct context c = {.mode = NULL};
    struct agent a = agent();
    a.window = 4;
    prompt_assemble(&c, &a);
    const struct context_part *p = part(&c, 0, CONTEXT_SYSTEM, NULL);
    assert_int_equal(p->cap, 3);
    assert_int_equal(p->whole, 4);
    assert_string_equal(p->text, "You are a cl\n[cut: 12 of 16 bytes shown]");
    assert_int_equal(part(&c, 1, CONTEXT_SKILLS, "memory-retrieval")->whole, 0);
    context_release(&c);
}

TEST(many_tools_are_warned_of)
{
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_TOKENS, "0", NULL));
    PLAY({.text = "Hello."});
    assert_int_equal(warnings("many_tools"), 0);
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_TOKENS, "200", NULL));
    PLAY({.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE}, {.text = "Nothing."});
    PLAY({.text = "Hello."});
    assert_int_equal(warnings("many_tools"), 1);
    struct context c = assemble();
    char *said = support_text(
        "the tools take %d tokens of each request (built-in %d, memory %d), "
        "more than [tools] max_tokens = 200; ",
        (int)(part(&c, 2, CONTEXT_TOOLS, "built-in")->tokens +
              part(&c, 3, CONTEXT_TOOLS, "memory")->tokens),
        (int)c.parts.items[2].tokens, (int)c.parts.items[3].tokens);
    assert_int_equal(strncmp(play_event(EVENT_WARNING, 0)->text, said, strlen(said)), 0);
    play.memory = NULL; /* less, and still too much */
    PLAY({.text = "Hello."});
    assert_int_equal(warnings("many_tools"), 2);
    context_release(&c);
}

/* --- instructions of the project, and the graph --- */

static struct instruction_file files[] = {{(char *)"/p/AGENTS.md", (char *)"Answer briefly."},
                                          {(char *)"/p/a/CLAUDE.md", (char *)"Use tabs."}};

TEST(instructions_follow_the_system_prompt_each_with_its_path)
{
    const struct instructions in = {.files = {.items = files, .len = 2}};
    struct context c = {.mode = NULL};
    struct agent a = agent();
    a.instructions = &in;
    prompt_assemble(&c, &a);
    part(&c, 0, CONTEXT_SYSTEM, NULL);
    assert_int_equal(part(&c, 1, CONTEXT_INSTRUCTIONS, "/p/AGENTS.md")->cap, 8192);
    assert_string_equal(part(&c, 2, CONTEXT_INSTRUCTIONS, "/p/a/CLAUDE.md")->text,
                        "# Instructions of /p/a/CLAUDE.md\nUse tabs.");
    auto_free char *system = prompt_system(&c);
    assert_non_null(strstr(system,
                           "You are a clerk.\n\n# Instructions of /p/AGENTS.md\nAnswer "
                           "briefly.\n\n# Instructions of /p/a/CLAUDE.md\nUse tabs."));
    context_release(&c);
}

TEST(a_long_file_of_instructions_is_cut_and_named)
{
    auto_free char *text = mem_strdup(support_text("%40000s", "x"));
    struct instruction_file file = {(char *)"/p/AGENTS.md", text};
    const struct instructions in = {.files = {.items = &file, .len = 1}};
    struct context c = {.mode = NULL};
    struct agent a = agent();
    a.instructions = &in;
    prompt_assemble(&c, &a);
    auto_free char *warning = prompt_cut_warning(&c);
    assert_non_null(strstr(warning, "the file /p/AGENTS.md was cut to 8192 of its 10007 tokens"));
    context_release(&c);
}

TEST(the_graph_is_told_of_only_with_its_tools)
{
    struct context c = {.mode = NULL};
    struct agent a = agent();
    a.graph_hint = "# Knowledge graph";
    prompt_assemble(&c, &a);
    for (size_t i = 0; i < c.parts.len; i++)
        assert_int_not_equal(c.parts.items[i].kind, CONTEXT_GRAPH);
    context_release(&c);
}
