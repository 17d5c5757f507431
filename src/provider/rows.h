/* The providers that speak HTTP, for the table in provider.c. */
#ifndef PROVIDER_ROWS_H
#define PROVIDER_ROWS_H

#include "provider/provider.h"

extern const struct provider provider_anthropic;
extern const struct provider provider_openai;
extern const struct provider provider_ollama;

#endif
