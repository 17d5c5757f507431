#include <locale.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "config/config.h"
#include "tests/steps.h"
#include "tests/suite.h"

static struct config *config;
static struct config_problems problems;

static int setup(void **state)
{
    config = config_new();
    return support_setup(state);
}

static int teardown(void **state)
{
    config_free(config);
    config_problems_release(&problems);
    return support_teardown(state);
}

static void load(const char *text)
{
    config_load_text(config, "a.ini", text, &problems);
}

/* The environment is not written to, though environ's type is not const. */
static void load_environment(const char *const *environment)
{
    config_load_environment(config, (char *const *)environment, &problems);
}

/* All problems, as "LINE: TEXT". */
static void complains(const char *const *wanted)
{
    AUTO(buf_release) struct buf got = BUF_INIT, all = BUF_INIT;
    for (size_t i = 0; i < problems.list.len; i++) {
        const struct config_problem *p = &problems.list.items[i];
        assert_string_equal(p->source, "a.ini");
        buf_addf(&got, "%d: %s\n", p->line, p->text);
    }
    for (; *wanted; wanted++)
        buf_addf(&all, "%s\n", *wanted);
    assert_string_equal(got.data, all.data);
}
#define COMPLAINS(...) complains(TEXTS(__VA_ARGS__))

/* Each of the values, as "section.name = value (where from)", with the end left out or not. */
static void holds(const char *const *wanted)
{
    static const char *const origins[] = {"default", "file", "environment", "command line"};
    for (; *wanted; wanted++) {
        char section[32], name[32], number[32];
        assert_int_equal(sscanf(*wanted, "%31[^.].%31s", section, name), 2);
        enum config_key key = config_key_find(section, name);
        assert_int_not_equal(key, CONFIG_KEY_COUNT);
        enum config_type type = config_key_info(key)->type;
        const char *value = number;
        if (type == CONFIG_INTEGER)
            snprintf(number, sizeof number, "%d", (int)config_integer(config, key));
        else if (type == CONFIG_REAL)
            snprintf(number, sizeof number, "%g", config_real(config, key));
        else if (type == CONFIG_BOOLEAN)
            value = config_boolean(config, key) ? "true" : "false";
        else
            value = config_string(config, key);
        char *got = support_text("%s.%s = %s (%s)", section, name, value,
                                 origins[config_origin(config, key)]);
        size_t whole = strlen(got) - strlen(strrchr(got, '(')) - 1, len = strlen(*wanted);
        if (strncmp(got, *wanted, len) != 0 || (len != whole && len != strlen(got)))
            fail_msg("%s, not %s", got, *wanted);
    }
}
#define HOLDS(...) holds(TEXTS(__VA_ARGS__))

FIXTURE(setup, teardown);

TEST(defaults_stand_without_any_source)
{
    HOLDS("ui.theme = auto (default)", "provider.stall_timeout = 300", "ui.mouse = true",
          "provider.model = ", "provider.temperature = 0");
    assert_false(config_is_set(config, CONFIG_PROVIDER_TEMPERATURE));
    assert_true(config_is_set(config, CONFIG_OLLAMA_NUM_CTX));
}

/* Each default of the table passes its own check. */
TEST(defaults_fit_their_types)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        struct error e = {0};
        if (config_key_is_free(info))
            assert_string_equal(info->fallback, "");
        else if (!config_set(config, (enum config_key)i, info->fallback, &e))
            fail_msg("[%s] %s: %s", info->section, info->name, e.text);
    }
}

TEST(a_file_s_values_are_taken)
{
    load(
        "# comment\n; comment\n[ui]\ntheme = light ; why not\r\nmouse: no\n"
        "[provider]\nmax_retries=0\ntemperature = 0.7\n\n[ chat ]\nsystem = Be kind; be short.\n"
        "[anthropic]\napi_key = k-1\n[openai]\nbase_url = http://h:1/v1?a=b\n");
    COMPLAINS(NULL);
    HOLDS("ui.theme = light (file)", "ui.mouse = false", "provider.max_retries = 0",
          "provider.temperature = 0.7", "chat.system = Be kind; be short.",
          "anthropic.api_key = k-1", "openai.base_url = http://h:1/v1?a=b",
          "log.level = off (default)");
}

TEST(indented_lines_continue_a_value)
{
    load("[chat]\nsystem = one\n  two = 2\n\t[three]\n\n[ui]\n  theme = mono\n");
    COMPLAINS(NULL);
    HOLDS("chat.system = one\ntwo = 2\n[three]", "ui.theme = mono");
}

TEST(unknown_keys_name_the_nearest)
{
    load("[provider]\nmodle = x\nstall-timeout = 5\nfrobnicate = 1\n[model m]\nwindwo = 512\n");
    COMPLAINS("2: unknown key \"modle\" in [provider]; did you mean \"model\"?",
              "3: unknown key \"stall-timeout\" in [provider]; did you mean \"stall_timeout\"?",
              "4: unknown key \"frobnicate\" in [provider]; 'tiro config show' lists them",
              "6: unknown key \"windwo\" in [model m]; did you mean \"window\"?");
}

TEST(unknown_sections_are_told_once)
{
    load(
        "early = 1\n[provder]\nname = x\nmodel = y\n[modle gpt]\nwindow = 5\n[qqqqqqq]\na=b\n"
        "[model]\nwindow = 300\n[UI]\ntheme = x\n");
    COMPLAINS("1: \"early\" stands before any [section]; move it below one",
              "3: unknown section [provder]; did you mean [provider]?",
              "6: unknown section [modle gpt]; did you mean [model NAME]?",
              "8: unknown section [qqqqqqq]; 'tiro config show' lists them",
              "10: unknown section [model]; did you mean [model NAME]?",
              "12: unknown section [UI]; 'tiro config show' lists them");
}

TEST(bad_values_keep_the_default)
{
    load(
        "[provider]\nname = gemini\ntemperature = warm\nstall_timeout = 0\nmax_retries = 3x\n"
        "[ui]\nmouse = maybe\ntheme = \xFF\n[model m]\nwindow = many\n"
        "[compaction]\nrecent_turn_budget = all\n");
    COMPLAINS("2: name: \"gemini\" is not allowed; write one of: anthropic openai ollama offline",
              "3: temperature: \"warm\" is not a number such as 0.5; write one",
              "4: stall_timeout: 0 is out of bounds; write 1 to 86400",
              "5: max_retries: \"3x\" is not a whole number; write one",
              "7: mouse: \"maybe\" is neither true nor false; write one of them",
              "8: theme: the value is not valid UTF-8; convert it",
              "10: window: \"many\" is not a whole number; write one",
              "12: recent_turn_budget: \"all\" is not a whole number; write one, or auto");
    HOLDS("provider.name = ", "provider.stall_timeout = 300", "provider.max_retries = 3",
          "ui.mouse = true", "ui.theme = auto");
}

TEST(numbers_are_checked_to_the_last_character)
{
    static const char *const bad_integers[] = {
        "99999999999999999999", "1.5", "+1", "0x10", " 1", "-", "1e3", "--1"};
    static const char *const bad_reals[] = {"0,5", ".",    "1.2.3", "nan", "inf",
                                            "1e0", "-0.5", "2.01",  "0.5x"};
    struct error e;
    for (size_t i = 0; i < sizeof bad_integers / sizeof *bad_integers; i++)
        assert_err(config_set(config, CONFIG_TOOLS_TIMEOUT, bad_integers[i], &e), e,
                   ERR_CONFIG_ERROR);
    for (size_t i = 0; i < sizeof bad_reals / sizeof *bad_reals; i++)
        assert_false(config_set(config, CONFIG_PROVIDER_TEMPERATURE, bad_reals[i], &e));
    assert_true(config_set(config, CONFIG_TOOLS_TIMEOUT, "3600", &e));
    assert_false(config_set(config, CONFIG_TOOLS_TIMEOUT, "3601", &e));
    assert_true(config_set(config, CONFIG_PROVIDER_TEMPERATURE, "0.25", &e));
    HOLDS("tools.timeout = 3600", "provider.temperature = 0.25");
    assert_true(config_set(config, CONFIG_PROVIDER_TEMPERATURE, "0", &e));
    assert_true(config_is_set(config, CONFIG_PROVIDER_TEMPERATURE));
}

TEST(syntax_errors_tell_every_line)
{
    load("[ui]\ntheme light\nmouse = no\n[provider\nname = ollama\n[log]\nlevel\nlevel = info\n");
    COMPLAINS("2: this is not a setting; write \"name = value\"",
              "4: a section's name has no end; write \"]\" after it",
              "7: this is not a setting; write \"name = value\"");
    HOLDS("ui.mouse = false", "provider.name = ", "log.level = info");
}

TEST(problems_stand_in_the_order_of_lines)
{
    load("[ui]\nthem = x\nmouse\nmouse = 7\n[log\n");
    assert_int_equal(problems.list.len, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(problems.list.items[i].line, i + 2);
    config_load_text(config, "b.ini", "x\n", &problems);
    assert_string_equal(problems.list.items[4].source, "b.ini");
    assert_int_equal(problems.list.items[4].line, 1);
}

static char *long_line(const char *head, size_t len, const char *tail)
{
    struct buf text = BUF_INIT;
    buf_addstr(&text, head);
    for (size_t i = 0; i < len; i++)
        buf_addch(&text, 'x');
    buf_addstr(&text, tail);
    return support_keep(buf_take(&text));
}

/* A value is whole or not there at all, whichever of its lines is too long. */
TEST(lines_too_long_are_not_cut)
{
    static const char *const heads[] = {"[chat]\nsystem = ", "[chat]\nsystem = a\n "};
    for (size_t i = 0; i < 2; i++) {
        load(long_line(heads[i], 5000, "\n b\n[ui]\ntheme = mono\nbad line\n"));
        HOLDS("chat.system = ", "ui.theme = mono");
        assert_int_equal(problems.list.len, 2 * i + 2);
        assert_int_equal(problems.list.items[2 * i].line, i + 2);
        assert_non_null(strstr(problems.list.items[2 * i].text, "the line is longer than"));
    }
    config_problems_release(&problems);
    load(long_line("# ", 5000, "\n[ui]\ntheme = light\n"));
    COMPLAINS(NULL);
    HOLDS("ui.theme = light");
    load(long_line("[chat]\nsystem = ", 150, "\n more"));
    COMPLAINS(NULL);
    assert_int_equal(strlen(config_string(config, CONFIG_CHAT_SYSTEM)), 155);
}

static char *write_file(const char *text, mode_t mode)
{
    char *path = support_path("tiro.ini");
    support_write(path, text);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

TEST(a_secret_others_can_read_is_refused)
{
    static const mode_t open_modes[] = {0644, 0640, 0604, 0620, 0601};
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        char *path = write_file("[anthropic]\napi_key = k-secret\nmodel = m\n", open_modes[i]);
        config_load_file(config, path, &problems);
        assert_int_equal(problems.list.len, i + 1);
        const struct config_problem *p = &problems.list.items[i];
        assert_int_equal(p->line, 2);
        assert_string_equal(p->source, path);
        assert_says(p->text, "chmod 600 ", path, "!k-secret");
        HOLDS("anthropic.api_key = ", "anthropic.model = m");
    }
    config_problems_release(&problems);
    char *path = write_file("[anthropic]\napi_key = k-secret\n", 0600);
    config_load_file(config, path, &problems);
    COMPLAINS(NULL);
    HOLDS("anthropic.api_key = k-secret");
}

TEST(missing_and_unreadable_files)
{
    char *path = support_path("no-such.ini");
    config_load_file(config, path, &problems);
    COMPLAINS(NULL);
    config_load_file(config, support_dir(), &problems);
    assert_int_equal(problems.list.len, 1);
    assert_string_equal(problems.list.items[0].source, support_dir());

    struct error e;
    path = support_path("binary.ini");
    assert_true(paths_write_file(path, "[ui]\ntheme = light\n\0", 20, &e));
    config_load_file(config, path, &problems);
    assert_int_equal(problems.list.len, 2);
    assert_string_equal(config_string(config, CONFIG_UI_THEME), "auto");
}

TEST(later_sources_win)
{
    load("[ui]\ntheme = light\nnotify_after = 1\nnotify_after = 2\n");
    load_environment(TEXTS("PATH=/bin", "TIRO_UI_THEME=mono", "TIRO_PROVIDER_MAX_OUTPUT_TOKENS=7",
                           "TIRO_ANTHROPIC_API_KEY=k-env", "TIRO=x"));
    COMPLAINS(NULL);
    HOLDS("ui.theme = mono (environment)", "provider.max_output_tokens = 7",
          "anthropic.api_key = k-env", "ui.notify_after = 2 (file)");
    struct error e;
    assert_true(config_set(config, CONFIG_UI_THEME, "dark", &e));
    assert_err(config_set(config, CONFIG_UI_MOUSE, "perhaps", &e), e, ERR_CONFIG_ERROR);
    HOLDS("ui.theme = dark (command line)", "ui.mouse = true (default)");
}

TEST(an_empty_value_is_the_default_again)
{
    load("[ui]\ntheme = light\nnotify_after =\n");
    load_environment(TEXTS("TIRO_UI_THEME="));
    COMPLAINS(NULL);
    HOLDS("ui.theme = auto (default)", "ui.notify_after = 20");
}

TEST(the_environment_s_problems_name_the_variable)
{
    load_environment(TEXTS("TIRO_UI_THEEM=x", "TIRO_UI_MOUSE=maybe", "TIRO_ZZZ=1"));
    assert_int_equal(problems.list.len, 3);
    const struct config_problem *p = problems.list.items;
    assert_string_equal(p[0].source, "TIRO_UI_THEEM");
    assert_string_equal(p[0].text, "no setting has this name; did you mean TIRO_UI_THEME?");
    assert_int_equal(p[0].line, 0);
    assert_string_equal(p[1].source, "TIRO_UI_MOUSE");
    assert_string_equal(p[1].text, "mouse: \"maybe\" is neither true nor false; write one of them");
    assert_string_equal(p[2].text, "no setting has this name; 'tiro config show' lists them");
}

static void note(void *context, const char *section, const char *name, const char *value,
                 const char *source, int line)
{
    buf_addf(context, "%s|%s=%s %s:%d\n", section, name, value, source, line);
}

TEST(free_sections_are_visited_in_order)
{
    const char *long_name =
        "vendor/family/a-model-whose-name-is-longer-than-fifty-bytes-2026-03-09";
    char *text = support_text(
        "[model b]\nwindow = 512\ninput_price = 0.5\n[keys]\nany name = C-x\n"
        "[model %s]\nmax_output = 9\n[model b]\nwindow = 1024\n",
        long_name);
    load(text);
    COMPLAINS(NULL);
    AUTO(buf_release) struct buf seen = BUF_INIT;
    config_visit(config, "model ", note, &seen);
    char *expected = support_text(
        "model b|window=512 a.ini:2\nmodel b|input_price=0.5 a.ini:3\n"
        "model %s|max_output=9 a.ini:7\nmodel b|window=1024 a.ini:9\n",
        long_name);
    assert_string_equal(seen.data, expected);
    buf_clear(&seen);
    config_visit(config, "keys", note, &seen);
    assert_string_equal(seen.data, "keys|any name=C-x a.ini:5\n");
}

TEST(what_a_file_says_is_cleaned_in_problems)
{
    load("[ui]\n\x1B[31m = x\n");
    assert_int_equal(problems.list.len, 1);
    assert_null(strchr(problems.list.items[0].text, '\x1B'));
    assert_non_null(strstr(problems.list.items[0].text, "\xE2\x90\x9B"));
}

TEST(a_byte_order_mark_is_no_fault)
{
    load("\xEF\xBB\xBF[ui]\ntheme = light");
    COMPLAINS(NULL);
    HOLDS("ui.theme = light");
}

/* A decimal point in the file is a point in every locale. */
TEST(the_locale_does_not_matter)
{
    for (const char *const *l = TEXTS("de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8"); *l; l++)
        if (setlocale(LC_ALL, *l))
            break;
    load("[provider]\ntemperature = 1.5\n");
    COMPLAINS(NULL);
    assert_true(config_real(config, CONFIG_PROVIDER_TEMPERATURE) == 1.5);
    setlocale(LC_ALL, "C.UTF-8");
}

TEST(the_nearest_word)
{
    static const char *const words[] = {"resume", "rename", "remember", "retry", "ui", ""};
    const size_t count = sizeof words / sizeof *words;
    assert_string_equal(config_nearest("resmue", words, count), "resume");
    assert_string_equal(config_nearest("renam", words, count), "rename");
    assert_string_equal(config_nearest("rembember", words, count), "remember");
    assert_string_equal(config_nearest("retry", words, count), "retry");
    assert_string_equal(config_nearest("iu", (const char *const[]){"u"}, 1), "u");
    assert_null(config_nearest("xy", words, count));
    assert_null(config_nearest("archive", words, count));
    assert_null(config_nearest("", words, count));
    assert_null(config_nearest("resume", words, 0));
}

/* "section/name = default" of each key that the text offers, commented out or not. */
static void list_offered(const char *text, struct buf *out)
{
    char *copy = support_keep(mem_strdup(text)), *rest = NULL, section[64] = "";
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line += *line == ';';
        char name[64], value[128] = "";
        if (sscanf(line, "[%63[^]]]", section) == 1 || *line == '#')
            continue;
        int fields = sscanf(line, "%63[a-zA-Z0-9_.] = %127[^\n]", name, value);
        if (fields < 1 || strcmp(section, "keys") == 0)
            continue;
        const char *pattern = strcmp(section, "model NAME") == 0 ? "model *" : section;
        const char *key = strcmp(name, "NAME.paths") == 0   ? "*.paths"
                          : strcmp(name, "loader.EXT") == 0 ? "loader.*"
                                                            : name;
        buf_addf(out, "%s/%s = %s\n", pattern, key, value);
    }
}

TEST(the_shipped_file_offers_each_key)
{
    const char *text = embedded_text("tiro.ini");
    assert_non_null(text);
    AUTO(buf_release) struct buf offered = BUF_INIT, expected = BUF_INIT;
    list_offered(text, &offered);
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        buf_addf(&expected, "%s/%s = %s\n", info->section, info->name, info->fallback);
        assert_non_null(strstr(text, info->help));
        if (*info->choices)
            assert_non_null(strstr(text, info->choices));
    }
    assert_string_equal(offered.data, expected.data);
    load(text);
    COMPLAINS(NULL);
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        assert_int_equal(config_origin(config, (enum config_key)i), CONFIG_FROM_DEFAULT);
}

/* The shipped file loads when its semicolons are removed. */
TEST(the_shipped_file_can_be_switched_on)
{
    char *text = support_keep(mem_strdup(embedded_text("tiro.ini")));
    for (char *c = text; *c; c++) {
        if (*c == ';' && (c == text || c[-1] == '\n'))
            memmove(c, c + 1, strlen(c));
    }
    load(text);
    COMPLAINS(NULL);
    assert_string_equal(config_string(config, CONFIG_ANTHROPIC_MODEL),
                        config_key_info(CONFIG_ANTHROPIC_MODEL)->fallback);
    AUTO(buf_release) struct buf seen = BUF_INIT;
    config_visit(config, "model ", note, &seen);
    assert_non_null(strstr(seen.data, "model NAME|window="));
}
