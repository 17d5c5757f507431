/* Bytes of a terminal to keys: any split gives the same keys. */
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "tests/support.h"
#include "ui/term/keymap.h"

static struct key one(const char *bytes, size_t len)
{
    struct input in;
    struct key key = {0}, more;
    input_init(&in);
    input_feed(&in, bytes, len);
    if (!input_next(&in, false, &key))
        assert_true(input_next(&in, true, &key));
    assert_false(input_next(&in, true, &more));
    input_release(&in);
    return key;
}

static const struct {
    const char *bytes;
    struct key key;
} keys[] = {
    {"a", {.code = K_CHAR, .cp = 'a'}},
    {"\xc3\xa9", {.code = K_CHAR, .cp = 0xe9}},
    {"\xf0\x9f\x98\x80", {.code = K_CHAR, .cp = 0x1f600}},
    {"\r", {.code = K_ENTER}},
    {"\n", {.code = K_CHAR, .cp = 'j', .ctrl = true}},
    {"\t", {.code = K_TAB}},
    {"\x01", {.code = K_CHAR, .cp = 'a', .ctrl = true}},
    {"\x1f", {.code = K_CHAR, .cp = '_', .ctrl = true}},
    {"\x7f", {.code = K_BACKSPACE}},
    {"\033", {.code = K_ESCAPE}},
    {"\033b", {.code = K_CHAR, .cp = 'b', .alt = true}},
    {"\033\xc3\xa9", {.code = K_CHAR, .cp = 0xe9, .alt = true}},
    {"\033\r", {.code = K_ENTER, .alt = true}},
    {"\033\x7f", {.code = K_BACKSPACE, .alt = true}},
    {"\033[", {.code = K_CHAR, .cp = '[', .alt = true}},
    {"\033[A", {.code = K_UP}},
    {"\033OA", {.code = K_UP}},
    {"\033[1;5D", {.code = K_LEFT, .ctrl = true}},
    {"\033[1;3C", {.code = K_RIGHT, .alt = true}},
    {"\033[1;2A", {.code = K_UP, .shift = true}},
    {"\033\033[D", {.code = K_LEFT, .alt = true}},
    {"\033[H", {.code = K_HOME}},
    {"\033[1;5H", {.code = K_HOME, .ctrl = true}},
    {"\033[7~", {.code = K_HOME}},
    {"\033[5~", {.code = K_PAGE_UP}},
    {"\033[3;5~", {.code = K_DELETE, .ctrl = true}},
    {"\033[Z", {.code = K_BACKTAB}},
    {"\033OP", {.code = K_F, .cp = 1}},
    {"\033[13~", {.code = K_F, .cp = 3}},
    {"\033[[C", {.code = K_F, .cp = 3}},
    {"\033[24~", {.code = K_F, .cp = 12}},
    {"\033[13;3u", {.code = K_ENTER, .alt = true}},
    {"\033[13;2u", {.code = K_ENTER, .shift = true}},
    {"\033[27;2;13~", {.code = K_ENTER, .shift = true}},
    {"\033[27u", {.code = K_ESCAPE}},
    {"\033[99;5u", {.code = K_CHAR, .cp = 'c', .ctrl = true}},
    {"\033[1089::99;5u", {.code = K_CHAR, .cp = 'c', .ctrl = true}},
    {"\033[97;4u", {.code = K_CHAR, .cp = 'A', .alt = true, .shift = true}},
    {"\033[44:60;4u", {.code = K_CHAR, .cp = '<', .alt = true, .shift = true}},
    {"\033[45:95;6u", {.code = K_CHAR, .cp = '_', .ctrl = true, .shift = true}},
    {"\033[47;5u", {.code = K_CHAR, .cp = '_', .ctrl = true}},
    {"\033[91;5u", {.code = K_ESCAPE}},
    {"\033[105;5u", {.code = K_TAB}},
    {"\033[104;5u", {.code = K_BACKSPACE}},
    {"\033[9;2u", {.code = K_BACKTAB}},
    {"\033[57414u", {.code = K_ENTER}},
    {"\033[57417;5u", {.code = K_LEFT, .ctrl = true}},
    {"\033[99;133u", {.code = K_CHAR, .cp = 'c', .ctrl = true}}, /* and Num Lock */
    {"\033[I", {.code = K_FOCUS_IN}},
    {"\033[O", {.code = K_FOCUS_OUT}},
    {"\033[27;5;106~", {.code = K_CHAR, .cp = 'j', .ctrl = true}},
    {"\033[<64;10;5M", {.code = K_WHEEL_UP, .row = 4, .col = 9}},
    {"\033[<65;1;1M", {.code = K_WHEEL_DOWN}},
    {"\033[<0;3;2M", {.code = K_CLICK, .row = 1, .col = 2}},
    {"\033[M \x21\x22", {.code = K_CLICK, .row = 1}},
};

static void assert_key(const struct key *got, const struct key *want, const char *bytes)
{
    if (got->code != want->code || got->cp != want->cp || got->ctrl != want->ctrl ||
        got->alt != want->alt || got->shift != want->shift || got->row != want->row ||
        got->col != want->col)
        fail_msg("ESC%s: code %d cp %u ctrl %d alt %d shift %d at %d,%d", bytes + 1, got->code,
                 (unsigned)got->cp, got->ctrl, got->alt, got->shift, got->row, got->col);
}

BEFORE_ALL(support_utf8);

TEST(test_keys)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct key key = one(keys[i].bytes, strlen(keys[i].bytes));
        assert_key(&key, &keys[i].key, keys[i].bytes);
    }
}

/* Sequences that are no key, even if a terminal sends them. */
TEST(test_what_is_no_key)
{
    static const char *const no_keys[] = {"\033[57376u",   "\033[57441;2u", "\033[55296u",
                                          "\033[9999999u", "\033[133u",     "\033[27;1;1114112~",
                                          "\033[0u",       "\033[99;5:3u",  "\033[>1;10;0c",
                                          "\033[=13u",     "\033[>13;2u"};
    for (size_t i = 0; i < sizeof no_keys / sizeof *no_keys; i++) {
        struct input in;
        struct key key;
        input_init(&in);
        input_feed(&in, no_keys[i], strlen(no_keys[i]));
        if (input_next(&in, false, &key) || input_next(&in, true, &key))
            fail_msg("ESC%s is a key: code %d cp %u", no_keys[i] + 1, key.code, (unsigned)key.cp);
        input_release(&in);
    }
}

/* Answers of a terminal, with keys typed between them. */
static const char answers[] =
    "a\033[?1ub\033P>|kitty(0.26.5)\033\\c\033]99;i=tiro:p=?;a=focus\033\\"
    "d\033[?997;2n\033]11;rgb:fdfd/f6f6/e3e3\007e\033[?62;22cf";
static const char answers_read[] =
    "a<[?1u>b<P>|kitty(0.26.5)>c<]99;i=tiro:p=?;a=focus>d<[?997;2n>"
    "<]11;rgb:fdfd/f6f6/e3e3>e<[?62;22c>f";

static void read_into(struct input *in, bool final, struct buf *out)
{
    struct key key;
    while (input_next(in, final, &key)) {
        if (key.code == K_REPLY)
            buf_addf(out, "<%s>", key.text);
        else if (key.code == K_CHAR)
            buf_addf(out, "%s%c", key.alt ? "M-" : "", (char)key.cp);
        else
            buf_addf(out, "{%d}", key.code);
        free(key.text);
    }
}

TEST(test_answers_at_any_split)
{
    size_t len = sizeof answers - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        struct input in;
        struct buf out = BUF_INIT;
        input_init(&in);
        for (size_t at = 0; at < len;) {
            size_t piece = cut == 0 ? 1 : at == 0 ? cut : len - at;
            input_feed(&in, answers + at, piece);
            at += piece;
            read_into(&in, false, &out);
        }
        assert_string_equal(out.data, answers_read);
        buf_release(&out);
        input_release(&in);
    }
}

/* A slow line may rest longer than keys do, anywhere but in the first two bytes. */
TEST(test_answers_may_be_slow)
{
    size_t len = sizeof answers - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        struct input in;
        struct buf out = BUF_INIT;
        bool in_first = (cut > 0 && answers[cut - 1] == 27) || (cut > 1 && answers[cut - 2] == 27);
        if (in_first && answers[cut] != '\0')
            continue;
        input_init(&in);
        input_feed(&in, answers, cut);
        read_into(&in, false, &out);
        read_into(&in, true, &out);
        input_feed(&in, answers + cut, len - cut);
        read_into(&in, false, &out);
        assert_string_equal(out.data, answers_read);
        buf_release(&out);
        input_release(&in);
    }
}

/* An unterminated answer holds back neither memory nor keys. */
TEST(test_answers_without_an_end)
{
    static const struct {
        const char *bytes, *then, *want;
    } cases[] = {{"\033]11;rgb:", "hello\r", "{2}"}, /* Enter ends it */
                 {"\033]11;rgb:", "\033[A", "{9}"},  /* so does another key */
                 {"\033]11;rgb:", "\003", "c"},      /* and Ctrl-C */
                 {"\033P>|", "x\033\\y", "<P>|x>y"},
                 {"\033[?6", "\r", "{2}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct input in;
        struct buf out = BUF_INIT;
        input_init(&in);
        input_feed(&in, cases[i].bytes, strlen(cases[i].bytes));
        read_into(&in, true, &out);
        assert_false(input_unfinished(&in)); /* or Esc would be waited for again and again */
        input_feed(&in, cases[i].then, strlen(cases[i].then));
        read_into(&in, false, &out);
        assert_string_equal(out.data, cases[i].want);
        buf_clear(&out);
        input_release(&in);

        input_init(&in);
        input_feed(&in, cases[i].bytes, strlen(cases[i].bytes));
        read_into(&in, true, &out);
        input_give_up(&in);
        input_feed(&in, "hi", 2);
        read_into(&in, false, &out);
        assert_string_equal(out.data, "hi");
        buf_release(&out);
        input_release(&in);
    }
}

TEST(test_endless_answers_are_bounded)
{
    struct input in;
    struct buf out = BUF_INIT;
    input_init(&in);
    input_feed(&in, "\033]11;", 5);
    for (int i = 0; i < 100000; i++) {
        input_feed(&in, "0123456789", 10);
        read_into(&in, i % 7 == 0, &out);
        assert_true(in.bytes.len - in.at <= 300);
    }
    input_feed(&in, "\033\\x", 3);
    read_into(&in, false, &out);
    assert_string_equal(out.data, "x");
    buf_release(&out);
    input_release(&in);
}

/* Some beginnings of an answer are Alt keys. */
TEST(test_alt_keys_that_look_like_answers)
{
    struct input in;
    struct buf out = BUF_INIT;
    input_init(&in);
    input_feed(&in, "\033]x\033Py\033]", 8);
    read_into(&in, false, &out);
    read_into(&in, true, &out);
    input_feed(&in, "11;z", 4);
    read_into(&in, false, &out);
    assert_string_equal(out.data, "M-]xM-PyM-]11;z");
    buf_release(&out);
    input_release(&in);
}

/* All keys in one stream, cut after every byte, and in two pieces at every position. */
TEST(test_any_split)
{
    struct buf stream = BUF_INIT;
    VEC(size_t) order = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        bool alone = keys[i].key.code == K_ESCAPE || keys[i].key.cp == '[';
        if (!alone) { /* only the pause after these bytes tells their meaning */
            buf_addstr(&stream, keys[i].bytes);
            vec_push(&order, i);
        }
    }
    for (size_t cut = 0; cut <= stream.len; cut++) {
        struct input in;
        struct key key;
        size_t seen = 0;
        input_init(&in);
        for (size_t at = 0; at < stream.len;) {
            size_t len = cut == stream.len ? 1 : at == 0 && cut > 0 ? cut : stream.len - at;
            input_feed(&in, stream.data + at, len);
            at += len;
            while (input_next(&in, false, &key)) {
                assert_true(seen < order.len);
                assert_key(&key, &keys[order.items[seen]].key, keys[order.items[seen]].bytes);
                seen++;
            }
        }
        assert_int_equal(seen, order.len);
        input_release(&in);
    }
    buf_release(&stream);
    vec_release(&order);
}

TEST(test_paste_across_reads)
{
    static const char bytes[] = "x\033[200~one\ntwo \033[31m\033[201\033[201~y";
    for (size_t cut = 1; cut < sizeof bytes - 1; cut++) {
        struct input in;
        struct key key;
        struct buf texts = BUF_INIT;
        input_init(&in);
        for (int piece = 0; piece < 2; piece++) {
            input_feed(&in, piece ? bytes + cut : bytes, piece ? sizeof bytes - 1 - cut : cut);
            while (input_next(&in, false, &key)) {
                if (key.code == K_PASTE)
                    buf_addf(&texts, "<%s>", key.text);
                else
                    buf_addch(&texts, (char)key.cp);
                free(key.text);
            }
        }
        assert_string_equal(texts.data, "x<one\ntwo \033[31m\033[201>y");
        buf_release(&texts);
        input_release(&in);
    }
}

TEST(test_paste_has_a_limit)
{
    struct input in;
    struct key key;
    static char block[1 << 20];
    memset(block, 'a', sizeof block);
    input_init(&in);
    input_feed(&in, "\033[200~", 6);
    for (int i = 0; i < 17; i++) {
        input_feed(&in, block, sizeof block);
        assert_false(input_next(&in, false, &key));
        assert_true(in.bytes.len - in.at < sizeof block);
    }
    input_feed(&in, "\033[201~z", 7);
    assert_true(input_next(&in, false, &key));
    assert_int_equal(key.code, K_PASTE);
    assert_int_equal(strlen(key.text), INPUT_PASTE_MAX);
    free(key.text);
    assert_true(input_next(&in, false, &key));
    assert_int_equal(key.cp, 'z');
    input_release(&in);
}

TEST(test_unknown_sequences_are_swallowed)
{
    static const char *const noise[] = {"\033[>1;2c",   "\033[99~", "\033[<32;1;1M",
                                        "\033[<0;1;1m", "\033OX",   "\033[<66;1;1M",
                                        "\033[201~"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        struct input in;
        struct key key;
        input_init(&in);
        input_feed(&in, noise[i], strlen(noise[i]));
        input_feed(&in, "k", 1);
        assert_true(input_next(&in, true, &key));
        assert_int_equal(key.code, K_CHAR);
        assert_int_equal(key.cp, 'k');
        input_release(&in);
    }
}

TEST(test_bound_sequences_win)
{
    struct input in;
    struct key key;
    input_init(&in);
    input_bind(&in, "\033[A", (struct key){.code = K_F, .cp = 9});
    input_bind(&in, "\033Q1", (struct key){.code = K_HOME});
    input_feed(&in, "\033[A\033Q", 5);
    assert_true(input_next(&in, false, &key));
    assert_int_equal(key.code, K_F);
    assert_false(input_next(&in, false, &key));
    assert_true(input_unfinished(&in));
    input_feed(&in, "1", 1);
    assert_true(input_next(&in, false, &key));
    assert_int_equal(key.code, K_HOME);
    input_release(&in);
}

/* All keys of a stream that comes in pieces of these lengths, as a text. */
static char *keys_of(const char *bytes, size_t len, uint64_t *seed, size_t longest)
{
    struct input in;
    struct key key;
    struct buf out = BUF_INIT;
    input_init(&in);
    for (size_t at = 0; at < len;) {
        size_t piece = longest ? 1 + support_random(seed) % longest : len;
        if (piece > len - at)
            piece = len - at;
        input_feed(&in, bytes + at, piece);
        at += piece;
        while (input_next(&in, false, &key)) {
            buf_addf(&out, "%d:%x:%d%d%d:%d,%d:%s ", key.code, (unsigned)key.cp, key.ctrl, key.alt,
                     key.shift, key.row, key.col, key.text ? key.text : "");
            free(key.text);
        }
    }
    input_release(&in);
    return support_keep(buf_take(&out));
}

/* Bytes between "ESC [" and the end, around the longest that a key may have. */
static void add_sequence(struct buf *out, size_t parameters, char end)
{
    buf_addstr(out, "\033[");
    for (size_t i = 0; i < parameters; i++)
        buf_addch(out, "1;"[i % 2]);
    buf_addch(out, end);
}

TEST(test_long_sequences_in_any_split)
{
    uint64_t seed = support_seed();
    for (size_t parameters = 55; parameters < 75; parameters++)
        for (size_t e = 0; e < 3; e++) {
            struct buf stream = BUF_INIT;
            add_sequence(&stream, parameters, "A~\r"[e]);
            buf_addstr(&stream, "5x\033");
            add_sequence(&stream, parameters, "A~\r"[e]);
            buf_addstr(&stream, "y");
            char *whole = keys_of(stream.data, stream.len, NULL, 0);
            assert_non_null(strstr(whole, ":35:000:"));
            for (size_t longest = 1; longest < 100; longest += 7) {
                assert_string_equal(keys_of(stream.data, stream.len, &seed, longest), whole);
            }
            buf_release(&stream);
        }
}

/* Bytes after a pause do not belong to the sequence before it. */
TEST(test_long_sequence_without_an_end)
{
    struct input in;
    struct key key;
    struct buf stream = BUF_INIT;
    input_init(&in);
    add_sequence(&stream, 100, '1');
    input_feed(&in, stream.data, stream.len);
    assert_false(input_next(&in, false, &key));
    assert_int_equal(in.bytes.len, in.at); /* nothing of it is kept */
    assert_true(input_unfinished(&in));
    assert_false(input_next(&in, true, &key));
    assert_false(input_unfinished(&in));
    input_feed(&in, "5", 1);
    assert_true(input_next(&in, false, &key));
    assert_int_equal(key.cp, '5');
    buf_release(&stream);
    input_release(&in);
}

/* A byte that is no UTF-8 becomes U+FFFD once the next byte shows it; nothing after it is lost. */
TEST(test_bytes_that_are_no_text)
{
    struct input in;
    struct key key;
    input_init(&in);
    input_feed(&in, "\xe9", 1);
    assert_false(input_next(&in, false, &key));
    input_feed(&in, "a", 1);
    assert_true(input_next(&in, false, &key));
    assert_int_equal(key.cp, 0xfffd);
    assert_true(input_next(&in, false, &key));
    assert_int_equal(key.cp, 'a');
    input_release(&in);
}
