#include "serve/acp_answer.h"

#include <stdlib.h>

#include "base/mem.h"

bool acp_answer_text(const struct json *result, struct surface_answer_params *out)
{
    out->text = json_get_string(result, "content");
    return out->text != NULL;
}

const char *acp_answer_terminal(const struct json *result)
{
    const char *id = json_get_string(result, "terminalId");
    return id && *id ? id : NULL;
}

void acp_answer_exit(const struct json *exit, int64_t *status, char **signal)
{
    int64_t code = json_get_int(exit, "exitCode", -1);
    const char *name = json_get_string(exit, "signal");
    if (code >= 0 && code <= UINT32_MAX)
        *status = code;
    if (name && *name) {
        free(*signal);
        *signal = mem_strdup(name);
    }
}

bool acp_answer_output(const struct json *result, struct surface_answer_params *out)
{
    out->text = json_get_string(result, "output");
    out->truncated = json_get_bool(result, "truncated", false);
    return out->text != NULL;
}

/* Many say "Internal error" and the rest in data. */
char *acp_answer_refusal(const struct rpc_fault *fault, const char *method)
{
    if (!fault)
        return mem_printf("the editor's answer to %s does not fit", method);
    const char *data = json_string(fault->data);
    const char *details = data ? data : json_get_string(fault->data, "details");
    return mem_printf("the editor refused: %.500s%s%.500s", fault->message, details ? ": " : "",
                      details ? details : "");
}
