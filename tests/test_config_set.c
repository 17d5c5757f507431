/* `tiro config set`: its changes of a text, and the real program with a file. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "config/config.h"
#include "config/edit.h"
#include "tests/program.h"
#include "tests/steps.h"
#include "tests/suite.h"

/* --- a text ---------------------------------------------------------------------------------- */

static void assert_set(const char *before, const char *path, const char *value, const char *after)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    struct error e = {0};
    auto_free char *section = NULL, *name = NULL;
    assert_true(config_edit_split(path, &section, &name, &e));
    if (!config_edit_set(before, section, name, value, &out, &e))
        fail_msg("%s: %s", path, e.text);
    assert_string_equal(out.data, after);
}

FIXTURE(support_setup, support_teardown);

TEST(a_value_is_replaced_where_it_stands)
{
    assert_set("# a\n[ui]\n  theme=dark ; why\n\n[log]\n", "ui.theme", "light",
               "# a\n[ui]\n  theme= light ; why\n\n[log]\n");
    assert_set("[ui]\ntheme : dark", "ui.theme", "light", "[ui]\ntheme : light");
    assert_set("[ui]\ntheme =\n", "ui.theme", "light", "[ui]\ntheme = light\n");
    assert_set("[ui]\ntheme = ; none\n", "ui.theme", "light", "[ui]\ntheme = light ; none\n");
    assert_set("[ui]\ntheme = a\ntheme = b\n", "ui.theme", "c", "[ui]\ntheme = a\ntheme = c\n");
    assert_set("\xEF\xBB\xBF[ui]\r\ntheme = a\r\nmouse = no\r\n", "ui.theme", "b",
               "\xEF\xBB\xBF[ui]\r\ntheme = b\r\nmouse = no\r\n");
    assert_set("[log]\ntheme = x\n[ui]\ntheme = a\n", "ui.theme", "b",
               "[log]\ntheme = x\n[ui]\ntheme = b\n");
}

TEST(a_new_key_finds_its_place)
{
    assert_set("", "ui.theme", "light", "[ui]\ntheme = light\n");
    assert_set("[log]\nlevel = off", "ui.theme", "light",
               "[log]\nlevel = off\n\n[ui]\ntheme = light\n");
    assert_set("[ui]\n# colours\n;theme = dark\n;mouse = true\n[log]\n", "ui.theme", "light",
               "[ui]\n# colours\n;theme = dark\ntheme = light\n;mouse = true\n[log]\n");
    assert_set("[ui]\r\n;theme = dark\r\n", "ui.theme", "light",
               "[ui]\r\n;theme = dark\r\ntheme = light\r\n");
    assert_set("[ui]\nmouse = no\n# of mouse\n\n# what follows\n[log]\nlevel = off\n", "ui.theme",
               "light",
               "[ui]\nmouse = no\n# of mouse\ntheme = light\n\n# what follows\n[log]\nlevel = "
               "off\n");
    assert_set("[ui]\nmouse = no", "ui.theme", "light", "[ui]\nmouse = no\ntheme = light\n");
    /* Below the comment it would take the line that goes on with another value. */
    assert_set("[chat]\nsystem = a\n;tools = read\n  b\n", "chat.tools", "none",
               "[chat]\nsystem = a\n;tools = read\n  b\ntools = none\n");
    assert_set("[model a.b]\nwindow = 1000\n", "model c.d.window", "2000",
               "[model a.b]\nwindow = 1000\n\n[model c.d]\nwindow = 2000\n");
    assert_set("", "corpus.hand.book.paths", "/a:/b", "[corpus]\nhand.book.paths = /a:/b\n");
    assert_set("[keys]\n;send = enter\n", "keys.send", "ctrl-s",
               "[keys]\n;send = enter\nsend = ctrl-s\n");
}

TEST(values_of_several_lines)
{
    assert_set("[chat]\nsystem = a\n  b\n# note\n  c\ntools = none\n", "chat.system", "x",
               "[chat]\nsystem = x\n# note\ntools = none\n");
    assert_set("[chat]\nsystem = a\ntools = none\n", "chat.system", "x\ny = 1\n[z]",
               "[chat]\nsystem = x\n    y = 1\n    [z]\ntools = none\n");
    assert_set("[chat]\nsystem = a", "chat.system", "x\ny", "[chat]\nsystem = x\n    y\n");
    assert_set("[chat]\nsystem = a\n  b\n# note\n  c\ntools = none\n", "chat.system", NULL,
               "[chat]\n# note\ntools = none\n");
}

TEST(a_key_is_taken_out_wherever_it_stands)
{
    assert_set("[ui]\n;theme = dark\ntheme = a\nmouse = no\n[log]\n[ui]\ntheme = b\n", "ui.theme",
               NULL, "[ui]\n;theme = dark\nmouse = no\n[log]\n[ui]\n");
    assert_set("[ui]\nmouse = no\n", "ui.theme", NULL, "[ui]\nmouse = no\n");
}

TEST(faults_elsewhere_stay)
{
    assert_set("nonsense\n[ui]\n= x\nthme = y\n[broken\ntheme = z\n[log]\nlevel = off\n",
               "ui.theme", "light",
               "nonsense\n[ui]\n= x\nthme = y\ntheme = light\n[broken\ntheme = z\n[log]\nlevel = "
               "off\n");
}

TEST(what_the_format_cannot_hold_is_refused)
{
    static const char *const values[] = {" a",     "a ",    "a ; b",  "a\n\nb",
                                         "a\n# b", "a\n;b", "a\n  b", "a\n"};
    char longest[400];
    struct error e;
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        assert_err(config_edit_check("chat", "system", values[i], &e), e, ERR_CONFIG_ERROR);
        assert_false(config_edit_set("[chat]\n", "chat", "system", values[i], &out, &e));
        assert_int_equal(out.len, 0);
    }
    assert_false(config_edit_check("chat", "system", longest, &e));
    assert_text(e.text, "longer than");
    assert_false(config_edit_check("model a]b", "window", "4096", &e));
    assert_false(config_edit_check("model a\n[ui]", "window", "4096", &e));
    assert_true(config_edit_check("chat", "system", "a;b # c = [d]", &e));
}

TEST(names_and_values_are_checked)
{
    static const struct {
        const char *section, *name, *value, *text;
    } rows[] = {
        {"uii", "theme", "x", "did you mean [ui]?"},
        {"ui", "them", "x", "did you mean \"theme\"?"},
        {"model", "window", "4096", "unknown section [model]"},
        {"model x", "windw", "4096", "did you mean \"window\"?"},
        {"model x", "window", "4", "256"},
        {"provider", "max_retries", "11", "10"},
        {"provider", "name", "opnai", "anthropic openai ollama offline"},
        {"ui", "mouse", "maybe", "true"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error e = {0};
        assert_false(config_edit_check(rows[i].section, rows[i].name, rows[i].value, &e));
        assert_int_equal(e.code, ERR_CONFIG_ERROR);
        assert_text(e.text, rows[i].text);
    }
    struct error e;
    char *section, *name;
    static const char *const bad[] = {"theme", ".theme", "ui.", "", "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_err(config_edit_split(bad[i], &section, &name, &e), e, ERR_USAGE);
    }
}

static void assert_same_value(const char *before, const char *after, const char *section,
                              const char *name)
{
    char *a = support_keep(config_edit_value(before, section, name));
    char *b = support_keep(config_edit_value(after, section, name));
    if (!a != !b || (a && strcmp(a, b) != 0))
        fail_msg("[%s] %s: %s, now %s, in: %s", section, name, a ? a : "none", b ? b : "none",
                 after);
}

/* Nothing else in the file changes; a key that was set and removed leaves no trace. */
TEST(any_text_survives)
{
    uint64_t seed = support_seed();
    int refused = 0;
    for (int round = 0; round < (int)suite_sample(6000, 20000); round++) {
        AUTO(buf_release) struct buf text = BUF_INIT, set = BUF_INIT, unset = BUF_INIT;
        struct error e = {0};
        /* Lines that mean much to the format, in any order. */
        static const char *const lines[] = {
            "[ui]",       "[chat]",     "[ ui ] ; x", "[broken", "theme = a",   "theme=b ; c",
            ";theme = d", "# theme: e", "  more",     "",        "   ",         "mouse = no",
            "system = x", "nonsense",   "theme",      "= y",     "\ttheme = z", "  ; c",
            "[]",         "theme =",    ";",          "[ui]x"};
        int count = (int)(support_random(&seed) % 12);
        bool carriage = support_random(&seed) % 4 == 0;
        for (int i = 0; i < count; i++)
            buf_addf(&text, "%s%s", lines[support_random(&seed) % (sizeof lines / sizeof *lines)],
                     i == count - 1 && support_random(&seed) % 2 ? ""
                     : carriage                                  ? "\r\n"
                                                                 : "\n");
        char *old = support_keep(config_edit_value(text.data, "ui", "theme"));
        if (config_edit_set(text.data, "ui", "theme", "new", &set, &e)) {
            assert_string_equal(support_keep(config_edit_value(set.data, "ui", "theme")), "new");
            assert_same_value(text.data, set.data, "ui", "mouse");
            assert_same_value(text.data, set.data, "chat", "theme");
            assert_same_value(text.data, set.data, "chat", "system");
            if (!old && config_edit_set(set.data, "ui", "theme", NULL, &unset, &e) &&
                text.len > 0 && text.data[text.len - 1] == '\n' && strstr(text.data, "[ui]\n"))
                assert_int_equal(strncmp(unset.data, text.data, text.len), 0);
        } else {
            refused++;
        }
    }
    assert_in_range(refused, 0, 200);
}

/* Every key that is set in a copy of the explained file goes below its own line. */
TEST(the_explained_file_takes_every_key)
{
    const char *text = embedded_text("tiro.ini");
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        AUTO(buf_release) struct buf out = BUF_INIT;
        struct error e = {0};
        const char *value = *info->fallback ? info->fallback : "4096";
        if (config_key_is_free(info))
            continue;
        assert_true(config_edit_set(text, info->section, info->name, value, &out, &e));
        char *pair = support_text("\n;%s =%s%s\n%s = %s\n", info->name, *info->fallback ? " " : "",
                                  info->fallback, info->name, value);
        assert_text(out.data, pair);
    }
}

/* --- the program ----------------------------------------------------------------------------- */

static void assert_config(const char *text)
{
    assert_string_equal(support_read(support_path(".config/tiro/tiro.ini")), text);
}

TEST(the_file_is_made)
{
    struct stat st;
    char *path = support_path(".config/tiro/tiro.ini");
    char *out = program_output(RUN("config", "set", "ui.theme", "light"));
    assert_text(out, "tiro.ini: ui.theme = light\n");
    assert_config("[ui]\ntheme = light\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    out = program_output(RUN("config", "set", "ui.theme", "light"));
    assert_text(out, "nothing to do");
    run_ok(RUN("config", "set", "model gpt-4.1.window", "32768"));
    run_ok(RUN("config", "set", "keys.send", "ctrl-s"));
    run_ok(RUN("config", "set", "ui.notify_after", "0"));
    assert_config(
        "[ui]\ntheme = light\nnotify_after = 0\n\n[model gpt-4.1]\nwindow = 32768\n\n"
        "[keys]\nsend = ctrl-s\n");
    expect(RUN("config", "check"), 0, "");
    out = program_output(RUN("config", "set", "ui.theme", "--unset"));
    assert_text(out, "ui.theme removed (default: auto)");
    out = program_output(RUN("config", "set", "--unset", "ui.theme"));
    assert_text(out, "ui.theme is not set");
}

TEST(what_does_not_fit_changes_nothing)
{
    const char *text = "[ui]\nthem = light\n[keys]\nsend = ctrl-s\n";
    write_config(text);
    expect(RUN("config", "set", "ui.mouse", "maybe"), 1, "tiro: CONFIG_ERROR: ");
    expect(RUN("config", "set", "ui.thme", "dark"), 1, "did you mean \"theme\"?");
    expect(RUN("config", "set", "ui.thme", "--unset"), 1, "did you mean \"theme\"?");
    expect(RUN("config", "set", "ui.theme", "nonesuch"), 1, "nonesuch");
    expect(RUN("config", "set", "keys.sned", "ctrl-x"), 1, "did you mean \"send\"?");
    expect(RUN("config", "set", "keys.sned", "--unset"), 1, "did you mean \"send\"?");
    expect(RUN("config", "set", "keys.send", "no-such-key"), 1, "tiro: CONFIG_ERROR: ");
    expect(RUN("config", "set", "keys.newline", "ctrl-s"), 1, "tiro: CONFIG_ERROR: ");
    expect(RUN("config", "set", "theme", "dark"), 64, "SECTION.KEY");
    expect(RUN("config", "set"), 64, "an argument is missing");
    expect(RUN("config", "set", "ui.theme"), 64, "an argument is missing");
    expect(RUN("config", "set", "ui.theme", "dark", "--unset"), 64, "--unset takes no value");
    expect(RUN("config", "set", "keys.send", "ctrl-x", "f5"), 64, "quotes");
    assert_config(text);
    run_ok(RUN("config", "set", "ui.mouse", "no"));
    run_ok(RUN("config", "set", "ui.them", "--unset"));
    assert_config("[ui]\nmouse = no\n[keys]\nsend = ctrl-s\n");
}

TEST(a_profile_lies_over_the_file)
{
    write_config("[ui]\ntheme = light\n[chat]\nsystem = below\n");
    char *missing = support_path(".config/tiro/profiles/work.ini");
    expect(RUN("config", "--profile", "work"), 64, missing);
    expect(RUN("--profile", "work", "config"), 64, missing);
    expect(RUN("--profile=work"), 64, missing);
    expect(RUN("run", "--profile", "../tiro", "hi"), 64, "without a slash");
    assert_int_equal(mkdir(support_path(".config/tiro/profiles"), 0700), 0);
    support_write(missing, "[ui]\ntheme = dark\n");
    run_ok(RUN("--profile", "work", "config", "set", "ui.mouse", "no"));
    assert_string_equal(support_read(missing), "[ui]\ntheme = dark\nmouse = no\n");
    assert_config("[ui]\ntheme = light\n[chat]\nsystem = below\n");
    char *out = program_output(RUN("config", "show", "--profile=work"));
    assert_text(out, "theme = dark");
    assert_text(out, "system = below");
    assert_text(program_output(RUN("config", "show")), "theme = light");
    assert_text(program_output(RUN("config", "path", "--profile", "work")), missing);
    assert_text(program_output(RUN("doctor", "--profile", "work")), "profile: work\n");
}

TEST(secrets_come_on_standard_input)
{
    struct result r =
        ended(64, RUN("config", "set", "anthropic.api_key", "sk-on-the-command-line"));
    assert_says(r.err, "tiro config set anthropic.api_key -", "!sk-on");
    r = RUN_WITH("sk-secret\n", "config", "set", "anthropic.api_key", "-");
    char *out = program_output(r);
    assert_says(out, "anthropic.api_key = ****", "!sk-secret");
    assert_config("[anthropic]\napi_key = sk-secret\n");
    r = RUN_WITH("two\nlines\n", "config", "set", "chat.system", "-");
    run_ok(r);
    assert_config("[anthropic]\napi_key = sk-secret\n\n[chat]\nsystem = two\n    lines\n");
}

static void set_from_input(const char *key, const char *value)
{
    struct result r = RUN_WITH(value, "config", "set", key, "-");
    assert_no_text(program_output(r), "secret");
}

/* The file is made private even if it held the value before. */
TEST(a_secret_is_ones_own)
{
    static const struct {
        const char *key, *value;
    } secrets[] = {{"anthropic.api_key", "sk-secret"},
                   {"anthropic.base_url", "https://me:secret@host"}};
    char *path = support_path(".config/tiro/tiro.ini");
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        struct stat st;
        set_from_input(secrets[i].key, secrets[i].value);
        assert_int_equal(chmod(path, 0644), 0);
        set_from_input(secrets[i].key, secrets[i].value);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
}

/* The password appears neither in a list of processes nor in the output. */
TEST(a_password_in_a_url_is_secret)
{
    struct result r =
        ended(64, RUN("config", "set", "openai.base_url", "https://me:secret@host/v1"));
    assert_says(r.err, "tiro config set openai.base_url -", "!secret@");
    set_from_input("openai.base_url", "https://me:secret@host/v1");
    static const char *const shows[][3] = {
        {"config", "show"}, {"config", "show", "--json"}, {"doctor"}, {"doctor", "--json"}};
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++) {
        r = RUN_WITH("", shows[i][0], shows[i][1], shows[i][2]);
        assert_says(r.out, "https://****@host/v1", "!secret");
        assert_no_text(r.err, "secret");
    }
}

TEST(a_link_stays_a_link)
{
    struct stat st;
    write_config("");
    char *path = support_path(".config/tiro/tiro.ini");
    char *target = support_path("dotfile.ini");
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
    expect(RUN("config", "set", "ui.theme", "light"), 1, "tiro: FILE_ERROR: ");
    support_write(target, "# mine\n[ui]\n");
    chmod(target, 0644);
    run_ok(RUN("config", "set", "ui.theme", "light"));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(support_read(target), "# mine\n[ui]\ntheme = light\n");
}

TEST(the_environment_is_told_of)
{
    setenv("TIRO_UI_THEME", "mono", 1);
    expect(RUN("config", "set", "ui.theme", "light"), 0, "an environment variable overrides");
    unsetenv("TIRO_UI_THEME");
    assert_config("[ui]\ntheme = light\n");
}

/* Each of several processes that change the file at once finds its change in it afterwards. */
TEST(changes_at_once_are_all_kept)
{
    static const char *const keys[] = {"ui.notify_after", "tools.timeout", "tools.command_timeout",
                                       "embedding.batch"};
    enum { KEYS = sizeof keys / sizeof *keys, ROUNDS = 8 };
    struct support_child children[KEYS];
    for (int round = 0; round < ROUNDS; round++) {
        char *value = support_text("%d", 20 + round);
        for (size_t i = 0; i < KEYS; i++)
            support_start(&children[i], TEXTS(support_program(), "config", "set", keys[i], value));
        for (size_t i = 0; i < KEYS; i++) {
            assert_int_equal(support_finish(&children[i], ""), 0);
            support_release(&children[i]);
        }
        char *text = support_read(support_path(".config/tiro/tiro.ini"));
        for (size_t i = 0; i < KEYS; i++) {
            assert_text(text, support_text("%s = %s\n", strchr(keys[i], '.') + 1, value));
        }
    }
}
