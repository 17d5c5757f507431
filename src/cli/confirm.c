#include "cli/confirm.h"

#include <langinfo.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool confirm_possible(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* In the language of the user. */
static bool means_yes(const char *answer)
{
    regex_t yes;
    if (regcomp(&yes, nl_langinfo(YESEXPR), REG_EXTENDED | REG_NOSUB) != 0)
        return *answer == 'y' || *answer == 'Y';
    bool matches = regexec(&yes, answer, 0, NULL, 0) == 0;
    regfree(&yes);
    return matches;
}

bool confirm(const char *question)
{
    char *answer = NULL;
    size_t size = 0;
    fputs(question, stderr);
    fflush(stderr);
    bool yes = getline(&answer, &size, stdin) > 0 && means_yes(answer);
    free(answer);
    return yes;
}
