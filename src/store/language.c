#include "store/language.h"

#include <libstemmer.h>
#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/embedded.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/token_fold.h"

static const struct language_row {
    const char *name;
    const char *stop_words; /* file of data/ */
    bool has_stems;
    bool elides;
    bool accents_matter; /* to its endings: they are taken off after the stem is found */
} rows[] = {
    {"english", "stopwords/english.txt", .has_stems = true},
    {"german", "stopwords/german.txt", .has_stems = true, .accents_matter = true},
    {"french", "stopwords/french.txt", .has_stems = true, .elides = true, .accents_matter = true},
    {"spanish", "stopwords/spanish.txt", .has_stems = true, .accents_matter = true},
    {"none", .stop_words = NULL},
};

struct language {
    const struct language_row *row;
    struct sb_stemmer *stemmer;   /* made with the first word, as the list is */
    char *text;                   /* that the stop words are in */
    VEC(const char *) stop_words; /* ascending */
    bool ready;
};

static const struct language_row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool language_known(const char *name)
{
    return find_row(name) != NULL;
}

struct language *language_new(const char *name)
{
    const struct language_row *row = find_row(name);
    if (!row)
        return NULL;
    struct language *l = mem_alloc(sizeof *l);
    l->row = row;
    return l;
}

void language_free(struct language *l)
{
    if (!l)
        return;
    if (l->stemmer)
        sb_stemmer_delete(l->stemmer);
    vec_release(&l->stop_words);
    free(l->text);
    free(l);
}

bool language_elides(const struct language *l)
{
    return l->row->elides;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The file's first line says what it is. */
static void read_stop_words(struct language *l)
{
    const char *file = l->row->stop_words ? embedded_text(l->row->stop_words) : NULL;
    const char *words = file ? strchr(file, '\n') : NULL;
    if (!words)
        return;
    char *rest = NULL;
    l->text = mem_strdup(words);
    for (char *w = strtok_r(l->text, " \n", &rest); w; w = strtok_r(NULL, " \n", &rest))
        vec_push(&l->stop_words, w);
    qsort(l->stop_words.items, l->stop_words.len, sizeof *l->stop_words.items, compare_words);
}

static void get_ready(struct language *l)
{
    if (l->ready)
        return;
    l->ready = true;
    read_stop_words(l);
    if (!l->row->has_stems)
        return;
    l->stemmer = sb_stemmer_new(l->row->name, "UTF_8");
    if (!l->stemmer)
        die("out of memory");
}

static bool is_stop_word(const struct language *l, const char *word)
{
    return l->stop_words.len > 0 && bsearch(&word, l->stop_words.items, l->stop_words.len,
                                            sizeof *l->stop_words.items, compare_words) != NULL;
}

/* What an apostrophe hangs on a word ("Ann's", "they'll") goes; one within it ("O'Brien") joins. */
static void resolve_apostrophes(struct buf *word)
{
    static const char *const tails[] = {"'s", "'ll", "'re", "'ve", "'d", "'m"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t len = strlen(tails[i]);
        if (word->len > len && strcmp(word->data + word->len - len, tails[i]) == 0) {
            buf_splice(word, word->len - len, len, "", 0);
            break;
        }
    }
    for (size_t at = 0; at < word->len;)
        if (word->data[at] == '\'')
            buf_splice(word, at, 1, "", 0);
        else
            at++;
}

static void stem(struct language *l, struct buf *word)
{
    const sb_symbol *found =
        sb_stemmer_stem(l->stemmer, (const sb_symbol *)word->data, (int)word->len);
    if (!found)
        die("out of memory");
    /* The result is the stemmer's, which does not know this buffer. */
    buf_splice(word, 0, word->len, found, (size_t)sb_stemmer_length(l->stemmer));
}

bool language_word(struct language *l, const char *text, size_t len, enum word_form form,
                   struct buf *out)
{
    get_ready(l);
    buf_clear(out);
    token_fold(out, text, len);
    if (form == WORD_STEM && is_stop_word(l, out->data))
        return false;
    resolve_apostrophes(out);
    if (form == WORD_STEM && is_stop_word(l, out->data))
        return false;
    if (!l->row->accents_matter)
        token_strip_marks(out);
    if (l->stemmer && form != WORD_PREFIX)
        stem(l, out);
    token_strip_marks(out);
    return out->len > 0;
}
