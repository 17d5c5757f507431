#include "base/child_environment.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of names in capital letters. */
static const char *const secrets[] = {
    "*API_KEY", "*ACCESS_KEY*", "*PRIVATE_KEY*", "*TOKEN",   "*TOKEN_*",
    "*SECRET",  "*SECRET_*",    "*PASSWORD*",    "*PASSWD*", "*PASSPHRASE*",
    "*_PASS",   "*CREDENTIAL*", "*AUTH_HEADER",  "TIRO_*"};

static const char *const settings[] = {"TERM=dumb", "PAGER=cat"};

static char *upper_name(const char *variable)
{
    char *name = mem_strndup(variable, strcspn(variable, "="));
    for (char *p = name; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
    return name;
}

static bool is_secret(const char *variable)
{
    bool secret = false;
    char *name = upper_name(variable);
    for (size_t i = 0; !secret && i < sizeof secrets / sizeof *secrets; i++)
        secret = fnmatch(secrets[i], name, 0) == 0;
    free(name);
    return secret;
}

static bool is_replaced(const char *variable)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        size_t len = strcspn(settings[i], "=") + 1;
        if (strncmp(variable, settings[i], len) == 0)
            return true;
    }
    return false;
}

void child_environment_init(struct child_environment *e, char *const *from)
{
    *e = (struct child_environment){0};
    for (; *from; from++)
        if (!is_secret(*from) && !is_replaced(*from))
            vec_push(&e->list, mem_strdup(*from));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        vec_push(&e->list, mem_strdup(settings[i]));
    vec_push(&e->list, NULL);
}

void child_environment_release(struct child_environment *e)
{
    for (size_t i = 0; i < e->list.len; i++)
        free(e->list.items[i]);
    vec_release(&e->list);
}
