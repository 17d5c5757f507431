#include "provider/provider.h"

#include <stdlib.h>
#include <string.h>

#include "provider/dialects.h"

const struct provider *const providers[] = {&provider_anthropic, &provider_openai, &provider_ollama,
                                            &provider_offline, NULL};

const struct provider *provider_find(const char *name)
{
    for (size_t i = 0; providers[i]; i++)
        if (strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
}

int64_t provider_max_request(const struct config *config)
{
    int64_t configured = config_integer(config, CONFIG_COMPACTION_REQUEST_BYTES);
    return configured > 0 ? configured : PROVIDER_MAX_REQUEST;
}

void response_init(struct response *r)
{
    *r = (struct response){.stop_reason = STOP_OTHER, .usage = USAGE_UNKNOWN};
}

void response_release(struct response *r)
{
    for (size_t i = 0; i < r->blocks.len; i++)
        block_release(&r->blocks.items[i]);
    vec_release(&r->blocks);
    free(r->model);
    response_init(r);
}

void provider_names_release(struct provider_names *n)
{
    vec_free_each(&n->names);
}
