/* Passwords in URLs do not show; a text becomes a part of a path. */
#include "base/environment.h"
#include "tests/suite.h"

TEST(passwords_are_masked)
{
    static const struct {
        const char *url, *shown; /* shown NULL: it has none */
    } cases[] = {
        {"https://user:pass@host/v1", "https://****@host/v1"},
        {"https://token@host", "https://****@host"},
        {"http://u:p@ss@host:80/x@y", "http://****@host:80/x@y"},
        {"http://a:b@[::1]:11434", "http://****@[::1]:11434"},
        {"no http://a:b@c and http://d:e@f/", "no http://****@c and http://****@f/"},
        {"https://host/v1?key=SECRET", "https://host/v1?key=****"},
        {"https://host?a=b&key=c=d#e=f", "https://host?a=****&key=****#e=****"},
        {"https://u@host/v1?key=c and https://d@e?f=",
         "https://****@host/v1?key=**** and https://****@e?f="},
        {"https://host?to=http://a:b@c&d=e", "https://host?to=****&d=****"},
        {"https://host/v1", NULL},
        {"https://host/a=b", NULL},
        {"what? a=b", NULL},
        {"https://host/a@b?c@d#e@f", NULL},
        {"https://@host/", NULL},
        {"user@host", NULL},
        {"", NULL},
        {"://", NULL},
        {"http://host, mail me@home", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        url_mask(&out, cases[i].url);
        assert_string_equal(out.data, cases[i].shown ? cases[i].shown : cases[i].url);
        assert_int_equal(url_mask(NULL, cases[i].url), cases[i].shown != NULL);
    }
}

TEST(a_text_is_one_segment_of_a_path)
{
    char *text = support_keep(url_escape("a b/c?\xC3\xA4-1.2_x~"));
    assert_string_equal(text, "a%20b%2Fc%3F%C3%A4-1.2_x~");
    assert_string_equal(support_keep(url_escape("")), "");
}
