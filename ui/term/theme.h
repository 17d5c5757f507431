/* How each style looks: a theme file's words turned into colours and attributes. Pure but for
 * theme_load(). A file has one line a style:
 *     heading = bold cyan
 *     selected = black on #87afd7
 * Colours: default, the eight names, bright_ before a name, 0-255, #rrggbb. Attributes: bold, dim,
 * italic, underline, reverse. Styles without a line look like the terminal's own text. */
#ifndef UI_THEME_H
#define UI_THEME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "ui/term/rows.h"

#define THEME_DEFAULT (-1)
#define THEME_RGB 0x1000000 /* set: the low 24 bits are red, green, blue; else a palette index */

struct look {
    int32_t fg, bg;
    unsigned attrs; /* ATTR_ */
};

struct theme {
    struct look looks[STYLE_COUNT];
};

/* Reads a theme's text. Lines with a fault are ignored; the first is reported in `e` with its
 * number: false, but the theme can be used. */
bool theme_parse(const char *text, struct theme *out, struct error *e);

#define THEME_AUTO "auto" /* THEME_DARK or THEME_LIGHT by the terminal's background */
#define THEME_DARK "dark"
#define THEME_LIGHT "light"

/* A theme by name: a file of the configuration directory's themes/, else a built-in one. False
 * when there is none (`out` is untouched) or it has a fault (`out` is usable). */
bool theme_load(const char *name, bool light_ground, struct theme *out, struct error *e);

/* Names of all themes and THEME_AUTO, sorted, without doubles; the caller frees each
 * (vec_free_each()). */
struct theme_names {
    VEC(char *) items;
};
void theme_names(struct theme_names *out);

/* The look as a terminal of so many colours can show it: palette indices below `colors` (RGB values
 * where colors is 1 << 24 or more), attributes in place of brightness where it has eight. */
struct look theme_resolve(struct look look, int colors);

#endif
