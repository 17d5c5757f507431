/* Shared by the parts of the kill campaign. */
#ifndef TESTS_KILL_PRIVATE_H
#define TESTS_KILL_PRIVATE_H

#include "tests/kill_model.h"
#include "tests/kill_script.h"
#include "tests/kill_watch.h"
#include "tests/model_server.h"
#include "tests/support.h"

enum { KILL_DEADLINE_MS = 30000 };

/* The directory of the campaign, and the model of its state. */
struct kill_stage {
    struct kill_model model;
    struct model_server *server;
    char *data, *config, *work, *exports, *database, *ini;
    int number;                 /* of questions, imports and files; increases */
    struct kill_texts promises; /* SQL whose first column must not be 0 after this round */
    size_t ended[4];            /* ended alone, by SIGKILL, by another signal, with an error */
    size_t chats, promised;
    size_t commands_left; /* commands that ran on after their program was killed */
};

size_t kill_below(size_t n);

void kill_promise(struct kill_stage *stage, const char *sql);

/* A random existing session, newer ones more often; NULL if there is none. */
struct kill_session *kill_choose_session(const struct kill_stage *stage);

/* --- programs without a terminal (kill_commands.c) --- */

struct kill_op;

struct kill_command {
    const char *name;
    int weight; /* relative frequency */
    /* Adds the command's arguments and the state that it tries; returns false if it has no
     * target. */
    bool (*begin)(struct kill_stage *stage, struct kill_op *op);
    void (*told)(struct kill_stage *stage, struct kill_op *op);  /* after exit status 0; or NULL */
    void (*after)(struct kill_stage *stage, struct kill_op *op); /* however it ended; or NULL */
    long most; /* most calls that one run made so far */
};

struct kill_op {
    struct kill_command *kind;
    struct kill_texts args;
    struct kill_session *session; /* NULL: none, or a new one */
    struct kill_entry *entry;
    struct kill_setting *setting;
    int number;
    enum kill_plan plan;
    char word[KILL_WORD_LEN + 1];
    char *value, *path;
    struct kill_texts words;
    const char *until; /* text after which the program does nothing more */
    int signal_number;
    struct kill_watch *watch;
    struct support_child child;
    int status;
};

/* Returns false if the chosen command has no target. */
bool kill_op_start(struct kill_stage *stage, struct kill_op *op);
void kill_op_finish(struct kill_stage *stage, struct kill_op *op); /* and releases */
void kill_commands_print(void);

/* The call at which to hit a program that made up to `most` calls so far, and the signal. 0:
 * none. */
struct kill_moment {
    long at;
    int signal_number;
};
struct kill_moment kill_choose_moment(long most);
void kill_trace(const char *name, const char *argument, int status, long calls);
void kill_count_end(struct kill_stage *stage, int status);

/* --- a person at a terminal (kill_chat.c) --- */

void kill_chat(struct kill_stage *stage);

#endif
