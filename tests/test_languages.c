/* The languages of the interface in their boxes: the real program at 80 by 24 and at 40 by 10. A
 * screen of a language may cut no more texts ("…") than the same screen in English. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem() */
#endif
#include <libintl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "tests/scene.h"
#include "tests/suite.h"

NEEDS(capability_store() && capability_memory() && capability_compaction());

FIXTURE(scene_setup, scene_teardown);

enum { SCREENS = 9 };

struct visit {
    const char *language;
    struct screen *screen;
    struct buf catalogue;
    size_t begin, end; /* its texts in the language; the English texts stand before them */
    int cut[SCREENS], count;
    char *shown[SCREENS];
};

static void visit_release(struct visit *v)
{
    buf_release(&v->catalogue);
}

/* The program and this process read the catalogue from a directory of its own. A changed directory
 * makes gettext() forget the texts of the language before. */
static void use_language(struct visit *v)
{
    const char *language = v->language;
    const char *directory = support_path(language), *source = getenv("SOURCE_DIR");
    const char *place = support_path(support_text("%s/%s/LC_MESSAGES", language, language));
    bool english = strcmp(language, "en") == 0;
    char *mo = support_text("%s/po/%s.gmo", source, english ? "de" : language);
    struct error e;
    assert_true(paths_read_file(mo, PATHS_FILE, &v->catalogue, &e));
    /* At 16 is the table of translations; each is its length and its place. */
    uint32_t table, first;
    memcpy(&table, v->catalogue.data + 16, sizeof table);
    memcpy(&first, v->catalogue.data + table + 4, sizeof first);
    v->begin = english ? 0 : first;
    v->end = english ? first : v->catalogue.len;
    assert_true(paths_make_dir(place, &e));
    if (!english)
        assert_int_equal(symlink(mo, support_text("%s/tiro.mo", place)), 0);
    setenv("LANGUAGE", language, 1);
    setenv("TEXTDOMAINDIR", directory, 1);
    setenv("XDG_DATA_HOME", support_path(support_text("data-%s", language)), 1);
    bindtextdomain("tiro", directory);
    bind_textdomain_codeset("tiro", "UTF-8");
    textdomain("tiro");
}

/* Counts the texts of the catalogue that are cut on the screen: the catalogue has the word before
 * the sign of a cut, and the text goes on there. Short words are in it by chance. */
static int count_cut(const struct visit *v, const char *rows)
{
    const char *end = v->catalogue.data + v->end;
    int count = 0;
    for (const char *at = rows; (at = strstr(at, "\u2026")); at++) {
        const char *from = at, *found = v->catalogue.data + v->begin;
        while (from > rows && from[-1] != ' ' && from[-1] != '\n')
            from--;
        const size_t len = (size_t)(at - from);
        while (len > 4 && (found = memmem(found, (size_t)(end - found), from, len)) && !found[len])
            found++;
        /* A word that English has, too, is one of a command or of the user. */
        count +=
            len > 4 && found && (v->begin == 0 || !memmem(v->catalogue.data, v->begin, from, len));
    }
    return count;
}

/* Waits for the text, and keeps and judges the screen. */
static void look(struct visit *v, const char *text)
{
    see(v->screen, text);
    v->shown[v->count] = support_keep(mem_strdup(screen_text(v->screen)));
    v->cut[v->count] = count_cut(v, v->shown[v->count]);
    v->count++;
}

static void visit(struct visit *v, int rows, int cols)
{
    static const char *const arguments[] = {"--tools", "full", NULL};
    use_language(v);
    v->screen = scene_start(rows, cols, arguments);
    look(v, "claude");
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"seq 96 100; exit 3\"}");
    scene_queue(.text = "No room.");
    act(v->screen, "two nights<enter>");
    look(v, support_text("a %s", gettext("allow once")));
    act(v->screen, "a", "No room.", IDLE);
    look(v, "No room.");
    act(v->screen, "/compact deterministic<enter>", IDLE);
    look(v, gettext("opens"));
    act(v->screen, "/theme<enter>");
    look(v, gettext("Themes"));
    act(v->screen, "<enter><f1>");
    look(v, gettext("Help"));
    act(v->screen, "<ctrl-c><f2>");
    look(v, gettext("Memory"));
    act(v->screen, "<f2><f3>");
    look(v, gettext("Sessions"));
    act(v->screen, "<ctrl-c><f4>");
    look(v, support_text("%s  ~", gettext("Context")));
}

static void visit_all(int rows, int cols)
{
    char *names = support_read(support_text("%s/po/LINGUAS", getenv("SOURCE_DIR")));
    if (access(support_text("%s/po/de.gmo", getenv("SOURCE_DIR")), R_OK) != 0) {
        free(names);
        skip(); /* configured with --disable-nls */
    }
    AUTO(visit_release) struct visit english = {.language = "en"};
    int wider = 0;
    visit(&english, rows, cols);
    for (char *name = strtok(names, " \n"); name; name = strtok(NULL, " \n")) {
        AUTO(visit_release) struct visit v = {.language = name};
        visit(&v, rows, cols);
        for (int i = 0; i < v.count; i++) {
            if (v.cut[i] <= english.cut[i])
                continue;
            wider++;
            fprintf(stderr, "%s cuts more texts than English at %d by %d:\n%s\n%s\n", name, cols,
                    rows, v.shown[i], english.shown[i]);
        }
    }
    free(names);
    assert_int_equal(wider, 0);
}

TEST(no_text_is_too_wide_for_a_usual_terminal)
{
    visit_all(24, 80);
}

TEST(no_text_is_too_wide_for_a_small_terminal)
{
    visit_all(10, 40);
}
