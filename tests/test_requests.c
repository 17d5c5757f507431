/* The bodies that go out: the same conversation in the three formats. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "provider/dialects.h"
#include "provider/image.h"
#include "tests/suite.h"
#include "tests/support.h"

struct conversation {
    VEC(struct message) messages;
    struct config *config;
    struct request request;
};

static void conversation_init(struct conversation *t)
{
    *t = (struct conversation){.config = config_new()};
    t->request = (struct request){.model = "m", .max_output = 100};
}

static void conversation_release(struct conversation *t)
{
    for (size_t i = 0; i < t->messages.len; i++)
        message_release(&t->messages.items[i]);
    vec_release(&t->messages);
    config_free(t->config);
}

static void say(struct conversation *t, enum role role)
{
    vec_push(&t->messages, (struct message){.role = role});
}

static void add(struct conversation *t, struct block b)
{
    b.text = mem_strdup(b.text);
    b.id = mem_strdup(b.id);
    b.name = mem_strdup(b.name);
    b.signature = mem_strdup(b.signature);
    b.media_type = mem_strdup(b.media_type);
    vec_push(&vec_last(&t->messages).blocks, b);
}

static void say_text(struct conversation *t, enum role role, const char *text)
{
    say(t, role);
    vec_push(&vec_last(&t->messages).blocks, block_text(text));
}

static void add_call(struct conversation *t, const char *id, const char *args)
{
    add(t, (struct block){.type = BLOCK_TOOL_CALL,
                          .id = (char *)(uintptr_t)id,
                          .name = (char *)(uintptr_t) "look",
                          .text = (char *)(uintptr_t)args});
}

static void add_result(struct conversation *t, const char *id, const char *text, bool is_error)
{
    add(t, (struct block){.type = BLOCK_TOOL_RESULT,
                          .id = (char *)(uintptr_t)id,
                          .name = (char *)(uintptr_t) "look",
                          .text = (char *)(uintptr_t)text,
                          .is_error = is_error});
}

static void add_reasoning(struct conversation *t, const char *text, const char *signature,
                          bool redacted)
{
    add(t, (struct block){.type = BLOCK_REASONING,
                          .text = (char *)(uintptr_t)text,
                          .signature = (char *)(uintptr_t)signature,
                          .redacted = redacted});
}

enum format { ANTHROPIC, OPENAI, OLLAMA };

static struct json *body_of(struct conversation *t, enum format format)
{
    t->request.messages = t->messages.items;
    t->request.message_count = t->messages.len;
    if (format == ANTHROPIC)
        return anthropic_body(t->config, &t->request);
    return format == OPENAI ? openai_body(t->config, &t->request, false)
                            : ollama_body(t->config, &t->request);
}

/* The member of the body as text is this. */
static void check(struct conversation *t, enum format format, const char *member,
                  const char *expected)
{
    struct json *body = body_of(t, format);
    const struct json *v = json_get(body, member);
    char *text = support_keep(v == NULL ? mem_strdup("(absent)") : json_print(v));
    assert_string_equal(text, expected);
    json_free(body);
}

#define CACHE ",\"cache_control\":{\"type\":\"ephemeral\"}"

FIXTURE(support_setup, support_teardown);

TEST(test_conversation)
{
    struct conversation t;
    conversation_init(&t);
    t.request.system = "Be brief.";
    say_text(&t, ROLE_USER, "one");
    say_text(&t, ROLE_ASSISTANT, "two");
    say_text(&t, ROLE_USER, "three");
    check(&t, ANTHROPIC, "system", "[{\"type\":\"text\",\"text\":\"Be brief.\"" CACHE "}]");
    check(&t, ANTHROPIC, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"}]},"
          "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"two\"" CACHE
          "}]},"
          "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"three\"" CACHE "}]}]");
    const char *plain =
        "[{\"role\":\"system\",\"content\":\"Be brief.\"},"
        "{\"role\":\"user\",\"content\":\"one\"},"
        "{\"role\":\"assistant\",\"content\":\"two\"},"
        "{\"role\":\"user\",\"content\":\"three\"}]";
    check(&t, OPENAI, "messages", plain);
    check(&t, OLLAMA, "messages", plain);
    conversation_release(&t);
}

TEST(test_parameters)
{
    struct conversation t;
    conversation_init(&t);
    say_text(&t, ROLE_USER, "x");
    t.request.window = 4096;
    check(&t, ANTHROPIC, "model", "\"m\"");
    check(&t, ANTHROPIC, "max_tokens", "100");
    check(&t, ANTHROPIC, "temperature", "(absent)");
    check(&t, ANTHROPIC, "system", "(absent)");
    check(&t, ANTHROPIC, "tools", "(absent)");
    check(&t, OPENAI, "max_tokens", "100");
    check(&t, OPENAI, "max_completion_tokens", "(absent)");
    check(&t, OPENAI, "stream_options", "{\"include_usage\":true}");
    check(&t, OPENAI, "temperature", "(absent)");
    check(&t, OPENAI, "tools", "(absent)");
    check(&t, OLLAMA, "options", "{\"num_ctx\":4096,\"num_predict\":100}");
    assert_true(config_set(t.config, CONFIG_PROVIDER_TEMPERATURE, "0.5", NULL));
    assert_true(config_set(t.config, CONFIG_OLLAMA_NUM_CTX, "2048", NULL));
    check(&t, ANTHROPIC, "temperature", "0.5");
    check(&t, OPENAI, "temperature", "0.5");
    check(&t, OLLAMA, "options", "{\"num_ctx\":2048,\"num_predict\":100,\"temperature\":0.5}");
    struct json *vendor = openai_body(t.config, &t.request, true);
    assert_int_equal(json_get_int(vendor, "max_completion_tokens", 0), 100);
    assert_null(json_get(vendor, "max_tokens"));
    json_free(vendor);
    conversation_release(&t);
}

TEST(test_tools)
{
    static const struct tool_spec tool = {
        .name = "look", .description = "Looks.", .schema = "{\"type\":\"object\"}"};
    struct conversation t;
    conversation_init(&t);
    say_text(&t, ROLE_USER, "x");
    t.request.tools = &tool;
    t.request.tool_count = 1;
    check(
        &t, ANTHROPIC, "tools",
        "[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\"}}]");
    const char *functions =
        "[{\"type\":\"function\",\"function\":{\"name\":\"look\","
        "\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\"}}}]";
    check(&t, OPENAI, "tools", functions);
    check(&t, OLLAMA, "tools", functions);
    conversation_release(&t);
}

TEST(test_tool_calls)
{
    struct conversation t;
    conversation_init(&t);
    say_text(&t, ROLE_USER, "go");
    say(&t, ROLE_ASSISTANT);
    add_reasoning(&t, "Hm.", "sig", false);
    add_reasoning(&t, "", "enc", true);
    add_reasoning(&t, "another provider's", NULL, false);
    add_call(&t, "a", "{\"x\":1}");
    add_call(&t, "b", "broken{");
    say(&t, ROLE_TOOL);
    add_result(&t, "a", "found", false);
    add_result(&t, "b", "no JSON", true);
    say_text(&t, ROLE_USER, "and now?");
    check(&t, ANTHROPIC, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}]},"
          "{\"role\":\"assistant\",\"content\":["
          "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"sig\"},"
          "{\"type\":\"redacted_thinking\",\"data\":\"enc\"},"
          "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"look\",\"input\":{\"x\":1}},"
          "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"look\",\"input\":{}}]},"
          "{\"role\":\"user\",\"content\":["
          "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"found\"},"
          "{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"no JSON\","
          "\"is_error\":true" CACHE
          "},"
          "{\"type\":\"text\",\"text\":\"and now?\"" CACHE "}]}]");
    check(&t, OPENAI, "messages",
          "[{\"role\":\"user\",\"content\":\"go\"},"
          "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
          "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"look\","
          "\"arguments\":\"{\\\"x\\\":1}\"}},"
          "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"look\","
          "\"arguments\":\"{}\"}}]},"
          "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"found\"},"
          "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"no JSON\"},"
          "{\"role\":\"user\",\"content\":\"and now?\"}]");
    check(&t, OLLAMA, "messages",
          "[{\"role\":\"user\",\"content\":\"go\"},"
          "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":["
          "{\"function\":{\"name\":\"look\",\"arguments\":{\"x\":1}}},"
          "{\"function\":{\"name\":\"look\",\"arguments\":{}}}]},"
          "{\"role\":\"tool\",\"content\":\"found\",\"tool_name\":\"look\"},"
          "{\"role\":\"tool\",\"content\":\"no JSON\",\"tool_name\":\"look\"},"
          "{\"role\":\"user\",\"content\":\"and now?\"}]");
    conversation_release(&t);
}

/* In a loop of tools the newest user message is far up; the end is cached, too. */
TEST(test_cache_within_a_tool_loop)
{
    struct conversation t;
    conversation_init(&t);
    say_text(&t, ROLE_USER, "go");
    say(&t, ROLE_ASSISTANT);
    add_call(&t, "a", "{}");
    say(&t, ROLE_TOOL);
    add_result(&t, "a", "", false);
    check(&t, ANTHROPIC, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}]},"
          "{\"role\":\"assistant\",\"content\":["
          "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"look\",\"input\":{}}]},"
          "{\"role\":\"user\",\"content\":["
          "{\"type\":\"tool_result\",\"tool_use_id\":\"a\"" CACHE "}]}]");
    conversation_release(&t);
}

/* A partial answer goes out as the text that it got to; roles alternate; nothing is blank. */
TEST(test_partial_and_blank)
{
    struct conversation t;
    conversation_init(&t);
    say_text(&t, ROLE_USER, "one");
    say(&t, ROLE_ASSISTANT);
    vec_last(&t.messages).partial = true;
    add_reasoning(&t, "half a thou", NULL, false);
    add_reasoning(&t, "whole", "sig", false);
    vec_push(&vec_last(&t.messages).blocks, block_text("Half"));
    add_call(&t, "a", "{\"cut");
    say_text(&t, ROLE_USER, "two");
    say_text(&t, ROLE_ASSISTANT, " \n");
    say(&t, ROLE_USER);
    say_text(&t, ROLE_USER, "");
    say_text(&t, ROLE_USER, "three");
    check(&t, ANTHROPIC, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"}]},"
          "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Half\"" CACHE
          "}]},"
          "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"two\"},"
          "{\"type\":\"text\",\"text\":\"three\"" CACHE "}]}]");
    const char *plain =
        "[{\"role\":\"user\",\"content\":\"one\"},"
        "{\"role\":\"assistant\",\"content\":\"Half\"},"
        "{\"role\":\"user\",\"content\":\"two\\n\\nthree\"}]";
    check(&t, OPENAI, "messages", plain);
    check(&t, OLLAMA, "messages", plain);
    conversation_release(&t);
}

/* Reasoning goes back to the model that wrote it, and only before something that it led to. */
TEST(test_reasoning_of_others_and_without_an_answer)
{
    struct conversation t;
    conversation_init(&t);
    t.request.model = "m-2";
    say_text(&t, ROLE_USER, "one");
    say(&t, ROLE_ASSISTANT);
    add_reasoning(&t, "mine", "sig-2", false);
    vec_last(&vec_last(&t.messages).blocks).name = mem_strdup("m-2");
    add_reasoning(&t, "another's", "sig-1", false);
    vec_last(&vec_last(&t.messages).blocks).name = mem_strdup("m-1");
    vec_push(&vec_last(&t.messages).blocks, block_text("So."));
    add_reasoning(&t, "and then", "sig-3", false);
    say_text(&t, ROLE_USER, "two");
    say(&t, ROLE_ASSISTANT);
    add_reasoning(&t, "too long", "sig-4", false);
    say_text(&t, ROLE_USER, "three");
    check(&t, ANTHROPIC, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"}]},"
          "{\"role\":\"assistant\",\"content\":["
          "{\"type\":\"thinking\",\"thinking\":\"mine\",\"signature\":\"sig-2\"},"
          "{\"type\":\"text\",\"text\":\"So.\"" CACHE
          "}]},"
          "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"two\"},"
          "{\"type\":\"text\",\"text\":\"three\"" CACHE "}]}]");
    conversation_release(&t);
}

/* Every call gets its answer and every answer its call, or neither goes out as such. */
TEST(test_pairs)
{
    struct conversation t;
    conversation_init(&t);
    say_text(&t, ROLE_USER, "one");
    say_text(&t, ROLE_ASSISTANT, "I look.");
    add_call(&t, "unanswered", "{}");
    add_call(&t, "a", "{}");
    say(&t, ROLE_TOOL);
    add_result(&t, "uncalled", "lost", false);
    add_result(&t, "a", "found", false);
    check(&t, OPENAI, "messages",
          "[{\"role\":\"user\",\"content\":\"one\"},"
          "{\"role\":\"assistant\",\"content\":\"I look.\",\"tool_calls\":["
          "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"look\","
          "\"arguments\":\"{}\"}}]},"
          "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"found\"},"
          "{\"role\":\"user\",\"content\":\"[result of the tool look]\\nlost\"}]");
    conversation_release(&t);
}

/* A result that stands before everything has no call to be looked for. */
TEST(test_result_without_anything_before)
{
    struct conversation t;
    conversation_init(&t);
    say(&t, ROLE_TOOL);
    add_result(&t, "a", "lost", false);
    check(&t, ANTHROPIC, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
          "\"[result of the tool look]\\nlost\"" CACHE "}]}]");
    conversation_release(&t);
}

TEST(test_base64)
{
    static const char *const cases[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFF\xFE\xFD", "//79"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text =
            support_keep(image_base64((const unsigned char *)cases[i][0], strlen(cases[i][0])));
        assert_string_equal(text, cases[i][1]);
    }
}

static void add_image(struct conversation *t, const char *where)
{
    add(t, (struct block){.type = BLOCK_IMAGE, .text = (char *)(uintptr_t)where});
}

TEST(test_images)
{
    char *path = support_path("dot.bin");
    support_write(path,
                  "\xff\xd8\xff"
                  "abc");
    struct conversation t;
    conversation_init(&t);
    say_text(&t, ROLE_USER, "see");
    add_image(&t, path);
    add_image(&t, "https://host/cat.png");
    check(&t, ANTHROPIC, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},"
          "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/jpeg\","
          "\"data\":\"/9j/YWJj\"}},"
          "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://host/cat.png\"}" CACHE
          "}]}]");
    check(&t, OPENAI, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},"
          "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,/9j/YWJj\"}},"
          "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://host/cat.png\"}}]}]");
    check(&t, OLLAMA, "messages",
          "[{\"role\":\"user\",\"content\":\"see\\n\\n[image: https://host/cat.png]\","
          "\"images\":[\"/9j/YWJj\"]}]");
    conversation_release(&t);
}

/* A file that is gone or is no image does not end the conversation. */
TEST(test_images_that_are_none)
{
    char *gone = support_path("gone.png");
    char *text = support_path("text.png");
    support_write(text, "I am a text.");
    struct conversation t;
    conversation_init(&t);
    say(&t, ROLE_USER);
    add_image(&t, gone);
    add_image(&t, text);
    for (enum format format = ANTHROPIC; format <= OLLAMA; format++) {
        struct json *body = body_of(&t, format);
        char *sent = support_keep(json_print(body));
        assert_non_null(strstr(sent, "gone.png"));
        assert_non_null(strstr(sent, "text.png is not a PNG"));
        assert_null(strstr(sent, "base64"));
        assert_null(strstr(sent, "\"images\""));
        json_free(body);
    }
    conversation_release(&t);
}
