/* The question about a tool call, with everything in it of a model's making: its rows fit the
 * screen and hold nothing that a terminal obeys. Lines: id, tool, class, then the preview. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/fuzz/fuzz.h"
#include "ui/view/approval.h"

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

static void check_rows(struct approval *a, int width, int height)
{
    const struct rows *rows = view_draw(&a->view, width, height);
    FUZZ_CHECK(rows->list.len == (size_t)height);
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        FUZZ_CHECK(rows_width(rows, i) <= (size_t)width);
        FUZZ_CHECK(fuzz_is_clean(rows->text.data + row->text, row->len, false));
    }
}

int fuzz_approval(const uint8_t *data, size_t size)
{
    static const int widths[] = {40, 80, 200};
    static struct keymap *keymap;
    auto_free char *text = fuzz_text(data, size);
    const char *rest = text;
    struct notice *n = notice_new(NOTICE_APPROVAL);
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
    notice_free(n);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        check_rows(&a, widths[i], 20);
    approval_release(&a.view);
    return 0;
}
