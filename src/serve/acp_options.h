/* What a client of the Agent Client Protocol can choose for a session: model, compaction mode and
 * tools, as the protocol's configuration options; the tools also as session modes, for clients that
 * know those alone. Pure. */
#ifndef SERVE_ACP_OPTIONS_H
#define SERVE_ACP_OPTIONS_H

#include <stdbool.h>

#include "base/json_out.h"
#include "base/vec.h"

/* As a session has them now. Texts are owned. */
struct acp_options {
    char *provider, *model; /* NULL: not known yet */
    VEC(char *) models;     /* of the provider; none: not known, or it lists none */
    VEC(char *) providers;  /* others that can be chosen */
    char *compaction;       /* mode; NULL: histories are not shortened */
    char *tools;            /* "none", "read" or "full" */
};
void acp_options_release(struct acp_options *o);

/* The list of the member configOptions, and the object of modes. */
void acp_options_write(const struct acp_options *options, struct json_out *o);
void acp_options_write_modes(const struct acp_options *options, struct json_out *o);

/* The one with this id; none: ACP_OPTION_UNKNOWN. */
enum acp_option { ACP_OPTION_MODEL, ACP_OPTION_COMPACTION, ACP_OPTION_TOOLS, ACP_OPTION_UNKNOWN };
enum acp_option acp_option_find(const char *id);

/* The value is what the session has now; of the model as acp_options_split_model(). */
void acp_options_choose(struct acp_options *options, enum acp_option option, const char *value);

/* Whether the value is one that was offered. Any model may be named, listed or not. */
bool acp_option_takes(enum acp_option option, const char *value);

/* "provider/model", "provider", or a model of the present provider, in its two parts; NULL: not
 * named. The caller frees both. */
void acp_options_split_model(const struct acp_options *options, const char *value, char **provider,
                             char **model);

#endif
