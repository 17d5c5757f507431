/* What a project is: the Git top level that a directory is in, or else the directory, by its
 * resolved path. */
#ifndef KNOWLEDGE_PROJECT_H
#define KNOWLEDGE_PROJECT_H

#include "base/vec.h"

/* The caller frees. A directory that cannot be resolved stands for itself. */
char *project_of(const char *directory);

/* What files say to a model: AGENTS.md of the person's own configuration, then of each directory
 * from the project's top (project.h) down to the working directory, the nearer the later. Where a
 * directory has no AGENTS.md its CLAUDE.md stands in for it. In a project a symbolic link is
 * followed to Markdown of that project alone. */

enum { INSTRUCTIONS_FILE_BYTES = 1024 * 1024 /* that are read; more is a fault */ };

struct instruction_file {
    char *path, *text; /* the text clean (utf8_clean()), never blank */
};
struct instructions {
    VEC(struct instruction_file) files;
    char *faults; /* files that are there and cannot be read, "; " between them; NULL: none */
};
void instructions_release(struct instructions *in);

/* `configuration`: the directory of the person's own. A file that two directories share by links is
 * read once. Never waits for what a file's writer does. */
void instructions_read(const char *configuration, const char *directory, struct instructions *out);

#endif
