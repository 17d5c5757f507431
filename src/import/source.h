/* Histories of other agents. A source is a file and a row of import_sources[] (sources.c): where
 * its files are, how to know one, and how to read it. What it reads it gives to a sink, in order:
 *
 *     import_begin(k, &conversation, e);
 *     import_add(k, &message, e);       for each message
 *     import_end(k, e);
 *
 * The sink knows which messages are there already (by source, conversation and id), so that a
 * source may give everything again: only what is new is stored. It masks secrets, shortens tool
 * results and arguments, and commits now and then. False from it (with `e`) ends the reading. */
#ifndef IMPORT_SOURCE_H
#define IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"
#include "chat/message.h"
#include "chat/usage.h"
#include "store/sql.h"
#include "store/store.h"

enum { IMPORT_HEAD_BYTES = 4096 };

/* A regular file that is open for reading. */
struct import_file {
    const char *path; /* for people, and for what a name says; "export.zip/conversations.json" */
    int fd;
    struct stat stat;
    char head[IMPORT_HEAD_BYTES]; /* its first bytes */
    size_t head_len;
    bool sqlite; /* it is a database */
    /* Where the last reading ended; 0: read it from the beginning. Above 0 the bytes before it are
     * those that were read. A source that reads whole files ignores it. */
    int64_t offset;
    /* Set by the source before each import_add(), and at its end: a later reading may begin there,
     * because all before it was given to the sink. 0: there is no such place. */
    int64_t done;
    int64_t mark; /* the source's own, kept with `done`; 0 before the first reading */
    int64_t tip;  /* the sink's: the newest message of its conversation after the last reading */
};

struct import_sink;

struct import_source {
    const char *name;  /* a word, as in [import] sources and from:NAME */
    const char *label; /* "Claude Code" */
    /* Appends files and folders of this user's, which may be missing. */
    void (*places)(struct text_list *out);
    /* Whether a file below a folder may be one, by its path alone; false: it is not opened. */
    bool (*named)(const char *path);
    /* Whether it is one, by its first bytes (of a database: by its tables). Pure but for that. */
    bool (*sniff)(const struct import_file *f);
    bool (*read)(struct import_sink *k, struct import_file *f, struct error *e);
    /* Ids of messages are unique over all conversations: a copy in another one is left out. */
    bool unique_ids;
};

extern const struct import_source *const import_sources[]; /* ends with NULL */

/* NULL: there is none. */
const struct import_source *import_source_find(const char *name);

/* The source of a file; NULL: none knows it. */
const struct import_source *import_source_sniff(const struct import_file *f);

/* ---- what a source gives ---- */

/* The sink copies what it needs; members may be changed until import_end(), which looks at them
 * again (a title often comes last). Texts that import_take() sets are copies. */
struct import_conversation {
    const char *id; /* there; required */
    const char *title;
    const char *directory;
    const char *model;
    const char *parent; /* id of the conversation that it was forked from, or of the one that
                           started it */
    int64_t created_ms, updated_ms; /* 0: those of the messages */
    /* The messages before are not given again: what comes follows the newest of them
     * (import_may_continue()). Else the first one that comes is the first of the conversation. */
    bool continues;
};

struct import_call {
    const char *id, *name;
    const struct json *arguments; /* NULL: text */
    const char *text;             /* may be JSON; NULL: none */
};

struct import_message {
    const char *id;   /* NULL: the sink makes one of its place and text */
    enum role role;   /* USER, ASSISTANT, TOOL (a result; id may be NULL, then call_id) */
    const char *text; /* NULL: none. A message without text or calls is passed over */
    int64_t ms;       /* 0: not known */
    /* Members of an answer: */
    const char *response; /* lines of one response have the same: they are one model call, whose
                             usage counts once; NULL: each is one */
    const char *model;
    struct usage usage; /* USAGE_UNKNOWN; input with what was cached */
    double cost;        /* USD; negative: unknown */
    const struct import_call *calls;
    size_t call_count;
    /* Members of a result: */
    const char *call_id, *tool;
    bool failed;
};

#define IMPORT_MESSAGE(r, t)                                                                       \
    ((struct import_message){.role = (r), .text = (t), .usage = USAGE_UNKNOWN, .cost = -1})

/* Whether the sink wants the conversation: not if it was deleted here, if it is left out by --since
 * or --project, or if `stamp` (above 0: a time or count that changes with it) is that of the last
 * reading. Asking is optional, but saves the reading. */
bool import_wants(struct import_sink *k, const struct import_conversation *c, int64_t stamp);

/* The stamp of the conversation's last reading; 0: it had none; -1: the conversation is new. */
int64_t import_stamp(struct import_sink *k, const char *id);

/* Whether the file's last reading was the newest of the conversation, so that a reading from
 * `offset` may continue it: another file, perhaps an old copy, may have led it another way since.
 */
bool import_may_continue(struct import_sink *k, const char *id);

/* The messages of a conversation come in its order, without those that were taken back. Where the
 * source goes another way than at the last reading, because somebody edited a message or went back,
 * so does the session here. */
bool import_begin(struct import_sink *k, struct import_conversation *c, struct error *e);
bool import_add(struct import_sink *k, const struct import_message *m, struct error *e);
bool import_end(struct import_sink *k, struct error *e);

/* Something that was not understood, by kind: "line", "block:server_tool_use". Never a fault. Kinds
 * that are known and of no interest are not told. */
void import_unknown(struct import_sink *k, const char *kind);

/* Whether branches that were taken back are wanted, too ([import] branches = all). */
bool import_all_branches(const struct import_sink *k);

/* ---- help for readers ---- */

/* Lines of JSON from a file, in bounded memory. */
struct import_lines {
    struct import_file *file;
    struct import_sink *sink; /* is told of lines that are none */
    struct buf line;
    char *chunk;
    size_t at, len;
    int64_t begin, next; /* offsets of the last line, and behind it */
    bool failed;
};
void import_lines_init(struct import_lines *l, struct import_sink *k, struct import_file *f,
                       int64_t offset);
/* The next line that is JSON, which the caller frees; NULL: the end, or with `e` a fault. A last
 * line that is not whole is left for the next reading; a long one (IMPORT_ELEMENT_BYTES), or one
 * that is no JSON, is counted and passed over. */
struct json *import_lines_next(struct import_lines *l, struct error *e);
void import_lines_seek(struct import_lines *l, int64_t offset);
void import_lines_release(struct import_lines *l);

/* For reading from the beginning; fclose() leaves the file open. NULL with `e`. */
FILE *import_file_open(const struct import_file *f, struct error *e);

/* The file's text, whole, into a buffer that holds nothing yet; false with `e`, also for more than
 * IMPORT_ELEMENT_BYTES. */
bool import_file_text(const struct import_file *f, struct buf *out, struct error *e);
/* The file's JSON, whole; NULL with `e`. For files of at most IMPORT_ELEMENT_BYTES. */
struct json *import_file_json(const struct import_file *f, struct error *e);

/* Calls `take` for each element of the file's array, or of the array that is a member of its object
 * ("conversations"; NULL: any first array). An element that cannot be read costs itself, if its end
 * can be found. */
bool import_elements(struct import_sink *k, const struct import_file *f, const char *member,
                     bool (*take)(struct import_sink *k, const struct json *v, void *context,
                                  struct error *e),
                     void *context, struct error *e);

/* Reads a list of prompts, whose lines have these members. Its conversations have the ids of their
 * transcripts: one that was read from a transcript is left alone, and a transcript that is read
 * later replaces the prompts. */
struct import_prompts {
    const char *session, *text, *time, *directory; /* the last may be NULL */
};
bool import_prompts(struct import_sink *k, struct import_file *f, const struct import_prompts *p,
                    struct error *e);

/* Appends the texts of a message in a transcript of Claude Code, but not what that program put in
 * the person's place. `marks`: images and documents leave a mark. */
void import_claude_said(struct buf *out, const struct json *content, bool marks);

/* A foreign database, read-only, within one read transaction: for sql_query(). store_close() closes
 * it. NULL with `e`. */
struct store *import_database(const char *path, struct error *e);
/* Whether it can be read now: it may be damaged, or locked, for which this waits. */
bool import_database_opens(const char *path, struct error *e);
/* Whether it has a table with these columns, separated by blanks. */
bool import_has_columns(struct store *s, const char *table, const char *columns);
/* For sniff(): whether the file is a database with these tables, each "table column column". */
bool import_sniff_tables(const struct import_file *f, const char *const *tables, size_t count);

/* The JSON of a column, which the caller frees; NULL: it is none. */
struct json *import_column(const struct query *q, int column);

/* Milliseconds of a number in seconds, ms or us, or of a text in RFC 3339; 0: unknown. */
int64_t import_time(double number);
int64_t import_time_of(const struct json *v);

/* The member of the first object of the file's head, by a shallow look: whether the name occurs as
 * a member before the head ends. For sniff(). */
bool import_head_has(const struct import_file *f, const char *member);

static inline bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* Whether a path is longer than the ending and has it; the path's last part. */
bool import_ends(const char *path, const char *ending);
const char *import_name(const char *path);

/* Replaces a text, which import_take() or an allocation made, by a copy; not by nothing. */
void import_take(const char **to, const char *text);
/* Frees the texts of a conversation, all of which import_take() or an allocation made. */
void import_conversation_release(struct import_conversation *c);

/* The first element of an array; NULL: it is none, or empty. */
const struct json *import_blocks(const struct json *content);

/* The call of a block {id, name, ARGUMENTS}. */
struct import_call import_call_of(const struct json *block, const char *arguments);

/* Adds each block of type "tool_result", with the ids "ID/1", "ID/2"; `id` may be NULL. */
bool import_add_results(struct import_sink *k, const struct json *content, const char *id,
                        int64_t ms, struct error *e);

/* Appends a text that is not blank, after an empty line. */
void import_add_paragraph(struct buf *out, const char *text);

/* Appends the text of `content`: a string, or blocks with "text" of a type in `types` (NULL ends;
 * NULL: "text", "input_text", "output_text"), separated by empty lines; images leave "[image]". */
void import_add_content(struct buf *out, const struct json *content, const char *const *types);

/* Whether the text begins with one of these; a list ends with NULL. */
bool import_begins(const char *text, const char *const *beginnings);

/* "$NAME/rest" if the variable is set, else "~/rest"; NULL: there is no HOME. The caller frees. */
char *import_home(const char *variable, const char *under_variable, const char *under_home);
/* Appends it to the places. */
void import_place(struct text_list *out, const char *variable, const char *under_variable,
                  const char *under_home);

/* ---- branches: messages that name their parents ---- */

struct import_node {
    uint64_t id, parent; /* hashes */
    int64_t where;       /* the source's: an offset, a row, an index */
    int64_t order;       /* time: the newest leaf has the highest; equal: the later added */
};
struct import_tree {
    VEC(struct import_node) nodes;
};
void import_tree_add(struct import_tree *t, const char *id, const char *parent, int64_t where,
                     int64_t order);
/* The chain that ends with `leaf` (NULL: the newest leaf), from the root, as values of `where`. A
 * parent that is missing ends it; so does a ring. */
struct import_chain {
    VEC(int64_t) where;
};
void import_tree_chain(const struct import_tree *t, const char *leaf, struct import_chain *out);
void import_tree_release(struct import_tree *t);

#endif
