/* What a project is: the Git top level that a directory is in, or else the directory, by its
 * resolved path. */
#ifndef KNOWLEDGE_PROJECT_H
#define KNOWLEDGE_PROJECT_H

/* The caller frees. A directory that cannot be resolved stands for itself. */
char *project_of(const char *directory);

#endif
