/* The project that a directory is in, and the instructions in files for a model. */
#ifndef KNOWLEDGE_PROJECT_H
#define KNOWLEDGE_PROJECT_H

#include "base/vec.h"

/* The resolved path of the Git top level, or else of the directory. A directory that cannot be
 * resolved stands for itself. The caller frees. */
char *project_of(const char *directory);

/* The branch that is checked out there, one clean line; NULL: none is known. The caller frees. */
char *project_branch(const char *directory);

/* AGENTS.md of the person's own configuration, then of each directory from the project's top down
 * to the working directory. CLAUDE.md stands in for an AGENTS.md that is not there. In a project a
 * symbolic link is followed only to Markdown of that project. */

enum { INSTRUCTIONS_FILE_BYTES = 1024 * 1024 /* that are read; more is a fault */ };

struct instruction_file {
    char *path, *text; /* the text clean (utf8_clean()), never blank */
};
struct instructions {
    VEC(struct instruction_file) files;
    char *faults; /* of files that cannot be read, "; " between them; NULL: none */
};
void instructions_release(struct instructions *in);

/* `configuration`: the directory of the person's own. A file that two directories share by links is
 * read once. Does not wait for the writer of a pipe. */
void instructions_read(const char *configuration, const char *directory, struct instructions *out);

#endif
