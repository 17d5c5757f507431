/* The words of a text, for the index and for a query. */
#include "base/utf8.h"
#include "store/language.h"
#include "store/tokenizer.h"
#include "tests/suite.h"

/* "word word", those at the place of the one before as "word=word". */
static char *words_of(const char *language, enum token_purpose purpose, const char *text,
                      size_t len)
{
    struct language *l = language_new(language);
    struct buf out = BUF_INIT;
    AUTO(tokens_release) struct tokens found = {0};
    assert_non_null(l);
    struct text_languages languages = text_languages_find(l, text, len);
    tokens_of(&languages, purpose, text, len, &found);
    for (size_t i = 0; i < found.items.len; i++) {
        const struct token *t = &found.items.items[i];
        bool same = i > 0 && t[-1].place == t->place;
        buf_addf(&out, "%s%s", i == 0 ? "" : same ? "=" : " ", t->word);
    }
    language_free(l);
    return support_keep(buf_take(&out));
}

struct example {
    const char *text, *words;
};

static void expect_all(const char *language, enum token_purpose purpose, const struct example *all,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *found = words_of(language, purpose, all[i].text, strlen(all[i].text));
        assert_string_equal(found, all[i].words);
    }
}
#define EXPECT(language, purpose, ...)                                                             \
    do {                                                                                           \
        static const struct example all[] = {__VA_ARGS__};                                         \
        expect_all(language, purpose, all, sizeof all / sizeof *all);                              \
    } while (0)

TEST(marks)
{
    EXPECT("english", TOKENS_TEXT, {"a stone\n\x02", "stone=\x02"}, {"stone \x02 fox", "stone fox"},
           {"\x02", ""}, {"stone\x05", "stone"}, {"日本\x01", "日本=本=\x01"});
    EXPECT("english", TOKENS_QUERY, {"a stone\n\x02", "stone"});
    EXPECT("english", TOKENS_EVERY, {"stone\n\x02", "stone"});
}

TEST(english)
{
    EXPECT("english", TOKENS_TEXT,
           {"When did Caroline go to the support group?", "carolin go support group"},
           {"Running runs RUN", "run run run"},
           {"Caroline's Caroline\u2019s they'll won't I'm don't", "carolin carolin"},
           {"O'Brien OBrien", "obrien obrien=brien"},
           {"snake_case brother-in-law 3.5 x2", "snake case brother law 3 5 x2"},
           {"Don won", "don win"}, {"May 7th, the 21ST, 2nd 3rd", "may 7 21 2 3"},
           {"th 7thx 9h", "th 7thx 9h"});
    EXPECT("english", TOKENS_PREFIX, {"7th", "7th"});
    EXPECT("german", TOKENS_TEXT, {"7th", "7th"});
}

TEST(identifiers)
{
    EXPECT("english", TOKENS_TEXT,
           {"computeRetryDelay(), stone", "computeretrydelay=comput retri delay stone"},
           {"HTTPServerError retry_delay_ms", "httpservererror=http server error retri delay ms"},
           {"sha256Sum utf8CpWidth x2", "sha256sum=sha256 sum utf8cpwidth=utf8 cp width x2"},
           {"IDs PDFs 10MB 4K JPEG A4", "id pdfs 10mb 4k jpeg a4"},
           {"iPhone isA isOfX setTheX", "iphon=phone isa isofx setthex=set"});
    EXPECT("english", TOKENS_QUERY, {"retryDelay", "retrydelay=retri delay"});
    EXPECT("english", TOKENS_PREFIX, {"computeRet", "computeret"});
    EXPECT("none", TOKENS_TEXT, {"AnkaraIzmir ÄrgerNis", "ankaraizmir=ankara izmir argernis"});
}

/* No cached word replaces another that is like it. */
TEST(what_was_met_before_does_not_matter)
{
    enum { WORDS = 30000, LETTERS = 3, LONG = 40 };
    struct language *used = language_new("english");
    AUTO(buf_release) struct buf kept = BUF_INIT, fresh = BUF_INIT;
    char word[LONG + 1] = "";
    for (size_t i = 0; i < 2 * WORDS; i++) {
        size_t n = i % WORDS, len = n % 7 == 0 ? LONG : 2 + n % 9;
        for (size_t k = 0; k < len; k++, n = n * 31 / LETTERS + k)
            word[k] = "aesingthTd7'"[n % 12];
        bool has = language_word(used, word, len, WORD_STEM, &kept);
        if (i % 50 != 0)
            continue;
        struct language *l = language_new("english");
        assert_int_equal(language_word(l, word, len, WORD_STEM, &fresh), has);
        assert_string_equal(kept.data, fresh.data);
        language_free(l);
        l = language_new("english");
        language_word(used, word, len, WORD_PREFIX, &kept);
        language_word(l, word, len, WORD_PREFIX, &fresh);
        assert_string_equal(kept.data, fresh.data);
        language_free(l);
    }
    language_free(used);
}

TEST(other_languages)
{
    EXPECT("german", TOKENS_TEXT, {"Die Häuser HÄUSER eines Hauses", "haus haus haus"},
           {"Straße STRASSE", "strass strass"}, {"Wie geht's? Wann und warum?", "geh"},
           {"schöne", "schon"});
    EXPECT("french", TOKENS_TEXT, {"L'homme d\u2019une école, écoles", "homm ecol ecol"},
           {"Où êtes-vous quand?", ""});
    EXPECT("spanish", TOKENS_TEXT, {"¿Cuándo habló de los niños?", "habl nin"});
    EXPECT("italian", TOKENS_TEXT, {"Dell'arte e l'albero, gli alberi", "arte alber alber"},
           {"Le città della ragazza", "citt ragazz"});
    EXPECT("portuguese", TOKENS_TEXT, {"As informações da informação", "inform inform"},
           {"Onde está a menina? Meninas!", "menin menin"});
    EXPECT("dutch", TOKENS_TEXT, {"De boeken en het boek, foto's", "boek boek foto"},
           {"Waarom liepen de katten?", "liep kat"});
    EXPECT("swedish", TOKENS_TEXT, {"Flickorna och flickor", "flick flick"},
           {"Var är båtarna? Båten!", "bat bat"});
    EXPECT("russian", TOKENS_TEXT, {"Где мои книги? КНИГА лежит в книге", "книг книг леж книг"},
           {"ёлка Елка", "елк елк"});
    EXPECT("turkish", TOKENS_TEXT, {"Kitaplar ve KİTAP", "kitap kitap"},
           {"İstanbul'da ISPARTA, Isparta’nın, ısparta", "istanbul ispar ispar ispar"},
           {"IŞIK ışık isik", "isik isik isik"}, {"Hangi evler? Ev!", "ev ev"});
    EXPECT("none", TOKENS_TEXT, {"The Running Häuser, Ann's", "the running hauser ann"});
}

/* A text has the stems of its own language and of English; a short one that tells nothing has those
 * of all. */
TEST(the_language_of_each_text)
{
    EXPECT("auto", TOKENS_TEXT, {"The houses of her friends", "hous friend"},
           {"Die Gärten der Nachbarn sind groß", "gart=garten nachbar=nachbarn gross"},
           {"Où est la maison de nos amis ?", "maison ami"},
           {"Где лежат мои книги и тетради", "лежат книг=книги тетрад=тетради"},
           {"a red car", "red car"}, {"\x11 die Gärten", "gart"},
           {"\x10 die Gärten", "die garten"});
    char *found = words_of("auto", TOKENS_TEXT, "Gärten", strlen("Gärten"));
    assert_non_null(strstr(found, "garten=gart"));
    char *code = support_text("%0300d", 0); /* long, and of no language */
    assert_string_equal(words_of("auto", TOKENS_TEXT, code, 300), code + 300 - WORD_CHARACTERS);
}

TEST(every_language_has_its_little_words)
{
    static const char *const little[][2] = {{"english", "what"},    {"german", "welche"},
                                            {"french", "pourquoi"}, {"spanish", "dónde"},
                                            {"italian", "perché"},  {"portuguese", "você"},
                                            {"dutch", "hoeveel"},   {"swedish", "varför"},
                                            {"russian", "Почему"},  {"turkish", "Hangisi"}};
    for (size_t i = 0; i < sizeof little / sizeof *little; i++) {
        char *found = words_of(little[i][0], TOKENS_QUERY, little[i][1], strlen(little[i][1]));
        assert_string_equal(found, "");
    }
    assert_true(language_known("none"));
    assert_false(language_known("klingon"));
    assert_null(language_new("klingon"));
}

TEST(forms_that_mean_the_same)
{
    EXPECT("english", TOKENS_TEXT, {"café cafe\u0301 CAFÉ", "cafe cafe cafe"},
           {"ｗｉｄｅ ﬁne", "wide fine"}, {"soft\u00adhyphen", "softhyphen"}, {"Ω ω", "ω ω"},
           {"שָׁלוֹם שלום", "שלום שלום"});
}

TEST(scripts_without_blanks)
{
    EXPECT("english", TOKENS_TEXT, {"日本語", "日本 本語=語"}, {"猫", "猫"},
           {"黒猫。白犬", "黒猫=猫 白犬=犬"}, {"ﾊﾞｶ バカ", "バカ=カ バカ=カ"}, {"が か", "が か"},
           {"한국어", "한국 국어=어"}, {"Pythonで書く", "python で書 書く=く"},
           {"สวัสดี", "สวั วัส สดี=ดี"});
    EXPECT("english", TOKENS_QUERY, {"日本語", "日本 本語"}, {"猫", "猫"});
}

TEST(emoji)
{
    EXPECT("english", TOKENS_TEXT, {"ok 👍🏽 👍", "👍 👍"}, {"😀😀", "😀 😀"},
           {"👨‍👩‍👧🇩🇪", "👨‍👩‍👧 🇩🇪"}, {"✌️ ✌", "✌ ✌"});
}

TEST(beginnings_keep_their_endings)
{
    EXPECT("english", TOKENS_PREFIX, {"Runnin", "runnin"}, {"the", "the"}, {"Café", "cafe"});
    EXPECT("english", TOKENS_EVERY, {"the running", "the run"});
}

TEST(bytes_point_into_the_text)
{
    struct tokens found;
    const char *text = "Größe, the 東京 Caroline's";
    assert_true(tokenize("english", text, strlen(text), false, &found));
    assert_int_equal(found.items.len, 3);
    assert_int_equal(found.items.items[0].start, 0);
    assert_int_equal(found.items.items[0].end, strlen("Größe"));
    assert_memory_equal(text + found.items.items[1].start, "東京", strlen("東京"));
    assert_int_equal(found.items.items[2].end, strlen(text));
    tokens_release(&found);
    assert_false(tokenize("klingon", text, strlen(text), false, &found));
}

TEST(broken_bytes_part_words)
{
    static const char text[] = "one\xff\xfetwo caf\xc3 \xed\xa0\x80 three\xe2\x82";
    char *found = words_of("english", TOKENS_TEXT, text, sizeof text - 1);
    assert_string_equal(found, "one two caf three");
}

TEST(huge_words)
{
    enum { LEN = 3000000 };
    char *text = support_keep(mem_alloc(LEN + 1));
    memset(text, 'x', LEN);
    struct tokens found;
    assert_true(tokenize("english", text, LEN, false, &found));
    assert_int_equal(found.items.len, 1);
    assert_int_equal(strlen(found.items.items[0].word), WORD_CHARACTERS);
    assert_int_equal(found.items.items[0].end, LEN);
    tokens_release(&found);

    /* A letter with a million marks, and characters that become many. */
    for (size_t i = 1; i + 1 < LEN; i += 2)
        memcpy(text + i, "\u0301", 2);
    text[LEN - 1] = 'x';
    assert_true(tokenize("none", text, LEN, false, &found));
    assert_int_equal(found.items.len, 1);
    tokens_release(&found);
    for (size_t i = 0; i + 3 <= LEN; i += 3)
        memcpy(text + i, "\uFDFA", 3);
    assert_true(tokenize("none", text, LEN, false, &found));
    assert_int_equal(found.items.len, 1);
    assert_true(utf8_valid(found.items.items[0].word, strlen(found.items.items[0].word)));
    tokens_release(&found);
}

static uint32_t chance(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static struct buf random_text(uint64_t *seed)
{
    static const char *const parts[] = {
        "a",  "The ", "日", "ﾊ",        "ﾞ",  "\u0301",   "👍",      "🏽", " ",
        "'",  "\xff", "9",  "\xe2\x80", "한", "ß",        "\u200d", "🇩",    "ing ",
        "\n", "É",    "-",  "ี",         "ั",   "\xf0\x9f", "xY",     "HTTP"};
    struct buf text = BUF_INIT;
    for (uint32_t left = chance(seed, 60); left > 0; left--)
        buf_addstr(&text, parts[chance(seed, sizeof parts / sizeof *parts)]);
    return text;
}

/* Places and bytes rise, words are valid, and the same text gives the same words. */
TEST(any_text)
{
    static const char *const languages[] = {"english", "german", "turkish", "auto", "none"};
    uint64_t seed = support_seed();
    for (size_t round = 0; round < suite_sample(600, 3000); round++) {
        AUTO(buf_release) struct buf text = random_text(&seed);
        AUTO(tokens_release) struct tokens found = {0}, again = {0};
        const char *language = languages[chance(&seed, 5)];
        tokenize(language, text.data, text.len, false, &found);
        tokenize(language, text.data, text.len, false, &again);
        assert_int_equal(found.items.len, again.items.len);
        for (size_t i = 0; i < found.items.len; i++) {
            const struct token *t = &found.items.items[i];
            assert_string_equal(t->word, again.items.items[i].word);
            assert_true(t->start < t->end && t->end <= text.len);
            assert_true(*t->word && utf8_valid(t->word, strlen(t->word)));
            bool same = i > 0 && t[-1].place == t->place;
            assert_true(!same || ((t->also || t->in_identifier) && t->start < t[-1].end));
            assert_true(i == 0 || (t[-1].start <= t->start && t[-1].place + !same == t->place));
        }
    }
}
