/* The state that the programs of the kill campaign have acknowledged: on standard output, on a
 * terminal, or by exit status 0. Acknowledged state must survive; an unacknowledged operation is
 * there entirely or not at all. A violation fails the test. Include <cmocka.h> first. */
#ifndef TESTS_KILL_MODEL_H
#define TESTS_KILL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/vec.h"
#include "chat/event.h"
#include "store/store.h"

struct kill_texts {
    VEC(char *) items; /* owned */
};
void kill_texts_add(struct kill_texts *t, const char *text);
bool kill_texts_have(const struct kill_texts *t, const char *text);
bool kill_texts_have_all(const struct kill_texts *t, const struct kill_texts *wanted);
void kill_texts_add_all(struct kill_texts *t, const struct kill_texts *more);
void kill_texts_clear(struct kill_texts *t); /* and releases */

/* A value that programs change at the same time. Its final value is one that was acknowledged, or
 * one that was tried, or, if none was acknowledged, the old one. */
struct kill_value {
    char *was; /* NULL: none */
    struct kill_texts told, tried;
};
void kill_value_settle(struct kill_value *v, const char *now, const char *what);
void kill_value_release(struct kill_value *v);

/* A line of event_to_line() that was shown. */
struct kill_line {
    int64_t seq;
    char *text;
};

struct kill_session {
    char id[UUID_LEN + 1];
    bool delete_told, delete_tried;
    bool named; /* its title was set by hand */
    struct kill_value title, archived;
    struct kill_texts labels;    /* told */
    char *draft;                 /* NULL: none */
    struct kill_texts words;     /* words in the log, the title and the draft at the last check */
    size_t words_said;           /* the first of them: words of the log */
    struct kill_texts completed; /* words of completed turns, which a fork copies */
    size_t words_before;         /* the turn that is being looked at */
    VEC(struct kill_line) lines;
    size_t lines_held; /* lines that were found in the log */
};

struct kill_entry {
    char id[32];
    struct kill_value content, pinned; /* pinned: "yes" or "no" */
    bool delete_told, delete_tried;
    bool sure;   /* the import was acknowledged, or one of its entries was seen */
    bool absent; /* an entry of the import was not seen */
    int import;
};

struct kill_setting {
    char *key; /* "ui.notify_after" */
    struct kill_value value;
};

struct kill_model {
    VEC(struct kill_session *) sessions;
    VEC(struct kill_entry *) entries;
    VEC(struct kill_setting *) settings;
    VEC(struct kill_texts) wholes; /* words that must be in one session together or not at all */
    struct kill_texts gone;        /* words of deleted sessions and entries */
    struct kill_texts typed;       /* text typed into chats since: a draft is a prefix of one of
                                    * these */
    struct kill_texts drafts;      /* drafts at the start: a new session may have one of these */
    size_t lines_shown, deletes_told;
};

void kill_model_release(struct kill_model *m);

/* NULL when it is not known. */
struct kill_session *kill_model_session(const struct kill_model *m, const char *id);
struct kill_session *kill_model_add_session(struct kill_model *m, const char *id);
struct kill_entry *kill_model_add_entry(struct kill_model *m, const char *id, const char *content,
                                        int import);
struct kill_setting *kill_model_setting(struct kill_model *m, const char *key);

/* Records a line that was shown; deltas are no promise. */
void kill_session_shown(struct kill_model *m, struct kill_session *s, const char *line);

/* Call it after all programs have ended: compares the store with the model, then makes the store's
 * state the model's. `store` NULL: no store exists. */
void kill_model_settle_sessions(struct kill_model *m, struct store *store);
void kill_model_settle_entries(struct kill_model *m, const char *exported); /* a line each */
void kill_model_settle_settings(struct kill_model *m, const char *ini);

#endif
