/* Keys, their names, and what [keys] makes of them. */
#include "tests/suite.h"
#include "ui/app/run.h"
#include "ui/term/keymap.h"

static struct keymap map;

static int set_up(void **state)
{
    (void)state;
    keymap_init(&map);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    keymap_release(&map);
    return 0;
}

static struct key parsed(const char *name)
{
    struct key key;
    if (!key_parse(name, false, &key))
        fail_msg("%s is no key", name);
    return key;
}

static enum action bound(const char *name)
{
    struct key key = parsed(name);
    return keymap_find(&map, &key);
}

static void assert_described(enum action action, const char *want)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    keymap_describe(&map, action, &out);
    assert_string_equal(out.data, want);
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, tear_down);

TEST(test_defaults)
{
    assert_int_equal(bound("enter"), ACTION_SEND);
    assert_int_equal(bound("ctrl-j"), ACTION_NEWLINE);
    assert_int_equal(bound("alt-enter"), ACTION_NEWLINE);
    assert_int_equal(bound("shift-enter"), ACTION_NEWLINE);
    assert_int_equal(bound("escape"), ACTION_CANCEL);
    assert_int_equal(bound("f3"), ACTION_SESSIONS);
    assert_int_equal(bound("shift-tab"), ACTION_FIND_NEWER);
    assert_int_equal(bound("ctrl-home"), ACTION_TOP);
    assert_int_equal(bound("wheel-up"), ACTION_SCROLL_UP);
    assert_int_equal(bound("ctrl-_"), ACTION_UNDO);
    assert_int_equal(bound("alt-backspace"), ACTION_KILL_WORD_LEFT);
    struct key letter = {.code = K_CHAR, .cp = 'a'};
    assert_int_equal(keymap_find(&map, &letter), ACTION_NONE);
}

/* On a terminal that reports Shift and Ctrl, keys without such bindings mean the same. */
TEST(test_modified_keys_without_a_binding)
{
    struct error e;
    assert_int_equal(bound("ctrl-enter"), ACTION_SEND);
    assert_int_equal(bound("shift-backspace"), ACTION_BACKSPACE);
    assert_int_equal(bound("ctrl-tab"), ACTION_COMPLETE);
    assert_int_equal(bound("shift-escape"), ACTION_CANCEL);
    assert_int_equal(bound("ctrl-alt-backspace"), ACTION_KILL_WORD_LEFT);
    assert_int_equal(bound("ctrl-delete"), ACTION_NONE);
    assert_true(keymap_bind(&map, "newline", "ctrl-j", &e));
    assert_int_equal(bound("shift-enter"), ACTION_SEND);
    assert_true(keymap_bind(&map, "help", "ctrl-enter", &e));
    assert_int_equal(bound("ctrl-enter"), ACTION_HELP);
}

/* Letters are text, but where a question is answered. */
TEST(test_answers)
{
    struct error e;
    struct key a = {.code = K_CHAR, .cp = 'a'}, enter = {.code = K_ENTER};
    assert_int_equal(keymap_find_in(&map, &a, KEYS_ANSWER), ACTION_ALLOW_ONCE);
    assert_int_equal(keymap_find_in(&map, &enter, KEYS_ANSWER), ACTION_NONE);
    assert_false(keymap_bind(&map, "send", "a", &e));
    assert_true(keymap_bind(&map, "decline", "enter a", &e)); /* takes nothing from "send" */
    assert_int_equal(keymap_find_in(&map, &enter, KEYS_ANSWER), ACTION_DECLINE);
    assert_int_equal(keymap_find_in(&map, &a, KEYS_ANSWER), ACTION_DECLINE);
    assert_int_equal(bound("enter"), ACTION_SEND);
    assert_described(ACTION_ALLOW_ONCE, "");
    assert_false(keymap_bind(&map, "allow_once", "a", &e));
}

/* Every default key is valid and unique, and its action has a description. */
TEST(test_table_is_sound)
{
    for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
        const struct action_info *info = action_info((enum action)a);
        assert_true(*info->name && *info->help);
        char keys[64], *rest = NULL;
        assert_true(strlen(info->keys) < sizeof keys);
        strcpy(keys, info->keys);
        for (char *w = strtok_r(keys, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
            struct key letter = {.code = K_CHAR, .cp = (uint32_t)*w};
            enum key_place place = action_place((enum action)a);
            if (place != KEYS_EVERYWHERE)
                assert_int_equal(keymap_find_in(&map, &letter, place), a);
            else
                assert_int_equal(bound(w), a);
        }
    }
}

TEST(test_names_of_keys)
{
    static const char *const names[] = {"Ctrl-X",    "Alt-Enter", "F12",         "Ctrl-Alt-Delete",
                                        "Shift-Tab", "PageUp",    "Ctrl-Space",  "Alt-<",
                                        "Alt-é",     "Ctrl-_",    "Shift-Right", "Wheel-Down"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct key key = parsed(names[i]);
        AUTO(buf_release) struct buf out = BUF_INIT;
        key_describe(&key, &out);
        assert_string_equal(out.data, names[i]);
    }
    assert_int_equal(parsed("CTRL-x").cp, 'x');
    assert_int_equal(parsed("alt-shift-a").cp, 'A');
    assert_int_equal(parsed("pgup").code, K_PAGE_UP);
}

TEST(test_names_that_are_none)
{
    static const char *const names[] = {"",      "a",      "ctrl-",  "f0",      "f25",
                                        "f1x",   "alt-",   "foo",    "ctrl-m",  "ctrl-i",
                                        "space", "ctrl-h", "ctrl-[", "ctrl-foo"};
    struct key key;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (key_parse(names[i], false, &key))
            fail_msg("\"%s\" is a key", names[i]);
}

TEST(test_rebinding)
{
    struct error e;
    assert_true(keymap_bind(&map, "send", "ctrl-x, f5", &e));
    assert_int_equal(bound("ctrl-x"), ACTION_SEND);
    assert_int_equal(bound("f5"), ACTION_SEND);
    assert_int_equal(bound("enter"), ACTION_NONE);
    assert_described(ACTION_SEND, "Ctrl-X, F5");
    assert_true(keymap_bind(&map, "newline", "enter", &e));
    assert_int_equal(bound("enter"), ACTION_NEWLINE);
    assert_int_equal(bound("ctrl-j"), ACTION_NONE);
    assert_true(keymap_bind(&map, "help", "none", &e));
    assert_described(ACTION_HELP, "");
}

TEST(test_a_default_key_moves_over)
{
    struct error e;
    assert_true(keymap_bind(&map, "redo", "ctrl-r", &e));
    assert_int_equal(bound("ctrl-r"), ACTION_REDO);
    assert_described(ACTION_HISTORY, "");
}

TEST(test_conflicts_and_faults)
{
    struct error e;
    assert_true(keymap_bind(&map, "send", "ctrl-x", &e));
    assert_false(keymap_bind(&map, "quit", "ctrl-x", &e));
    assert_false(keymap_bind(&map, "newline", "f9 ctrl-x", &e));
    assert_int_equal(e.code, ERR_CONFIG_ERROR);
    assert_non_null(strstr(e.text, "Ctrl-X"));
    assert_non_null(strstr(e.text, "send"));
    assert_int_equal(bound("ctrl-j"), ACTION_NEWLINE);
    assert_int_equal(bound("f9"), ACTION_NONE);
    assert_false(keymap_bind(&map, "histori", "f9", &e));
    assert_non_null(strstr(e.text, "history"));
    assert_false(keymap_bind(&map, "undo", "f9 hyper-x", &e));
    assert_non_null(strstr(e.text, "hyper-x"));
    assert_int_equal(bound("ctrl-_"), ACTION_UNDO);
}

TEST(test_first_key)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    keymap_describe_first(&map, ACTION_WORD_LEFT, &out);
    assert_string_equal(out.data, "Alt-b");
}
