/* The fixture of a file of tests that needs a store: its database is in the test's directory. The
 * variables belong to the file that includes this. */
#ifndef TESTS_KEPT_H
#define TESTS_KEPT_H

#include "session/catalog.h"
#include "store/store.h"
#include "tests/suite.h"

__attribute__((unused)) static char *path; /* of the database */
static struct store *store;
static struct catalog catalog; /* borrows it */
static struct error e;

static int kept_setup(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    e = (struct error){0};
    if (!store_open(path, STORE_READ_WRITE, &store, &e))
        return -1;
    catalog_borrow(&catalog, store, support_dir(), "");
    return 0;
}

static int kept_teardown(void **state)
{
    catalog_release(&catalog);
    store_close(store);
    store = NULL;
    return support_teardown(state);
}

#endif
