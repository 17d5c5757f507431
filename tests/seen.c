#include "tests/seen.h"

#include "base/utf8.h"
#include "tests/suite.h"
#include "ui/term/keymap.h"
#include "ui/term/rows.h"

static void check_clean(const char *text, size_t len)
{
    assert_true(utf8_valid(text, len));
    for (size_t at = 0; at < len;) {
        uint32_t cp;
        at += utf8_decode(text + at, len - at, &cp);
        assert_true(cp >= 0x20 && cp != 0x7f && !(cp >= 0x80 && cp < 0xa0) &&
                    !(cp >= 0x202a && cp <= 0x202e));
    }
}

void seen_check(const struct rows *rows, int width, int height)
{
    assert_int_equal(rows->list.len, height);
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        check_clean(rows->text.data + row->text, row->len);
        assert_int_equal(rows_width(rows, i), width);
    }
}

const char *seen_row(const struct rows *rows, size_t index)
{
    static struct buf text = BUF_INIT;
    assert_true(index < rows->list.len);
    const struct row *row = &rows->list.items[index];
    buf_clear(&text);
    buf_add(&text, rows->text.data + row->text, row->len);
    return text.data;
}

const char *seen_text(const struct rows *rows)
{
    static struct buf text = BUF_INIT;
    buf_clear(&text);
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        size_t len = row->len;
        while (len > 0 && rows->text.data[row->text + len - 1] == ' ')
            len--;
        buf_add(&text, rows->text.data + row->text, len);
        buf_addch(&text, '\n');
    }
    return text.data;
}

size_t seen_find(const struct rows *rows, const char *text)
{
    for (size_t i = 0; i < rows->list.len; i++)
        if (strstr(seen_row(rows, i), text))
            return i;
    return SIZE_MAX;
}

size_t seen_chosen(const struct rows *rows)
{
    const char *pointer = glyph(GLYPH_POINTER);
    for (size_t i = 0; i < rows->list.len; i++)
        if (strncmp(seen_row(rows, i), pointer, strlen(pointer)) == 0)
            return i;
    fail_msg("nothing is chosen");
    return SIZE_MAX;
}

static const struct person *the_person;

void seen_by(const struct person *person)
{
    the_person = person;
}

static char *all_asked(void)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out, "");
    if (the_person->asked)
        the_person->asked(&out);
    return buf_take(&out);
}

static void check(const char *file, int line, const char *asked, const char *const *looks)
{
    const char *text = seen_text(the_person->rows());
    steps_check(file, line, &(struct scenery){text, the_person->entry_rows, asked}, looks);
}

void seen_see(const char *file, int line, const char *const *looks)
{
    auto_free char *asked = all_asked();
    check(file, line, asked, looks);
}

/* The effect that each key must have, where it matters. */
struct wanted {
    const char *file;
    int line;
    bool counts;
    int result;
};

static void press(const struct wanted *w, const struct key *key)
{
    int result = the_person->key(key);
    if (w->counts)
        _assert_int_equal((LargestIntegralType)result, (LargestIntegralType)w->result, w->file,
                          w->line);
}

static void press_key(void *wanted, const char *name)
{
    struct key key = {0};
    if (!key_parse(name, false, &key))
        fail_msg("no such key: %s", name);
    press(wanted, &key);
}

static void type_text(void *wanted, const char *text)
{
    for (size_t at = 0, len = strlen(text); at < len;) {
        struct key key = {.code = K_CHAR};
        at += utf8_decode(text + at, len - at, &key.cp);
        press(wanted, &key);
    }
}

static const struct typist typist = {type_text, press_key};

static void check_since(const char *file, int line, const char *before, const char *const *looks)
{
    auto_free char *asked = all_asked();
    size_t known = strlen(before);
    check(file, line, strncmp(asked, before, known) == 0 ? asked + known : asked, looks);
}

void seen_act(const char *file, int line, const char *const *keys_and_looks)
{
    struct wanted w = {file, line, false, 0};
    auto_free char *before = all_asked();
    steps_type(*keys_and_looks, &typist, &w);
    if (keys_and_looks[1])
        check_since(file, line, before, keys_and_looks + 1);
}

/* Does the step "EFFECT KEYS" and returns true, or returns false if it is another step. */
static bool leads(const char *file, int line, const char *step)
{
    size_t len = strcspn(step, " ");
    for (int i = 0; the_person->effects && the_person->effects[i]; i++)
        if (strlen(the_person->effects[i]) == len &&
            strncmp(the_person->effects[i], step, len) == 0) {
            seen_lead_to(file, line, i, step + len + 1);
            return true;
        }
    return false;
}

void seen_play(const char *file, int line, const char *const *steps)
{
    char *before = mem_strdup("");
    for (; *steps; steps++) {
        if (**steps == '>' || **steps == '=') {
            free(before);
            before = **steps == '>' ? all_asked() : mem_strdup("");
        }
        if (**steps == '>') {
            seen_act(file, line, STEPS(*steps + 1));
        } else if (**steps == '=') {
            if (!leads(file, line, *steps + 1))
                the_person->give(file, line, *steps + 1);
        } else if (**steps == '?' && the_person->look_asked) {
            the_person->look_asked(file, line, *steps + 1);
        } else {
            check_since(file, line, before, STEPS(*steps));
        }
    }
    free(before);
}

void seen_lead_to(const char *file, int line, int result, const char *keys)
{
    struct wanted w = {file, line, true, result};
    steps_type(keys, &typist, &w);
}

char *seen_transcript(struct transcript *t)
{
    struct buf out = BUF_INIT;
    size_t count;
    const struct transcript_row *rows = transcript_rows(t, &count);
    for (size_t i = 0; i < count; i++) {
        buf_addstr(&out, seen_row(rows[i].rows, rows[i].index));
        buf_addch(&out, '\n');
    }
    return buf_take(&out);
}

void seen_transcript_is(struct transcript *t, const char *wanted)
{
    auto_free char *got = seen_transcript(t);
    assert_string_equal(got, wanted);
}

bool seen_transcript_has(struct transcript *t, const char *text)
{
    auto_free char *got = seen_transcript(t);
    return strstr(got, text) != NULL;
}

void seen_transcript_check(const char *file, int line, struct transcript *t,
                           const char *const *looks)
{
    auto_free char *text = seen_transcript(t);
    steps_check(file, line, &(struct scenery){.rows = text}, looks);
}
