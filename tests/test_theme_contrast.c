/* Readability of the built-in themes on usual backgrounds. Contrast is defined by WCAG 2.1
 * (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio). */
#include <math.h>

#include "tests/suite.h"
#include "tests/support.h"
#include "ui/term/theme.h"

/* A terminal's colours as its user chose them: of numbers 0 to 15, of text, of the ground. */
struct palette {
    const char *name, *theme;
    int32_t text, ground;
    int32_t base[16];
};

#define SOLARIZED                                                                                  \
    {                                                                                              \
        0x073642, 0xdc322f, 0x859900, 0xb58900, 0x268bd2, 0xd33682, 0x2aa198, 0xeee8d5, 0x002b36,  \
            0xcb4b16, 0x586e75, 0x657b83, 0x839496, 0x6c71c4, 0x93a1a1, 0xfdf6e3                   \
    }
#define XTERM                                                                                      \
    {                                                                                              \
        0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f,  \
            0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff                   \
    }

static const struct palette palettes[] = {
    {"Solarized dark", "dark", 0x839496, 0x002b36, SOLARIZED},
    {"xterm, dark", "dark", 0xe5e5e5, 0x000000, XTERM},
    {"Solarized light", "light", 0x657b83, 0xfdf6e3, SOLARIZED},
    {"xterm, light", "light", 0x000000, 0xffffff, XTERM},
};
enum { PALETTES = sizeof palettes / sizeof *palettes };

static int32_t cube(int index)
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    int rest = index - 16;
    if (index >= 232)
        return (8 + 10 * (index - 232)) * 0x010101;
    return levels[rest / 36] << 16 | levels[rest / 6 % 6] << 8 | levels[rest % 6];
}

static int32_t shown(const struct palette *p, int32_t color, int colors, int32_t otherwise)
{
    if (color == THEME_DEFAULT)
        return otherwise;
    if (color < 8 || (color < 16 && colors <= 256))
        return p->base[color];
    return colors <= 256 ? cube(color) : color;
}

static double luminance(int32_t rgb)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double c = (rgb >> (16 - 8 * i) & 255) / 255.0;
        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(int32_t a, int32_t b)
{
    double x = luminance(a), y = luminance(b);
    return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

static double contrast_of(const struct palette *p, struct look look, int colors)
{
    struct look fit = theme_resolve(look, colors);
    int32_t text = shown(p, fit.fg, colors, p->text), ground = shown(p, fit.bg, colors, p->ground);
    return contrast(text, ground);
}

/* The contrast that a style needs. Dimmed text needs that of any text (WCAG's AA); bold text and
 * coloured marks need less; a rule is no text. With 16 colours of the user's own choice the nearest
 * colour may have little contrast, but no text vanishes. */
static double wanted(enum style style, int colors)
{
    if (colors < 256)
        return 1.5;
    switch (style) {
    case STYLE_DIM:
    case STYLE_CODE_COMMENT:
    case STYLE_REASONING:
    case STYLE_STATUS:
        return 4.5;
    case STYLE_RULE:
        return 1.5;
    default:
        return 3.0;
    }
}

FIXTURE(support_setup, support_teardown);

TEST(every_style_can_be_read)
{
    static const int counts[] = {16, 256, 1 << 24};
    static const char *const names[] = {
#define X(id, name) name,
        STYLES(X)
#undef X
    };
    int faults = 0;
    (void)state;
    for (int i = 0; i < PALETTES; i++) {
        const struct palette *p = &palettes[i];
        struct theme theme;
        struct error e;
        assert_true(theme_load(p->theme, &theme, &e));
        for (int s = 0; s < STYLE_COUNT; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                struct look look = theme.looks[s];
                bool as_text = theme_resolve(look, counts[c]).fg == THEME_DEFAULT &&
                               theme_resolve(look, counts[c]).bg == THEME_DEFAULT;
                double ratio = contrast_of(p, look, counts[c]);
                if (as_text || ratio >= wanted((enum style)s, counts[c]))
                    continue; /* the user chose the colour of text */
                print_error("%s: %s with %d colours has %.2f, not %.1f\n", p->name, names[s],
                            counts[c], ratio, wanted((enum style)s, counts[c]));
                faults++;
            }
    }
    assert_int_equal(faults, 0);
}

FIXTURES(plain, NULL, NULL);

TEST(contrast_is_as_defined)
{
    assert_true(fabs(contrast(0x000000, 0xffffff) - 21) < 0.01);
    assert_true(fabs(contrast(0x767676, 0xffffff) - 4.54) < 0.01);
}
