/* What is known of models: data/models.ini, which [model NAME] of the configuration extends. */
#ifndef PROVIDER_MODELS_H
#define PROVIDER_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/usage.h"
#include "config/config.h"

struct model_facts {
    int64_t window;     /* tokens; 0 unknown */
    int64_t max_output; /* tokens; 0 unknown */
    struct price price; /* negative fields unknown */
};

/* An entry fits a model when it is its name or a prefix of it that ends at "-", "." , ":" or "@";
 * the longest wins, the configuration's before the built-in. A vendor prefix ("openai/…") is
 * ignored unless an entry has it; case is ignored. Fields that the winner leaves out come from the
 * next shorter; a built-in price holds only for the model itself and its dated snapshots.
 * The table is read at the first call. Any thread. */
struct model_facts models_find(const struct config *config, const char *model);

/* What an answer costs that came from `answered` when `asked`, of this price, was asked: routers
 * and proxies have another model answer, whose price counts. Where that is unknown, so is the cost,
 * unless the configuration has a price for the name that was asked: whoever wrote it knows what is
 * billed. `answered` NULL or "": the server does not say, so it is the one that was asked. `config`
 * NULL: the built-in table alone. */
struct price models_price(const struct config *config, const char *asked,
                          const struct price *asked_price, const char *answered);

#endif
