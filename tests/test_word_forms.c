/* Forms of a word with another stem (data/forms/): their base words, and the rules for the
 * lists. */
#include <libstemmer.h>

#include "base/paths.h"
#include "base/vec.h"
#include "store/language.h"
#include "tests/suite.h"

static const char *const languages[] = {"english", "german", "french", "spanish"};
enum { LANGUAGES = sizeof languages / sizeof *languages };

/* "" for a stop word. */
static const char *word_of(struct language *l, const char *text)
{
    struct buf out = BUF_INIT;
    language_word(l, text, strlen(text), WORD_STEM, &out);
    return support_keep(buf_take(&out));
}

static struct language *speak(const char *name)
{
    struct language *l = language_new(name);
    assert_non_null(l);
    return l;
}

/* The result of the stemmer alone. */
static const char *stem_of(const char *language, const char *text)
{
    struct buf out = BUF_INIT;
    struct sb_stemmer *stemmer = sb_stemmer_new(language, "UTF_8");
    assert_non_null(stemmer);
    token_fold(&out, text, strlen(text));
    if (strcmp(language, "english") == 0)
        token_strip_marks(&out);
    const sb_symbol *found = sb_stemmer_stem(stemmer, (const sb_symbol *)out.data, (int)out.len);
    buf_splice(&out, 0, out.len, found, (size_t)sb_stemmer_length(stemmer));
    token_strip_marks(&out);
    sb_stemmer_delete(stemmer);
    return support_keep(buf_take(&out));
}

/* ---- base words ---- */

struct pair {
    const char *word, *base;
};

static void are_the_same(const char *language, const struct pair *pairs, size_t count)
{
    struct language *l = speak(language);
    for (size_t i = 0; i < count; i++) {
        const char *word = word_of(l, pairs[i].word), *base = word_of(l, pairs[i].base);
        if (strcmp(word, base) != 0 || !*word)
            fail_msg("%s: \"%s\" becomes \"%s\", \"%s\" \"%s\"", language, pairs[i].word, word,
                     pairs[i].base, base);
        assert_string_not_equal(stem_of(language, pairs[i].word), stem_of(language, pairs[i].base));
    }
    language_free(l);
}
#define SAME(language, ...)                                                                        \
    do {                                                                                           \
        static const struct pair pairs[] = {__VA_ARGS__};                                          \
        are_the_same(language, pairs, sizeof pairs / sizeof *pairs);                               \
    } while (0)

TEST(english)
{
    SAME("english", {"bought", "buying"}, {"Bought", "buys"}, {"went", "go"}, {"gone", "going"},
         {"goes", "go"}, {"saw", "seeing"}, {"left", "leaves"}, {"found", "finds"},
         {"felt", "feeling"}, {"told", "tell"}, {"wrote", "written"}, {"thought", "think"},
         {"children", "child"}, {"mice", "mouse"}, {"knives", "knife"}, {"women", "woman"},
         {"indices", "index"}, {"worst", "bad"}, {"happier", "happy"}, {"embedded", "embeds"});
}

TEST(german)
{
    SAME("german", {"ging", "gehen"}, {"gegangen", "geht"}, {"GINGEN", "gehst"},
         {"sprach", "sprechen"}, {"gesprochen", "spricht"}, {"ließ", "lassen"}, {"heißen", "hieß"},
         {"dachte", "denken"}, {"verlorene", "verlieren"}, {"kaufte", "gekauft"},
         {"angerufen", "anrufen"}, {"Museen", "Museum"}, {"Freundinnen", "Freundin"},
         {"besser", "gut"}, {"höher", "hoch"}, {"größte", "groß"}, {"teure", "teuer"},
         {"fuhr", "fahren"});
}

TEST(french)
{
    SAME("french", {"allé", "aller"}, {"va", "aller"}, {"ira", "aller"}, {"pris", "prendre"},
         {"mise", "mettre"}, {"vu", "voir"}, {"viendra", "venir"}, {"dit", "dire"},
         {"reçu", "recevoir"}, {"viennent", "venir"}, {"yeux", "oeil"}, {"meilleure", "bon"},
         {"nouvelle", "nouveau"});
}

TEST(spanish)
{
    SAME("spanish", {"hice", "hacer"}, {"hecho", "hizo"}, {"dije", "decir"}, {"dicho", "dijeron"},
         {"puse", "puesto"}, {"supe", "saber"}, {"quise", "querer"}, {"vine", "venir"},
         {"visto", "ver"}, {"voy", "ir"}, {"durmió", "dormir"}, {"pidieron", "pedir"},
         {"conozco", "conocer"}, {"busqué", "buscar"}, {"luces", "luz"}, {"mejor", "bueno"});
}

/* If a form is also a word of its own, that word is usually meant. */
TEST(other_words_stay_themselves)
{
    static const char *const words[][2] = {
        {"english", "rose"},   {"english", "lay"},    {"english", "bore"},   {"english", "wound"},
        {"english", "data"},   {"english", "led"},    {"english", "leaves"}, {"german", "Schloss"},
        {"german", "weiß"},    {"german", "Bot"},     {"german", "Stahl"},   {"french", "bus"},
        {"french", "modèle"},  {"french", "part"},    {"french", "lit"},     {"spanish", "vino"},
        {"spanish", "cuenta"}, {"spanish", "tienda"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct language *l = speak(words[i][0]);
        assert_string_equal(word_of(l, words[i][1]), stem_of(words[i][0], words[i][1]));
        language_free(l);
    }
}

/* ---- the lists ---- */

struct line {
    VEC(char *) words; /* the base form first */
};

struct list {
    const char *name;
    VEC(struct line) lines;
    VEC(const char *) forms, bases; /* borrowed */
};

static void read_line(struct list *out, char *text)
{
    struct line line = {0};
    char *rest = NULL;
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        vec_push(&line.words, w);
        if (line.words.len == 1)
            vec_push(&out->bases, w);
        else
            vec_push(&out->forms, w);
    }
    vec_push(&out->lines, line);
}

static void release_list(struct list *l)
{
    for (size_t i = 0; i < l->lines.len; i++)
        vec_release(&l->lines.items[i].words);
    vec_release(&l->lines);
    vec_release(&l->forms);
    vec_release(&l->bases);
}

#define LACKS(list, word, what) fail_msg("%s: \"%s\" %s", (list)->name, word, what)

/* Once, as the index folds it, and no base form: nothing leads in a circle. */
static void stands_alone(const struct list *l)
{
    for (size_t i = 0; i < l->forms.len; i++) {
        const char *word = l->forms.items[i];
        AUTO(buf_release) struct buf folded = BUF_INIT;
        token_fold(&folded, word, strlen(word));
        if (strcmp(folded.data, word) != 0)
            LACKS(l, word, "is not folded");
        if (i > 0 && strcmp(l->forms.items[i - 1], word) == 0)
            LACKS(l, word, "stands there twice");
        if (bsearch(&word, l->bases.items, l->bases.len, sizeof word, vec_text_order))
            LACKS(l, word, "is a base form, too");
    }
    for (size_t i = 1; i < l->bases.len; i++)
        if (strcmp(l->bases.items[i - 1], l->bases.items[i]) == 0)
            LACKS(l, l->bases.items[i], "has two lines");
}

/* The stemmer by itself makes another word of each form; and neither is passed over. */
static void changes_something(const struct list *l)
{
    struct language *now = speak(l->name);
    for (size_t i = 0; i < l->lines.len; i++) {
        const struct line *line = &l->lines.items[i];
        const char *base = word_of(now, line->words.items[0]);
        if (line->words.len < 2 || !*base)
            LACKS(l, line->words.items[0], "has no forms, or is a stop word");
        for (size_t k = 1; k < line->words.len; k++) {
            const char *word = line->words.items[k], *before = stem_of(l->name, word);
            if (strcmp(before, base) == 0)
                LACKS(l, word, "needs no line");
            assert_string_equal(word_of(now, word), base);
        }
    }
    language_free(now);
}

TEST(lists_are_right)
{
    for (size_t i = 0; i < LANGUAGES; i++) {
        struct list l = {.name = languages[i]};
        const char *file = embedded_text(support_text("forms/%s.txt", l.name));
        assert_non_null(file);
        char *rest = NULL, *text = support_text("%s", file);
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            if (*line != '#')
                read_line(&l, line);
        vec_sort(&l.forms, vec_text_order);
        vec_sort(&l.bases, vec_text_order);
        assert_true(l.lines.len >= 200);
        stands_alone(&l);
        changes_something(&l);
        release_list(&l);
    }
}

/* ---- words that are being typed ---- */

TEST(forms_that_begin_so)
{
    struct language *l = speak("english");
    assert_string_equal(language_next_form(l, "bough", NULL), "bought");
    assert_null(language_next_form(l, "bough", "bought"));
    assert_string_equal(language_next_form(l, "brok", NULL), "broke");
    assert_string_equal(language_next_form(l, "brok", "broke"), "broken");
    assert_null(language_next_form(l, "zzz", NULL));
    language_free(l);
}

/* A word gives the same form again after memory was given back. */
TEST(words_are_the_same_when_memory_was_given_back)
{
    struct language *l = language_new("english");
    AUTO(buf_release) struct buf word = BUF_INIT;
    for (int i = 0; i < 3; i++) {
        assert_true(language_word(l, "Lanterns", 8, WORD_STEM, &word));
        assert_string_equal(word.data, "lantern");
        if (i > 0)
            language_give_back_memory(l);
        language_give_back_memory(l);
    }
    language_free(l);
}
