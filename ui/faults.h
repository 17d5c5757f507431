/* What could not be done: said in words, and whatever was asked for comes back. */
#ifndef UI_FAULTS_H
#define UI_FAULTS_H

#include "ui/app.h"

/* A NOTICE_ERROR. */
void faults_take(struct app *app, struct notice *n);

#endif
