/* Documents cut into passages: the invariants, and the places of the cuts. */
#include "knowledge/chunk.h"
#include "tests/chunk_check.h"
#include "tests/suite.h"

static const struct document_options *options(void)
{
    static struct document_options o;
    o.limits = document_limits;
    return &o;
}

/* The passages apart by "|", each with its heading before a colon if it has one; kept. */
static char *cut(const char *name, const char *text, size_t most)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    AUTO(chunks_release) struct chunks c = {0};
    struct error e = {0};
    struct buf out = BUF_INIT;
    if (document_load_text(&d, name, text, strlen(text), options(), &e) != DOCUMENT_LOADED)
        fail_msg("%s", e.text);
    chunks_make(&c, &d, most);
    const char *fault = chunks_fault(&c, &d, most, text, strlen(text));
    if (fault)
        fail_msg("%s", fault);
    for (size_t i = 0; i < c.items.len; i++)
        buf_addf(&out, "%s%s%s%s", i ? "|" : "", c.items.items[i].heading,
                 *c.items.items[i].heading ? ":" : "", c.items.items[i].text);
    return support_keep(buf_take(&out));
}

TEST(cuts_are_at_the_strongest_border)
{
    const struct {
        const char *name, *text;
        size_t most;
        const char *passages;
    } rows[] = {
        {"a.txt", "", 10, ""},
        {"a.txt", " \n\t\n", 10, ""},
        {"a.txt", "one\n\ntwo\n\nthree", 8, "one\n\ntwo|three"},
        {"a.txt", "one\n\ntwo\n\nthree", 100, "one\n\ntwo\n\nthree"},
        {"a.txt", "exactly so\n\nnext", 10, "exactly so|next"},
        {"a.txt", "First one. Second one. Third.", 24, "First one. Second one.|Third."},
        {"a.txt", "Ask e.g. him who knows it.", 13, "Ask e.g. him|who knows it."},
        {"a.txt", "\"Is it so?\" He said it. Yes.", 14, "\"Is it so?\"|He said it.|Yes."},
        {"a.txt", "これは文です。次の文です。", 8, "これは文です。|次の文です。"},
        {"a.txt", "words without an end", 10, "words|without an|end"},
        {"a.txt", "aaaaaaaaaaaa", 5, "aaaaa|aaaaa|aa"},
        {"a.txt", "aaae\xCC\x81z", 4, "aaa|e\xCC\x81z"},
        {"a.txt", "e\xCC\x81\xCC\x81\xCC\x81z", 2, "e\xCC\x81|\xCC\x81\xCC\x81|z"},
        {"a.txt", "list:\n- one two\n- three four", 16, "list:\n- one two|- three four"},
        {"a.txt", "short\n\nA long one. It goes on.", 14, "short|A long one.|It goes on."},
        {"a.md", "# A\n\none\n\n## B\n\ntwo\n\n# C\nthree", 100,
         "A:# A\n\none|A › B:## B\n\ntwo|C:# C\nthree"},
        {"a.md", "# A\n## B\ntext", 100, "A › B:# A\n## B\ntext"},
        {"a.md", "# A\n\none two three. Four five six.", 24,
         "A:# A\n\none two three.|A:Four five six."},
        {"a.md", "# A\n# B\ntext", 100, "A:# A|B:# B\ntext"},
        {"a.md", "A\n===\n\none\n\nB *b*\n---\ntwo", 100,
         "A:A\n===\n\none|A › B *b*:B *b*\n---\ntwo"},
        {"a.md", "## A ##\n# \n#x\n####### seven", 100, "A:## A ##\n# \n#x\n####### seven"},
        {"a.md", "```\n# none\n```\n# One", 100, "```\n# none\n```|One:# One"},
        {"a.md", "~~~\n```\n# none\n~~~~\n# One", 100, "~~~\n```\n# none\n~~~~|One:# One"},
        {"a.md", "````\n```\n# none\n````\n# One", 100, "````\n```\n# none\n````|One:# One"},
        {"a.md", "---\ntitle: x\n---\n# One", 100, "---\ntitle: x\n---|One:# One"},
        {"a.c", "int a(void)\n{\n    x;\n}\n\nint b(void)\n{\n    y;\n\n    z;\n}\n", 45,
         "int a(void)\n{\n    x;\n}|int b(void)\n{\n    y;\n\n    z;\n}"},
        {"a.c", "int b(void)\n{\n    y;\n    if (x) {\n        z;\n    }\n    w;\n}\n", 52,
         "int b(void)\n{\n    y;\n    if (x) {\n        z;\n    }|int b(void):    w;\n}"},
        {"a.c", "int b(void)\n{\n    if (x) {\n        z;\n    }\n    w;\n    v;\n}\n", 52,
         "int b(void)\n{\n    if (x) {\n        z;\n    }|int b(void):    w;\n    v;\n}"},
        {"a.py", "def a():\n    if b:\n        c\n    d\n\ndef e():\n    f\n", 30,
         "def a():\n    if b:\n        c|def a()::    d\n\ndef e():\n    f"},
        {"a.c", "int a;\n/* of b */\nint b;\n", 18, "int a;|/* of b */\nint b;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = cut(rows[i].name, rows[i].text, rows[i].most);
        if (strcmp(got, rows[i].passages) != 0)
            fail_msg("%s \"%s\" at %zu:\n%s\nnot\n%s", rows[i].name, rows[i].text, rows[i].most,
                     got, rows[i].passages);
    }
}

/* --- random documents ------------------------------------------------------------------------- */

static const char *const pieces[] = {
    "a",
    "word ",
    "Sentence. ",
    "What? ",
    "\n",
    "\n\n",
    "\r\n",
    "\r\n\r\n",
    "\t",
    "    ",
    "# H\n",
    "## Two\n",
    "### 3\n",
    "Under\n===\n",
    "```\n",
    "~~~\n",
    "- item\n",
    "| a | b |\n",
    "}\n",
    "{\n",
    "// comment\n",
    "int f(x)\n",
    "end\n",
    "ü",
    "日本語。",
    "😀",
    "👩‍👩‍👧‍👦",
    "e\xCC\x81",
    "\xE2\x80\xA8",
    "\xC2\xA0",
    "\x01",
    "\x7F",
    "\f",
    "\xFF",
    "\xE2\x82",
    "\xE2\x80\xAE",
    "\xC2\x85",
    "🇩🇪🇫🇷",
    "---\n",
    "longlonglonglonglonglonglonglonglong",
};

TEST(random_documents_lose_nothing)
{
    static const char *const names[] = {"a.txt", "a.md", "a.c", "a.py", "a.rb", "notes"};
    uint64_t seed = support_seed();
    for (int round = 0; round < (int)suite_sample(1200, 4000); round++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct loaded_document d;
        struct chunks c = {0};
        struct error e = {0};
        const char *name = names[support_random(&seed) % (sizeof names / sizeof *names)];
        size_t most = 1 + support_random(&seed) % (support_random(&seed) % 4 ? 60 : 900);
        size_t count = support_random(&seed) % 200, kinds = 1 + support_random(&seed) % 40;
        for (size_t i = 0; i < count; i++) {
            size_t which = support_random(&seed) % (sizeof pieces / sizeof *pieces);
            buf_addstr(&text, pieces[which % kinds ? which : which / kinds]);
        }
        if (document_load_text(&d, name, text.data, text.len, options(), &e) == DOCUMENT_LOADED) {
            chunks_make(&c, &d, most);
            bool bytes = d.offsets == DOCUMENT_OFFSETS_BYTES;
            const char *fault = chunks_fault(&c, &d, most, bytes ? text.data : NULL, text.len);
            if (fault)
                fail_msg("round %d, %s at %zu: %s in \"%s\"", round, name, most, fault, text.data);
            chunks_release(&c);
            loaded_document_release(&d);
        }
    }
}

TEST(a_passage_is_of_one_page)
{
    AUTO(loaded_document_release) struct loaded_document d = {.text = BUF_INIT};
    AUTO(chunks_release) struct chunks c = {0};
    for (int64_t page = 1; page <= 3; page++) {
        struct document_part p = {.at = d.text.len, .page = page, .len = 9};
        buf_addf(&d.text, "%lld: a b c\n\f", (long long)page);
        vec_push(&d.parts, p);
    }
    chunks_make(&c, &d, 800);
    assert_null(chunks_fault(&c, &d, 800, NULL, 0));
    assert_int_equal(c.items.len, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(c.items.items[i].page, i + 1);
        assert_int_equal(c.items.items[i].byte_from, -1);
        assert_int_equal(c.items.items[i].line_from, 0);
        assert_int_equal(*c.items.items[i].text, '1' + (int)i);
    }
}
