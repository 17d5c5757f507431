/* The table of targets: X(NAME, longest input). fuzz_NAME() is in tests/fuzz/NAME.c. */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#define FUZZ_TARGETS(X)                                                                            \
    X(lines, 65536)                                                                                \
    X(sse, 65536)                                                                                  \
    X(utf8, 65536)

#endif
