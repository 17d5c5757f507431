/* Copying: the terminals that are asked, and programs that stand in for the real ones. The bare
 * text: rows as a terminal breaks them, and the part in view. */
#include <sys/stat.h>

#include "base/paths.h"
#include "tests/seen.h"
#include "tests/still_app.h"
#include "tests/suite.h"
#include "ui/app/clipboard.h"
#include "ui/app/dispatch.h"

/* --- terminals --- */

static const char *set;
static char set_to[64]; /* the value of that variable */

static char *variable(const char *name)
{
    return set && strcmp(set, name) == 0 ? set_to : NULL;
}

static bool takes(const char *name, const char *value, bool claimed)
{
    set = name;
    snprintf(set_to, sizeof set_to, "%s", value ? value : "");
    return clipboard_terminal_takes(variable, claimed);
}

BEFORE_ALL(support_utf8);

TEST(terminals_are_known)
{
    assert_true(takes("TERM", "xterm-256color", true));
    assert_false(takes("TERM", "rxvt", false));
    assert_true(takes("TERM", "xterm-kitty", false));
    assert_true(takes("TERM", "alacritty-direct", false));
    assert_true(takes("TERM_PROGRAM", "iTerm.app", false));
    assert_false(takes("TERM_PROGRAM", "Apple_Terminal", true));
    assert_false(takes("VTE_VERSION", "7006", true));
    assert_true(takes("VTE_VERSION", "", true)); /* as good as not set */
    assert_false(takes("TMUX", "/tmp/tmux-0/default,1,0", true));
    assert_false(takes("STY", "1.tty", true));
    assert_false(takes("XTERM_VERSION", "XTerm(379)", true));
}

/* --- programs --- */

static char *path_before;

static int set_up(void **state)
{
    static const char *const variables[] = {"TMUX", "WAYLAND_DISPLAY", "DISPLAY"};
    int fault = still_app_setup(state);
    char *bin = support_path("bin");
    path_before = mem_strdup(getenv("PATH"));
    mkdir(bin, 0700);
    setenv("PATH", bin, 1);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    transcript_resize(app.transcript, 200, 30);
    return fault;
}

static int tear_down(void **state)
{
    setenv("PATH", path_before, 1);
    free(path_before);
    return still_app_teardown(state);
}

/* Installs a program that records its arguments and input, and ends with a status. */
static void install(const char *name, const char *status)
{
    char *path = support_text("%s/bin/%s", support_dir(), name);
    char *text = support_text(
        "#!/bin/sh\n"
        "{ echo \"$@\"; while read -r line; do echo \"$line\"; done; } >'%s/%s'\n"
        "exit %s\n",
        support_dir(), name, status);
    support_write(path, text);
    assert_int_equal(chmod(path, 0700), 0);
}

static void copy(const char *text)
{
    clipboard_copy(&app, text);
    struct errand *e = mailbox_wait(errands_back(app.errands), 20000);
    assert_non_null(e);
    errand_finish(&app, e);
}

static void assert_got(const char *name, const char *wanted)
{
    char *path = support_path(name), *got = support_read(path);
    assert_string_equal(got, wanted);
}

static void assert_said(const char *text)
{
    if (!seen_transcript_has(app.transcript, text))
        fail_msg("not said: %s\n%s", text, seen_transcript(app.transcript));
}

FIXTURE(set_up, tear_down);

TEST(tmux_comes_first)
{
    setenv("TMUX", "there", 1);
    setenv("WAYLAND_DISPLAY", "wayland-0", 1);
    install("tmux", "0");
    install("wl-copy", "0");
    copy("one\ntwo\n");
    assert_got("tmux", "load-buffer -w -\none\ntwo\n");
    assert_said(
        "Copied 8 bytes: to tmux's buffer, and to the terminal's clipboard if tmux may set it.");
}

TEST(an_old_tmux_has_a_buffer_alone)
{
    setenv("TMUX", "there", 1);
    install("tmux", "$(test \"$2\" = -w && echo 1 || echo 0)");
    copy("text\n");
    assert_got("tmux", "load-buffer -\ntext\n");
    assert_said("Copied 5 bytes: to tmux's buffer.");
}

TEST(the_rest_come_in_their_order)
{
    static const struct {
        const char *name, *given;
    } rest[] = {{"wl-copy", "--type text/plain\ntext\n"},
                {"xclip", "-selection clipboard\ntext\n"},
                {"xsel", "--clipboard --input\ntext\n"},
                {"pbcopy", "\ntext\n"}};
    setenv("WAYLAND_DISPLAY", "wayland-0", 1);
    setenv("DISPLAY", ":0", 1);
    for (size_t i = sizeof rest / sizeof *rest; i-- > 0;) {
        char *said = support_text("Copied 5 bytes: to the clipboard, with %s.", rest[i].name);
        install(rest[i].name, "0");
        copy("text\n");
        assert_got(rest[i].name, rest[i].given);
        assert_said(said);
    }
}

/* Without a display these programs would only fail. */
TEST(a_program_without_its_display_is_not_there)
{
    install("xclip", "0");
    install("wl-copy", "0");
    install("tmux", "0");
    install("pbcopy", "0");
    copy("text\n");
    assert_said("Copied 5 bytes: to the clipboard, with pbcopy.");
}

TEST(else_a_file_is_named)
{
    char *dir = support_keep(paths_dir(PATHS_STATE)),
         *path = support_keep(paths_join(dir, "copied.txt")), *said, *got;
    struct stat st;
    said = mem_printf("No clipboard is available. Wrote 4 bytes to %s.", path);
    copy("text");
    assert_said(said);
    got = support_read(path);
    assert_string_equal(got, "text");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    free(said);
}

TEST(one_that_fails_is_told)
{
    setenv("DISPLAY", ":0", 1);
    install("xclip", "1");
    install("xsel", "3");
    copy("text");
    assert_said("Copying failed (xclip, xsel). Wrote 4 bytes to ");
}

TEST(that_nothing_was_copied_is_told)
{
    char *file = support_path("file");
    support_write(file, "");
    setenv("XDG_STATE_HOME", file, 1);
    copy("text");
    assert_said("Not copied: no clipboard is available, and no file could be written.");
    unsetenv("XDG_STATE_HOME");
}

/* --- pasting an image --- */

static void finish_errands(void)
{
    struct errand *e;
    for (int ms = 20000; (e = mailbox_wait(errands_back(app.errands), ms)); ms = 500)
        errand_finish(&app, e);
}

/* A program that has an image of this type. */
static void offer(const char *name, const char *type)
{
    char *path = support_text("%s/bin/%s", support_dir(), name);
    support_write(path, support_text("#!/bin/sh\n"
                                     "case \"$*\" in *%s*) printf '\\211PNG\\r\\n\\032\\nrest';;\n"
                                     "*) exit 1;; esac\n",
                                     type));
    assert_int_equal(chmod(path, 0700), 0);
}

static void paste_image(void)
{
    dispatch_key(&app, &(struct key){.code = K_CHAR, .cp = 'v', .ctrl = true});
    finish_errands();
}

TEST(an_image_on_the_clipboard_is_mentioned)
{
    struct stat st;
    setenv("DISPLAY", ":0", 1);
    offer("xclip", "image/webp");
    paste_image();
    assert_string_equal(editor_text(app.editor), "@clipboard:1.png "); /* its bytes decide */
    setenv("WAYLAND_DISPLAY", "wayland-0", 1);
    offer("wl-paste", "image/png");
    editor_insert(app.editor, "and", 3);
    paste_image();
    assert_string_equal(editor_text(app.editor), "@clipboard:1.png and @clipboard:2.png ");
    char *path = support_keep(attach_clipboard_file("2.png"));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(attach_look("/", "clipboard:2.png").kind, ATTACH_IMAGE);
}

TEST(a_clipboard_without_an_image_is_told)
{
    paste_image();
    assert_said("The clipboard cannot be read: that takes wl-paste under Wayland, xclip under X.");
    setenv("WAYLAND_DISPLAY", "wayland-0", 1);
    offer("wl-paste", "text/plain");
    paste_image();
    assert_said("There is no image on the clipboard that can be sent");
    offer("wl-paste", "image/png");
    setenv("XDG_STATE_HOME", support_path("bin/wl-paste"), 1);
    paste_image();
    assert_said("cannot make the directory");
    unsetenv("XDG_STATE_HOME");
    assert_string_equal(editor_text(app.editor), "");
}

/* As terminals write it. */
TEST(the_pasted_path_of_an_image_becomes_its_mention)
{
    char *image = support_path("my shot.png");
    support_write(image, "\x89PNG\r\n\x1a\nrest");
    support_write(support_path("text.png"), "text");
    const char *const pasted[][2] = {
        {support_text("'%s'", image), support_text("see @\"%s\" ", image)},
        {support_text("file://%s/my%%20shot.png\r\n", support_dir()),
         support_text("see @\"%s\" ", image)},
        {support_path("text.png"), support_text("see %s", support_path("text.png"))},
        {"my shot.png\nand more", "see my shot.png\nand more"},
    };
    for (size_t i = 0; i < sizeof pasted / sizeof *pasted; i++) {
        struct key key = {.code = K_PASTE, .text = mem_strdup(pasted[i][0])};
        editor_set(app.editor, "see ");
        dispatch_key(&app, &key);
        finish_errands();
        assert_string_equal(editor_text(app.editor), pasted[i][1]);
    }
}

/* --- long pastes --- */

static void press(struct key key)
{
    dispatch_key(&app, &key);
}

TEST(a_long_paste_is_folded_and_ctrl_o_opens_it)
{
    char *text =
        support_keep(mem_strdup("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n"
                                "16\n17\n18\n19\n20\n21"));
    press((struct key){.code = K_PASTE, .text = mem_strdup(text)});
    assert_int_equal(editor_layout(app.editor, 40, 5).row_count, 1);
    assert_string_equal(editor_text(app.editor), text);
    press((struct key){.code = K_CHAR, .cp = 'o', .ctrl = true});
    assert_int_equal(editor_layout(app.editor, 40, 5).row_count, 21);
    assert_string_equal(editor_text(app.editor), text);
}

/* --- bare text --- */

static struct bare bare;

static void show(const char *text, size_t at, int width, int height)
{
    AUTO(buf_release) struct buf source = BUF_INIT;
    bare_release(&bare);
    buf_addstr(&source, text);
    bare_init(&bare, &source, at);
    bare_resize(&bare, width, height);
}

static void assert_view(const char *wanted)
{
    size_t len;
    const char *view = bare_view(&bare, &len);
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(view, wanted, len);
}

static int release(void **state)
{
    (void)state;
    bare_release(&bare);
    bare = (struct bare){0};
    return 0;
}

FIXTURES(bare, NULL, release);

TEST(a_long_line_is_one)
{
    show("one two three four\nfive\n", 0, 8, 3);
    assert_int_equal(bare.rows.len, 4);
    assert_view("one two three four"); /* three rows, for the terminal to break */
    bare_scroll(&bare, 1);
    assert_view("three four\nfive");
    bare_scroll(&bare, 99);
    assert_view("three four\nfive");
    bare_scroll(&bare, -99);
    assert_view("one two three four");
}

TEST(a_full_row_is_not_two)
{
    show("12345678\nnext\n\nlast", 0, 8, 2);
    assert_int_equal(bare.rows.len, 4);
    assert_view("12345678\nnext");
    bare_scroll(&bare, 2);
    assert_view("\nlast");
}

TEST(wide_characters_do_not_fit_the_last_column)
{
    show("日本語", 0, 5, 1);
    assert_int_equal(bare.rows.len, 2);
    assert_view("日本");
    show("e\u0301e\u0301e\u0301", 0, 2, 1);
    assert_view("e\u0301e\u0301");
}

TEST(tabs_are_blanks)
{
    show("a\tb\n\tc\n日\td", 6, 40, 9);
    assert_view("a       b\n        c\n日      d");
    show("\t\tx\n\t\ty\n", 4, 80, 1);
    assert_view("                y"); /* the place is in the source */
}

TEST(another_size_keeps_the_place)
{
    show("some words\nthat are told\nin four lines\nand no more\n", 11, 20, 2);
    assert_view("that are told\nin four lines");
    bare_resize(&bare, 5, 2);
    assert_view("that are t");
    bare_resize(&bare, 30, 1);
    assert_view("that are told");
}
