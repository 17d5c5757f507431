/* The surface's state (ui/app/app.h) without terminal and service: notices and keys change it;
 * nothing is drawn or sent. */
#ifndef TESTS_STILL_APP_H
#define TESTS_STILL_APP_H

#include "ui/app/app.h"

extern struct app app;

/* For cmocka_unit_test_setup_teardown(): a fresh home, defaults without a bell, a transcript of 100
 * columns and 30 rows. */
int still_app_setup(void **state);
int still_app_teardown(void **state);

/* Notices of the engine: an event, which is taken, and a session, as it is opened or changed. */
void still_app_event(struct event *ev);
void still_app_session(const char *id, const char *title, bool read_only, bool opened);

#endif
