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
} key_names[] = {
    {"Enter", K_ENTER, 0},
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
    {"Space", K_CHAR, ' '},
};
enum { KEY_NAMES = sizeof key_names / sizeof *key_names };

const struct action_info *action_info(enum action action)
{
    return &actions[action];
}

enum key_place action_place(enum action action)
{
    if (action >= ACTION_MEMORY_OPEN)
        return KEYS_PANE;
    if (action >= ACTION_CONTEXT_PIN)
        return KEYS_READING;
    if (action >= ACTION_SELECT_COPY)
        return KEYS_SELECT;
    if (action >= ACTION_ALLOW_ONCE)
        return KEYS_ANSWER;
    return action == ACTION_BACKGROUND ? KEYS_RUNNING : KEYS_EVERYWHERE;
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

bool key_parse(const char *name, bool letters, struct key *out)
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
        if (!key_parse(w, letters, &key))
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
        bool letters = action_place((enum action)a) > KEYS_RUNNING;
        if (parse_keys(actions[a].keys, letters, &keys, &impossible))
            bind_all(m, (enum action)a, &keys, false);
    }
}

void keymap_release(struct keymap *m)
{
    vec_release(&m->bindings);
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
    if (!parse_keys(keys, action_place(a) > KEYS_RUNNING, &list, e))
        return false;
    for (size_t i = 0; i < list.items.len; i++) {
        const struct keymap_binding *taken = find(m, &list.items.items[i], action_place(a));
        if (!taken || !taken->own || taken->action == a)
            continue;
        AUTO(buf_release) struct buf name = BUF_INIT;
        key_describe(&taken->key, &name);
        return err_set(e, ERR_CONFIG_ERROR,
                       _("%s is bound to both \"%s\" and \"%s\"; remove it from one"), name.data,
                       actions[taken->action].name, actions[a].name);
    }
    for (size_t i = m->bindings.len; i-- > 0;)
        if (m->bindings.items[i].action == a)
            vec_remove(&m->bindings, i, 1);
    bind_all(m, a, &list, true);
    return true;
}

void keymap_describe(const struct keymap *m, enum action action, struct buf *out)
{
    const char *between = "";
    for (size_t i = 0; i < m->bindings.len; i++)
        if (m->bindings.items[i].action == action) {
            buf_addstr(out, between);
            key_describe(&m->bindings.items[i].key, out);
            between = ", ";
        }
}

void keymap_describe_first(const struct keymap *m, enum action action, struct buf *out)
{
    for (size_t i = 0; i < m->bindings.len; i++)
        if (m->bindings.items[i].action == action) {
            key_describe(&m->bindings.items[i].key, out);
            return;
        }
}

#define SEQUENCE_MAX 64 /* bytes before the last one; what has more is no key */
#define REPLY_MAX 256   /* bytes of an OSC or a DCS; what has more is no answer to us */

static const char PASTE_END[] = "\033[201~";
enum { PASTE_END_LEN = sizeof PASTE_END - 1 };

void input_init(struct input *in)
{
    *in = (struct input){0};
    buf_init(&in->bytes, 0);
    buf_init(&in->paste, INPUT_PASTE_MAX);
}

void input_release(struct input *in)
{
    buf_release(&in->bytes);
    buf_release(&in->paste);
    for (size_t i = 0; i < in->bindings.len; i++)
        free(in->bindings.items[i].sequence);
    vec_release(&in->bindings);
}

void input_bind(struct input *in, const char *sequence, struct key key)
{
    struct input_binding binding = {mem_strdup(sequence), key};
    vec_push(&in->bindings, binding);
}

static bool is_private_csi(const char *s, size_t len)
{
    return len > 2 && s[1] == '[' && strchr("?>=", s[2]);
}

/* An OSC or a DCS of the forms that answer a question; others are keys with Alt. */
static bool is_string(const char *s, size_t len)
{
    if (len < 3 || (s[1] != ']' && s[1] != 'P'))
        return false;
    return (s[2] >= '0' && s[2] <= '9') || (s[1] == 'P' && s[2] == '>');
}

static bool in_reply(const struct input *in)
{
    const char *s = in->bytes.data + in->at;
    size_t len = in->bytes.len - in->at;
    return in->skipping == SKIPS_STRING ||
           (!in->pasting && len > 0 && s[0] == 27 && (is_private_csi(s, len) || is_string(s, len)));
}

void input_feed(struct input *in, const char *bytes, size_t len, bool late)
{
    if (late && in_reply(in)) {
        in->at = in->bytes.len;
        in->skipping = SKIPS_NOTHING;
    }
    if (in->at > 0) {
        buf_consume(&in->bytes, in->at);
        in->at = 0;
    }
    buf_add(&in->bytes, bytes, len);
}

/* The decoders return how many bytes they took; 0 when the rest has not come yet. */

static size_t decode_plain(const char *s, size_t len, struct key *key)
{
    unsigned char c = (unsigned char)s[0];
    key->code = K_CHAR;
    if (c == '\r')
        key->code = K_ENTER;
    else if (c == '\t')
        key->code = K_TAB;
    else if (c == 8 || c == 127)
        key->code = K_BACKSPACE;
    else if (c == 27)
        key->code = K_ESCAPE;
    else if (c < ' ') {
        key->ctrl = true;
        key->cp = c == 0 ? ' ' : c < 27 ? c + 'a' - 1u : c + 64u;
    } else {
        size_t look = len < 4 ? len : 4;
        if (c >= 0xC0 && utf8_incomplete_tail(s, look) == look)
            return 0;
        return utf8_decode(s, len, &key->cp);
    }
    return 1;
}

/* Keys by the letter that ends a sequence, and by the number before a "~". */
static const struct coded_key {
    int letter_or_number;
    enum key_code code;
    uint32_t cp;
} letters[] = {{'A', K_UP, 0},   {'B', K_DOWN, 0}, {'C', K_RIGHT, 0}, {'D', K_LEFT, 0},
               {'H', K_HOME, 0}, {'F', K_END, 0},  {'P', K_F, 1},     {'Q', K_F, 2},
               {'R', K_F, 3},    {'S', K_F, 4},    {'M', K_ENTER, 0}, {0}},
  numbers[] = {{1, K_HOME, 0}, {2, K_INSERT, 0},  {3, K_DELETE, 0},
               {4, K_END, 0},  {5, K_PAGE_UP, 0}, {6, K_PAGE_DOWN, 0},
               {7, K_HOME, 0}, {8, K_END, 0},     {11, K_F, 1},
               {12, K_F, 2},   {13, K_F, 3},      {14, K_F, 4},
               {15, K_F, 5},   {17, K_F, 6},      {18, K_F, 7},
               {19, K_F, 8},   {20, K_F, 9},      {21, K_F, 10},
               {23, K_F, 11},  {24, K_F, 12},     {0}};

static void key_from(const struct coded_key *table, int letter_or_number, struct key *key)
{
    for (; table->code != K_NONE; table++)
        if (table->letter_or_number == letter_or_number) {
            key->code = table->code;
            key->cp = table->cp;
        }
}

/* The keypad's, of the private codes of kitty's protocol. */
static const struct {
    uint32_t cp;
    enum key_code code;
} keypad[] = {{'0', K_CHAR}, {'1', K_CHAR}, {'2', K_CHAR},  {'3', K_CHAR},    {'4', K_CHAR},
              {'5', K_CHAR}, {'6', K_CHAR}, {'7', K_CHAR},  {'8', K_CHAR},    {'9', K_CHAR},
              {'.', K_CHAR}, {'/', K_CHAR}, {'*', K_CHAR},  {'-', K_CHAR},    {'+', K_CHAR},
              {0, K_ENTER},  {'=', K_CHAR}, {',', K_CHAR},  {0, K_LEFT},      {0, K_RIGHT},
              {0, K_UP},     {0, K_DOWN},   {0, K_PAGE_UP}, {0, K_PAGE_DOWN}, {0, K_HOME},
              {0, K_END},    {0, K_INSERT}, {0, K_DELETE}};
enum { KEYPAD_FIRST = 57399, KEYPAD_COUNT = sizeof keypad / sizeof *keypad };

static bool is_text(uint32_t cp)
{
    bool control = cp < ' ' || (cp >= 0x7f && cp < 0xa0);
    bool surrogate = cp >= 0xd800 && cp < 0xe000;
    bool private = cp >= 0xe000 && cp < 0xf900; /* keys that have no character */
    return !control && !surrogate && !private && cp <= 0x10ffff;
}

/* A key that the terminal reports by its code point (CSI u, modifyOtherKeys). `shifted`: the one
 * with Shift, `base`: the one on a keyboard of the USA; 0: not told. */
static void key_from_cp(uint32_t cp, uint32_t shifted, uint32_t base, struct key *key)
{
    /* Ctrl with these: the character of a terminal without a protocol for keys */
    static const char with_ctrl[] = "2@3[4567/8?ihm";
    static const char controls[] = "  \033\033\\]^__\177\177\t\177\r";
    if (cp >= KEYPAD_FIRST && cp < KEYPAD_FIRST + KEYPAD_COUNT) {
        key->code = keypad[cp - KEYPAD_FIRST].code;
        key->cp = keypad[cp - KEYPAD_FIRST].cp;
        return;
    }
    if (key->shift && shifted)
        cp = shifted;
    else if (key->shift && !key->ctrl && cp >= 'a' && cp <= 'z')
        cp = cp - 'a' + 'A';
    if (key->ctrl && cp >= 128 && base)
        cp = base;
    if (key->ctrl && cp >= 'A' && cp <= 'Z')
        cp = cp - 'A' + 'a';
    if (key->ctrl && is_text(cp)) {
        const char *at = cp < 128 ? strchr(with_ctrl, (int)cp) : NULL;
        cp = at ? (uint32_t)controls[at - with_ctrl] : cp;
        key->ctrl = cp >= ' ' && cp != 127;
    }
    if (cp == 13 || cp == 9 || cp == 127 || cp == 27) {
        char byte = (char)cp;
        decode_plain(&byte, 1, key);
        if (cp == 9 && key->shift)
            key->code = K_BACKTAB;
    } else if (is_text(cp)) {
        key->code = K_CHAR;
        key->cp = cp;
    }
}

static void mouse_event(int button, int col, int row, bool press, struct key *key)
{
    enum { BUTTON = 3, MOVED = 32, WHEEL = 64 };
    if (!press || button & MOVED)
        return;
    int which = button & BUTTON;
    if (!(button & WHEEL) && which == 0)
        key->code = K_CLICK;
    else if (button & WHEEL && which <= 1) /* 2 and 3: sideways */
        key->code = which ? K_WHEEL_DOWN : K_WHEEL_UP;
    key->row = row - 1;
    key->col = col - 1;
}

/* `s`: between the bracket and the final byte. Numbers with ";" between them, each with
 * alternatives behind ":"; 0: not there. */
static void csi_key(const char *s, size_t len, char final, struct key *key)
{
    enum { PARAMETERS = 3, ALTERNATIVES = 3, RELEASED = 3, NUMBER_MAX = 10000000 };
    int p[PARAMETERS][ALTERNATIVES] = {0}, count = 1, alternative = 0;
    for (size_t i = 0; i < len && !(s[i] == ';' && count == PARAMETERS); i++) {
        if (s[i] == ';') {
            count++;
            alternative = 0;
        } else if (s[i] == ':') {
            alternative++;
        } else if (s[i] >= '0' && s[i] <= '9' && alternative < ALTERNATIVES) {
            int *n = &p[count - 1][alternative];
            if (*n < NUMBER_MAX)
                *n = *n * 10 + (s[i] - '0');
        }
    }
    if (len > 0 && s[0] == '<') {
        mouse_event(p[0][0], p[1][0], p[2][0], final == 'M', key);
        return;
    }
    if (p[1][1] == RELEASED)
        return;
    if (count > 1) {
        int bits = p[1][0] > 0 ? p[1][0] - 1 : 0;
        key->shift = bits & 1;
        key->alt = bits & (2 | 8);
        key->ctrl = bits & 4;
    }
    if (final == '~' && p[0][0] == 27 && count == 3)
        key_from_cp((uint32_t)p[2][0], 0, 0, key);
    else if (final == '~')
        key_from(numbers, p[0][0], key);
    else if (final == 'u')
        key_from_cp((uint32_t)p[0][0], (uint32_t)p[0][1], (uint32_t)p[0][2], key);
    else if (final == 'Z')
        key->code = K_BACKTAB;
    else if (len == 0 && (final == 'I' || final == 'O'))
        key->code = final == 'I' ? K_FOCUS_IN : K_FOCUS_OUT;
    else if (final != 'M')
        key_from(letters, final, key);
    if (key->code == K_BACKTAB)
        key->shift = false;
}

/* A CSI, or with in->skipping the rest of one that is longer than SEQUENCE_MAX. */
static size_t decode_csi(struct input *in, const char *s, size_t len, bool final, struct key *key)
{
    bool skipping = in->skipping == SKIPS_CSI;
    size_t end = skipping ? 0 : 2;
    if (!skipping && len > 2 && s[2] == '[') { /* the Linux console's F1 to F5 */
        if (len > 3)
            key_from(numbers, s[3] - 'A' + 11, key);
        return len > 3 ? 4 : 0;
    }
    while (end < len && (unsigned char)s[end] >= 0x20 && (unsigned char)s[end] < 0x40)
        end++; /* parameters and intermediates */
    bool ends = end < len && (unsigned char)s[end] >= 0x40 && (unsigned char)s[end] <= 0x7e;
    if (skipping || end > SEQUENCE_MAX) {
        in->skipping = end == len ? SKIPS_CSI : SKIPS_NOTHING;
        return end + ends;
    }
    if (end == len) {
        if (len == 2 && final) {
            *key = (struct key){.code = K_CHAR, .cp = '[', .alt = true};
            return 2;
        }
        return final && !is_private_csi(s, len) ? len : 0;
    }
    if (!ends)
        return end;                  /* broken off */
    if (s[end] == 'M' && end == 2) { /* a mouse report of the oldest kind */
        if (len < 6)
            return final ? len : 0;
        mouse_event((unsigned char)s[3] - 32, (unsigned char)s[4] - 32, (unsigned char)s[5] - 32,
                    true, key);
        return 6;
    }
    if (s[end] == '~' && end == 5 && memcmp(s + 2, "200", 3) == 0)
        in->pasting = true;
    else if (s[2] == '?')
        *key = (struct key){.code = K_REPLY, .text = mem_strndup(s + 1, end)};
    else if (!is_private_csi(s, len))
        csi_key(s + 2, end - 2, s[end], key);
    return end + 1;
}

/* An OSC or a DCS, or with in->skipping the rest of one that is longer than REPLY_MAX. A control
 * character breaks it off, so that a string without an end takes at most a line of typed text. */
static size_t decode_string(struct input *in, const char *s, size_t len, struct key *key)
{
    bool skipping = in->skipping == SKIPS_STRING;
    size_t n = skipping ? 0 : 2, ending = 0;
    while (n < len && (unsigned char)s[n] >= ' ' && s[n] != 127)
        n++;
    if (n < len && s[n] == '\a')
        ending = 1;
    else if (n + 1 < len && s[n] == 27 && s[n + 1] == '\\')
        ending = 2;
    bool more = ending == 0 && (n == len || (n + 1 == len && s[n] == 27)); /* it may yet end */
    if (skipping || n > REPLY_MAX) {
        in->skipping = more ? SKIPS_STRING : SKIPS_NOTHING;
        return n + ending;
    }
    if (more)
        return 0;
    if (ending > 0)
        *key = (struct key){.code = K_REPLY, .text = mem_strndup(s + 1, n - 1)};
    return n + ending;
}

static size_t decode_escape(struct input *in, const char *s, size_t len, bool final,
                            struct key *key)
{
    if (len == 1) {
        key->code = K_ESCAPE;
        return final ? 1 : 0;
    }
    if (s[1] == '[')
        return decode_csi(in, s, len, final, key);
    if (is_string(s, len))
        return decode_string(in, s, len, key);
    if ((s[1] == ']' || s[1] == 'P') && len == 2 && !final)
        return 0;
    if (s[1] == 'O' && len > 2) {
        key_from(letters, s[2], key);
        return 3;
    }
    if (s[1] == 'O' && !final)
        return 0;
    size_t used;
    if (s[1] == 27) {
        if (len == 2 && !final)
            return 0;
        if (len == 2 || (s[2] != '[' && s[2] != 'O') || is_private_csi(s + 1, len - 1)) {
            key->code = K_ESCAPE; /* two, or one and an Alt key or an answer: one at a time */
            return 1;
        }
        used = decode_escape(in, s + 1, len - 1, final, key);
    } else {
        used = decode_plain(s + 1, len - 1, key);
    }
    key->alt = true;
    return used > 0 ? used + 1 : 0;
}

static size_t decode(struct input *in, const char *s, size_t len, bool final, struct key *key)
{
    const struct input_binding *best = NULL; /* the longest that the bytes begin with */
    size_t best_len = 0;
    for (size_t i = 0; i < in->bindings.len; i++) {
        const struct input_binding *b = &in->bindings.items[i];
        size_t want = strlen(b->sequence);
        if (want > len && !final && memcmp(b->sequence, s, len) == 0)
            return 0;
        if (want <= len && want > best_len && memcmp(b->sequence, s, want) == 0) {
            best = b;
            best_len = want;
        }
    }
    if (best) {
        *key = best->key;
        return best_len;
    }
    return s[0] == 27 ? decode_escape(in, s, len, final, key) : decode_plain(s, len, key);
}

static bool next_paste(struct input *in, struct key *key)
{
    const char *s = in->bytes.data + in->at, *end = NULL;
    size_t len = in->bytes.len - in->at, left = 0, room = INPUT_PASTE_MAX - in->paste.len;
    for (const char *p = s; !end && (p = memchr(p, 27, (size_t)(s + len - p))); p++) {
        left = (size_t)(s + len - p);
        if (memcmp(p, PASTE_END, left < PASTE_END_LEN ? left : PASTE_END_LEN) == 0)
            end = p;
    }
    size_t text = end ? (size_t)(end - s) : len;
    (void)!buf_try_add(&in->paste, s, text < room ? text : room);
    in->at += text;
    if (!end || left < PASTE_END_LEN)
        return false;
    in->at += PASTE_END_LEN;
    in->pasting = false;
    *key = (struct key){.code = K_PASTE, .text = buf_take(&in->paste)};
    return true;
}

bool input_next(struct input *in, bool final, struct key *key)
{
    for (;;) {
        *key = (struct key){0};
        if (in->pasting)
            return next_paste(in, key);
        const char *s = in->bytes.data + in->at;
        size_t len = in->bytes.len - in->at, used;
        if (in->skipping) {
            used = in->skipping == SKIPS_STRING ? decode_string(in, s, len, key)
                                                : decode_csi(in, s, len, final, key);
            in->at += used;
            if (in->skipping == SKIPS_CSI && final)
                in->skipping = SKIPS_NOTHING;
            s += used;
            len -= used;
        }
        if (len == 0 || in->skipping || (used = decode(in, s, len, final, key)) == 0)
            return false;
        in->at += used;
        if (key->code != K_NONE && !in->pasting)
            return true;
    }
}

bool input_unfinished(const struct input *in)
{
    if (in_reply(in))
        return false;
    return in->skipping || (!in->pasting && in->at < in->bytes.len && in->bytes.data[in->at] == 27);
}
