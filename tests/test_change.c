/* Changes of files: differences of texts, and what is kept of them. */
#include "chat/change.h"
#include "tests/suite.h"

static struct buf text_of(const char *text)
{
    return (struct buf){.data = (char *)(uintptr_t)text, .len = strlen(text)};
}

static const char *difference(const char *before, const char *after)
{
    struct buf out = BUF_INIT;
    const struct buf old = text_of(before), new = text_of(after);
    difference_write(&out, &old, &new, 0);
    return support_keep(buf_take(&out));
}

TEST(a_difference_is_that_of_diff_u)
{
    static const struct {
        const char *before, *after, *hunks;
    } rows[] = {
        {"", "", ""},
        {"a\n", "a\n", ""},
        {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
        {"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
        {"a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
        {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
         "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
        {"1\n2\n3\n4\n5\n6\n7\n8\n", "0\n1\n2\n3\n4\n5\n6\n7\n",
         "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -5,4 +6,3 @@\n 5\n 6\n 7\n-8\n"},
        {"1\n2\n3\n4\n5\n6\n7\n", "0\n1\n2\n3\n4\n5\n6\n",
         "@@ -1,7 +1,7 @@\n+0\n 1\n 2\n 3\n 4\n 5\n 6\n-7\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(difference(rows[i].before, rows[i].after), rows[i].hunks);
}

/* The text that a difference makes of another one, with the marks of what it takes and gives. */
static const char *applied(const char *text, const char *hunks, char takes, char gives)
{
    struct buf out = BUF_INIT;
    char last = '\0';
    int64_t line = 1;
    for (const char *p = hunks; *p; p += strcspn(p, "\n") + 1) {
        size_t len = strcspn(p, "\n") + 1;
        if (*p == '@') {
            long long from = atoll(strchr(p, takes) + 1);
            from += !!strstr(
                support_text("%.*s", (int)strcspn(strchr(p, takes), " @"), strchr(p, takes)), ",0");
            for (; line < from; line++) {
                size_t n = strcspn(text, "\n") + 1;
                buf_add(&out, text, n);
                text += n;
            }
        } else if (*p == '\\') {
            if (last != takes)
                buf_truncate(&out, out.len - 1);
        } else {
            if (*p == takes || *p == ' ') {
                size_t n = strcspn(text, "\n");
                assert_true(n == len - 2 && memcmp(text, p + 1, n) == 0);
                text += n + (text[n] == '\n');
                line++;
            }
            if (*p == gives || *p == ' ')
                buf_add(&out, p + 1, len - 1);
        }
        last = *p;
    }
    buf_addstr(&out, text);
    return support_keep(buf_take(&out));
}

static char *random_text(uint64_t *seed)
{
    struct buf out = BUF_INIT;
    uint64_t lines = support_random(seed) % 30, kinds = 1 + support_random(seed) % 6;
    for (uint64_t i = 0; i < lines; i++)
        buf_addf(&out, "%c\n", 'a' + (int)(support_random(seed) % kinds));
    if (out.len > 0 && support_random(seed) % 4 == 0)
        buf_truncate(&out, out.len - 1);
    return support_keep(buf_take(&out));
}

/* The length of the longest common subsequence of lines of one letter. */
static size_t common(const char *a, const char *b)
{
    static size_t best[64][64];
    size_t n = (strlen(a) + 1) / 2, m = (strlen(b) + 1) / 2;
    memset(best, 0, sizeof best);
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            bool same = a[2 * i] == b[2 * j] && a[2 * i + 1] == b[2 * j + 1];
            size_t skip = best[i + 1][j] > best[i][j + 1] ? best[i + 1][j] : best[i][j + 1];
            best[i][j] = same ? best[i + 1][j + 1] + 1 : skip;
        }
    return best[0][0];
}

TEST(a_difference_leads_from_one_text_to_the_other_and_is_shortest)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 3000; round++) {
        const char *a = random_text(&seed), *b = random_text(&seed);
        struct buf out = BUF_INIT;
        const struct buf old = text_of(a), new = text_of(b);
        struct difference_size size = difference_write(&out, &old, &new, 1);
        const char *hunks = support_keep(buf_take(&out));
        assert_string_equal(applied(a, hunks, '-', '+'), b);
        assert_string_equal(applied(b, hunks, '+', '-'), a);
        size_t lines = (strlen(a) + 1) / 2 + (strlen(b) + 1) / 2;
        assert_int_equal(size.added + size.removed, lines - 2 * common(a, b));
    }
}

/* Their difference is not the shortest one. */
TEST(long_texts_with_little_in_common_take_no_time)
{
    uint64_t seed = 7;
    AUTO(buf_release) struct buf a = BUF_INIT, b = BUF_INIT, out = BUF_INIT;
    for (int i = 0; i < 100000; i++) {
        buf_addf(&a, "%d\n", (int)(support_random(&seed) % 50000));
        buf_addf(&b, "%d\n", (int)(support_random(&seed) % 50000));
    }
    struct difference_size size = difference_write(&out, &a, &b, 1);
    assert_string_equal(applied(a.data, out.data, '-', '+'), b.data);
    assert_in_range(size.added, 1, 100000);
}

/* --- what is kept ----------------------------------------------------------------------------- */

static struct file_change keep(const char *before, const char *after)
{
    struct file_change c = {0};
    const struct buf old = text_of(before ? before : ""), new = text_of(after);
    change_keep(&c, before ? &old : NULL, &new);
    support_keep(c.before);
    support_keep(c.after);
    return c;
}

TEST(short_texts_are_kept_whole)
{
    struct file_change c = keep("one\ntwo\n", "one\n");
    assert_string_equal(c.before, "one\ntwo\n");
    assert_string_equal(c.after, "one\n");
    assert_int_equal(c.line, 0);
    c = keep(NULL, "");
    assert_null(c.before);
    assert_string_equal(c.after, "");
    c = keep("", "new");
    assert_string_equal(c.before, "");
    c = keep("same\n", "same\n");
    assert_null(c.after);
    c = keep("\xff", "text");
    assert_null(c.after);
}

TEST(of_long_texts_the_lines_that_differ_are_kept)
{
    AUTO(buf_release) struct buf a = BUF_INIT, b = BUF_INIT, all = BUF_INIT;
    struct buf hunks = BUF_INIT, whole = BUF_INIT;
    for (int i = 1; i <= 20000; i++) {
        buf_addf(&a, "line %d\n", i);
        buf_addf(&b, "line %d%s\n", i, i == 10000 || i == 10002 ? " changed" : "");
    }
    struct file_change c = keep(a.data, b.data);
    assert_string_equal(c.before,
                        "line 9997\nline 9998\nline 9999\nline 10000\nline 10001\nline 10002\n"
                        "line 10003\nline 10004\nline 10005\n");
    assert_int_equal(c.line, 9997);
    struct difference_size size = change_difference(&c, &hunks);
    difference_write(&whole, &a, &b, 1);
    assert_string_equal(support_keep(buf_take(&hunks)), support_keep(buf_take(&whole)));
    assert_int_equal(size.added, 2);
    assert_int_equal(size.removed, 2);
    for (int i = 0; i < 70000; i++)
        buf_addf(&all, "other\n");
    c = keep(a.data, all.data); /* more than is kept */
    assert_null(c.after);
}
