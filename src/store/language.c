#include "store/language.h"

#include <libstemmer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/embedded.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/token_fold.h"

/* Those that a stem loses, the usual ones. */
static const char *const english[] = {
    "ing",  "ings", "ed",  "es",  "ies", "ied",  "ers",  "ly",   "ally", "ation", "ations", "ments",
    "ness", "ful",  "ous", "ive", "ity", "able", "ance", "ence", "ism",  "ize",   "izing",  NULL};
static const char *const german[] = {"en",    "ern",  "em",   "er",   "es",   "est", "ung",
                                     "ungen", "lich", "isch", "heit", "keit", NULL};
static const char *const french[] = {"ement", "ements", "ation", "ations", "er",   "ez",
                                     "ent",   "ait",    "aient", "ant",    "eux",  "euse",
                                     "euses", "ité",    "able",  "isme",   "iste", NULL};
static const char *const spanish[] = {"ando", "iendo", "ado",  "ada",  "ados",  "adas",    "ido",
                                      "aron", "amos",  "aba",  "aban", "ación", "aciones", "mente",
                                      "idad", "ible",  "ismo", "ista", NULL};

static const struct language_traits {
    const char *name;
    const char *stop_words; /* file of data/ */
    bool has_stems;
    bool elides;
    bool ordinals;       /* 7th is 7, as dates are indexed */
    bool accents_matter; /* to its endings: they are taken off after the stem is found */
    const char *const *endings;
} languages[] = {
    {"english", "stopwords/english.txt", .has_stems = true, .ordinals = true, .endings = english},
    {"german", "stopwords/german.txt", .has_stems = true, .accents_matter = true,
     .endings = german},
    {"french", "stopwords/french.txt", .has_stems = true, .elides = true, .accents_matter = true,
     .endings = french},
    {"spanish", "stopwords/spanish.txt", .has_stems = true, .accents_matter = true,
     .endings = spanish},
    {"none", .stop_words = NULL},
};

/* ---- words that are known ---- */

/* Longer words are too rare to keep. */
enum { SLOTS = 8192, LONGEST = 23 };

struct slot {
    uint8_t text_len; /* 0: nothing is kept here */
    uint8_t word_len;
    char text[LONGEST], word[LONGEST];
};
/* Words that a language has seen, with what it made of them: a text says the same few words again
 * and again. A word that is met takes the place of another. */
struct word_cache {
    struct slot slots[SLOTS];
};

/* FNV-1a, of which the high bits are good. */
static size_t slot_of(const char *text, size_t len)
{
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x01000193u;
    return (hash ^ hash >> 16) % SLOTS;
}

static bool fits(size_t len)
{
    return len > 0 && len <= LONGEST;
}

/* What was made of these bytes, into `word`, which is cleared first; empty where they are passed
 * over. False: it is not known. */
static bool word_cache_find(const struct word_cache *c, const char *text, size_t len,
                            struct buf *word)
{
    if (!fits(len))
        return false;
    const struct slot *s = &c->slots[slot_of(text, len)];
    if (s->text_len != len || memcmp(s->text, text, len) != 0)
        return false;
    buf_clear(word);
    buf_add(word, s->word, s->word_len);
    return true;
}

static void word_cache_keep(struct word_cache *c, const char *text, size_t len,
                            const struct buf *word)
{
    if (!fits(len) || word->len > LONGEST)
        return;
    struct slot *s = &c->slots[slot_of(text, len)];
    s->text_len = (uint8_t)len;
    s->word_len = (uint8_t)word->len;
    memcpy(s->text, text, len);
    memcpy(s->word, word->data, word->len);
}

/* ---- a language ---- */

struct language {
    const struct language_traits *traits;
    struct sb_stemmer *stemmer;   /* made with the first word, as the list is */
    char *text;                   /* that the stop words are in */
    VEC(const char *) stop_words; /* ascending */
    struct word_cache *known;     /* whole words */
    bool ready;
};

static const struct language_traits *find_traits(const char *name)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcmp(languages[i].name, name) == 0)
            return &languages[i];
    return NULL;
}

bool language_known(const char *name)
{
    return find_traits(name) != NULL;
}

struct language *language_new(const char *name, int version)
{
    const struct language_traits *traits = find_traits(name);
    if (!traits || version < 1 || version > WORDS_VERSION)
        return NULL;
    struct language *l = mem_alloc(sizeof *l);
    l->traits = traits;
    return l;
}

void language_free(struct language *l)
{
    if (!l)
        return;
    if (l->stemmer)
        sb_stemmer_delete(l->stemmer);
    free(l->known);
    vec_release(&l->stop_words);
    free(l->text);
    free(l);
}

const char *const *language_endings(const struct language *l)
{
    static const char *const none[] = {NULL};
    return l->traits->endings ? l->traits->endings : none;
}

bool language_elides(const struct language *l)
{
    return l->traits->elides;
}

/* The file's first line says what it is. */
static void read_stop_words(struct language *l)
{
    const char *file = l->traits->stop_words ? embedded_text(l->traits->stop_words) : NULL;
    const char *words = file ? strchr(file, '\n') : NULL;
    if (!words)
        return;
    char *rest = NULL;
    l->text = mem_strdup(words);
    for (char *w = strtok_r(l->text, " \n", &rest); w; w = strtok_r(NULL, " \n", &rest))
        vec_push(&l->stop_words, w);
    vec_sort(&l->stop_words, vec_text_order);
}

static void get_ready(struct language *l)
{
    if (l->ready)
        return;
    l->ready = true;
    l->known = mem_alloc(sizeof *l->known);
    read_stop_words(l);
    if (!l->traits->has_stems)
        return;
    l->stemmer = sb_stemmer_new(l->traits->name, "UTF_8");
    if (!l->stemmer)
        die("out of memory");
}

static bool is_stop_word(const struct language *l, const char *word)
{
    return l->stop_words.len > 0 && bsearch(&word, l->stop_words.items, l->stop_words.len,
                                            sizeof *l->stop_words.items, vec_text_order) != NULL;
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

static void resolve_ordinal(struct buf *word)
{
    static const char *const tails[] = {"st", "nd", "rd", "th"};
    size_t digits = strspn(word->data, "0123456789");
    for (size_t i = 0; digits > 0 && i < sizeof tails / sizeof *tails; i++)
        if (strcmp(word->data + digits, tails[i]) == 0) {
            buf_splice(word, digits, 2, "", 0);
            return;
        }
}

static void make_word(struct language *l, const char *text, size_t len, enum word_form form,
                      struct buf *out)
{
    buf_clear(out);
    token_fold(out, text, len);
    bool passes = form == WORD_STEM && is_stop_word(l, out->data);
    resolve_apostrophes(out);
    if (passes || (form == WORD_STEM && is_stop_word(l, out->data))) {
        buf_clear(out);
        return;
    }
    if (l->traits->ordinals && form != WORD_PREFIX)
        resolve_ordinal(out);
    if (!l->traits->accents_matter)
        token_strip_marks(out);
    if (l->stemmer && form != WORD_PREFIX)
        stem(l, out);
    token_strip_marks(out);
}

bool language_word(struct language *l, const char *text, size_t len, enum word_form form,
                   struct buf *out)
{
    get_ready(l);
    if (form != WORD_STEM) {
        make_word(l, text, len, form, out);
    } else if (!word_cache_find(l->known, text, len, out)) {
        make_word(l, text, len, form, out);
        word_cache_keep(l->known, text, len, out);
    }
    return out->len > 0;
}
