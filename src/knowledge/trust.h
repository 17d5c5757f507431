/* The parts of a project that could run something, and whether the user trusts them. A repository
 * is hostile until the user has seen all of its parts. They are gathered once, and what runs is the
 * gathered text: a file that changes later has no effect until it is asked about.
 *
 * Trust is a permission of the project's directory (config/permissions.h) with a SHA-256 of all
 * parts. One changed byte makes another hash, and the user is asked again. Skills of a directory
 * below the top have a permission of their own: so trust in the project holds in all of its
 * directories, and only those that bring more are asked about once more. */
#ifndef KNOWLEDGE_TRUST_H
#define KNOWLEDGE_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "chat/knowledge.h"
#include "config/permissions.h"

struct mcp_servers;

/* The moments at which hooks run. X(NAME, name in [hooks], name of the event in settings.json and
 * on standard input) */
#define HOOKS(X)                                                                                   \
    X(SESSION_START, "session_start", "SessionStart")                                              \
    X(PROMPT, "prompt", "UserPromptSubmit")                                                        \
    X(TOOL_ASK, "tool_ask", "PreToolUse")                                                          \
    X(TOOL_DONE, "tool_done", "PostToolUse")                                                       \
    X(TURN_END, "turn_end", "Stop")                                                                \
    X(PRE_COMPACT, "pre_compact", "PreCompact")                                                    \
    X(POST_COMPACT, "post_compact", "PostCompact")

enum project_part_kind {
    PART_HOOK,   /* name: the event, text: the command, detail: the matcher ("": each time) */
    PART_SERVER, /* name: of an MCP server, text: the command line and more, detail: its JSON */
    PART_FILE,   /* name: the path in the project, text: the content, cut, detail: its hash.
                    A program of a hook; as a link out, of its target's path */
    PART_SKILL   /* name: the path of its Markdown file in the project, text: the description and
                    the names of its files, detail: a hash of all of them */
};

struct project_part {
    enum project_part_kind kind;
    char *name;
    char *text;   /* what would run, in full, for the user to read; as it is, not cleaned */
    char *detail; /* for the code that starts it */
    char *below;  /* directory in the project that brings it; NULL: the top */
};

enum {
    PROJECT_PARTS = 200,             /* at most */
    PROJECT_FILE_BYTES = 1024 * 1024 /* of a file that is read */
};

struct project_parts {
    char *directory; /* the project's top directory (project_of()) */
    char *from;      /* the directory in it for which they are gathered */
    VEC(struct project_part) items;
    char *faults;   /* of what is not among the items and never runs, "; " between; NULL: none */
    size_t bytes;   /* of the items' texts */
    bool excessive; /* there is more than can be shown: these parts are never trusted */
};

/* Gathers the parts of the directory's project. Costs little without parts. Release in any case. */
void project_parts_gather(const char *directory, struct project_parts *out);
void project_parts_release(struct project_parts *p);

/* Appends to `out` what would run, for the user to decide: revealed (utf8_reveal()), the lines of
 * foreign text indented. */
void project_parts_describe(const struct project_parts *p, struct buf *out);

/* Appends their kinds and names in one line, " hook Stop, file check.sh". */
void project_parts_name(const struct project_parts *p, struct buf *out);

/* Whether the files among the parts still have the content that was gathered. */
bool project_parts_unchanged(const struct project_parts *p);

/* Whether the user trusts exactly these parts. An empty list needs no trust, and has none. */
bool trust_holds(const struct project_parts *p);

/* Remembers that the user trusts exactly these parts; what was trusted before of the directories
 * that bring them is forgotten. FORBIDDEN: they are excessive. FILE_ERROR. */
bool trust_grant(const struct project_parts *p, struct error *e);

/* The directories that are trusted. Release it in any case. */
bool trust_list(struct permissions *directories, struct error *e);

/* Whether a permission of a project is its trust, and none of a tool. */
bool trust_is_permission(const char *permission);

/* Takes the trust of a directory back. */
bool trust_revoke(const char *directory, struct error *e);

/* Marks with a fault the project's servers that are not among these parts as they are, and all of
 * them unless the user trusts the parts. */
void trust_mark_servers(const struct project_parts *p, bool trusted, struct mcp_servers *servers);

/* Marks the skills of the project that can be opened and are not among these parts as untrusted,
 * and all of them unless the user trusts the parts. */
void trust_mark_skills(const struct project_parts *p, bool trusted, struct skills *skills);

/* --- for collectors: the functions of the table in trust.c ------------------------------------ */

/* Appends the content of a regular file of the project. No component of the path below the
 * directory may be a link. False: there is no such file; if it cannot be read, or has more than
 * PROJECT_FILE_BYTES, also with a fault. Never waits. */
bool project_parts_read(struct project_parts *p, const char *path, struct buf *out);

/* Copies the texts. `detail` NULL: "". */
void project_parts_add(struct project_parts *p, enum project_part_kind kind, const char *name,
                       const char *text, const char *detail);

/* Adds a file that runs, with its content, or the place outside of the project to which it links. A
 * file that cannot be read makes the parts excessive; one that is not there adds nothing. */
void project_parts_add_file(struct project_parts *p, const char *path);

void project_parts_add_fault(struct project_parts *p, const char *text);

#endif
