/* Where a process keeps its sessions: the file, or memory where that cannot be used, so that nobody
 * is kept from talking; but not where nobody would see that they are not kept. Each thread opens a
 * connection of its own. */
#ifndef SESSION_PLACE_H
#define SESSION_PLACE_H

#include "store/store.h"

struct place;

/* Touches nothing yet. NULL: in memory alone. `kept`: never in memory in place of the file; where
 * that cannot be used nothing is opened, and whoever comes next tries again. */
struct place *place_new(const char *path, bool kept);
/* The file as it is, for reading alone, whatever mode is asked for. Where it cannot be used: an empty
 * one in memory. */
struct place *place_new_reading(const char *path);
bool place_reads(const struct place *p);
/* False for one that reads: nothing is kept. */
bool place_may_write(const struct place *p, struct error *e);
void place_free(struct place *p); /* after the connections; NULL is fine */

/* Any thread. Whoever comes first makes and migrates the file, or finds that it cannot be used; who
 * comes meanwhile waits for that. */
bool place_open(struct place *p, enum store_mode mode, struct store **out, struct error *e);

/* Makes and migrates the file now. False with `e`: it cannot be used, and all will be in memory. */
bool place_settle(struct place *p, struct error *e);

/* Once it was opened. The directory that holds the file; NULL: it is in memory. */
const char *place_directory(const struct place *p);

/* Once it was opened: why the file was not used, for one caller alone; false: it was, there is
 * none, or somebody was told. */
bool place_take_fault(struct place *p, struct error *e);

/* As it was asked for; NULL: in memory alone. */
const char *place_path(const struct place *p);

#endif
