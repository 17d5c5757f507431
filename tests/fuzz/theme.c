/* A user's theme: a terminal can show every look, with the number of its colours. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "ui/term/theme.h"

static bool is_read(int32_t c)
{
    return c == THEME_DEFAULT || (c >= 0 && c < 256) ||
           (c >= THEME_RGB && c <= THEME_RGB + 0xffffff);
}

static bool is_shown(int32_t c, int colors)
{
    return c == THEME_DEFAULT || (c >= 0 && c < colors);
}

int fuzz_theme(const uint8_t *data, size_t size)
{
    static const int terminals[] = {8, 16, 88, 256, 1 << 24};
    char *text = fuzz_text(data, size);
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
    free(text);
    return 0;
}
