/* Files that a message brings: mentions in its text, and what becomes of the names of turn/start.
 */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "chat/mention.h"
#include "chat/transcript_text.h"
#include "session/attach.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"
#include "tests/program.h"
#include "tests/served.h"
#include "tests/suite.h"
#include "tests/surface.h"

/* --- mentions --------------------------------------------------------------------------------- */

static const char *names_of(const char *text)
{
    AUTO(mentions_release) struct mentions found;
    AUTO(buf_release) struct buf out = BUF_INIT;
    mentions_find(text, &found);
    for (size_t i = 0; i < found.items.len; i++)
        buf_addf(&out, "[%s]", found.items.items[i]);
    return support_keep(buf_take(&out));
}

TEST(mentions_begin_words)
{
    static const char *const cases[][2] = {
        {"@notes.md", "[notes.md]"},
        {"see @a and (@b/c.txt), @a:", "[a][b/c.txt]"},
        {"mail a@b.c or x@ and @ and @@twice", ""},
        {"@src/ and @../up @./here.", "[src/][../up][./here]"},
        {"@notes.md:10-40, @x.c:7. @y:3-", "[notes.md:10-40][x.c:7][y:3-]"},
        {"@\"my file.md\":2-3 is, @\"a\\\"b\"", "[my file.md:2-3][a\"b]"},
        {"@\"no end\n\" @\"\"", ""},
        {"@corpus:law, @skill:pdf!", "[corpus:law][skill:pdf]"},
        {"line\n@x\n\t@y", "[x][y]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(names_of(cases[i][0]), cases[i][1]);
}

TEST(a_mention_that_is_written_is_read)
{
    static const char *const cases[][2] = {
        {"notes.md", "@notes.md"},
        {"my file.md", "@\"my file.md\""},
        {"my file.md:3", "@\"my file.md\":3"},
        {"a\"b", "@a\"b"},
        {"ends.", "@\"ends.\""},
        {"\"q\" \\", "@\"\\\"q\\\" \\\\\""},
        {"src/", "@src/"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        mention_add(&out, cases[i][0]);
        assert_string_equal(out.data, cases[i][1]);
        assert_string_equal(names_of(out.data), support_text("[%s]", cases[i][0]));
    }
}

/* As terminals write what is dropped on them. */
TEST(a_dropped_path_is_read)
{
    static const char *const cases[][2] = {
        {"/tmp/a.png", "/tmp/a.png"},
        {" /tmp/my\\ shot\\(1\\).png \n", "/tmp/my shot(1).png"},
        {"'/tmp/my shot.png'", "/tmp/my shot.png"},
        {"'/tmp/a\\b'", "/tmp/a\\b"},
        {"\"/tmp/a \\\"b\\\"\"", "/tmp/a \"b\""},
        {"file:///tmp/my%20shot%zz.png", "/tmp/my shot%zz.png"},
        {"file://localhost/tmp/a.png\r\n", "/tmp/a.png"},
        {"my file.md", "my file.md"},
        {"'/tmp/a.png", NULL},
        {"/tmp/a\n/tmp/b", NULL},
        {"file://", NULL},
        {" \n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_free char *path = mention_of_path(cases[i][0]);
        if (cases[i][1])
            assert_string_equal(path, cases[i][1]);
        else
            assert_null(path);
    }
}

TEST(lines_stand_behind_a_name)
{
    int64_t first, last;
    assert_int_equal(mention_lines("a.c:10-40", &first, &last), 3);
    assert_int_equal(first, 10);
    assert_int_equal(last, 40);
    assert_int_equal(mention_lines("a.c:7", &first, &last), 3);
    assert_int_equal(last, 7);
    assert_int_equal(mention_lines("a.c:7-", &first, &last), 3);
    assert_int_equal(last, INT32_MAX);
    assert_int_equal(mention_lines("a.c:7-3", &first, &last), 3);
    assert_int_equal(last, 7);
    assert_int_equal(mention_lines("a.c", &first, &last), 3);
    assert_int_equal(first, 0);
    assert_int_equal(mention_lines("a:b", &first, &last), 3);
    assert_int_equal(mention_lines("a-3", &first, &last), 3);
}

/* --- a message -------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    struct error e;
    surface_setup(state);
    support_write(support_path("notes.md"), "one\ntwo\nthree\nfour\n");
    support_write(support_path("my file.md"), "blank\n");
    support_write(support_path("binary"), "a");
    assert_true(paths_make_dir(support_path("src/sub"), &e));
    support_write(support_path("src/a.c"), "int a;\n");
    support_write(support_path("src/sub/b.c"), "int b;\n");
    support_write(support_path("src/.gitignore"), "*.o\n");
    support_write(support_path("src/a.o"), "object\n");
    support_write(support_path("dot.png"), "\x89PNG\r\n\x1a\nrest");
    assert_true(paths_make_dir(support_path(".ssh"), &e));
    support_write(support_path(".ssh/id_rsa"), "secret\n");
    support_write(support_path("latin1.txt"), "caf\xe9\n");
    assert_true(paths_write_file(support_path("binary"), "a\0b", 3, &e));
    return 0;
}

FIXTURE(set_up, surface_teardown);

static struct operation_answer *say(struct engine *s, const char *text, const char *const *names,
                                    size_t count)
{
    const struct turn_start_params params = {
        .text = text,
        .attach = {.items = {.items = (char **)names, .len = count}},
        .origin = INPUT_TYPED};
    return surface_call(s, &operation_turn_start, &params);
}
#define SAY(s, text, ...)                                                                          \
    say(s, text, (const char *const[]){__VA_ARGS__},                                               \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

TEST(a_text_goes_with_its_message)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    struct operation_answer *a = SAY(s, "Sum up @notes.md and @my", "notes.md", "my file.md:1");
    assert_int_equal(a->error.code, ERR_OK);
    assert_text(surface_last_body(), "notes.md:\\n```\\none\\ntwo\\nthree\\nfour\\n```\\n");
    assert_text(surface_last_body(), "my file.md (lines 1-1):\\n```\\nblank\\n```\\n");
    support_write(support_path("odd:2"), "its name\n");
    assert_int_equal(SAY(s, "Odd", "odd:2")->error.code, ERR_OK);
    assert_text(surface_last_body(), "odd:2:\\n```\\nits name\\n```\\n");
    assert_text(surface_last_body(), "Sum up @notes.md and @my");
    a = SAY(s, "The middle", "notes.md:2-3", "notes.md:2-3");
    assert_int_equal(a->error.code, ERR_OK);
    assert_text(surface_last_body(), "notes.md (lines 2-3):\\n```\\ntwo\\nthree\\n```\\n");
    surface_ask(s, "And @binary?"); /* a text alone reads no file */
    assert_text(surface_last_body(), "And @binary?");
}

TEST(a_folder_gives_its_list)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    struct operation_answer *a = SAY(s, "Look", "src/");
    assert_int_equal(a->error.code, ERR_OK);
    assert_text(surface_last_body(), "src/:\\n```\\na.c\\nsub/b.c\\n```\\n");
}

TEST_IF(capability_store(), an_image_is_copied)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    struct operation_answer *a = SAY(s, "What is it?", "dot.png");
    assert_int_equal(a->error.code, ERR_OK);
    assert_text(surface_last_body(), "data:image/png;base64,");
    assert_int_equal(unlink(support_path("dot.png")), 0);
    surface_ask(s, "And now?");
    assert_text(surface_last_body(), "data:image/png;base64,");
}

static void refuses(struct engine *s, const char *name, const char *part)
{
    size_t before = surface_requests();
    struct operation_answer *a = SAY(s, "hello", name);
    assert_int_equal(a->error.code, ERR_USAGE);
    assert_text(a->error.text, part);
    assert_int_equal(surface_requests(), before);
}

static void set_model(const char *text)
{
    AUTO(config_problems_release) struct config_problems problems = {0};
    config_load_text(surface_config(), "test.ini", text, &problems);
    assert_int_equal(problems.list.len, 0);
}

TEST(an_image_of_the_clipboard_is_sent)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    struct error e;
    auto_free char *path = attach_clipboard_file("1.png"), *folder = paths_dir(PATHS_STATE);
    assert_true(paths_make_dir(folder, &e));
    support_write(path, "\x89PNG\r\n\x1a\nrest");
    assert_int_equal(SAY(s, "See @clipboard:1.png", "clipboard:1.png")->error.code, ERR_OK);
    assert_text(surface_last_body(), "data:image/png;base64,");
    struct operation_answer *a = SAY(s, "And", "clipboard:2.png", "clipboard:../x");
    assert_int_equal(a->error.code, ERR_FILE_ERROR);
}

/* Before anything is sent; what was sent to another model is words for this one. */
TEST_IF(capability_store(), a_model_without_eyes_gets_no_image)
{
    struct engine *s = surface_open(NULL, true);
    support_write(support_path("sized.png"), "\x89PNG\r\n\x1a\nxxxxIHDR@@@@@@@@");
    assert_int_equal(SAY(s, "See", "sized.png")->error.code, ERR_OK);
    assert_text(surface_last_body(), "data:image/png;base64,");
    engine_free(s);
    set_model("[model scripted-model]\nimages = 0\n");
    s = surface_open("last", true);
    refuses(s, "dot.png", "the model scripted-model takes no images, and @dot.png is one");
    surface_ask(s, "What was it?");
    assert_no_text(surface_last_body(), "base64");
    assert_text(surface_last_body(), "[image 1077952576\u00d71077952576 png 24 B]");
    engine_free(s);
}

TEST_IF(capability_store(), a_provider_has_limits_of_images)
{
    char big[] = "\x89PNG\r\n\x1a\nxxxxIHDR@@@@@@@@";
    struct error e;
    AUTO(buf_release) struct buf large = BUF_INIT;
    setenv("ANTHROPIC_API_KEY", "none", 1);
    setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9", 1);
    struct engine_options options = surface_options(NULL, true);
    options.provider = "anthropic";
    options.model = "claude-test";
    AUTO(engine_free_local) struct engine *s = engine_new(&options);
    support_write(support_path("wide.png"), big);
    refuses(s, "wide.png", "has a side of more than the 8000 pixels that Anthropic takes");
    big[16] = big[17] = big[20] = big[21] = 0; /* 16448 pixels, below: 3904 */
    big[18] = big[22] = 0x0f;
    while (large.len < 7 << 20)
        buf_add(&large, big, sizeof big - 1);
    assert_true(paths_write_file(support_path("0.png"), large.data, large.len, &e));
    while (large.len < 8 << 20)
        buf_add(&large, big, sizeof big - 1);
    assert_true(paths_write_file(support_path("large.png"), large.data, large.len, &e));
    refuses(s, "large.png", "png 8.3 MB) is larger than the 7.5 MB that Anthropic takes");

    const char *names[21];
    for (int i = 0; i < 21; i++) {
        names[i] = support_text("%d.png", i);
        if (i > 0)
            assert_int_equal(link(support_path("0.png"), support_path(names[i])), 0);
    }
    assert_text(say(s, "All", names, 4)->error.text, "together larger than Anthropic takes");
    assert_true(paths_write_file(support_path("0.png"), big, sizeof big - 1, &e));
    for (int i = 1; i < 21; i++) {
        assert_int_equal(unlink(support_path(names[i])), 0);
        assert_int_equal(link(support_path("0.png"), support_path(names[i])), 0);
    }
    assert_text(say(s, "All", names, 21)->error.text,
                "more than the 2000 pixels that Anthropic takes of so many images");
    unsetenv("ANTHROPIC_API_KEY");
    unsetenv("ANTHROPIC_BASE_URL");
}

static void refused(struct engine *s, const char *name, enum err_code code, const char *part)
{
    size_t before = surface_requests();
    struct operation_answer *a = SAY(s, "hello", name);
    assert_int_equal(a->error.code, code);
    assert_text(a->error.text, part);
    assert_int_equal(surface_requests(), before);
}

TEST(what_cannot_be_attached_is_refused_before_sending)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    refused(s, "missing.md", ERR_FILE_ERROR, "missing.md");
    refused(s, "binary", ERR_FILE_ERROR, "binary");
    refused(s, "latin1.txt", ERR_FILE_ERROR, "not UTF-8");
    refused(s, "skill:none", ERR_USAGE, "no skill none");
    refused(s, ".ssh/id_rsa", ERR_FORBIDDEN, "keys or tiro's own files");
    surface_ask(s, "still here"); /* the refused messages are not in the history */
    assert_no_text(surface_last_body(), "hello");
}

TEST(a_mention_of_nothing_is_a_word)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    struct operation_answer *a =
        SAY(s, "Ask @alice and @skill:none about @notes.md", "alice", "skill:none", "notes.md");
    assert_int_equal(a->error.code, ERR_OK);
    assert_text(surface_last_body(), "Ask @alice and @skill:none about @notes.md");
    assert_text(surface_last_body(), "one\\ntwo");
}

TEST(a_long_text_is_cut_with_a_mark)
{
    AUTO(buf_release) struct buf big = BUF_INIT;
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    for (int i = 0; i < 700000; i++)
        buf_addf(&big, "%d\n", i);
    support_write(support_path("big.txt"), big.data);
    struct operation_answer *a = SAY(s, "Long", "big.txt");
    assert_int_equal(a->error.code, ERR_OK);
    assert_text(surface_last_body(), "big.txt (lines 1-");
    assert_text(surface_last_body(), "[cut here: big.txt is longer than");
    assert_no_text(surface_last_body(), "699999");
}

TEST(an_attached_file_was_read)
{
    struct engine_options options = surface_options(NULL, true);
    options.tools = "full";
    options.allow = "edit_file";
    AUTO(engine_free_local) struct engine *s = engine_new(&options);
    QUEUE(surface_server(), .tool_name = "edit_file",
          .tool_args =
              "{\"path\":\"notes.md\",\"edits\":[{\"old_text\":\"two\",\"new_text\":\"2\"}]}");
    struct operation_answer *a = SAY(s, "Change it", "notes.md");
    assert_int_equal(a->error.code, ERR_OK);
    assert_string_equal(support_read(support_path("notes.md")), "one\n2\nthree\nfour\n");
}

TEST_IF(capability_store(), a_retry_keeps_attached_files)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    SAY(s, "Sum up @notes.md", "notes.md", "src/");
    surface_send(s, &operation_turn_retry, NULL);
    surface_expect_answer(s, &operation_turn_retry);
    assert_text(surface_last_body(), "one\\ntwo");
    assert_text(surface_last_body(), "sub/b.c");
    engine_free(s);
    s = surface_open("last", true);
    surface_send(s, &operation_turn_retry, "Sum up @notes.md in a line");
    surface_expect_answer(s, &operation_turn_retry);
    assert_text(surface_last_body(), "one\\ntwo");
    assert_text(surface_last_body(), "in a line");
    char *other[] = {(char *)"my file.md"};
    const struct turn_retry_params params = {.text = "Sum up @\"my file.md\"",
                                             .attach = {.items = {.items = other, .len = 1}}};
    surface_call(s, &operation_turn_retry, &params);
    assert_text(surface_last_body(), "blank");
    assert_no_text(surface_last_body(), "one\\ntwo"); /* the new text does not mention it */
    assert_text(surface_last_body(), "sub/b.c");      /* no text did */
}

static bool take_text(void *context, const struct event *ev)
{
    struct transcript_text t;
    transcript_text_init(&t, &transcript_words_fixed);
    transcript_text_add(&t, context, ev);
    transcript_text_release(&t);
    return true;
}

TEST_IF(capability_store(), the_transcript_has_what_was_typed)
{
    struct engine *s = surface_open(NULL, true);
    struct session_info info;
    struct error e;
    AUTO(buf_release) struct buf text = BUF_INIT;
    SAY(s, "Sum up @notes.md", "notes.md", "src/");
    engine_free(s);
    assert_true(surface_read("last", &info, take_text, &text, &e));
    assert_string_equal(info.title, "Sum up @notes.md");
    assert_text(text.data, "@notes.md · 4 lines");
    assert_text(text.data, "@src/ · 2 files");
    assert_text(text.data, "Sum up @notes.md");
    assert_no_text(text.data, "three");
    session_info_release(&info);
}

TEST(a_served_engine_reads_in_its_folders_only)
{
    char id[UUID_LEN + 1], *place = served_place("files"), *names[] = {(char *)"note.txt"};
    served_open(true);
    served_create_in(place, id);
    struct turn_start_params params = {
        .session = id, .text = "Look", .attach = {.items = {.items = names, .len = 1}}};
    served_done(&operation_turn_start, &params);
    assert_text(surface_last_body(), "note.txt:\\n```\\nfiles");
    names[0] = (char *)"/etc/hostname";
    served_refused(&operation_turn_start, &params, ERR_FORBIDDEN);
    served_close();
    free(place);
}

/* --- a look ----------------------------------------------------------------------------------- */

TEST(a_look_tells_what_a_name_brings)
{
    static const struct {
        const char *name;
        enum attach_kind kind;
        int64_t lines, bytes;
    } cases[] = {
        {"notes.md", ATTACH_TEXT, 4, 19},   {"notes.md:2-3", ATTACH_TEXT, 2, 10},
        {"notes.md:4-", ATTACH_TEXT, 1, 5}, {"notes.md:9", ATTACH_NOTHING, 0, 0},
        {"src", ATTACH_FOLDER, 2, 12},      {"dot.png", ATTACH_IMAGE, 0, 12},
        {"binary", ATTACH_REFUSED, 0, 0},   {"missing", ATTACH_NOTHING, 0, 0},
    };
    auto_free char *root = mem_strdup(support_path("."));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attach_look look = attach_look(root, cases[i].name);
        assert_int_equal(look.kind, cases[i].kind);
        assert_int_equal(look.lines, cases[i].lines);
        assert_int_equal(look.bytes, cases[i].bytes);
    }
}
