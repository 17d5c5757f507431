/* Readers of themes, keys and text for the screen. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "ui/term/keymap.h"
#include "ui/term/probe.h"
#include "ui/term/theme.h"
#include "ui/text/markdown.h"
#include "ui/text/wrap.h"
#include "ui/view/approval.h"

/* --- theme ------------------------------------------------------------------------------------ */

static bool is_read(int32_t c)
{
    return c == THEME_DEFAULT || (c >= 0 && c < 256) ||
           (c >= THEME_RGB && c <= THEME_RGB + 0xffffff);
}

static bool is_shown(int32_t c, int colors)
{
    return c == THEME_DEFAULT || (c >= 0 && c < colors);
}

/* A user's theme: a terminal can show every look, with the number of its colours. */
int fuzz_theme(const uint8_t *data, size_t size)
{
    static const int terminals[] = {8, 16, 88, 256, 1 << 24};
    auto_free char *text = fuzz_text(data, size);
    struct theme theme;
    struct error e = {0};
    if (!theme_parse(text, &theme, &e))
        fuzz_check_error(&e);
    for (int style = 0; style < STYLE_COUNT; style++) {
        FUZZ_CHECK(is_read(theme.looks[style].fg) && is_read(theme.looks[style].bg));
        for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
            struct look look = theme_resolve(theme.looks[style], terminals[i]);
            FUZZ_CHECK(is_shown(look.fg, terminals[i]) && is_shown(look.bg, terminals[i]));
        }
    }
    return 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

enum { MOST_KEPT = 260 };

static struct probe probe;

static void add_key(struct buf *out, struct key *key)
{
    FUZZ_CHECK(key->code != K_NONE);
    FUZZ_CHECK((key->text != NULL) == (key->code == K_PASTE || key->code == K_REPLY));
    if (key->code == K_CHAR) /* the editor takes it as it is */
        FUZZ_CHECK(key->cp >= ' ' && key->cp <= 0x10ffff && (key->cp < 0xd800 || key->cp > 0xdfff));
    if (key->code == K_REPLY) {
        const char *answer = key->text;
        probe.pending = 1;
        (void)probe_take(&probe, answer);
        FUZZ_CHECK(probe.pending == 0 || probe.pending == 1);
        FUZZ_CHECK(memchr(probe.name, '\0', sizeof probe.name) != NULL);
        for (const char *p = answer; *p != '\0'; p++)
            FUZZ_CHECK((unsigned char)*p >= ' ' && *p != 127);
    }
    buf_addf(out, "%d:%x:%d%d%d:%d,%d:%s\n", key->code, (unsigned)key->cp, key->ctrl, key->alt,
             key->shift, key->row, key->col, key->text ? key->text : "");
    free(key->text);
}

static char *read_keys(const uint8_t *data, size_t size, struct dice *d)
{
    AUTO(input_release) struct input in = {0};
    struct key key;
    struct buf out = BUF_INIT;
    input_init(&in);
    input_bind(&in, "\033[25~", (struct key){.code = K_F, .cp = 13});
    for (size_t at = 0; at < size;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        input_feed(&in, (const char *)data + at, len, false);
        at += len;
        while (input_next(&in, false, &key))
            add_key(&out, &key);
        FUZZ_CHECK(in.bytes.len - in.at <= MOST_KEPT);
    }
    while (input_next(&in, true, &key))
        add_key(&out, &key);
    FUZZ_CHECK(!input_unfinished(&in) || in.bytes.len - in.at <= 4);
    return buf_take(&out);
}

/* Bytes of a terminal: any split gives the same keys, no bytes are held for long, and no answer,
 * true or false, breaks the terminal's state. */
int fuzz_keys(const uint8_t *data, size_t size)
{
    struct dice d = fuzz_dice(data, size);
    auto_free char *whole = read_keys(data, size, NULL), *split = read_keys(data, size, &d);
    FUZZ_CHECK_SAME(whole, split);
    return 0;
}

/* --- markdown --------------------------------------------------------------------------------- */

/* A single character that is wider than the row is one all the same. */
static void check_row(const struct rows *rows, size_t i, size_t width)
{
    const struct row *row = &rows->list.items[i];
    const char *text = rows->text.data + row->text;
    FUZZ_CHECK(fuzz_is_clean(text, row->len, false));
    FUZZ_CHECK(rows_width(rows, i) <= (width > 2 ? width : 2));
    size_t spans = 0;
    for (size_t k = 0; k < row->span_count; k++) {
        const struct span *s = &rows->spans.items[row->spans + k];
        const char *address = links_at(&rows->links, s->link);
        for (const char *p = address; p && *p != '\0'; p++)
            FUZZ_CHECK(*p > ' ' && *p < 127);
        FUZZ_CHECK(!address || strlen(address) <= LINK_MAX + 2);
        spans += s->len;
    }
    FUZZ_CHECK(spans == row->len);
}

static char *rows_as_text(const struct rows *rows)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        buf_add(&out, rows->text.data + row->text, row->len);
        for (size_t k = 0; k < row->span_count; k++) {
            const struct span *s = &rows->spans.items[row->spans + k];
            const char *address = links_at(&rows->links, s->link);
            buf_addf(&out, "|%u:%u:%u:%s", s->len, s->style, s->attrs, address ? address : "");
        }
        buf_addch(&out, '\n');
    }
    return buf_take(&out);
}

static char *lay_out(const char *text, size_t len, size_t width, struct dice *d)
{
    struct markdown m;
    struct markdown_look look = {.width = width, .style = STYLE_TEXT};
    AUTO(rows_release) struct rows rows = {0};
    rows_init(&rows);
    markdown_init(&m, &look, &rows);
    for (size_t at = 0, updates = 0; d && at < len && updates < 40; updates++) {
        at += fuzz_piece(d, len - at);
        markdown_update(&m, text, at, false);
    }
    markdown_update(&m, text, len, true);
    for (size_t i = 0; i < rows.list.len; i++)
        check_row(&rows, i, width);
    return rows_as_text(&rows);
}

/* Markdown of a model: the rows are the same however it streamed in, fit the width and hold nothing
 * that a terminal obeys. */
int fuzz_markdown(const uint8_t *data, size_t size)
{
    static const size_t widths[] = {1, 2, 9, 40, 200};
    auto_free char *text = fuzz_text(data, size);
    size_t len = strlen(text);
    struct dice d = fuzz_dice(data, size);
    size_t width = widths[dice_below(&d, sizeof widths / sizeof *widths)];
    auto_free char *whole = lay_out(text, len, width, NULL), *split = lay_out(text, len, width, &d);
    FUZZ_CHECK_SAME(whole, split);
    free(markdown_last_code(text, len));
    return 0;
}

/* --- wrap ------------------------------------------------------------------------------------- */

/* The pieces follow each other; between two there is at most the newline. */
static void check_pieces(const char *text, size_t len, size_t width, enum wrap_mode mode)
{
    for (size_t at = 0; at < len;) {
        struct wrap_piece p = wrap_next(text, len, at, width, mode);
        FUZZ_CHECK(p.end >= at && p.next >= p.end && p.next > at && p.next <= len);
        if (mode != WRAP_WORDS)
            FUZZ_CHECK(p.next == p.end || (p.next == p.end + 1 && text[p.end] == '\n'));
        else
            for (size_t i = p.end; i < p.next; i++)
                FUZZ_CHECK(strchr(" \t\n", text[i]));
        /* A tab is cut to a narrow row, which check_rows_wrap() sees. */
        bool alone = utf8_next(text, len, at) >= p.end || width < TAB_COLUMNS;
        FUZZ_CHECK(alone || wrap_columns(text + at, p.end - at) <= width || mode == WRAP_KEEP);
        at = p.next;
    }
}

static void check_rows_wrap(const struct styled *text, size_t width, enum wrap_mode mode)
{
    AUTO(rows_release) struct rows rows = {0};
    AUTO(styled_release) struct styled prefix = {0};
    rows_init(&rows);
    styled_init(&prefix);
    styled_addstr(&prefix, "> ", STYLE_QUOTE, 0);
    wrap_text(&rows, text,
              &(struct wrap_look){.width = width, .mode = mode, .first = &prefix, .rest = &prefix});
    FUZZ_CHECK(rows.list.len > 0);
    for (size_t i = 0; i < rows.list.len; i++) {
        const struct row *row = &rows.list.items[i];
        FUZZ_CHECK(rows_width(&rows, i) <= (width > 2 ? width : 2));
        FUZZ_CHECK(fuzz_is_clean(rows.text.data + row->text, row->len, false));
    }
}

/* Breaking a text into rows: they fit the width, and nothing of the text is lost or changed. */
int fuzz_wrap(const uint8_t *data, size_t size)
{
    static const enum wrap_mode modes[] = {WRAP_WORDS, WRAP_KEEP, WRAP_HARD};
    static const size_t widths[] = {1, 2, 7, 33, 120};
    AUTO(styled_release) struct styled text = {0};
    styled_init(&text);
    styled_add_clean(&text, (const char *)data, size, STYLE_TEXT, 0);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            check_pieces(text.text.data, text.text.len, widths[w], modes[i]);
            if (modes[i] != WRAP_KEEP)
                check_rows_wrap(&text, widths[w], modes[i]);
        }
    return 0;
}

/* --- approval --------------------------------------------------------------------------------- */

static char *take_line(const char **text)
{
    size_t len = strcspn(*text, "\n");
    char *line = mem_strndup(*text, len);
    *text += len + ((*text)[len] == '\n');
    return line;
}

static bool drafting(struct app *app)
{
    (void)app;
    return false;
}

static void check_rows_approval(struct approval *a, int width, int height)
{
    const struct rows *rows = view_draw(&a->view, width, height);
    FUZZ_CHECK(rows->list.len == (size_t)height);
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        FUZZ_CHECK(rows_width(rows, i) <= (size_t)width);
        FUZZ_CHECK(fuzz_is_clean(rows->text.data + row->text, row->len, false));
    }
}

/* The question about a tool call, with everything in it of a model's making: its rows fit the
 * screen and hold nothing that a terminal obeys. Lines: id, tool, class, then the preview. */
int fuzz_approval(const uint8_t *data, size_t size)
{
    static const int widths[] = {40, 80, 200};
    static struct keymap *keymap;
    auto_free char *text = fuzz_text(data, size);
    const char *rest = text;
    AUTO(notice_free_local) struct notice *n = notice_new(NOTICE_APPROVAL);
    struct approval a;
    if (!keymap) {
        keymap = mem_alloc(sizeof *keymap);
        keymap_init(keymap);
    }
    n->text = take_line(&rest);
    n->name = take_line(&rest);
    n->detail = take_line(&rest);
    n->args = mem_strdup(rest);
    n->preview = mem_strdup(rest);
    const struct view_host host = {.keymap = keymap, .drafting = drafting};
    approval_init(&a, &host);
    approval_ask(&a, n);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        check_rows_approval(&a, widths[i], 20);
    approval_release(&a.view);
    return 0;
}
