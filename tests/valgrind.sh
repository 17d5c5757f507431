#!/bin/sh
# Stands for the program (TIRO) in a test that is to run under valgrind:
#
#     make -C build valgrind
#
# An error or a block that is lost ends the program with status 99, which no test expects; what was
# found is in $BUILD_DIR/valgrind/. Each entry of valgrind.supp has its reason.
exec valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --num-callers=30 --child-silent-after-fork=yes \
    --suppressions="$SOURCE_DIR/tests/valgrind.supp" --log-file="$BUILD_DIR/valgrind/%p.log" \
    "$BUILD_DIR/tiro" "$@"
