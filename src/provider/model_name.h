/* Names of models as people give them, beside those that a server lists. Pure. */
#ifndef PROVIDER_MODEL_NAME_H
#define PROVIDER_MODEL_NAME_H

#include <stdbool.h>

#include "provider/provider.h"

/* Whether the name means one that is listed: itself, an alias of a dated one ("m-1" or "m-1-latest"
 * of "m-1-20260101"), one without its tag ("m" of "m:7b") or without the folder that the server
 * puts in front ("m" of "models/m"). */
bool model_name_is_listed(const char *name, const struct provider_names *listed);

/* The nearest of the list; NULL: none is near. */
const char *model_name_nearest(const char *name, const struct provider_names *listed);

/* The first of the list that chats: servers list what is no chat model, too, and vendors in no
 * useful order. NULL: none does. */
const char *model_name_pick(const struct provider_names *listed);

#endif
