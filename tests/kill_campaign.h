/* The real program, many at once on one store, each killed or ended by a signal at any call it
 * makes, again and again: what it had acknowledged is kept (tests/kill_model.h), what a kill cut
 * off harms nothing, and nothing is left that nobody owns. Wants <cmocka.h>. */
#ifndef TESTS_KILL_CAMPAIGN_H
#define TESTS_KILL_CAMPAIGN_H

#include <stddef.h>

/* So many rounds; in each up to four programs at once. Prints the seed and what happened. The
 * program's main() begins with kill_watch_launch(). Between support_setup() and support_teardown().
 */
void kill_campaign(size_t rounds);

#endif
