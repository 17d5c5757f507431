/* The bodies that go out: the same conversation in the three formats. */
#include "base/entropy.h"
#include "provider/outgoing.h"
#include "tests/conversation.h"
#include "tests/steps.h"
#include "tests/suite.h"

static struct talk {
    VEC(struct message) messages;
    struct config *config;
    struct request request;
} t;

static int setup(void **state)
{
    t = (struct talk){.config = config_new(), .request = {.model = "m", .max_output = 100}};
    return support_setup(state);
}

static int teardown(void **state)
{
    for (size_t i = 0; i < t.messages.len; i++)
        message_release(&t.messages.items[i]);
    vec_release(&t.messages);
    config_free(t.config);
    return support_teardown(state);
}

static void say(enum role role)
{
    vec_push(&t.messages, (struct message){.role = role});
}

static void add(struct block b)
{
    b.text = mem_strdup(b.text);
    b.id = mem_strdup(b.id);
    b.name = mem_strdup(b.name);
    b.signature = mem_strdup(b.signature);
    b.media_type = mem_strdup(b.media_type);
    vec_push(&vec_last(&t.messages).blocks, b);
}

static void say_text(enum role role, const char *text)
{
    say(role);
    vec_push(&vec_last(&t.messages).blocks, block_text(text));
}

static void add_call(const char *id, const char *args)
{
    add((struct block){.type = BLOCK_TOOL_CALL,
                       .id = (char *)(uintptr_t)id,
                       .name = (char *)(uintptr_t) "look",
                       .text = (char *)(uintptr_t)args});
}

static void add_result(const char *id, const char *text, bool is_error)
{
    add((struct block){.type = BLOCK_TOOL_RESULT,
                       .id = (char *)(uintptr_t)id,
                       .name = (char *)(uintptr_t) "look",
                       .text = (char *)(uintptr_t)text,
                       .is_error = is_error});
}

static void add_reasoning(const char *text, const char *signature, bool redacted)
{
    add((struct block){.type = BLOCK_REASONING,
                       .text = (char *)(uintptr_t)text,
                       .signature = (char *)(uintptr_t)signature,
                       .redacted = redacted});
}

enum format { ANTHROPIC, OPENAI, OLLAMA };

static void write_body(enum format format, struct outgoing_body *out)
{
    t.request.messages = t.messages.items;
    t.request.message_count = t.messages.len;
    if (format == ANTHROPIC)
        anthropic_body(out, t.config, &t.request);
    else if (format == OPENAI)
        openai_body(out, t.config, &t.request, false);
    else
        ollama_body(out, t.config, &t.request);
}

static struct json *body_of(enum format format)
{
    struct outgoing_body body;
    write_body(format, &body);
    return json_out_tree(&body.text);
}

/* The member of the body as text is this, with ' for ". */
static void check(enum format format, const char *member, const char *expected)
{
    AUTO(json_free_local) struct json *body = body_of(format);
    const struct json *v = json_get(body, member);
    char *text = support_keep(v == NULL ? mem_strdup("(absent)") : json_print(v));
    assert_string_equal(text, support_json(expected));
}

#define CACHE ",'cache_control':{'type':'ephemeral'}"

FIXTURE(setup, teardown);

TEST(test_conversation)
{
    t.request.system = "Be brief.";
    say_text(ROLE_USER, "one");
    say_text(ROLE_ASSISTANT, "two");
    say_text(ROLE_USER, "three");
    check(ANTHROPIC, "system", "[{'type':'text','text':'Be brief.'" CACHE "}]");
    check(ANTHROPIC, "messages",
          "[{'role':'user','content':[{'type':'text','text':'one'}]},"
          "{'role':'assistant','content':[{'type':'text','text':'two'" CACHE
          "}]},"
          "{'role':'user','content':[{'type':'text','text':'three'" CACHE "}]}]");
    const char *plain =
        "[{'role':'system','content':'Be brief.'},"
        "{'role':'user','content':'one'},"
        "{'role':'assistant','content':'two'},"
        "{'role':'user','content':'three'}]";
    check(OPENAI, "messages", plain);
    check(OLLAMA, "messages", plain);
}

TEST(test_parameters)
{
    say_text(ROLE_USER, "x");
    t.request.window = 4096;
    check(ANTHROPIC, "model", "'m'");
    check(ANTHROPIC, "max_tokens", "100");
    check(ANTHROPIC, "temperature", "(absent)");
    check(ANTHROPIC, "system", "(absent)");
    check(ANTHROPIC, "tools", "(absent)");
    check(OPENAI, "max_tokens", "100");
    check(OPENAI, "max_completion_tokens", "(absent)");
    check(OPENAI, "stream_options", "{'include_usage':true}");
    check(OPENAI, "temperature", "(absent)");
    check(OPENAI, "tools", "(absent)");
    check(OLLAMA, "options", "{'num_ctx':4096,'num_predict':100}");
    assert_true(config_set(t.config, CONFIG_PROVIDER_TEMPERATURE, "0.5", NULL));
    assert_true(config_set(t.config, CONFIG_OLLAMA_NUM_CTX, "2048", NULL));
    check(ANTHROPIC, "temperature", "0.5");
    check(OPENAI, "temperature", "0.5");
    check(OLLAMA, "options", "{'num_ctx':2048,'num_predict':100,'temperature':0.5}");
    struct outgoing_body body;
    openai_body(&body, t.config, &t.request, true);
    AUTO(json_free_local) struct json *vendor = json_out_tree(&body.text);
    assert_int_equal(json_get_int(vendor, "max_completion_tokens", 0), 100);
    assert_null(json_get(vendor, "max_tokens"));
}

TEST(test_effort)
{
    say_text(ROLE_USER, "x");
    assert_true(config_set(t.config, CONFIG_PROVIDER_TEMPERATURE, "0.5", NULL));
    check(ANTHROPIC, "thinking", "(absent)");
    check(OPENAI, "reasoning_effort", "(absent)");
    check(OLLAMA, "think", "(absent)");
    t.request.effort = "high";
    check(ANTHROPIC, "thinking", "{'type':'adaptive'}");
    check(ANTHROPIC, "output_config", "{'effort':'high'}");
    check(ANTHROPIC, "temperature", "(absent)");
    check(OPENAI, "reasoning_effort", "'high'");
    check(OLLAMA, "think", "'high'");
    t.request.effort = "false";
    check(OLLAMA, "think", "false");
    t.request.effort = "4096";
    t.request.max_output = 8192;
    check(ANTHROPIC, "thinking", "{'type':'enabled','budget_tokens':4096}");
    check(ANTHROPIC, "output_config", "(absent)");
    t.request.max_output = 3072; /* the answer needs room, too */
    check(ANTHROPIC, "thinking", "{'type':'enabled','budget_tokens':2048}");
    t.request.max_output = 1500;
    check(ANTHROPIC, "thinking", "(absent)");
    AUTO(json_free_local) struct json *body = NULL;
    struct outgoing_body responses;
    t.request.effort = "xhigh";
    responses_body(&responses, t.config, &t.request);
    body = json_out_tree(&responses.text);
    assert_string_equal(json_get_string(json_get(body, "reasoning"), "effort"), "xhigh");
}

TEST(test_tools)
{
    static const struct tool_spec tool = {
        .name = "look", .description = "Looks.", .schema = "{\"type\":\"object\"}"};
    say_text(ROLE_USER, "x");
    t.request.tools = &tool;
    t.request.tool_count = 1;
    check(ANTHROPIC, "tools",
          "[{'name':'look','description':'Looks.','input_schema':{'type':'object'}}]");
    const char *functions =
        "[{'type':'function','function':{'name':'look',"
        "'description':'Looks.','parameters':{'type':'object'}}}]";
    check(OPENAI, "tools", functions);
    check(OLLAMA, "tools", functions);
}

TEST(test_tool_calls)
{
    say_text(ROLE_USER, "go");
    say(ROLE_ASSISTANT);
    add_reasoning("Hm.", "sig", false);
    add_reasoning("", "enc", true);
    add_reasoning("another provider's", NULL, false);
    add_call("a", "{\"x\":1}");
    add_call("b", "broken{");
    say(ROLE_TOOL);
    add_result("a", "found", false);
    add_result("b", "no JSON", true);
    say_text(ROLE_USER, "and now?");
    check(ANTHROPIC, "messages",
          "[{'role':'user','content':[{'type':'text','text':'go'}]},"
          "{'role':'assistant','content':["
          "{'type':'thinking','thinking':'Hm.','signature':'sig'},"
          "{'type':'redacted_thinking','data':'enc'},"
          "{'type':'tool_use','id':'a','name':'look','input':{'x':1}},"
          "{'type':'tool_use','id':'b','name':'look','input':{}}]},"
          "{'role':'user','content':["
          "{'type':'tool_result','tool_use_id':'a','content':'found'},"
          "{'type':'tool_result','tool_use_id':'b','content':'no JSON',"
          "'is_error':true" CACHE
          "},"
          "{'type':'text','text':'and now?'" CACHE "}]}]");
    check(OPENAI, "messages",
          "[{'role':'user','content':'go'},"
          "{'role':'assistant','content':null,'tool_calls':["
          "{'id':'a','type':'function','function':{'name':'look',"
          "'arguments':'{\\'x\\':1}'}},"
          "{'id':'b','type':'function','function':{'name':'look',"
          "'arguments':'{}'}}]},"
          "{'role':'tool','tool_call_id':'a','content':'found'},"
          "{'role':'tool','tool_call_id':'b','content':'no JSON'},"
          "{'role':'user','content':'and now?'}]");
    check(OLLAMA, "messages",
          "[{'role':'user','content':'go'},"
          "{'role':'assistant','content':'','tool_calls':["
          "{'function':{'name':'look','arguments':{'x':1}}},"
          "{'function':{'name':'look','arguments':{}}}]},"
          "{'role':'tool','content':'found','tool_name':'look'},"
          "{'role':'tool','content':'no JSON','tool_name':'look'},"
          "{'role':'user','content':'and now?'}]");
}

/* In a tool loop the newest user message is far up, so the end is cached, too. */
TEST(test_cache_within_a_tool_loop)
{
    say_text(ROLE_USER, "go");
    say(ROLE_ASSISTANT);
    add_call("a", "{}");
    say(ROLE_TOOL);
    add_result("a", "", false);
    check(ANTHROPIC, "messages",
          "[{'role':'user','content':[{'type':'text','text':'go'}]},"
          "{'role':'assistant','content':["
          "{'type':'tool_use','id':'a','name':'look','input':{}}]},"
          "{'role':'user','content':["
          "{'type':'tool_result','tool_use_id':'a'" CACHE "}]}]");
}

/* A partial answer goes out as the text that it got to; roles alternate; nothing is blank. */
TEST(test_partial_and_blank)
{
    say_text(ROLE_USER, "one");
    say(ROLE_ASSISTANT);
    vec_last(&t.messages).partial = true;
    add_reasoning("half a thou", NULL, false);
    add_reasoning("whole", "sig", false);
    vec_push(&vec_last(&t.messages).blocks, block_text("Half"));
    add_call("a", "{\"cut");
    say_text(ROLE_USER, "two");
    say_text(ROLE_ASSISTANT, " \n");
    say(ROLE_USER);
    say_text(ROLE_USER, "");
    say_text(ROLE_USER, "three");
    check(ANTHROPIC, "messages",
          "[{'role':'user','content':[{'type':'text','text':'one'}]},"
          "{'role':'assistant','content':[{'type':'text','text':'Half'" CACHE
          "}]},"
          "{'role':'user','content':[{'type':'text','text':'two'},"
          "{'type':'text','text':'three'" CACHE "}]}]");
    const char *plain =
        "[{'role':'user','content':'one'},"
        "{'role':'assistant','content':'Half'},"
        "{'role':'user','content':'two\\n\\nthree'}]";
    check(OPENAI, "messages", plain);
    check(OLLAMA, "messages", plain);
}

/* Reasoning goes back to the model that wrote it, and only before something that it led to. */
TEST(test_reasoning_of_others_and_without_an_answer)
{
    t.request.model = "m-2";
    say_text(ROLE_USER, "one");
    say(ROLE_ASSISTANT);
    add_reasoning("mine", "sig-2", false);
    vec_last(&vec_last(&t.messages).blocks).name = mem_strdup("m-2");
    add_reasoning("another's", "sig-1", false);
    vec_last(&vec_last(&t.messages).blocks).name = mem_strdup("m-1");
    vec_push(&vec_last(&t.messages).blocks, block_text("So."));
    add_reasoning("and then", "sig-3", false);
    say_text(ROLE_USER, "two");
    say(ROLE_ASSISTANT);
    add_reasoning("too long", "sig-4", false);
    say_text(ROLE_USER, "three");
    check(ANTHROPIC, "messages",
          "[{'role':'user','content':[{'type':'text','text':'one'}]},"
          "{'role':'assistant','content':["
          "{'type':'thinking','thinking':'mine','signature':'sig-2'},"
          "{'type':'text','text':'So.'" CACHE
          "}]},"
          "{'role':'user','content':[{'type':'text','text':'two'},"
          "{'type':'text','text':'three'" CACHE "}]}]");
}

/* A call or an answer without its counterpart is not sent as such. */
TEST(test_pairs)
{
    say_text(ROLE_USER, "one");
    say_text(ROLE_ASSISTANT, "I look.");
    add_call("unanswered", "{}");
    add_call("a", "{}");
    say(ROLE_TOOL);
    add_result("uncalled", "lost", false);
    add_result("a", "found", false);
    check(OPENAI, "messages",
          "[{'role':'user','content':'one'},"
          "{'role':'assistant','content':'I look.','tool_calls':["
          "{'id':'a','type':'function','function':{'name':'look',"
          "'arguments':'{}'}}]},"
          "{'role':'tool','tool_call_id':'a','content':'found'},"
          "{'role':'user','content':'[result of the tool look]\\nlost'}]");
}

/* A result that stands before everything has no call to be looked for. */
TEST(test_result_without_anything_before)
{
    say(ROLE_TOOL);
    add_result("a", "lost", false);
    check(ANTHROPIC, "messages",
          "[{'role':'user','content':[{'type':'text','text':"
          "'[result of the tool look]\\nlost'" CACHE "}]}]");
}

TEST(test_base64)
{
    static const char *const cases[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFF\xFE\xFD", "//79"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text =
            support_keep(base64_encode((const unsigned char *)cases[i][0], strlen(cases[i][0])));
        assert_string_equal(text, cases[i][1]);
    }
}

static void add_image(const char *where)
{
    add((struct block){.type = BLOCK_IMAGE, .text = (char *)(uintptr_t)where});
}

TEST(test_images)
{
    char *path = support_path("dot.bin");
    support_write(path,
                  "\xff\xd8\xff"
                  "abc");
    say_text(ROLE_USER, "see");
    add_image(path);
    add_image("https://host/cat.png");
    check(ANTHROPIC, "messages",
          "[{'role':'user','content':[{'type':'text','text':'see'},"
          "{'type':'image','source':{'type':'base64','media_type':'image/jpeg',"
          "'data':'/9j/YWJj'}},"
          "{'type':'image','source':{'type':'url','url':'https://host/cat.png'}" CACHE "}]}]");
    check(OPENAI, "messages",
          "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},"
          "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,/9j/YWJj\"}},"
          "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://host/cat.png\"}}]}]");
    check(OLLAMA, "messages",
          "[{'role':'user','content':'see\\n\\n[image: https://host/cat.png]',"
          "'images':['/9j/YWJj']}]");
}

/* A model without eyes is told that there was an image, in the plainest form. */
TEST(images_are_words_for_a_model_that_takes_none)
{
    t.request.eyes = EYES_NONE;
    say_text(ROLE_USER, "see");
    add((struct block){.type = BLOCK_IMAGE,
                       .id = (char *)(uintptr_t) "2\u00d73 png 67 B",
                       .text = (char *)(uintptr_t) "/x.png"});
    add_image("https://host/cat.png");
    check(OPENAI, "messages",
          "[{'role':'user','content':'see\\n\\n[image 2\u00d73 png 67 B]\\n\\n"
          "[image https://host/cat.png]'}]");
}

/* Images of tools go to a model that is known to see: behind all results of the answer. */
TEST(images_of_tools_follow_their_results)
{
    say_text(ROLE_USER, "look");
    say(ROLE_ASSISTANT);
    add_call("c", "{}");
    add_call("d", "{}");
    say(ROLE_TOOL);
    add_result("c", "[image 2\u00d73 png 67 B]", false);
    add((struct block){.type = BLOCK_IMAGE,
                       .name = (char *)(uintptr_t) "look",
                       .text = (char *)(uintptr_t) "https://host/cat.png"});
    add_result("d", "no", false);
    AUTO(json_free_local) struct json *blind = body_of(OPENAI);
    assert_says(support_keep(json_print(blind)), "[image 2\u00d73 png 67 B]", "!cat.png");
    t.request.eyes = EYES_SEE;
    for (enum format format = ANTHROPIC; format <= OLLAMA; format++) {
        AUTO(json_free_local) struct json *body = body_of(format);
        const struct json *messages = json_get(body, "messages");
        char *all = support_keep(json_print(messages));
        char *last = support_keep(json_print(json_at(messages, json_len(messages) - 1)));
        assert_says(last, "\"role\":\"user\"", "[an image of the result of the tool look]",
                    "https://host/cat.png");
        assert_true(strstr(all, "\"no\"") < strstr(all, "cat.png"));
    }
}

/* A file that is gone or is no image does not end the conversation. */
TEST(test_images_that_are_none)
{
    char *gone = support_path("gone.png");
    char *text = support_path("text.png");
    support_write(text, "I am a text.");
    say(ROLE_USER);
    add_image(gone);
    add_image(text);
    for (enum format format = ANTHROPIC; format <= OLLAMA; format++) {
        AUTO(json_free_local) struct json *body = body_of(format);
        char *sent = support_keep(json_print(body));
        assert_says(sent, "gone.png", "text.png is not a PNG", "!base64", "!\"images\"");
    }
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    while ((text = strstr(text, word)) != NULL) {
        text += strlen(word);
        n++;
    }
    return n;
}

/* Messages are written while later ones are not known yet: the breakpoints are those of the end. */
TEST(test_cache_of_a_long_talk)
{
    for (int i = 0; i < 40; i++) {
        say_text(ROLE_USER, "a question");
        say_text(ROLE_ASSISTANT, i == 38 ? "the last answer but one" : "an answer");
        if (i == 39)
            add_call("c", "{}");
    }
    say(ROLE_TOOL);
    add_result("c", "the last result", false);
    AUTO(json_free_local) struct json *body = body_of(ANTHROPIC);
    const char *text = support_keep(json_print(json_get(body, "messages")));
    assert_int_equal(count(text, "\"ephemeral\""), 2);
    assert_non_null(strstr(text, support_json("'the last answer but one'" CACHE)));
    assert_non_null(strstr(text, support_json("'content':'the last result'" CACHE)));
    assert_int_equal(count(text, "\"role\""), 81);
}

/* A line that is too long is counted to its end, but not kept. */
TEST(test_too_long)
{
    const int64_t most = 1000;
    for (int i = 0; i < 20; i++)
        say_text(i % 2 ? ROLE_ASSISTANT : ROLE_USER,
                 "a text of which twenty are longer than a request may be here");
    for (enum format format = ANTHROPIC; format <= OLLAMA; format++) {
        struct outgoing_body whole, counted;
        assert_true(config_set(t.config, CONFIG_COMPACTION_REQUEST_BYTES, "100000", NULL));
        write_body(format, &whole);
        assert_true(config_set(t.config, CONFIG_COMPACTION_REQUEST_BYTES, "1000", NULL));
        write_body(format, &counted);
        assert_true((int64_t)whole.text.len > most);
        assert_int_equal(whole.out.len, whole.text.len);
        assert_int_equal(counted.out.len, whole.text.len);
        assert_int_equal(counted.text.len, 0);
        buf_release(&whole.text);
        buf_release(&counted.text);
    }
}

/* --- messages that are kept elsewhere --------------------------------------------------------- */

struct shelf {
    struct message_source source;
    const struct conversation *c;
    size_t reads;
};

static bool take_down(struct message_source *source, const struct message *m, struct message *out,
                      struct error *e)
{
    struct shelf *s = (struct shelf *)source;
    s->reads++;
    (void)e;
    *out = message_clone(&s->c->messages.items[m->row - 1]);
    return true;
}

/* `t` has records of some of the conversation's messages, and the others whole. */
static void put_away(const struct conversation *c, struct dice *d)
{
    for (size_t i = 0; i < c->messages.len; i++) {
        struct message m = message_clone(&c->messages.items[i]);
        if (!dice_one_in(d, 4)) {
            AUTO(message_release) struct message whole = m;
            m = message_without_blocks(&whole);
            m.row = (int)i + 1;
        }
        vec_push(&t.messages, m);
    }
}

static void take_back(void)
{
    for (size_t i = 0; i < t.messages.len; i++)
        message_release(&t.messages.items[i]);
    t.messages.len = 0;
}

/* Calls whose results went, and results without their calls. */
static void break_pairs(struct conversation *c, struct dice *d)
{
    for (size_t i = c->messages.len; i-- > 0;)
        if (dice_one_in(d, 8)) {
            message_release(&c->messages.items[i]);
            vec_remove(&c->messages, i, 1);
        }
}

/* The request is the same wherever its messages are; each is read once. */
TEST(test_messages_that_are_kept_elsewhere)
{
    struct dice d = {.state = support_seed()};
    for (int round = 0; round < 200; round++) {
        AUTO(conversation_release) struct conversation c = {.open = 0};
        conversation_random(&c, &d, 1 + dice_below(&d, 12));
        break_pairs(&c, &d);
        for (enum format format = ANTHROPIC; format <= OLLAMA; format++) {
            struct outgoing_body whole, read;
            struct shelf shelf = {.source = {.read = take_down}, .c = &c};
            for (size_t i = 0; i < c.messages.len; i++)
                vec_push(&t.messages, message_clone(&c.messages.items[i]));
            write_body(format, &whole);
            take_back();
            put_away(&c, &d);
            t.request.source = &shelf.source;
            write_body(format, &read);
            take_back();
            t.request.source = NULL;
            assert_string_equal(read.text.data, whole.text.data);
            assert_true(shelf.reads <= c.messages.len);
            buf_release(&whole.text);
            buf_release(&read.text);
        }
    }
}
