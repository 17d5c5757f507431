#include "ui/term/theme.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"
#include "config/config.h"

#define THEME_FILE_MAX (64u * 1024)
#define RGB_COLORS (1 << 24)

static const char *const style_names[STYLE_COUNT] = {
#define X(id, name) name,
    STYLES(X)
#undef X
};

static const char *const color_names[] = {"black", "red",     "green", "yellow",
                                          "blue",  "magenta", "cyan",  "white"};

static const struct {
    const char *name;
    unsigned attr;
} attr_names[] = {{"bold", ATTR_BOLD},
                  {"dim", ATTR_DIM},
                  {"italic", ATTR_ITALIC},
                  {"underline", ATTR_UNDERLINE},
                  {"reverse", ATTR_REVERSE}};
enum { ATTR_NAMES = sizeof attr_names / sizeof *attr_names };

static bool parse_color(const char *word, int32_t *out)
{
    if (strcmp(word, "default") == 0) {
        *out = THEME_DEFAULT;
        return true;
    }
    if (word[0] == '#') {
        if (strlen(word) != 7 || strspn(word + 1, "0123456789abcdefABCDEF") != 6)
            return false;
        *out = (int32_t)(THEME_RGB | strtol(word + 1, NULL, 16));
        return true;
    }
    if (isdigit((unsigned char)word[0])) {
        char *end;
        long index = strtol(word, &end, 10);
        *out = (int32_t)index;
        return !*end && index < 256;
    }
    bool bright = strncmp(word, "bright_", 7) == 0;
    for (int32_t i = 0; i < 8; i++)
        if (strcmp(bright ? word + 7 : word, color_names[i]) == 0) {
            *out = bright ? i + 8 : i;
            return true;
        }
    return false;
}

/* Changes `words`. */
static bool parse_look(char *words, struct look *out)
{
    struct look look = {THEME_DEFAULT, THEME_DEFAULT, 0};
    bool on = false;
    char *rest = NULL;
    for (char *w = strtok_r(words, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest)) {
        size_t attr = 0;
        while (attr < ATTR_NAMES && strcmp(w, attr_names[attr].name) != 0)
            attr++;
        if (strcmp(w, "on") == 0)
            on = true;
        else if (attr < ATTR_NAMES)
            look.attrs |= attr_names[attr].attr;
        else if (!parse_color(w, on ? &look.bg : &look.fg))
            return false;
    }
    *out = look;
    return true;
}

static char *trim(char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    size_t len = strlen(s);
    while (len > 0 && isspace((unsigned char)s[len - 1]))
        s[--len] = '\0';
    return s;
}

/* Changes `line`. */
static bool parse_line(char *line, struct theme *out, struct error *e)
{
    line = trim(line);
    if (!*line || *line == '#' || *line == ';' || *line == '[')
        return true;
    char *equals = strchr(line, '=');
    if (!equals)
        return err_set(e, ERR_CONFIG_ERROR, "\"%s\" has no \"=\"; write STYLE = LOOK", line);
    *equals = '\0';
    const char *name = trim(line);
    int style = 0;
    while (style < STYLE_COUNT && strcmp(style_names[style], name) != 0)
        style++;
    if (style == STYLE_COUNT) {
        const char *near = config_nearest(name, style_names, STYLE_COUNT);
        return err_set(e, ERR_CONFIG_ERROR, "unknown style \"%s\"; %s%s%s", name,
                       near ? "did you mean \"" : "the installed themes name all styles",
                       near ? near : "", near ? "\"?" : "");
    }
    char *value = trim(equals + 1);
    auto_free char *kept = mem_strdup(value);
    return parse_look(value, &out->looks[style]) ||
           err_set(e, ERR_CONFIG_ERROR,
                   "\"%s\" is not a look of \"%s\"; write colours and attributes", kept, name);
}

bool theme_parse(const char *text, struct theme *out, struct error *e)
{
    for (int i = 0; i < STYLE_COUNT; i++)
        out->looks[i] = (struct look){THEME_DEFAULT, THEME_DEFAULT, 0};
    bool ok = true;
    for (int number = 1; *text; number++) {
        size_t len = strcspn(text, "\n");
        auto_free char *line = mem_strndup(text, len);
        struct error fault;
        if (!parse_line(line, out, &fault) && ok)
            ok = err_set(e, fault.code, "line %d: %s", number, fault.text);
        text += len + (text[len] == '\n');
    }
    return ok;
}

bool theme_load(const char *name, bool light_ground, struct theme *out, struct error *e)
{
    if (strcmp(name, THEME_AUTO) == 0)
        name = light_ground ? THEME_LIGHT : THEME_DARK;
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = THEME_FILE_MAX};
    auto_free char *config = paths_dir(PATHS_CONFIG), *file = mem_printf("themes/%s.ini", name);
    auto_free char *path = paths_join(config, file);
    struct error fault; /* of the user's file: the built-in theme is looked for */
    if (!*name || strchr(name, '/') || !paths_read_file(path, PATHS_FILE, &text, &fault)) {
        const char *found = embedded_text(file);
        if (!found)
            return err_set(e, ERR_CONFIG_ERROR,
                           _("There is no theme \"%s\"; /theme in the chat lists them."), name);
        buf_addstr(&text, found);
    }
    return theme_parse(text.data, out, &fault) ||
           err_set(e, fault.code, _("Theme \"%s\": %s"), name, fault.text);
}

static void names_add(struct theme_names *n, const char *file)
{
    size_t len = strlen(file), at = 0;
    if (len < 5 || strcmp(file + len - 4, ".ini") != 0)
        return;
    char *name = mem_strndup(file, len - 4);
    while (at < n->items.len && strcmp(n->items.items[at], name) < 0)
        at++;
    if (at < n->items.len && strcmp(n->items.items[at], name) == 0)
        free(name);
    else
        vec_insert(&n->items, at, name);
}

void theme_names(struct theme_names *out)
{
    *out = (struct theme_names){0};
    names_add(out, THEME_AUTO ".ini");
    for (const struct embedded *f = embedded_files; f->name; f++)
        if (strncmp(f->name, "themes/", 7) == 0)
            names_add(out, f->name + 7);
    auto_free char *config = paths_dir(PATHS_CONFIG), *path = paths_join(config, "themes");
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        names_add(out, entry->d_name);
    if (dir)
        closedir(dir);
}

/* The usual palette: 16 colours, a cube of 6 × 6 × 6, 24 greys. */
static int32_t palette_rgb(int index)
{
    static const int32_t base[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                     0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                     0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    if (index < 16)
        return base[index];
    if (index >= 232)
        return (8 + 10 * (index - 232)) * 0x010101;
    int cube[3], rest = index - 16;
    for (int i = 2; i >= 0; i--, rest /= 6)
        cube[i] = rest % 6 ? 55 + 40 * (rest % 6) : 0;
    return cube[0] << 16 | cube[1] << 8 | cube[2];
}

enum { BRIGHT_BLACK = 8, GREY_DARKEST = 0x40, GREY_LIGHTEST = 0xc0 };

/* The colour as a terminal of so many colours can show it. */
static int32_t fit(int32_t color, int colors)
{
    if (color == THEME_DEFAULT)
        return color;
    bool rgb = color & THEME_RGB;
    int32_t value = rgb ? color & 0xffffff : palette_rgb(color);
    if (colors >= RGB_COLORS) /* where the first eight numbers stay the palette's */
        return rgb || color >= 8 ? (value < 8 ? 0 : value) : color;
    if (!rgb && color < colors)
        return color;
    if (!rgb && color < 16 && colors >= 8)
        return color - 8;
    /* the first 16 are the user's to choose, so they are used only where there are no others */
    int from = colors >= 256 ? 16 : 0, below = colors >= 256 ? 256 : colors >= 16 ? 16 : 8;
    int best = from, least = INT_MAX;
    for (int i = from; i < below; i++) {
        int distance = 0;
        for (int shift = 0; shift <= 16; shift += 8) {
            int d = (value >> shift & 255) - (palette_rgb(i) >> shift & 255);
            distance += d * d;
        }
        if (i == BRIGHT_BLACK || distance >= least) /* Solarized's is the background's colour */
            continue;
        best = i;
        least = distance;
    }
    return best;
}

struct look theme_resolve(struct look look, int colors)
{
    if (colors < 8)
        return (struct look){THEME_DEFAULT, THEME_DEFAULT, look.attrs};
    if (colors < 256 && look.fg != THEME_DEFAULT && look.bg == THEME_DEFAULT) {
        int32_t rgb = look.fg & THEME_RGB ? look.fg & 0xffffff : palette_rgb(look.fg);
        int32_t level = rgb & 0xff; /* a grey that is neither text nor background becomes dim */
        if (rgb == level * 0x010101 && level >= GREY_DARKEST && level <= GREY_LIGHTEST)
            look = (struct look){THEME_DEFAULT, THEME_DEFAULT, look.attrs | ATTR_DIM};
    }
    if (colors < 16 && look.fg > BRIGHT_BLACK && look.fg < 16)
        look.attrs |= ATTR_BOLD;
    return (struct look){fit(look.fg, colors), fit(look.bg, colors), look.attrs};
}
