/* Waits until files of other agents' histories change: with inotify, else by time. */
#ifndef IMPORT_WATCH_H
#define IMPORT_WATCH_H

#include "base/wakeup.h"
#include "store/store.h"

struct import_watch;

/* Both are borrowed. */
struct import_watch_options {
    const struct text_list *paths; /* as for import_scan(), absolute */
    const char *from;              /* likewise */
    int folders;                   /* at most watched; 0: as many as is usual, below 0: none */
    int poll_ms; /* between two scans where folders are not watched; 0: as is usual */
};
struct import_watch *import_watch_new(const struct import_watch_options *o);
void import_watch_free(struct import_watch *w); /* NULL is fine */

/* A scan that walks through a folder of the places tells it before it reads the folder. */
void import_watch_folder(struct import_watch *w, const char *path);

/* Waits for changes, which are joined until nothing comes for a moment, at most a second. */
enum import_event {
    IMPORT_STOPPED, /* the wakeup said so */
    IMPORT_QUIET,   /* nothing came for timeout_ms (below 0: this never happens) */
    IMPORT_CHANGED  /* `changed` are the files and new folders, to be freed by the caller; none:
                       everything is to be scanned, which is so at the first call */
};
enum import_event import_watch_wait(struct import_watch *w, const struct wakeup *wakeup,
                                    int timeout_ms, struct text_list *changed);

/* Whether there are changes for the next wait, besides a scan of everything. */
bool import_watch_came(struct import_watch *w);

/* The scan of the last changes failed: everything is to be scanned, from timeout_ms on. */
void import_watch_again(struct import_watch *w, int timeout_ms);

#endif
