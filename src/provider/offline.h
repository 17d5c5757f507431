/* The provider without a model: it quotes. It takes the same path as a real one. */
#ifndef PROVIDER_OFFLINE_H
#define PROVIDER_OFFLINE_H

#include "provider/provider.h"

extern const struct provider provider_offline;

#endif
