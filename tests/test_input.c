/* Bytes of a terminal to keys: any split gives the same keys. */
#include "tests/suite.h"
#include "ui/term/keymap.h"

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

static struct input in;
static struct buf out = BUF_INIT; /* the keys that were read */

static void begin(void)
{
    input_release(&in);
    input_init(&in);
    buf_clear(&out);
}

static int set_up(void **state)
{
    input_init(&in);
    return support_utf8(state);
}

static int tear_down(void **state)
{
    (void)state;
    input_release(&in);
    buf_release(&out);
    return 0;
}

static void add_key(const struct key *key)
{
    bool plain = key->code == K_CHAR && !key->ctrl && !key->shift && key->cp < 128;
    if (key->text)
        buf_addf(&out, "<%s>", key->text);
    else if (plain)
        buf_addf(&out, "%s%c", key->alt ? "M-" : "", (char)key->cp);
    else
        buf_addf(&out, "{%d:%x:%d%d%d:%d,%d}", key->code, (unsigned)key->cp, key->ctrl, key->alt,
                 key->shift, key->row, key->col);
}

/* Reads the keys of further bytes, and with `pause` what they mean if no more come. */
static void take(const char *bytes, size_t len, bool pause)
{
    struct key key;
    input_feed(&in, bytes, len, false);
    while (input_next(&in, false, &key) || (pause && input_next(&in, true, &key))) {
        add_key(&key);
        free(key.text);
    }
}

/* The keys of bytes that come one by one (cut 0), or in two pieces. */
static const char *keys_of(const char *bytes, size_t len, size_t cut, bool pause)
{
    begin();
    for (size_t at = 0; at < len;) {
        size_t piece = cut == 0 ? 1 : at == 0 ? cut : len - at;
        take(bytes + at, piece, pause);
        at += piece;
    }
    return out.data;
}

static void read_as(const char *bytes, bool pause, const char *want)
{
    begin();
    take(bytes, strlen(bytes), pause);
    assert_string_equal(out.data, want);
}

FIXTURE(set_up, tear_down);

/* Alone, and all in one stream that is cut anywhere. */
TEST(test_keys_in_any_split)
{
    AUTO(buf_release) struct buf stream = BUF_INIT, want = BUF_INIT;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        begin();
        add_key(&keys[i].key);
        char *one = support_keep(mem_strdup(out.data));
        read_as(keys[i].bytes, true, one);
        if (keys[i].key.code == K_ESCAPE || keys[i].key.cp == '[')
            continue; /* only the pause after these bytes tells their meaning */
        buf_addstr(&stream, keys[i].bytes);
        buf_addstr(&want, one);
    }
    for (size_t cut = 0; cut <= stream.len; cut++)
        assert_string_equal(keys_of(stream.data, stream.len, cut, false), want.data);
}

/* Sequences that are no key, even if a terminal sends them. */
TEST(test_what_is_no_key)
{
    static const char *const no_keys[] = {
        "\033[57376u", "\033[57441;2u", "\033[55296u",   "\033[9999999u", "\033[133u",
        "\033[0u",     "\033[99;5:3u",  "\033[>1;10;0c", "\033[=13u",     "\033[27;1;1114112~",
        "\033[99~",    "\033[>13;2u",   "\033[<0;1;1m",  "\033OX",        "\033[<32;1;1M",
        "\033[201~",   "\033[>1;2c",    "\033[<66;1;1M"};
    for (size_t i = 0; i < sizeof no_keys / sizeof *no_keys; i++) {
        read_as(no_keys[i], true, "");
        read_as(support_text("%sk", no_keys[i]), false, "k");
    }
}

/* Answers of a terminal, with keys typed between them. A slow line may rest longer than keys do,
 * anywhere but in the first two bytes. */
TEST(test_answers_at_any_split)
{
    static const char answers[] =
        "a\033[?1ub\033P>|kitty(0.26.5)\033\\c\033]99;i=tiro:p=?;a=focus\033\\"
        "d\033[?997;2n\033]11;rgb:fdfd/f6f6/e3e3\007e\033[?62;22cf";
    static const char want[] =
        "a<[?1u>b<P>|kitty(0.26.5)>c<]99;i=tiro:p=?;a=focus>d<[?997;2n>"
        "<]11;rgb:fdfd/f6f6/e3e3>e<[?62;22c>f";
    size_t len = sizeof answers - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        bool in_first = cut == 0 || answers[cut - 1] == 27 || (cut > 1 && answers[cut - 2] == 27);
        assert_string_equal(keys_of(answers, len, cut, false), want);
        if (!in_first || cut == len)
            assert_string_equal(keys_of(answers, len, cut, true), want);
    }
}

/* An unterminated answer holds back neither memory nor keys. */
TEST(test_answers_without_an_end)
{
    static const struct {
        const char *bytes, *then, *want;
    } cases[] = {{"\033]11;rgb:", "hello\r", "{2:0:000:0,0}"}, /* Enter ends it */
                 {"\033]11;rgb:", "\033[A", "{9:0:000:0,0}"},  /* so does another key */
                 {"\033]11;rgb:", "\003", "{1:63:100:0,0}"},   /* and Ctrl-C */
                 {"\033P>|", "x\033\\y", "<P>|x>y"},
                 {"\033[?6", "\r", "{2:0:000:0,0}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_as(cases[i].bytes, true, "");
        assert_false(input_unfinished(&in)); /* or Esc would be waited for again and again */
        take(cases[i].then, strlen(cases[i].then), false);
        assert_string_equal(out.data, cases[i].want);
        read_as(cases[i].bytes, true, "");
        input_feed(&in, "hi", 2, true);
        take("", 0, false);
        assert_string_equal(out.data, "hi");
    }
}

TEST(test_endless_answers_are_bounded)
{
    take("\033]11;", 5, false);
    for (int i = 0; i < 100000; i++) {
        take("0123456789", 10, i % 7 == 0);
        assert_true(in.bytes.len - in.at <= 300);
    }
    take("\033\\x", 3, false);
    assert_string_equal(out.data, "x");
}

/* Some beginnings of an answer are Alt keys. */
TEST(test_alt_keys_that_look_like_answers)
{
    take("\033]x\033Py\033]", 8, true);
    take("11;z", 4, false);
    assert_string_equal(out.data, "M-]xM-PyM-]11;z");
}

TEST(test_paste_across_reads)
{
    static const char bytes[] = "x\033[200~one\ntwo \033[31m\033[201\033[201~y";
    for (size_t cut = 1; cut < sizeof bytes - 1; cut++)
        assert_string_equal(keys_of(bytes, sizeof bytes - 1, cut, false),
                            "x<one\ntwo \033[31m\033[201>y");
}

TEST(test_paste_has_a_limit)
{
    static char block[1 << 20];
    memset(block, 'a', sizeof block);
    take("\033[200~", 6, false);
    for (int i = 0; i < 17; i++) {
        take(block, sizeof block, false);
        assert_int_equal(out.len, 0);
        assert_true(in.bytes.len - in.at < sizeof block);
    }
    take("\033[201~z", 7, false);
    assert_int_equal(out.len, INPUT_PASTE_MAX + strlen("<>z"));
    assert_string_equal(out.data + out.len - 3, "a>z");
}

TEST(test_bound_sequences_win)
{
    input_bind(&in, "\033[A", (struct key){.code = K_F, .cp = 9});
    input_bind(&in, "\033Q1", (struct key){.code = K_F, .cp = 10});
    take("\033[A\033Q", 5, false);
    assert_string_equal(out.data, support_text("{%d:9:000:0,0}", K_F));
    assert_true(input_unfinished(&in));
    buf_clear(&out);
    take("1", 1, false);
    assert_string_equal(out.data, support_text("{%d:a:000:0,0}", K_F));
}

/* Bytes between "ESC [" and the end, around the longest that a key may have. */
static void add_sequence(struct buf *to, size_t parameters, char end)
{
    buf_addstr(to, "\033[");
    for (size_t i = 0; i < parameters; i++)
        buf_addch(to, "1;"[i % 2]);
    buf_addch(to, end);
}

TEST(test_long_sequences_in_any_split)
{
    for (size_t parameters = 55; parameters < 75; parameters++)
        for (size_t e = 0; e < 3; e++) {
            AUTO(buf_release) struct buf stream = BUF_INIT;
            add_sequence(&stream, parameters, "A~\r"[e]);
            buf_addstr(&stream, "5x\033");
            add_sequence(&stream, parameters, "A~\r"[e]);
            buf_addstr(&stream, "y");
            char *whole =
                support_keep(mem_strdup(keys_of(stream.data, stream.len, stream.len, false)));
            assert_non_null(strstr(whole, "5x"));
            for (size_t cut = 0; cut < stream.len; cut++)
                assert_string_equal(keys_of(stream.data, stream.len, cut, false), whole);
        }
}

/* Bytes after a pause do not belong to the sequence before it. */
TEST(test_long_sequence_without_an_end)
{
    AUTO(buf_release) struct buf stream = BUF_INIT;
    add_sequence(&stream, 100, '1');
    take(stream.data, stream.len, false);
    assert_int_equal(in.bytes.len, in.at); /* nothing of it is kept */
    assert_true(input_unfinished(&in));
    take("", 0, true);
    assert_false(input_unfinished(&in));
    take("5", 1, false);
    assert_string_equal(out.data, "5");
}

/* A byte that is no UTF-8 becomes U+FFFD once the next byte shows it; nothing after it is lost. */
TEST(test_bytes_that_are_no_text)
{
    read_as("\xe9", false, "");
    take("a", 1, false);
    assert_string_equal(out.data, support_text("{%d:fffd:000:0,0}a", K_CHAR));
}
