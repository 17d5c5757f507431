/* Keys, their names, and what [keys] makes of them. */
#include "tests/steps.h"
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

static struct error e; /* of the last "bind" */

/* Steps: "KEY = ACTION" or "none", "ACTION: KEYS" as they are told, "bind ACTION KEYS", "!bind …"
 * that fails, and "?TEXT" of its error. */
static void play_keys(const char *const *steps)
{
    for (; *steps; steps++) {
        char first[32], second[32];
        AUTO(buf_release) struct buf told = BUF_INIT;
        bool fails = **steps == '!';
        if (sscanf(*steps + fails, "bind %31s %31[^\n]", first, second) == 2) {
            assert_int_equal(keymap_bind(&map, first, second, &e), !fails);
        } else if (**steps == '?') {
            assert_non_null(strstr(e.text, *steps + 1));
        } else if (sscanf(*steps, "%31s = %31s", first, second) == 2) {
            enum action action = bound(first);
            assert_string_equal(action == ACTION_NONE ? "none" : action_info(action)->name, second);
        } else {
            enum action action = ACTION_NONE + 1;
            size_t len = strcspn(*steps, ":");
            while (strncmp(action_info(action)->name, *steps, len) != 0 ||
                   action_info(action)->name[len] != '\0')
                action++;
            keymap_describe(&map, action, &told);
            assert_string_equal(told.data, *steps + len + 2);
        }
    }
}

#define keys(...) play_keys(TEXTS(__VA_ARGS__))
#define KEYS(name, ...) STEPS_TEST(true, name, keys, __VA_ARGS__)

BEFORE_ALL(support_utf8);
FIXTURE(set_up, tear_down);

TEST(test_defaults)
{
    keys("enter = send", "ctrl-j = newline", "alt-enter = newline", "shift-enter = newline",
         "escape = cancel", "f3 = sessions", "shift-tab = find_newer", "ctrl-home = top",
         "wheel-up = scroll_up", "ctrl-_ = undo", "alt-backspace = kill_word_left");
    struct key letter = {.code = K_CHAR, .cp = 'a'};
    assert_int_equal(keymap_find(&map, &letter), ACTION_NONE);
}

/* On a terminal that reports Shift and Ctrl, keys without such bindings mean the same. */
KEYS(test_modified_keys_without_a_binding, "ctrl-enter = send", "shift-backspace = backspace",
     "ctrl-tab = complete", "shift-escape = cancel", "ctrl-alt-backspace = kill_word_left",
     "ctrl-delete = none", "bind newline ctrl-j", "shift-enter = send", "bind help ctrl-enter",
     "ctrl-enter = help");

/* Letters are text, but where a question is answered. */
TEST(test_answers)
{
    struct key a = {.code = K_CHAR, .cp = 'a'}, enter = {.code = K_ENTER};
    assert_int_equal(keymap_find_in(&map, &a, KEYS_ANSWER), ACTION_ALLOW_ONCE);
    assert_int_equal(keymap_find_in(&map, &enter, KEYS_ANSWER), ACTION_NONE);
    keys("!bind send a", "bind decline enter a" /* takes nothing from "send" */);
    assert_int_equal(keymap_find_in(&map, &enter, KEYS_ANSWER), ACTION_DECLINE);
    assert_int_equal(keymap_find_in(&map, &a, KEYS_ANSWER), ACTION_DECLINE);
    keys("enter = send", "allow_once: ", "!bind allow_once a");
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
            if (place == KEYS_RUNNING) {
                letter = parsed(w);
                assert_int_equal(keymap_find_in(&map, &letter, place), a);
            } else if (place != KEYS_EVERYWHERE)
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

KEYS(test_rebinding, "bind send ctrl-x, f5", "ctrl-x = send", "f5 = send", "enter = none",
     "send: Ctrl-X, F5", "bind newline enter", "enter = newline", "ctrl-j = none", "bind help none",
     "help: ");

KEYS(test_a_default_key_moves_over, "bind redo ctrl-r", "ctrl-r = redo", "history: ");

TEST(test_conflicts_and_faults)
{
    keys("bind send ctrl-x", "!bind quit ctrl-x", "!bind newline f9 ctrl-x");
    assert_int_equal(e.code, ERR_CONFIG_ERROR);
    keys("?Ctrl-X", "?send", "ctrl-j = newline", "f9 = none", "!bind histori f9", "?history",
         "!bind undo f9 hyper-x", "?hyper-x", "ctrl-_ = undo");
}

TEST(test_first_key)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    keymap_describe_first(&map, ACTION_WORD_LEFT, &out);
    assert_string_equal(out.data, "Alt-b");
}
