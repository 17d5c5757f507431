#include "session/engine_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"
#include "session/capability.h"

/* --- engine/info, capabilities/get ------------------------------------------------------------ */

static const struct shape_field info_fields[] = {
    SHAPE_FIELD("name", STRING, REQUIRED, SHAPE_AT_TEXT(struct engine_info, name),
                .help = "The program."),
    SHAPE_FIELD("version", STRING, REQUIRED, SHAPE_AT_TEXT(struct engine_info, version),
                .help = "Its version."),
    {0},
};
static const struct shape info_shape = {
    .name = "engine", .size = sizeof(struct engine_info), .fields = info_fields};

static bool run_info(struct operation_context *c, const void *params, void *result, struct error *e)
{
    (void)c, (void)params, (void)e;
    *(struct engine_info *)result = (struct engine_info){.name = mem_strdup(PACKAGE_NAME),
                                                         .version = mem_strdup(PACKAGE_VERSION)};
    return true;
}

const struct operation operation_engine_info = {
    .name = "engine/info",
    .summary = "Tells the program and its version.",
    .authority = AUTHORITY_CLIENT,
    .result = &info_shape,
    .run = run_info,
};

#define CAPABILITY(name, member, what)                                                             \
    SHAPE_FIELD(name, BOOLEAN, REQUIRED, SHAPE_AT(bool, struct capabilities, member), .help = what)

static const struct shape_field capability_fields[] = {
    CAPABILITY("store", store, "Sessions are kept."),
    CAPABILITY("compaction", compaction, "Histories are shortened."),
    CAPABILITY("memory", memory, "What goes is indexed, and can be searched."),
    CAPABILITY("built_store", built_store, "The program can keep sessions."),
    CAPABILITY("built_compaction", built_compaction, "The program can shorten histories."),
    CAPABILITY("built_memory", built_memory, "The program has a memory."),
    {0},
};
static const struct shape capability_shape = {
    .name = "capabilities", .size = sizeof(struct capabilities), .fields = capability_fields};

static bool run_capabilities(struct operation_context *c, const void *params, void *result,
                             struct error *e)
{
    const bool store = capability_store(), compaction = capability_compaction(),
               memory = capability_memory();
    (void)params, (void)e;
    *(struct capabilities *)result = (struct capabilities){
        .store = store && config_boolean(c->config, CONFIG_SESSION_PERSIST),
        .compaction = compaction && config_boolean(c->config, CONFIG_COMPACTION_ENABLED),
        .memory = memory && config_boolean(c->config, CONFIG_MEMORY_ENABLED),
        .built_store = store,
        .built_compaction = compaction,
        .built_memory = memory};
    return true;
}

const struct operation operation_capabilities_get = {
    .name = "capabilities/get",
    .summary = "Tells what build and configuration allow.",
    .authority = AUTHORITY_CLIENT,
    .result = &capability_shape,
    .run = run_capabilities,
};
