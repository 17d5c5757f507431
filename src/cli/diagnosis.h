/* What doctor finds out. Nothing is changed by it. */
#ifndef CLI_DIAGNOSIS_H
#define CLI_DIAGNOSIS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/setup.h"
#include "session/config_operations.h"
#include "session/health.h"
#include "session/notice.h"

struct diagnosis {
    struct setup setup;
    bool config_exists;
    struct engine_info engine;
    bool kept;  /* conversations are: by the build and the configuration */
    bool built; /* with a store */
    bool thorough;
    struct health_report store; /* if built with one */
    VEC(struct report_fact) service; /* "provider", "model", … */
    struct error service_fault;
    const char *term; /* NULL: not set */
    bool to_terminal; /* standard output */
    const char *codeset;
    bool utf8;
    struct orphans orphans;   /* beside the store */
    struct recovery recovery; /* of --recover; copy NULL: none */
};

void diagnosis_begin(struct diagnosis *d);
void diagnosis_release(struct diagnosis *d);

void diagnosis_look_at_store(struct diagnosis *d, bool thorough);
/* Asks the service, and looks at the terminal. */
void diagnosis_complete(struct diagnosis *d);

/* Whether the state is one to be mended by somebody. */
bool diagnosis_store_well(const struct diagnosis *d);
bool diagnosis_well(const struct diagnosis *d);

/* The words of memory are indexed in another language than the configured one. */
bool diagnosis_language_stale(const struct diagnosis *d);

/* "the database … is damaged (detail)", with neither a newline nor an advice. */
void diagnosis_store_text(const struct diagnosis *d, struct buf *out);

void diagnosis_print(const struct diagnosis *d);
struct json *diagnosis_to_json(const struct diagnosis *d);

#endif
