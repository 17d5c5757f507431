/* A SKILL.md: the text below its front matter is a part of the file that begins at a line's
 * start. */
#include <stdlib.h>
#include <string.h>

#include "agent/prompt.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

int fuzz_skill(const uint8_t *data, size_t size)
{
    auto_free char *text = fuzz_text(data, size);
    auto_free char *body = skill_body(text);
    size_t len = strlen(text), rest = strlen(body);
    FUZZ_CHECK(rest <= len && *body != '\n');
    FUZZ_CHECK_SAME(body, text + (len - rest));
    FUZZ_CHECK(rest == 0 || rest == len || text[len - rest - 1] == '\n');
    return 0;
}
