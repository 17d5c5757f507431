/* The options that `tiro chat` and `tiro run` share, and what they make of a conversation. */
#ifndef CLI_SESSION_OPTIONS_H
#define CLI_SESSION_OPTIONS_H

#include "base/buf.h"
#include "base/i18n.h"
#include "base/vec.h"
#include "cli/command_line.h"
#include "config/config.h"
#include "session/engine.h"

enum session_option {
    SESSION_CONTINUE = 100, /* above the ids of the commands' own options */
    SESSION_PROVIDER,
    SESSION_MODEL,
    SESSION_SYSTEM,
    SESSION_FILE,
    SESSION_TOOLS,
    SESSION_ALLOW,
    SESSION_LABEL,
    SESSION_PERSIST,
    SESSION_NO_PERSIST,
    SESSION_COMPACTION,
    SESSION_NO_COMPACTION,
    SESSION_MEMORY,
    SESSION_NO_MEMORY
};

/* Rows of an option table. */
/* clang-format off */
#define SESSION_OPTIONS                                                                            \
    {SESSION_CONTINUE, "continue", 'c', OPTION_FLAG, NULL, N_("continue the last session")},       \
    {SESSION_PROVIDER, "provider", 'p', OPTION_VALUE, "PROVIDER",                                  \
     N_("anthropic, openai, ollama or offline")},                                                  \
    {SESSION_MODEL, "model", 'm', OPTION_VALUE, "MODEL", N_("the model's name")},                  \
    {SESSION_SYSTEM, "system", 's', OPTION_VALUE, "TEXT", N_("system prompt")},                    \
    {SESSION_FILE, "file", 'f', OPTION_VALUE, "FILE",                                              \
     N_("attach a text file to the message; may be repeated")},                                    \
    {SESSION_TOOLS, "tools", 0, OPTION_VALUE, "none|read|full",                                    \
     N_("which tools the model may use")},                                                         \
    {SESSION_ALLOW, "allow", 0, OPTION_VALUE, "LIST",                                              \
     N_("tools or classes of tools that run without asking; may be repeated")},                    \
    {SESSION_LABEL, "label", 'l', OPTION_VALUE, "LABEL",                                           \
     N_("a label for a new session; may be repeated")},                                            \
    {SESSION_PERSIST, "persist", 0, OPTION_FLAG, NULL, N_("save the conversation")},               \
    {SESSION_NO_PERSIST, "no-persist", 0, OPTION_FLAG, NULL, N_("do not save the conversation")},  \
    {SESSION_COMPACTION, "compaction", 0, OPTION_FLAG, NULL,                                       \
     N_("shorten the conversation when it grows too long")},                                       \
    {SESSION_NO_COMPACTION, "no-compaction", 0, OPTION_FLAG, NULL,                                 \
     N_("do not shorten the conversation")},                                                       \
    {SESSION_MEMORY, "memory", 0, OPTION_FLAG, NULL,                                               \
     N_("store dropped messages in memory, where the model can search them")},                     \
    {SESSION_NO_MEMORY, "no-memory", 0, OPTION_FLAG, NULL,                                         \
     N_("neither store dropped messages in memory nor search it")}
/* clang-format on */

/* Rows of a completion table. */
#define SESSION_COMPLETIONS                                                                        \
    {.id = SESSION_PROVIDER, .offer = OFFER_CHOICES, .choices = session_options_providers},        \
        {.id = SESSION_FILE, .offer = OFFER_FILES},                                                \
    {                                                                                              \
        .id = SESSION_TOOLS, .offer = OFFER_CHOICES, .choices = session_options_tools              \
    }

/* What --provider and --tools may be, parted by blanks; the caller frees. */
char *session_options_providers(void);
char *session_options_tools(void);

/* Texts are borrowed from the command line unless told. */
struct session_options {
    const char *provider, *model, *system, *tools, *resume;
    struct buf allow; /* the lists of all --allow; owned */
    char *labels;     /* as session_labels_change() gives them; owned */
    bool read_only;
    int persist, compaction, memory; /* -1: as configured */
    VEC(const char *) files;
};

#define SESSION_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .allow = BUF_INIT, .persist = -1, .compaction = -1, .memory = -1                                         \
    }

void session_options_release(struct session_options *o);

/* Takes one of SESSION_OPTIONS. False with USAGE on a value that does not fit, or with the error of
 * what this program cannot do. */
bool session_options_take(struct session_options *o, int id, const char *value, struct error *e);

/* can_ask is left to the caller. */
struct engine_options session_options_service(const struct session_options *o,
                                              const struct config *config);

/* Appends the files of -f, each under its name in a fence that it cannot break out of. False when
 * one cannot be read, is no UTF-8 text or is over 4 MiB. */
bool session_options_files(const struct session_options *o, struct buf *out, struct error *e);

#endif
