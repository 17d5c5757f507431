/* The files that a message brings: the names in `attach` of turn/start, as a message mentions them
 * (chat/mention.h). For surfaces, which show what a name would bring. */
#ifndef SESSION_ATTACH_H
#define SESSION_ATTACH_H

#include "chat/mention.h"

/* The kind of thing that a mention names. */
enum attach_kind {
    ATTACH_NOTHING,
    ATTACH_TEXT,
    ATTACH_FOLDER,
    ATTACH_IMAGE,
    ATTACH_REFUSED /* a binary file, one that cannot be read or holds keys */
};

struct attach_look {
    enum attach_kind kind;
    int64_t lines; /* of a text; of a folder: its files */
    int64_t bytes; /* that are sent */
    bool cut;      /* there is more than can be sent */
};

/* Looks at what a name stands for in a directory. Waits for the disk. */
struct attach_look attach_look(const char *directory, const char *name);

/* The file of an image that was taken from the clipboard: "@clipboard:1.png" in a message. It is
 * kept in the state directory for a month; the session has a copy once it is sent. `name`: behind
 * the colon. The caller frees. */
char *attach_clipboard_file(const char *name);

/* The relative paths of the files below a folder in the order of `git ls-files`, without hidden
 * files and those that a .gitignore leaves out. At most `most`, *more then. Waits for the disk. */
void attach_list(const char *folder, size_t most, struct mentions *out, bool *more);

#endif
