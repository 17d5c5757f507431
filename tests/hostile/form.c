#include "tests/hostile/form.h"

#include <string.h>

const struct form forms[FORM_COUNT] = {
    {.name = "anthropic",
     .dialect = DIALECT_ANTHROPIC,
     .type = "text/event-stream",
     .frame = "data: @1\n\n",
     .begin = "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\","
              "\"role\":\"assistant\",\"model\":\"@1\",\"content\":[],"
              "\"usage\":{\"input_tokens\":@2,\"output_tokens\":1}}}\n",
     .open = "{\"type\":\"content_block_start\",\"index\":0,"
             "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n",
     .text = "{\"type\":\"content_block_delta\",\"index\":0,"
             "\"delta\":{\"type\":\"text_delta\",\"text\":\"@1\"}}\n",
     .reasoning = "{\"type\":\"content_block_start\",\"index\":1,"
                  "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"@1\"}}\n",
     .call = "{\"type\":\"content_block_start\",\"index\":@1,\"content_block\":{"
             "\"type\":\"tool_use\",\"id\":\"@2\",\"name\":\"@3\",\"input\":{}}}\n"
             "{\"type\":\"content_block_delta\",\"index\":@1,"
             "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"@4\"}}\n"
             "{\"type\":\"content_block_stop\",\"index\":@1}\n",
     .end = "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"@1\"},"
            "\"usage\":{\"input_tokens\":@2,\"output_tokens\":@3}}\n"
            "{\"type\":\"message_stop\"}\n",
     .done = "",
     .stop = "end_turn",
     .call_stop = "tool_use",
     .error = "{\"type\":\"error\",\"error\":{\"type\":\"@1\",\"message\":\"@2\"}}\n",
     .host_variable = "ANTHROPIC_BASE_URL",
     .host_suffix = "",
     .key_variable = "ANTHROPIC_API_KEY"},
    {.name = "openai",
     .dialect = DIALECT_OPENAI,
     .type = "text/event-stream",
     .frame = "data: @1\n\n",
     .begin = "{\"id\":\"c1\",\"model\":\"@1\",\"choices\":[{\"index\":0,"
              "\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],"
              "\"usage\":{\"prompt_tokens\":@2,\"completion_tokens\":1}}\n",
     .open = "",
     .text = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"@1\"}}]}\n",
     .reasoning = "{\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"@1\"}}]}\n",
     .call = "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":@1,"
             "\"id\":\"@2\",\"type\":\"function\",\"function\":{\"name\":\"@3\","
             "\"arguments\":\"@4\"}}]}}]}\n",
     .end = "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"@1\"}]}\n"
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":@2,\"completion_tokens\":@3}}\n",
     .done = "data: [DONE]\n\n",
     .stop = "stop",
     .call_stop = "tool_calls",
     .error = "{\"error\":{\"message\":\"@2\",\"type\":\"@1\",\"code\":\"@1\"}}\n",
     .host_variable = "OPENAI_BASE_URL",
     .host_suffix = "/v1",
     .key_variable = "OPENAI_API_KEY"},
    {.name = "ollama",
     .dialect = DIALECT_OLLAMA,
     .type = "application/x-ndjson",
     .frame = "@1\n",
     .begin = "{\"model\":\"@1\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},"
              "\"prompt_eval_count\":@2,\"done\":false}\n",
     .open = "",
     .text = "{\"message\":{\"role\":\"assistant\",\"content\":\"@1\"},\"done\":false}\n",
     .reasoning = "{\"message\":{\"role\":\"assistant\",\"thinking\":\"@1\"},\"done\":false}\n",
     .call = "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"index\":@1,"
             "\"id\":\"@2\",\"function\":{\"name\":\"@3\",\"arguments\":\"@4\"}}]},"
             "\"done\":false}\n",
     .end = "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,"
            "\"done_reason\":\"@1\",\"prompt_eval_count\":@2,\"eval_count\":@3}\n",
     .done = "",
     .stop = "stop",
     .call_stop = "stop",
     .error = "{\"error\":\"@1: @2\"}\n",
     .host_variable = "OLLAMA_HOST",
     .host_suffix = "",
     .key_variable = NULL},
};

static const char *value_at(const char *const *values, int number)
{
    for (int i = 1; *values != NULL; i++, values++)
        if (i == number)
            return *values;
    return "";
}

void form_fill(struct buf *out, const char *format, const char *const *values)
{
    for (const char *at; (at = strchr(format, '@')) != NULL; format = at + 2) {
        buf_add(out, format, (size_t)(at - format));
        if (at[1] == '@')
            buf_addch(out, '@');
        else
            buf_addstr(out, value_at(values, at[1] - '0'));
    }
    buf_addstr(out, format);
}

void form_events(struct buf *out, const struct form *form, const char *format,
                 const char *const *values)
{
    struct buf filled = BUF_INIT;
    form_fill(&filled, format, values);
    for (char *line = filled.data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        form_fill(out, form->frame, VALUES(line));
    }
    buf_release(&filled);
}
