/* Theme files, their colours on terminals with fewer, and that the built-in themes can be read.
 * Contrast is defined by WCAG 2.1 (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio). */
#include <math.h>
#include <unistd.h>

#include "base/paths.h"
#include "tests/suite.h"
#include "ui/term/theme.h"

#define RGB(n) (THEME_RGB | (n))

static struct theme parsed(const char *text)
{
    struct theme theme;
    struct error e = {0};
    if (!theme_parse(text, &theme, &e))
        fail_msg("%s", e.text);
    return theme;
}

static void assert_look(struct look got, int32_t fg, int32_t bg, unsigned attrs)
{
    assert_int_equal(got.fg, fg);
    assert_int_equal(got.bg, bg);
    assert_int_equal(got.attrs, attrs);
}

TEST(test_words)
{
    struct theme t = parsed(
        "# a comment\n[theme]\n\nheading = bold cyan\n selected=black on #87afd7 "
        "underline\r\nnote = bright_red on 236\nlink = default on default\n"
        "code =\nerror = reverse italic dim");
    assert_look(t.looks[STYLE_HEADING], 6, THEME_DEFAULT, ATTR_BOLD);
    assert_look(t.looks[STYLE_SELECTED], 0, RGB(0x87afd7), ATTR_UNDERLINE);
    assert_look(t.looks[STYLE_NOTE], 9, 236, 0);
    assert_look(t.looks[STYLE_LINK], THEME_DEFAULT, THEME_DEFAULT, 0);
    assert_look(t.looks[STYLE_CODE], THEME_DEFAULT, THEME_DEFAULT, 0);
    assert_look(t.looks[STYLE_ERROR], THEME_DEFAULT, THEME_DEFAULT,
                ATTR_REVERSE | ATTR_ITALIC | ATTR_DIM);
    assert_look(t.looks[STYLE_TEXT], THEME_DEFAULT, THEME_DEFAULT, 0);
}

TEST(test_faults_are_told_and_passed_over)
{
    static const struct {
        const char *text, *says;
    } cases[] = {{"x", "line 1"},
                 {"\nheadin = bold", "heading"},
                 {"note = mauve", "mauve"},
                 {"note = #12345", "#12345"},
                 {"note = #12345g", "#12345g"},
                 {"note = #0x1234", "#0x1234"},
                 {"note = 256", "256"},
                 {"note = bright_", "bright_"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct theme t;
        struct error e;
        auto_free char *text = mem_printf("%s\ntool = red\n", cases[i].text);
        assert_false(theme_parse(text, &t, &e));
        assert_non_null(strstr(e.text, cases[i].says));
        assert_int_equal(t.looks[STYLE_TOOL].fg, 1);
        assert_int_equal(t.looks[STYLE_NOTE].fg, THEME_DEFAULT);
    }
}

TEST(test_colours_of_terminals)
{
    struct look rgb = {RGB(0xd7af87), RGB(0x010203), ATTR_BOLD};
    assert_look(theme_resolve(rgb, 1 << 24), 0xd7af87, 0x010203, ATTR_BOLD);
    assert_look(theme_resolve(rgb, 256), 180, 16, ATTR_BOLD);
    assert_look(theme_resolve(rgb, 0), THEME_DEFAULT, THEME_DEFAULT, ATTR_BOLD);
    struct look bright = {9, THEME_DEFAULT, 0};
    assert_look(theme_resolve(bright, 16), 9, THEME_DEFAULT, 0);
    assert_look(theme_resolve(bright, 8), 1, THEME_DEFAULT, ATTR_BOLD);
    struct look grey = {8, THEME_DEFAULT, 0};
    assert_look(theme_resolve(grey, 8), THEME_DEFAULT, THEME_DEFAULT, ATTR_DIM);
    for (int32_t c = 0; c < 256; c++) {
        struct look any = {c, RGB(c * 0x010203), 0};
        int counts[] = {8, 16, 88, 256};
        for (int i = 0; i < 4; i++) {
            struct look fit = theme_resolve(any, counts[i]);
            assert_true(fit.fg >= THEME_DEFAULT && fit.fg < counts[i]);
            assert_true(fit.bg >= THEME_DEFAULT && fit.bg < counts[i]);
        }
    }
}

FIXTURE(support_setup, support_teardown);

/* Built-in themes have no fault, leave running text in the terminal's colours, and mark the
 * selection. */
TEST(test_built_in_themes)
{
    static const char *const names[] = {"dark", "light", "mono"};
    for (int i = 0; i < 3; i++) {
        struct theme t;
        struct error e = {0};
        if (!theme_load(names[i], false, &t, &e))
            fail_msg("%s", e.text);
        assert_look(t.looks[STYLE_TEXT], THEME_DEFAULT, THEME_DEFAULT, 0);
        struct look selected = t.looks[STYLE_SELECTED];
        assert_true(selected.bg != THEME_DEFAULT || selected.attrs & ATTR_REVERSE);
        for (int s = 0; i == 2 && s < STYLE_COUNT; s++)
            assert_int_equal(t.looks[s].fg, THEME_DEFAULT);
    }
}

static double luminance(int32_t rgb)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double part = (double)(rgb >> (16 - 8 * i) & 255) / 255;
        sum += weights[i] * (part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(int32_t a, int32_t b)
{
    double x = luminance(a), y = luminance(b);
    return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

TEST(contrast_is_as_defined)
{
    assert_true(fabs(contrast(0x000000, 0xffffff) - 21) < 0.01);
    assert_true(fabs(contrast(0x767676, 0xffffff) - 4.54) < 0.01);
}

/* Themes that paint the whole screen: every style has colours of its own, and can be read. */
TEST(test_painted_themes_can_be_read)
{
    static const struct {
        const char *name;
        double text, any;
    } themes[] = {{"high-contrast", 15, 7}, {"solarized", 4.5, 3}, {"solarized-light", 4.5, 3}};
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++) {
        struct theme t;
        struct error e = {0};
        if (!theme_load(themes[i].name, false, &t, &e))
            fail_msg("%s", e.text);
        for (int s = 0; s < STYLE_COUNT; s++) {
            struct look look = t.looks[s];
            bool body = s == STYLE_TEXT || s == STYLE_EDITOR || s == STYLE_STATUS;
            assert_true(look.fg & THEME_RGB && look.bg & THEME_RGB && look.fg >= 0 && look.bg >= 0);
            assert_int_equal(look.attrs & ATTR_DIM, 0);
            double got = contrast(look.fg & 0xffffff, look.bg & 0xffffff);
            if (got < (body ? themes[i].text : themes[i].any))
                fail_msg("%s, style %d: %.2f", themes[i].name, s, got);
            static const int depths[] = {8, 16, 256};
            for (int d = 0; d < 3; d++) {
                struct look shown = theme_resolve(look, depths[d]);
                if (shown.fg == shown.bg)
                    fail_msg("%s, style %d, %d colours: unseen", themes[i].name, s, depths[d]);
            }
        }
    }
}

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

TEST(every_style_can_be_read)
{
    static const int counts[] = {16, 256, 1 << 24};
    static const char *const names[] = {
#define X(id, name) name,
        STYLES(X)
#undef X
    };
    int faults = 0;
    for (int i = 0; i < PALETTES; i++) {
        const struct palette *p = &palettes[i];
        struct theme theme;
        struct error e;
        assert_true(theme_load(p->theme, false, &theme, &e));
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

TEST(test_auto)
{
    static const struct {
        const char *name, *same;
        bool light;
    } cases[] = {{"auto", "dark", false}, {"auto", "light", true}, {"mono", "mono", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct theme loaded = {0}, same = {0};
        struct error e;
        assert_true(theme_load(cases[i].name, cases[i].light, &loaded, &e));
        assert_true(theme_load(cases[i].same, false, &same, &e));
        assert_memory_equal(&loaded, &same, sizeof same);
    }
}

TEST(test_own_themes)
{
    struct error e = {0};
    struct theme t;
    auto_free char *config = paths_dir(PATHS_CONFIG), *dir = paths_join(config, "themes");
    assert_true(paths_make_dir(dir, &e));
    auto_free char *dark = paths_join(dir, "dark.ini"), *own = paths_join(dir, "own.ini");
    support_write(dark, "title = red\n");
    support_write(own, "title = blue\n");
    assert_true(theme_load("dark", false, &t, &e));
    assert_int_equal(t.looks[STYLE_TITLE].fg, 1);
    assert_true(theme_load("own", false, &t, &e));
    assert_int_equal(t.looks[STYLE_TITLE].fg, 4);
    assert_false(theme_load("none", false, &t, &e));
    assert_false(theme_load("", false, &t, &e));
    assert_false(theme_load("../themes/own", false, &t, &e));
    assert_int_equal(t.looks[STYLE_TITLE].fg, 4);

    struct theme_names names;
    theme_names(&names);
    static const char *const want[] = {"auto", "dark", "high-contrast", "light",
                                       "mono", "own",  "solarized",     "solarized-light"};
    assert_int_equal(names.items.len, 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(names.items.items[i], want[i]);
    vec_free_each(&names.items);
}
