#include "store/language.h"

#include <libstemmer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "base/vec.h"

/* ---- folding ---- */

/* No character decomposes into more. */
enum { MOST_PARTS = 18 };

bool token_is_apostrophe(uint32_t cp)
{
    return cp == '\'' || cp == 0x2019 || cp == 0x02BC || cp == 0xFF07;
}

/* Appends the characters of the decomposed text that `keeps` accepts, composed again. The text is
 * valid and has at most WORD_CHARACTERS visible characters. */
static void add_mapped(struct buf *out, const char *text, size_t len, unsigned options,
                       bool (*keeps)(uint32_t cp))
{
    utf8proc_int32_t cps[WORD_CHARACTERS * MOST_PARTS];
    const utf8proc_ssize_t room = sizeof cps / sizeof *cps;
    utf8proc_ssize_t count =
        utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, cps, room,
                           (utf8proc_option_t)(options | UTF8PROC_DECOMPOSE | UTF8PROC_STABLE));
    utf8proc_ssize_t kept = 0;
    if (count > room)
        return;
    for (utf8proc_ssize_t i = 0; i < count; i++)
        if (keeps((uint32_t)cps[i]))
            cps[kept++] = cps[i];
    kept = utf8proc_normalize_utf32(cps, kept, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    for (utf8proc_ssize_t i = 0; i < kept; i++) {
        char bytes[4];
        buf_add(out, bytes, utf8_encode((uint32_t)cps[i], bytes));
    }
}

static bool is_word_part(uint32_t cp)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return cp == '\'' || (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO);
}

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

void token_fold(struct buf *out, const char *text, size_t len)
{
    len = utf8_cut_points(text, len, WORD_CHARACTERS);
    if (is_ascii(text, len)) {
        for (size_t i = 0; i < len; i++) {
            char c = text[i];
            buf_addch(out, (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c));
        }
        return;
    }
    AUTO(buf_release) struct buf plain = BUF_INIT;
    for (size_t at = 0, used; at < len; at += used) {
        uint32_t cp;
        used = utf8_decode(text + at, len - at, &cp);
        if (token_is_apostrophe(cp))
            buf_addch(&plain, '\'');
        else
            buf_add(&plain, text + at, used);
    }
    add_mapped(out, plain.data, plain.len, UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE,
               is_word_part);
}

static bool is_no_accent(uint32_t cp)
{
    static const uint32_t accents[][2] = {
        {0x0300, 0x036F}, /* Latin, Greek, Cyrillic */
        {0x0591, 0x05C7}, /* Hebrew points */
        {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06ED}, /* Arabic vowels */
        {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F},
    };
    for (size_t i = 0; i < sizeof accents / sizeof *accents; i++)
        if (cp >= accents[i][0] && cp <= accents[i][1])
            return false;
    return true;
}

void token_strip_marks(struct buf *text)
{
    if (is_ascii(text->data, text->len))
        return;
    struct buf stripped = BUF_INIT;
    add_mapped(&stripped, text->data, utf8_cut_points(text->data, text->len, WORD_CHARACTERS), 0,
               is_no_accent);
    buf_release(text);
    *text = stripped;
}

/* ---- languages ---- */

/* The usual endings that a stem does not have. */
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
static const char *const italian[] = {"ando", "endo",  "are",   "ere",   "ire",   "ato",
                                      "ata",  "ati",   "iamo",  "avano", "zione", "zioni",
                                      "ità",  "mente", "abile", "ismo",  "ista",  NULL};
static const char *const portuguese[] = {"ando",  "endo", "ado",  "ada",   "ados", "adas",
                                         "aram",  "avam", "amos", "ações", "ação", "mente",
                                         "idade", "ável", "ismo", "ista",  NULL};
static const char *const dutch[] = {"en",    "ende", "heid", "heden", "ing",
                                    "ingen", "lijk", "baar", NULL};
static const char *const swedish[] = {"arna", "erna",  "orna",  "ande", "ade",  "ades", "aste",
                                      "het",  "heten", "heter", "lig",  "ligt", NULL};
static const char *const russian[] = {"ого",  "его",  "ому", "ему", "ами", "ями", "ать",
                                      "ить",  "ал",   "ала", "али", "или", "ет",  "ют",
                                      "ость", "ости", "ый",  "ая",  "ое",  "ые",  NULL};
static const char *const turkish[] = {"lar",  "ler", "ları", "leri", "ların", "lerin", "lara",
                                      "lere", "dan", "den",  "nın",  "nin",   NULL};

static const struct language_traits {
    const char *name;
    const char *stop_words, *forms; /* files of data/ */
    bool has_stems;
    bool elides;
    bool turkish;        /* I is ı, and the ending of a name stands behind an apostrophe */
    bool ordinals;       /* 7th is 7, as dates are indexed */
    bool accents_matter; /* to its endings: accents are removed behind the stemmer */
    const char *letters; /* that not all have */
    const char *const *endings;
} languages[] = {
    {"english", "stopwords/english.txt", "forms/english.txt", .has_stems = true, .ordinals = true,
     .endings = english},
    {"german", "stopwords/german.txt", "forms/german.txt", .has_stems = true,
     .accents_matter = true, .letters = "äöüß", .endings = german},
    {"french", "stopwords/french.txt", "forms/french.txt", .has_stems = true, .elides = true,
     .accents_matter = true, .letters = "àâçéèêëîïôùûœ", .endings = french},
    {"spanish", "stopwords/spanish.txt", "forms/spanish.txt", .has_stems = true,
     .accents_matter = true, .letters = "áéíñóúü", .endings = spanish},
    {"italian", "stopwords/italian.txt", .has_stems = true, .elides = true, .accents_matter = true,
     .letters = "àèéìòù", .endings = italian},
    {"portuguese", "stopwords/portuguese.txt", .has_stems = true, .accents_matter = true,
     .letters = "áâãàçéêíóôõú", .endings = portuguese},
    {"dutch", "stopwords/dutch.txt", .has_stems = true, .accents_matter = true, .letters = "ëï",
     .endings = dutch},
    {"swedish", "stopwords/swedish.txt", .has_stems = true, .accents_matter = true,
     .letters = "åäö", .endings = swedish},
    {"russian", "stopwords/russian.txt", .has_stems = true, .accents_matter = true,
     .letters = "абвгдежзийклмнопрстуфхцчшщъыьэюяё", .endings = russian},
    {"turkish", "stopwords/turkish.txt", .has_stems = true, .turkish = true, .accents_matter = true,
     .letters = "çğışöü", .endings = turkish},
    {"none", .stop_words = NULL},
    {"auto", .stop_words = NULL},
};

/* A cache of whole words and their stems: a text has the same few words again and again. A word
 * replaces another one with the same hash. Longer words are too rare to keep. */
enum { SLOTS = 16384, LONGEST = 23 };

struct slot {
    uint8_t text_len; /* 0: the slot is empty */
    uint8_t word_len;
    char text[LONGEST], word[LONGEST];
};

struct form {
    const char *word, *base;
};

enum { VOTE_BYTES = 257 };

struct vote {
    const char *word; /* the part's */
    size_t part;
};

struct language {
    const struct language_traits *traits;
    struct sb_stemmer *stemmer;   /* made with the first word, as the lists are */
    char *stop_text, *forms_text; /* whose words the lists borrow */
    VEC(const char *) stop_words; /* ascending */
    VEC(struct form) forms;       /* by word */
    struct slot *known;           /* SLOTS of them; NULL: no word was met */
    bool ready, brief;
    struct language *parts[LANGUAGE_PARTS]; /* of "auto" */
    VEC(struct vote) votes;                 /* by word */
    size_t begins[VOTE_BYTES];              /* the first that begins with each byte */
    struct buf voter;                       /* the word that votes */
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
    buf_init(&l->voter, 0);
    for (size_t i = 0; i < LANGUAGE_PARTS && strcmp(name, "auto") == 0; i++)
        l->parts[i] = language_new(languages[i].name);
    return l;
}

void language_free(struct language *l)
{
    if (!l)
        return;
    if (l->stemmer)
        sb_stemmer_delete(l->stemmer);
    for (size_t i = 0; i < LANGUAGE_PARTS; i++)
        language_free(l->parts[i]);
    vec_release(&l->votes);
    buf_release(&l->voter);
    free(l->known);
    vec_release(&l->stop_words);
    vec_release(&l->forms);
    free(l->stop_text);
    free(l->forms_text);
    free(l);
}

void language_is_brief(struct language *l)
{
    l->brief = true;
    for (size_t i = 0; i < LANGUAGE_PARTS && l->parts[i]; i++)
        l->parts[i]->brief = true;
}

void language_give_back_memory(struct language *l)
{
    for (size_t i = 0; i < LANGUAGE_PARTS && l->parts[i]; i++)
        language_give_back_memory(l->parts[i]);
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

/* A copy of a file of data/ without its comments; NULL: there is none. */
static char *read_list(const char *name)
{
    const char *text = name ? embedded_text(name) : NULL;
    while (text && *text == '#')
        text += strcspn(text, "\n") + 1;
    return text ? mem_strdup(text) : NULL;
}

static int compare_forms(const void *a, const void *b)
{
    const struct form *x = a, *y = b;
    return strcmp(x->word, y->word);
}

/* Reads the lists with the first word. */
static void get_ready(struct language *l)
{
    char *rest = NULL, *next_line = NULL;
    if (l->ready)
        return;
    l->ready = true;
    l->stop_text = read_list(l->traits->stop_words);
    for (char *w = l->stop_text ? strtok_r(l->stop_text, " \n", &rest) : NULL; w;
         w = strtok_r(NULL, " \n", &rest))
        vec_push(&l->stop_words, w);
    if (l->stop_words.len > 0)
        vec_sort(&l->stop_words, vec_text_order);

    /* A line is a word and its forms. */
    l->forms_text = read_list(l->traits->forms);
    for (char *line = l->forms_text ? strtok_r(l->forms_text, "\n", &next_line) : NULL; line;
         line = strtok_r(NULL, "\n", &next_line)) {
        const char *base = strtok_r(line, " ", &rest);
        for (const char *w; (w = strtok_r(NULL, " ", &rest)) != NULL;)
            vec_push(&l->forms, ((struct form){w, base}));
    }
    if (l->forms.len > 0)
        vec_sort(&l->forms, compare_forms);
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

/* Index of the first form that is not before this word. */
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

const char *language_next_form(struct language *l, const char *begun, const char *last)
{
    get_ready(l);
    size_t place = find_place(l, last ? last : begun) + (last != NULL);
    const char *word = place < l->forms.len ? l->forms.items[place].word : NULL;
    return word && strncmp(word, begun, strlen(begun)) == 0 ? word : NULL;
}

/* Removes an ending behind an apostrophe ("Ann's", "they'll") and apostrophes within ("O'Brien").
 */
static void resolve_apostrophes(struct buf *word)
{
    static const char *const endings[] = {"'s", "'ll", "'re", "'ve", "'d", "'m"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t len = strlen(endings[i]);
        if (word->len > len && strcmp(word->data + word->len - len, endings[i]) == 0) {
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

/* Appends a Turkish word with the small letters of I and İ, up to an apostrophe: the index has
 * "istanbul" for "İstanbul'da". */
static void add_turkish(struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0, used; at < len; at += used) {
        uint32_t cp;
        used = utf8_decode(text + at, len - at, &cp);
        if (cp == 'I' || cp == 0x0130)
            buf_addstr(out, cp == 'I' ? "ı" : "i");
        else if (!token_is_apostrophe(cp))
            buf_add(out, text + at, used);
        else
            break;
    }
}

static void make_word(struct language *l, const char *text, size_t len, enum word_form form,
                      struct buf *out)
{
    static const char *const ordinals[] = {"st", "nd", "rd", "th"};
    AUTO(buf_release) struct buf small = BUF_INIT;
    buf_clear(out);
    if (l->traits->turkish)
        add_turkish(&small, text, len);
    token_fold(out, small.len > 0 ? small.data : text, small.len > 0 ? small.len : len);
    bool stops = form == WORD_STEM && is_stop_word(l, out->data);
    resolve_apostrophes(out);
    if (stops || (form == WORD_STEM && is_stop_word(l, out->data))) {
        buf_clear(out);
        return;
    }
    size_t digits = strspn(out->data, "0123456789");
    for (size_t i = 0; l->traits->ordinals && form != WORD_PREFIX && digits > 0 && i < 4; i++)
        if (strcmp(out->data + digits, ordinals[i]) == 0)
            buf_truncate(out, digits);
    if (!l->traits->accents_matter)
        token_strip_marks(out);
    if (l->stemmer && form != WORD_PREFIX) {
        size_t place = find_place(l, out->data);
        const struct form *found = place < l->forms.len ? &l->forms.items[place] : NULL;
        if (found && strcmp(found->word, out->data) == 0)
            buf_splice(out, 0, out->len, found->base, strlen(found->base));
        const sb_symbol *stem =
            sb_stemmer_stem(l->stemmer, (const sb_symbol *)out->data, (int)out->len);
        if (!stem)
            die("out of memory");
        buf_splice(out, 0, out->len, stem, (size_t)sb_stemmer_length(l->stemmer));
    }
    token_strip_marks(out);
    /* "isik" is often typed for "ışık". */
    for (char *dotless; l->traits->turkish && (dotless = strstr(out->data, "ı")) != NULL;)
        buf_splice(out, (size_t)(dotless - out->data), strlen("ı"), "i", 1);
}

/* ---- texts of several languages ---- */

struct language *language_part(struct language *l, size_t i)
{
    return l->parts[0] ? l->parts[i] : i == 0 ? l : NULL;
}

int language_number(const struct language *l)
{
    ptrdiff_t number = l->traits - languages;
    return number < LANGUAGE_PARTS ? (int)number : -1;
}

static int compare_votes(const void *a, const void *b)
{
    return strcmp(((const struct vote *)a)->word, ((const struct vote *)b)->word);
}

static bool has_letter(const char *letters, const char *word, size_t len)
{
    for (size_t at = 0, used; letters && at < len; at += used) {
        uint32_t cp;
        used = utf8_decode(word + at, len - at, &cp);
        for (const char *c = cp < 0x80 ? "" : letters; *c; c++)
            if (strncmp(c, word + at, used) == 0)
                return true;
    }
    return false;
}

bool language_vote(struct language *l, const char *text, size_t len, int points[LANGUAGE_PARTS])
{
    bool letters = false;
    struct buf *word = &l->voter;
    for (size_t i = 0; i < LANGUAGE_PARTS && !l->ready; i++) {
        get_ready(l->parts[i]);
        for (size_t k = 0; k < l->parts[i]->stop_words.len; k++)
            vec_push(&l->votes, ((struct vote){l->parts[i]->stop_words.items[k], i}));
    }
    if (!l->ready) {
        vec_sort(&l->votes, compare_votes);
        for (size_t i = 0; i < l->votes.len; i++)
            l->begins[(unsigned char)l->votes.items[i].word[0] + 1] = i + 1;
        for (size_t i = 1; i < VOTE_BYTES; i++)
            l->begins[i] = l->begins[i] > 0 ? l->begins[i] : l->begins[i - 1];
    }
    l->ready = true;
    buf_clear(word);
    token_fold(word, text, len);
    size_t low = l->begins[(unsigned char)*word->data], end;
    size_t high = l->begins[(unsigned char)*word->data + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(l->votes.items[middle].word, word->data) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < l->votes.len && strcmp(l->votes.items[end].word, word->data) == 0;)
        end++;
    for (size_t i = low; i < end; i++)
        points[l->votes.items[i].part] += LANGUAGE_VOTE / (int)(end - low);
    for (size_t i = 0; i < LANGUAGE_PARTS && !is_ascii(word->data, word->len); i++)
        if (has_letter(languages[i].letters, word->data, word->len)) {
            points[i] += LANGUAGE_VOTE / 2;
            letters = true;
        }
    return letters || end > low;
}

bool language_word(struct language *l, const char *text, size_t len, enum word_form form,
                   struct buf *out)
{
    if (l->parts[0])
        l = l->parts[0];
    get_ready(l);
    if (!l->known && !l->brief)
        l->known = mem_alloc(SLOTS * sizeof *l->known);
    if (form != WORD_STEM || len == 0 || len > LONGEST || l->brief) {
        make_word(l, text, len, form, out);
        return out->len > 0;
    }
    uint32_t hash = 0x811c9dc5u; /* FNV-1a, whose high bits are good */
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x01000193u;
    struct slot *s = &l->known[(hash ^ hash >> 16) % SLOTS];
    if (s->text_len == len && memcmp(s->text, text, len) == 0) {
        buf_clear(out);
        buf_add(out, s->word, s->word_len);
        return out->len > 0;
    }
    make_word(l, text, len, form, out);
    if (out->len <= LONGEST) {
        s->text_len = (uint8_t)len;
        s->word_len = (uint8_t)out->len;
        memcpy(s->text, text, len);
        memcpy(s->word, out->data, out->len);
    }
    return out->len > 0;
}
