#include "ui/term/keymap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "config/config.h"

static const struct action_info actions[ACTION_COUNT] = {
#define X(id, name, keys, help) [ACTION_##id] = {name, keys, help},
    ACTIONS(X)
#undef X
};

static const char *const names[ACTION_COUNT] = {
#define X(id, name, keys, help) [ACTION_##id - 1] = name,
    ACTIONS(X)
#undef X
};

/* In the order in which a key is described: the first name of a key is the one shown. */
static const struct {
    const char *name;
    enum key_code code;
    uint32_t cp;
} key_names[] = {{"Enter", K_ENTER, 0},
                 {"Tab", K_TAB, 0},
                 {"Shift-Tab", K_BACKTAB, 0},
                 {"Esc", K_ESCAPE, 0},
                 {"Escape", K_ESCAPE, 0},
                 {"Backspace", K_BACKSPACE, 0},
                 {"Delete", K_DELETE, 0},
                 {"Insert", K_INSERT, 0},
                 {"Up", K_UP, 0},
                 {"Down", K_DOWN, 0},
                 {"Left", K_LEFT, 0},
                 {"Right", K_RIGHT, 0},
                 {"Home", K_HOME, 0},
                 {"End", K_END, 0},
                 {"PageUp", K_PAGE_UP, 0},
                 {"PgUp", K_PAGE_UP, 0},
                 {"PageDown", K_PAGE_DOWN, 0},
                 {"PgDn", K_PAGE_DOWN, 0},
                 {"Wheel-Up", K_WHEEL_UP, 0},
                 {"Wheel-Down", K_WHEEL_DOWN, 0},
                 {"Space", K_CHAR, ' '}};
enum { KEY_NAMES = sizeof key_names / sizeof *key_names };

const struct action_info *action_info(enum action action)
{
    return &actions[action];
}

enum key_place action_place(enum action action)
{
    switch (action) {
    case ACTION_ALLOW_ONCE:
    case ACTION_ALLOW_SESSION:
    case ACTION_DECLINE:
        return KEYS_ANSWER;
    case ACTION_CONTEXT_PIN:
    case ACTION_CONTEXT_COMPACT:
    case ACTION_CONTEXT_UNCOMPACT:
    case ACTION_JUMP:
    case ACTION_CARD_MEMORY:
        return KEYS_READING;
    default:
        return action >= ACTION_MEMORY_OPEN && action <= ACTION_PANE_TAB_4 ? KEYS_PANE
                                                                           : KEYS_EVERYWHERE;
    }
}

/* A key's name without ctrl-, alt- and shift-. */
static bool parse_bare(const char *name, struct key *out)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (strcasecmp(name, key_names[i].name) == 0) {
            out->code = key_names[i].code;
            out->cp = key_names[i].cp;
            return true;
        }
    size_t len = strlen(name);
    if ((name[0] == 'f' || name[0] == 'F') && len > 1) {
        char *end;
        long number = strtol(name + 1, &end, 10);
        out->code = K_F;
        out->cp = (uint32_t)number;
        return !*end && isdigit((unsigned char)name[1]) && number >= 1 && number <= 24;
    }
    out->code = K_CHAR;
    return len > 0 && utf8_decode(name, len, &out->cp) == len && out->cp > ' ';
}

/* `letters`: a letter alone is a key, as where a question is answered or something is read. */
static bool parse_key(const char *name, bool letters, struct key *out)
{
    static const char *const prefixes[] = {"ctrl-", "alt-", "shift-"};
    struct key key = {0};
    bool *held[] = {&key.ctrl, &key.alt, &key.shift};
    for (int i = 0; i < 3 && !parse_bare(name, &key);) {
        size_t len = strlen(prefixes[i]);
        if (strncasecmp(name, prefixes[i], len) == 0 && !*held[i]) {
            *held[i] = true;
            name += len;
            i = 0;
        } else {
            i++;
        }
    }
    if (!parse_bare(name, &key))
        return false;
    if (key.code == K_CHAR) {
        if (key.cp < 128 && (key.ctrl || key.shift))
            key.cp = (uint32_t)(key.ctrl ? tolower((int)key.cp) : toupper((int)key.cp));
        key.shift = false;
        if (!key.ctrl && !key.alt && !letters)
            return false;
        /* Ctrl with these letters is Backspace, Tab, Enter or Esc for every terminal. */
        if (key.ctrl && key.cp < 128 && strchr("him[", (int)key.cp))
            return false;
    }
    *out = key;
    return true;
}

bool key_parse(const char *name, struct key *out)
{
    return parse_key(name, false, out);
}

void key_describe(const struct key *key, struct buf *out)
{
    if (key->ctrl)
        buf_addstr(out, "Ctrl-");
    if (key->alt)
        buf_addstr(out, "Alt-");
    if (key->shift)
        buf_addstr(out, "Shift-");
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].code == key->code && key_names[i].cp == key->cp) {
            buf_addstr(out, key_names[i].name);
            return;
        }
    char text[4];
    uint32_t cp = key->ctrl && key->cp < 128 ? (uint32_t)toupper((int)key->cp) : key->cp;
    if (key->code == K_F)
        buf_addf(out, "F%u", (unsigned)key->cp);
    else if (key->code == K_CHAR)
        buf_add(out, text, utf8_encode(cp, text));
}

static struct keymap_binding *find(const struct keymap *m, const struct key *key,
                                   enum key_place place)
{
    bool shift_counts = key->code != K_CHAR && key->code != K_BACKTAB;
    for (size_t i = 0; i < m->bindings.len; i++) {
        struct keymap_binding *b = &m->bindings.items[i];
        if (b->key.code == key->code && b->key.cp == key->cp && b->key.ctrl == key->ctrl &&
            b->key.alt == key->alt && (!shift_counts || b->key.shift == key->shift) &&
            action_place(b->action) == place)
            return b;
    }
    return NULL;
}

enum action keymap_find(const struct keymap *m, const struct key *key)
{
    enum action action = keymap_find_in(m, key, KEYS_EVERYWHERE);
    struct key plain = *key;
    if (key->code == K_ENTER || key->code == K_TAB || key->code == K_BACKSPACE ||
        key->code == K_ESCAPE) /* most terminals send the same for these with Shift or Ctrl */
        plain.shift = plain.ctrl = false;
    return action != ACTION_NONE ? action : keymap_find_in(m, &plain, KEYS_EVERYWHERE);
}

enum action keymap_find_in(const struct keymap *m, const struct key *key, enum key_place place)
{
    const struct keymap_binding *b = find(m, key, place);
    return b ? b->action : ACTION_NONE;
}

struct key_list {
    VEC(struct key) items;
};

static bool parse_keys(const char *text, bool letters, struct key_list *out, struct error *e)
{
    auto_free char *copy = mem_strdup(text);
    char *rest = NULL;
    for (char *w = strtok_r(copy, " \t,", &rest); w; w = strtok_r(NULL, " \t,", &rest)) {
        struct key key;
        if (strcasecmp(w, "none") == 0)
            continue;
        if (!parse_key(w, letters, &key))
            return err_set(e, ERR_CONFIG_ERROR,
                           _("\"%.40s\" is not a key that can be bound; write keys as ctrl-x, "
                             "alt-enter, f5"),
                           w);
        vec_push(&out->items, key);
    }
    return true;
}

static void bind_all(struct keymap *m, enum action action, const struct key_list *keys, bool own)
{
    for (size_t i = 0; i < keys->items.len; i++) {
        struct keymap_binding *taken = find(m, &keys->items.items[i], action_place(action));
        if (taken)
            vec_remove(&m->bindings, (size_t)(taken - m->bindings.items), 1);
        struct keymap_binding binding = {keys->items.items[i], action, own};
        vec_push(&m->bindings, binding);
    }
}

void keymap_init(struct keymap *m)
{
    *m = (struct keymap){0};
    for (int a = 1; a < ACTION_COUNT; a++) {
        AUTO(vec_release_local) struct key_list keys = {0};
        struct error impossible;
        bool letters = action_place((enum action)a) != KEYS_EVERYWHERE;
        if (parse_keys(actions[a].keys, letters, &keys, &impossible))
            bind_all(m, (enum action)a, &keys, false);
    }
}

void keymap_release(struct keymap *m)
{
    vec_release(&m->bindings);
}

/* Whether [keys] gives none of the keys to another action. */
static bool check_free(const struct keymap *m, enum action action, const struct key_list *keys,
                       struct error *e)
{
    for (size_t i = 0; i < keys->items.len; i++) {
        const struct keymap_binding *taken = find(m, &keys->items.items[i], action_place(action));
        if (!taken || !taken->own || taken->action == action)
            continue;
        AUTO(buf_release) struct buf name = BUF_INIT;
        key_describe(&taken->key, &name);
        return err_set(e, ERR_CONFIG_ERROR,
                       _("%s is bound to both \"%s\" and \"%s\"; remove it from one"), name.data,
                       actions[taken->action].name, actions[action].name);
    }
    return true;
}

bool keymap_bind(struct keymap *m, const char *action, const char *keys, struct error *e)
{
    enum action a = ACTION_NONE + 1;
    while (a < ACTION_COUNT && strcmp(actions[a].name, action) != 0)
        a++;
    if (a == ACTION_COUNT) {
        const char *near = config_nearest(action, names, ACTION_COUNT - 1);
        if (near)
            return err_set(e, ERR_CONFIG_ERROR, _("unknown action \"%.60s\"; did you mean \"%s\"?"),
                           action, near);
        return err_set(e, ERR_CONFIG_ERROR,
                       _("unknown action \"%.60s\"; F1 in the chat lists the actions"), action);
    }
    AUTO(vec_release_local) struct key_list list = {0};
    if (!parse_keys(keys, action_place(a) != KEYS_EVERYWHERE, &list, e) ||
        !check_free(m, a, &list, e))
        return false;
    for (size_t i = m->bindings.len; i-- > 0;)
        if (m->bindings.items[i].action == a)
            vec_remove(&m->bindings, i, 1);
    bind_all(m, a, &list, true);
    return true;
}

static void describe(const struct keymap *m, enum action action, size_t most, struct buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < m->bindings.len && count < most; i++) {
        if (m->bindings.items[i].action != action)
            continue;
        if (count++ > 0)
            buf_addstr(out, ", ");
        key_describe(&m->bindings.items[i].key, out);
    }
}

void keymap_describe(const struct keymap *m, enum action action, struct buf *out)
{
    describe(m, action, SIZE_MAX, out);
}

void keymap_describe_first(const struct keymap *m, enum action action, struct buf *out)
{
    describe(m, action, 1, out);
}
