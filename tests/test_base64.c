/* Bytes as text and back. */
#include "base/entropy.h"
#include "tests/suite.h"

/* RFC 4648, section 10. */
static const char *const vectors[][2] = {{"", ""},
                                         {"f", "Zg=="},
                                         {"fo", "Zm8="},
                                         {"foo", "Zm9v"},
                                         {"foob", "Zm9vYg=="},
                                         {"fooba", "Zm9vYmE="},
                                         {"foobar", "Zm9vYmFy"}};

TEST(the_vectors_of_the_rfc)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        char *text = base64_encode((const unsigned char *)vectors[i][0], strlen(vectors[i][0]));
        assert_string_equal(text, vectors[i][1]);
        assert_true(base64_decode(text, &out));
        assert_string_equal(out.data, vectors[i][0]);
        free(text);
    }
}

TEST(any_bytes_come_back)
{
    uint64_t seed = support_seed();
    for (size_t len = 0; len < 300; len++) {
        unsigned char bytes[300];
        AUTO(buf_release) struct buf out = BUF_INIT;
        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)support_random(&seed);
        auto_free char *text = base64_encode(bytes, len);
        assert_true(base64_decode(text, &out));
        assert_int_equal(out.len, len);
        assert_memory_equal(out.data, bytes, len);
    }
}

TEST(what_is_something_else_is_refused)
{
    static const char *const rows[] = {"Z",    "Zg",     "Zg=",        "====", "=g==", "Zg==Zg==",
                                       "Zm9 ", "Zm9v\n", "Zm\xc3\xa4", "Zg=v", "Zm-_"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        if (base64_decode(rows[i], &out))
            fail_msg("%s", rows[i]);
    }
}

TEST(no_more_is_taken_than_there_is_room_for)
{
    AUTO(buf_release) struct buf out = {0};
    buf_init(&out, 5);
    assert_false(base64_decode("Zm9vYmFy", &out));
}
