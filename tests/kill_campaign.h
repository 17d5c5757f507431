/* Runs the real program, many at once on one store, and kills each or ends it by a signal at any
 * system call, repeatedly. Acknowledged state must be kept (tests/kill_model.h), interrupted
 * operations must do no harm, and no files without an owner may remain. Include
 * <cmocka.h> first. */
#ifndef TESTS_KILL_CAMPAIGN_H
#define TESTS_KILL_CAMPAIGN_H

#include <stddef.h>

/* Runs `rounds` rounds with up to four programs at once in each. Prints the seed and a report. The
 * program's main() begins with kill_watch_launch(). Call it between support_setup() and
 * support_teardown(). */
void kill_campaign(size_t rounds);

/* Kills a scan of other agents' histories before so many of its calls, which are spread over it, or
 * before each. As kill_campaign(). */
void kill_import(size_t trials);

#endif
