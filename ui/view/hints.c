#include "ui/view/hints.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/wrap.h"
#include "ui/transcript/messages.h"

/* Global, as a view's keys are known only where its rows are drawn. */
static struct {
    hint_taker *take;
    void *context;
} collector;

void hints_collect(hint_taker *take, void *context)
{
    collector.take = take;
    collector.context = context;
}

size_t hints_part(struct rows *out, const struct keymap *keymap, const struct hint *hints,
                  size_t count, size_t width, bool last)
{
    size_t used = 0, next = 0;
    if (out)
        rows_begin(out);
    for (; next < count; next++) {
        const struct hint *h = &hints[next];
        const char *word = _(h->text), *sentence = strchr(word, '|');
        AUTO(buf_release) struct buf text = BUF_INIT;
        if (h->keys)
            buf_addstr(&text, h->keys);
        else
            keymap_describe_first(keymap, h->action, &text);
        size_t keys = text.len, gap = used > 0 ? 2 : 1;
        if (keys == 0)
            continue;
        buf_addf(&text, " %.*s", (int)strcspn(word, "|"), word);
        size_t columns = gap + utf8_width(text.data, text.len);
        bool fits = used + columns <= width && sentence != word;
        if (!fits && !last && used > 0 && sentence != word)
            break;
        if (out && collector.take) {
            auto_free char *name = mem_strndup(text.data, keys);
            collector.take(collector.context, name, sentence ? sentence + 1 : word);
        }
        used += fits ? columns : 0;
        if (!fits || !out)
            continue;
        rows_pad(out, gap, STYLE_OVERLAY);
        rows_add(out, text.data, keys, STYLE_PROMPT, 0);
        rows_add(out, text.data + keys, text.len - keys, STYLE_DIM, 0);
    }
    if (out)
        rows_pad(out, width - used, STYLE_OVERLAY);
    return next;
}

static bool has_keys(const struct hint_table *t, const struct hint *h)
{
    bool has = false;
    for (size_t i = 0; i < t->count && !has; i++)
        has = h->keys ? t->hints[i].keys && strcmp(t->hints[i].keys, h->keys) == 0
                      : t->hints[i].action == h->action;
    return has;
}

void hints_rows(struct rows *out, const struct keymap *keymap, struct hint_table table,
                size_t width, int rows)
{
    static const struct {
        unsigned where;
        enum action actions[4]; /* none: `keys` names them */
        const char *keys, *text;
    } common[] = {
        {COMMON_MOVE,
         {ACTION_UP, ACTION_DOWN, ACTION_PAGE_UP, ACTION_PAGE_DOWN},
         NULL,
         N_("a row or a page up, down")},
        {COMMON_MOVE, {ACTION_TOP, ACTION_BOTTOM}, NULL, N_("to the first, to the last")},
        {COMMON_MOVE, {ACTION_LINE_START, ACTION_LINE_END}, NULL, N_("to the first, to the last")},
        {COMMON_VI, {ACTION_NONE}, "j k g G", N_("down, up, to the first, to the last")},
        {COMMON_EMACS, {ACTION_NONE}, "Ctrl-N Ctrl-P", N_("down, up")},
        {COMMON_SPACE, {ACTION_NONE}, "Space", N_("a page down")},
        {COMMON_WHEEL, {ACTION_SCROLL_UP, ACTION_SCROLL_DOWN}, NULL, N_("some rows up, down")},
        {COMMON_UNFOLD, {ACTION_TOGGLE}, NULL, N_("as Enter")},
        {COMMON_BACK, {ACTION_RIGHT}, NULL, N_("as Enter")},
        {COMMON_BACK, {ACTION_BACKSPACE}, NULL, N_("back")},
        {COMMON_BACK, {ACTION_CANCEL}, NULL, N_("back")},
        {COMMON_TABS, {ACTION_COMPLETE}, NULL, N_("to the message")},
        {COMMON_TABS, {ACTION_FIND_NEWER}, NULL, N_("to the message")},
        {COMMON_TABS, {ACTION_PANE_NEXT}, NULL, N_("next tab")},
        {COMMON_TABS, {ACTION_MEMORY}, NULL, N_("close")},
        {COMMON_CLOSE, {ACTION_CLEAR}, NULL, N_("close")},
        {COMMON_WRITE,
         {ACTION_NONE},
         N_("letters"),
         N_("are written here; keys that edit a message work, too")},
    };
    AUTO(rows_release) struct rows unseen;
    rows_init(&unseen);
    for (size_t next = 0; rows > 0; rows--)
        next += hints_part(out, keymap, table.hints + next, table.count - next, width, rows == 1);
    for (size_t i = 0; collector.take && table.also && i < table.also->count; i++)
        if (!has_keys(&table, &table.also->hints[i]))
            (void)hints_part(&unseen, keymap, &table.also->hints[i], 1, 0, true);
    for (size_t i = 0; collector.take && i < sizeof common / sizeof *common; i++) {
        AUTO(buf_release) struct buf keys = BUF_INIT;
        const struct hint first = {common[i].actions[0], common[i].keys, NULL};
        if ((table.common & common[i].where) != common[i].where || has_keys(&table, &first))
            continue;
        buf_addstr(&keys, common[i].keys ? _(common[i].keys) : "");
        for (size_t k = 0; k < 4 && common[i].actions[k] != ACTION_NONE; k++) {
            buf_addstr(&keys, keys.len > 0 ? " " : "");
            keymap_describe_first(keymap, common[i].actions[k], &keys);
        }
        if (keys.len > 0)
            collector.take(collector.context, keys.data, _(common[i].text));
    }
}

static const struct hint elsewhere[] = {{ACTION_COMPLETE, NULL, N_("to the memory")},
                                        {ACTION_MEMORY, NULL, N_("close")}};
const struct hint_table hints_elsewhere = {elsewhere, sizeof elsewhere / sizeof *elsewhere, 0,
                                           NULL};

/* The letters are those that a catalogue has for yes and for no. */
enum hint_answer hint_answer(enum action action, const struct key *key)
{
    const char *const words[] = {_("y"), _("n")};
    static const enum hint_answer answers[] = {HINT_YES, HINT_NO};
    uint32_t letter, small = key->cp >= 'A' && key->cp <= 'Z' ? key->cp - 'A' + 'a' : key->cp;
    bool plain = key->code == K_CHAR && !key->ctrl && !key->alt;
    for (size_t i = 0; plain && i < sizeof words / sizeof *words; i++) {
        (void)utf8_decode(words[i], strlen(words[i]), &letter);
        if (letter == small)
            return answers[i];
    }
    return action == ACTION_CANCEL || action == ACTION_CLEAR ? HINT_NO : HINT_NO_ANSWER;
}

enum {
    MOST_ROWS = 4,
    KEY_ROWS = 3,        /* that keys have at most */
    ROWS_A_KEY_ROW = 10, /* of a view, for each of them */
    NAME_COLUMNS = 40
};

void remark_set(struct remark *r, enum style style, const char *text)
{
    char *clean = text ? utf8_clean_line(text) : NULL;
    free(r->text);
    *r = (struct remark){clean, style};
}

void remark_row(struct rows *out, const char *text, enum style style, size_t columns)
{
    rows_begin(out);
    rows_addstr(out, " ", style, 0);
    message_row_field(out, text, columns - 1, style);
}

int remark_lines(const char *text, size_t columns, int most)
{
    size_t len = strlen(text), at = 0;
    int rows = 0;
    do {
        at = len > 0 ? wrap_next(text, len, at, columns - 1, WRAP_WORDS).next : 0;
        rows++;
    } while (at < len && rows < most);
    return rows;
}

int remark_height(const char *text, size_t columns, int height, int from)
{
    int keys = height / ROWS_A_KEY_ROW, most = height / 3 < MOST_ROWS ? height / 3 : MOST_ROWS;
    if (height < from)
        return 0;
    int rows = remark_lines(text ? text : "", columns, most);
    keys = keys < 1 ? 1 : keys < KEY_ROWS ? keys : KEY_ROWS;
    return rows > keys ? rows : keys;
}

struct remark_end remark_rows(struct rows *out, const char *text, enum style style, size_t columns,
                              int rows)
{
    struct remark_end end = {0, 0};
    size_t len = strlen(text), at = 0;
    for (int i = 1; i <= rows; i++) {
        struct wrap_piece piece = {len, len};
        if (i < rows && at < len)
            piece = wrap_next(text, len, at, columns - 1, WRAP_WORDS);
        auto_free char *row = mem_strndup(text + at, piece.end - at);
        if (i == 1 || *row)
            end = (struct remark_end){i - 1, 1 + (int)utf8_width(row, strlen(row))};
        remark_row(out, row, style, columns);
        at = piece.next;
    }
    if (end.col >= (int)columns)
        end.col = (int)columns - 1;
    return end;
}

char *remark_name(const char *text)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    utf8_reveal(&out, text, strlen(text), UTF8_ONE_LINE);
    size_t cut = utf8_cut_width(out.data, out.len, NAME_COLUMNS);
    return mem_printf("%.*s%s", (int)cut, out.data, cut < out.len ? glyph(GLYPH_ELLIPSIS) : "");
}

long moves_by_action(enum action action, long page, long wheel)
{
    const struct {
        enum action action;
        long rows;
    } moves[] = {{ACTION_UP, -1},
                 {ACTION_DOWN, 1},
                 {ACTION_PAGE_UP, -page},
                 {ACTION_PAGE_DOWN, page},
                 {ACTION_SCROLL_UP, -wheel},
                 {ACTION_SCROLL_DOWN, wheel},
                 {ACTION_TOP, -MOVES_ALL},
                 {ACTION_LINE_START, -MOVES_ALL},
                 {ACTION_BOTTOM, MOVES_ALL},
                 {ACTION_LINE_END, MOVES_ALL}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].action == action)
            return moves[i].rows;
    return 0;
}

bool moves_is_letter(const struct key *key, char letter)
{
    return key->code == K_CHAR && !key->ctrl && !key->alt && key->cp == (uint32_t)letter;
}

long moves_by_letter(const struct key *key)
{
    static const struct {
        char letter;
        long rows;
    } letters[] = {{'j', 1}, {'k', -1}, {'g', -MOVES_ALL}, {'G', MOVES_ALL}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (moves_is_letter(key, letters[i].letter))
            return letters[i].rows;
    return 0;
}

long moves_by_control(const struct key *key)
{
    bool control = key->code == K_CHAR && key->ctrl && !key->alt;
    return !control ? 0 : key->cp == 'n' ? 1 : key->cp == 'p' ? -1 : 0;
}

size_t moves_within(long to, size_t count)
{
    return to < 0 || count == 0 ? 0 : (size_t)to < count ? (size_t)to : count - 1;
}

size_t moves_keep_in_view(size_t top, size_t from, size_t to, size_t count, size_t rows)
{
    size_t last = count > rows ? count - rows : 0;
    if (from < top)
        top = from;
    if (to >= top + rows)
        top = to + 1 - rows;
    return top < last ? top : last;
}
