/* Answers whose text is meant for the terminal, the layout or the heap. */
#include "tests/hostile/mode.h"

/* `number` times `text` (inside a JSON string), in pieces of about 64 KiB. */
static void say(struct peer *p, const char *format)
{
    AUTO(buf_release) struct buf piece = BUF_INIT;
    size_t unit = strlen(p->mode->text), left = (size_t)p->mode->number;
    bool ok = answer_begin(p);
    while (ok && left > 0) {
        buf_clear(&piece);
        for (; left > 0 && piece.len + unit < 65536; left--)
            buf_addstr(&piece, p->mode->text);
        ok = peer_events(p, format, VALUES(piece.data));
    }
    if (ok)
        (void)answer_end(p);
}

static void text(struct peer *p)
{
    say(p, p->form->text);
}

static void reasoning(struct peer *p)
{
    say(p, p->form->reasoning);
}

/* Each piece is `text`; `number` pieces, or no end. */
static void pieces(struct peer *p, const char *format)
{
    AUTO(buf_release) struct buf event = BUF_INIT;
    form_events(&event, p->form, format, VALUES(p->mode->text));
    if (answer_begin(p) && peer_repeat(p, event.data, (size_t)p->mode->number))
        (void)answer_end(p);
}

static void text_pieces(struct peer *p)
{
    pieces(p, p->form->text);
}

static void reasoning_pieces(struct peer *p)
{
    pieces(p, p->form->reasoning);
}

/* Every control character of C0 and C1 except NUL, as JSON escapes. */
static void all_controls(struct peer *p)
{
    AUTO(buf_release) struct buf all = BUF_INIT;
    for (int c = 1; c < 0xA0; c = c == 0x1F ? 0x7F : c + 1)
        buf_addf(&all, "\\u%04x31337m;hostile ", (unsigned)c);
    if (answer_begin(p) && peer_events(p, p->form->text, VALUES(all.data)) &&
        peer_events(p, p->form->reasoning, VALUES(all.data)))
        (void)answer_end(p);
}

/* The key in the reasoning and in the text: as it is, as escapes of JSON, and cut into two events
 * of the text (each event of reasoning may be a block of its own). */
static void echoed_key(struct peer *p)
{
    AUTO(buf_release) struct buf escaped = BUF_INIT;
    size_t half = strlen(p->key) / 2;
    for (const char *s = p->key; *s; s++)
        buf_addf(&escaped, "\\u%04x", (unsigned)*s);
    auto_free char *first = mem_printf("a %s b %s c ", p->key, escaped.data);
    auto_free char *cut = mem_printf("%.*s", (int)half, p->key);
    if (answer_begin(p) && peer_events(p, p->form->reasoning, VALUES(first)) &&
        peer_events(p, p->form->text, VALUES(first)) &&
        peer_events(p, p->form->text, VALUES(cut)) &&
        peer_events(p, p->form->text, VALUES(p->key + half)))
        (void)answer_end(p);
}

static void header_row(struct peer *p)
{
    AUTO(buf_release) struct buf table = BUF_INIT;
    for (int row = 0; row < 3; row++) {
        for (long i = 0; i < p->mode->number; i++)
            buf_addstr(&table, row == 1 ? "|-" : "|a");
        buf_addstr(&table, "|\\n");
    }
    if (answer_begin(p) && peer_events(p, p->form->text, VALUES(table.data)))
        (void)answer_end(p);
}

#define ESC "\\u001b"

const struct mode text_modes[] = {
    {"controls", "every control character", all_controls},
    {"key-echoed", "the key in the answer", echoed_key},
    {"nul", "zeros as escapes", text, "a\\u0000b", 10},
    {"title", "the terminal's title", text, ESC "]0;hostile\\u0007" ESC "]2;hostile" ESC "\\\\ ",
     10},
    {"clipboard", "the terminal's clipboard", text, ESC "]52;c;aG9zdGlsZQ==\\u0007 ", 10},
    {"link", "a link of the terminal's", text, ESC "]8;;file:///hostile" ESC "\\\\x" ESC "]8;;",
     10},
    {"device-strings", "strings to the terminal", text,
     ESC "Phostile" ESC "\\\\" ESC "_hostile" ESC "\\\\" ESC "^hostile" ESC "\\\\" ESC
         "Xhostile" ESC "\\\\ ",
     10},
    {"cursor", "moves, colours, other screens", text,
     ESC "[31337;1H" ESC "[31337m" ESC "[?31337h" ESC "[2J" ESC "c" ESC "[?1049l ", 10},
    {"queries", "questions to the terminal", text, ESC "[6n" ESC "[c" ESC "[>q" ESC "Z\\u0005", 10},
    {"c1", "controls of eight bits", text, "\\u009b31337m\\u009d0;hostile\\u009c\\u0090x\\u009c ",
     10},
    {"overprint", "backspaces and returns over what was said", text,
     "rm -rf\\b\\b\\b\\rls \\u000b\\u000c", 100},
    {"bidi", "overrides of direction", text, "\\u202etxt.exe\\u202c\\u2066\\u2067\\u061c\\u200f",
     100},
    {"bidi-open", "10,000 embeddings that nobody ends", text, "\\u202b", 10000},
    {"zero-width", "characters without a width", text, "a\\u200b\\u200c\\u200d\\u2060\\ufeff",
     10000},
    {"tags", "letters that nobody sees", text, "\\udb40\\udc68\\udb40\\udc6f\\udb40\\udc73", 10000},
    {"variations", "variation selectors on a letter", text, "a\\ufe0f\\ufe0e\\udb40\\uddef", 10000},
    {"combining", "100,000 marks on a letter", text, "\\u0301", 100000},
    {"combining-many", "letters of 50 marks each", text,
     "Z\\u0300\\u0301\\u0302\\u0303\\u0304\\u0305\\u0306\\u0307\\u0308\\u0309\\u030a\\u030b"
     "\\u030c\\u030d\\u030e\\u030f\\u0310\\u0311\\u0312\\u0313\\u0314\\u0315\\u0316\\u0317"
     "\\u0318\\u0319\\u031a\\u031b\\u031c\\u031d\\u031e\\u031f\\u0320\\u0321\\u0322\\u0323",
     1000},
    {"joined", "one character of 10,000 people", text, "\\ud83d\\udc69\\u200d", 10000},
    {"regions", "flags without an end", text, "\\ud83c\\udde9", 100000},
    {"jamo", "one syllable of 100,000 letters", text, "\\u1100", 100000},
    {"noncharacters", "characters that are none", text, "\\ufffe\\uffff\\ufdd0\\udbff\\udfff ",
     1000},
    {"private", "characters of nobody", text, "\\ue000\\uf8ff\\udb80\\udc00 ", 1000},
    {"word", "a word of 10 MB", text, "aaaaaaaaaa", 1000000, .kept_mib = 4},
    {"words-wide", "a word of 1 MB of wide characters", text, "\\u6f22", 333333, .kept_mib = 1},
    {"newlines", "a million newlines", text, "\\n", 1000000, .kept_mib = 1},
    {"lines", "300,000 lines", text, "line\\n", 300000, .kept_mib = 2},
    {"blanks-text", "a million blanks", text, " ", 1000000, .kept_mib = 1},
    {"tabs", "a million tabs", text, "\\t", 1000000, .kept_mib = 1},
    {"line-separators", "100,000 separators of lines", text, "\\u2028\\u2029\\u0085", 100000,
     .kept_mib = 1},
    {"quotes", "50,000 quotes in each other", text, ">", 50000},
    {"quotes-lines", "2,000 lines of 200 quotes", text,
     "> > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > "
     "> > > > >"
     "> > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > "
     "> > > a\\n",
     2000},
    {"lists", "50,000 lists in each other", text, "- ", 50000},
    {"lists-numbered", "20,000 numbered lists in each other", text, "1. ", 20000},
    {"brackets", "50,000 brackets", text, "[", 50000},
    {"brackets-closed", "50,000 pairs of brackets", text, "[a](", 50000},
    {"images", "50,000 images in each other", text, "![", 50000},
    {"stars", "100,000 stars", text, "*", 100000},
    {"stars-alternating", "50,000 openings of emphasis", text, "*a **b _c ", 50000},
    {"backticks", "100,000 backticks of changing lengths", text, "` `` ``` ```` ", 10000},
    {"fence", "code without an end", text, "```c\\nint main(void) {\\n", 30000, .kept_mib = 1},
    {"code-strings", "strings that nobody ends, to be coloured", text,
     "```python\\n'''\\\"\\\"\\\"/*\\\\\\n", 30000, .kept_mib = 1},
    {"headings", "100,000 headings", text, "# a\\n", 100000},
    {"rules", "100,000 rules", text, "---\\n", 100000},
    {"entities", "100,000 entities", text, "&amp;&#27;&#x1b;&#0;&#xffffffff;&nbsp", 20000,
     .kept_mib = 1},
    {"html", "tags in each other", text, "<div><b><!--", 20000},
    {"autolinks", "100,000 addresses", text, "http://a.b ", 100000, .kept_mib = 2},
    {"references", "20,000 references", text, "[a]: b\\n[a][a] ", 20000},
    {"pipes", "100,000 pipes", text, "|", 100000},
    {"table-wide", "a table of 10,000 columns", header_row, NULL, 10000},
    {"table-long", "a table of 20,000 rows", text, "|a|b|\\n|-|-|\\n", 20000},
    {"task-lists", "50,000 tasks", text, "- [ ] a\\n", 50000},
    {"text-60m", "an answer of 60 MB", text,
     "The secretary took dictation in a shorthand of his own, and kept. ", 920000, .kept_mib = 4},
    {"text-past-all", "an answer past every limit", text_pieces,
     "The secretary took dictation in a shorthand of his own, and kept the letters "
     "afterwards. ",
     .kept_mib = 4},
    {"letters", "an answer of 100,000 single letters", text_pieces, "a", 100000},
    {"empty-pieces", "empty pieces without an end", text_pieces, "", 0, MODE_ENDLESS},
    {"reasoning-past-all", "reasoning without an end", reasoning,
     "First I think, then I think again, and what I thought before I think once more. ", 2000000,
     .kept_mib = 4},
    {"reasoning-blocks", "blocks of reasoning without an end", reasoning_pieces, "hm", 0,
     MODE_ENDLESS, .kept_mib = 4},
    {"reasoning-controls", "escape sequences in reasoning", reasoning,
     ESC "]0;hostile\\u0007" ESC "[31337m\\u009b31337m ", 100},
    {"reasoning-quotes", "50,000 quotes in reasoning", reasoning, "> ", 50000},
    {.name = NULL},
};
