#include "store/language.h"

#include <libstemmer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
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
    const char *stop_words, *forms; /* files of data/ */
    bool has_stems;
    bool elides;
    bool ordinals;       /* 7th is 7, as dates are indexed */
    bool accents_matter; /* to its endings: they are taken off after the stem is found */
    const char *const *endings;
} languages[] = {
    {"english", "stopwords/english.txt", "forms/english.txt", .has_stems = true, .ordinals = true,
     .endings = english},
    {"german", "stopwords/german.txt", "forms/german.txt", .has_stems = true,
     .accents_matter = true, .endings = german},
    {"french", "stopwords/french.txt", "forms/french.txt", .has_stems = true, .elides = true,
     .accents_matter = true, .endings = french},
    {"spanish", "stopwords/spanish.txt", "forms/spanish.txt", .has_stems = true,
     .accents_matter = true, .endings = spanish},
    {"none", .stop_words = NULL},
};

/* ---- words that are known ---- */

/* Longer words are too rare to keep. */
enum { SLOTS = 16384, LONGEST = 23 };

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

struct form {
    const char *word, *base;
};

struct language {
    const struct language_traits *traits;
    struct sb_stemmer *stemmer;   /* made with the first word, as the lists are */
    char *stop_text, *forms_text; /* that the lists are in */
    VEC(const char *) stop_words; /* ascending */
    VEC(struct form) forms;       /* by word */
    struct word_cache *known;     /* whole words; NULL: none was met */
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

struct language *language_new(const char *name)
{
    const struct language_traits *traits = find_traits(name);
    if (!traits)
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
    vec_release(&l->forms);
    free(l->stop_text);
    free(l->forms_text);
    free(l);
}

void language_give_back_memory(struct language *l)
{
    free(l->known);
    l->known = NULL;
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

/* A copy of what a list says behind the lines that tell what it is; NULL: there is no such list. */
static char *read_list(const char *name)
{
    const char *text = name ? embedded_text(name) : NULL;
    while (text && *text == '#')
        text += strcspn(text, "\n") + 1;
    return text ? mem_strdup(text) : NULL;
}

static void read_stop_words(struct language *l)
{
    char *rest = NULL;
    l->stop_text = read_list(l->traits->stop_words);
    for (char *w = l->stop_text ? strtok_r(l->stop_text, " \n", &rest) : NULL; w;
         w = strtok_r(NULL, " \n", &rest))
        vec_push(&l->stop_words, w);
    if (l->stop_words.len > 0)
        vec_sort(&l->stop_words, vec_text_order);
}

static int compare_forms(const void *a, const void *b)
{
    const struct form *x = a, *y = b;
    return strcmp(x->word, y->word);
}

/* A line is a word and its forms. */
static void read_forms(struct language *l)
{
    char *next_line = NULL;
    l->forms_text = read_list(l->traits->forms);
    for (char *line = l->forms_text ? strtok_r(l->forms_text, "\n", &next_line) : NULL; line;
         line = strtok_r(NULL, "\n", &next_line)) {
        char *rest = NULL;
        const char *base = strtok_r(line, " ", &rest);
        for (const char *w; (w = strtok_r(NULL, " ", &rest)) != NULL;)
            vec_push(&l->forms, ((struct form){w, base}));
    }
    if (l->forms.len > 0)
        vec_sort(&l->forms, compare_forms);
}

static void get_ready(struct language *l)
{
    if (l->ready)
        return;
    l->ready = true;
    read_stop_words(l);
    read_forms(l);
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

/* The place of the first form that is not before this one. */
static size_t find_place(const struct language *l, const char *word)
{
    size_t low = 0, high = l->forms.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(l->forms.items[middle].word, word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void resolve_form(const struct language *l, struct buf *word)
{
    size_t place = find_place(l, word->data);
    const struct form *found = place < l->forms.len ? &l->forms.items[place] : NULL;
    if (found && strcmp(found->word, word->data) == 0)
        buf_splice(word, 0, word->len, found->base, strlen(found->base));
}

const char *language_next_form(struct language *l, const char *begun, const char *last)
{
    get_ready(l);
    size_t place = find_place(l, last ? last : begun);
    place += last != NULL;
    const char *word = place < l->forms.len ? l->forms.items[place].word : NULL;
    return word && strncmp(word, begun, strlen(begun)) == 0 ? word : NULL;
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
    if (l->stemmer && form != WORD_PREFIX) {
        resolve_form(l, out);
        stem(l, out);
    }
    token_strip_marks(out);
}

bool language_word(struct language *l, const char *text, size_t len, enum word_form form,
                   struct buf *out)
{
    get_ready(l);
    if (!l->known)
        l->known = mem_alloc(sizeof *l->known);
    if (form != WORD_STEM) {
        make_word(l, text, len, form, out);
    } else if (!word_cache_find(l->known, text, len, out)) {
        make_word(l, text, len, form, out);
        word_cache_keep(l->known, text, len, out);
    }
    return out->len > 0;
}
