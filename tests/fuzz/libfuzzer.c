/* The face to clang's libFuzzer. FUZZ in the environment names the target. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    const char *name = getenv("FUZZ");
    setlocale(LC_ALL, "C.UTF-8");
    target = name ? fuzz_target_find(name) : NULL;
    if (!target) {
        fprintf(stderr, "FUZZ=NAME in the environment names the target; there are:");
        for (int i = 0; i < FUZZ_TARGET_COUNT; i++)
            fprintf(stderr, " %s", fuzz_targets[i].name);
        fprintf(stderr, "\n");
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return target->run(data, size);
}
