/* /pin [N] and /unpin [N]: messages that no compaction takes away. */
#ifndef UI_PIN_H
#define UI_PIN_H

#include "ui/app/app.h"

void pin_run(struct app *app, const char *arguments);
void unpin_run(struct app *app, const char *arguments);

#endif
