/* Reads the prompt of a client of the Agent Client Protocol (it is accepted, or refused with a
 * reason), renders a model's tool call as JSON, and applies and reverts a difference. The input is
 * up to three texts, separated by NULs: a prompt or arguments, a difference, the text that the
 * difference results in. */
#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "serve/acp_private.h"
#include "serve/acp_updates.h"
#include "tests/fuzz/fuzz.h"

static void check_prompt(const char *text)
{
    struct error e = {0};
    struct acp_prompt p;
    AUTO(json_free_local) struct json *blocks = json_parse_foreign(text, strlen(text), &e);
    if (blocks && acp_prompt_read(blocks, &p, &e)) {
        FUZZ_CHECK(utf8_valid(p.text.data, p.text.len) || !utf8_valid(text, strlen(text)));
        for (size_t i = 0; i < p.images.len; i++) {
            const struct acp_image *image = &p.images.items[i];
            AUTO(buf_release) struct buf bytes = {0};
            buf_init(&bytes, 1 << 20);
            if (base64_decode(image->data, &bytes)) {
                auto_free char *again = base64_encode((const unsigned char *)bytes.data, bytes.len);
                FUZZ_CHECK(strlen(again) == strlen(image->data));
            }
        }
        acp_prompt_release(&p);
    } else {
        fuzz_check_error(&e);
        if (blocks)
            acp_prompt_release(&p);
    }
}

/* Written as an object that reads as JSON. */
static void check_call(const char *args, const char *preview)
{
    static const char *const tools[] = {"write_file", "read_file", "unheard of"};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct json_out o = {.buf = &text};
        const struct acp_tool_call call = {
            .id = "1", .tool = tools[i], .args = args, .directory = "/home/ada"};
        json_out_open(&o, '{');
        acp_tool_call_write(&o, &call);
        acp_tool_call_write_preview(&o, &call, preview);
        json_out_close(&o, '}');
        AUTO(json_free_local) struct json *v = json_parse(text.data, text.len, NULL);
        FUZZ_CHECK(v || !utf8_valid(args, strlen(args)) || json_find_nul(text.data, text.len));
    }
}

static size_t add_lines(struct buf *out, char mark, const char *text)
{
    size_t lines = 0;
    for (; *text; lines++) {
        size_t len = strcspn(text, "\n");
        buf_addch(out, mark);
        buf_add(out, text, len);
        buf_addch(out, '\n');
        text += len;
        if (*text == '\n')
            text++;
        else
            buf_addstr(out, "\\ No newline at end of file\n");
    }
    return lines;
}

int fuzz_acp(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_strndup((const char *)data, size);
    const char *end = text + size, *second = text + strlen(text);
    second += second < end;
    const char *third = second + strlen(second);
    third += third < end;
    char *before;
    check_prompt(text);
    check_call(text, second);
    if (acp_difference_undo(second, third, &before))
        free(before);
    /* Checks the difference that replaces all of one text by all of another. */
    AUTO(buf_release) struct buf taken = BUF_INIT, given = BUF_INIT, whole = BUF_INIT;
    auto_free char *found = NULL;
    size_t old = add_lines(&taken, '-', second), new = add_lines(&given, '+', third);
    buf_addf(&whole, "--- a\n+++ a\n@@ -%d,%zu +%d,%zu @@\n%s%s", old > 0, old, new > 0, new,
             taken.data, given.data);
    FUZZ_CHECK(acp_difference_undo(whole.data, third, &found));
    FUZZ_CHECK_SAME(found, second);
    return 0;
}
