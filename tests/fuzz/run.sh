#!/bin/sh
# Fuzzes in the build tree, which is the working directory: SECONDS_EACH for each target, JOBS at a
# time. FUZZ names targets; "" is all. With FUZZ_SEED it is the same run again, as far as it gets in
# that time. Fails when anything was found, and says where it is.
set -u

top=${SOURCE_DIR:?} here=tests/fuzz
seeds=$top/tests/fuzz/seeds

# One target: goes on from its corpus, and stops at the first finding.
fuzz_one() {
    name=$1 dictionary=$top/tests/fuzz/dictionaries/$1.dict
    mkdir -p "$here/corpus/$name" "$here/findings/$name" "$here/log"
    set -- -max_total_time="$SECONDS_EACH" -timeout=5 -rss_limit_mb=512 -print_final_stats=1 \
        -max_len="$(max_len "$name")" -artifact_prefix="$here/findings/$name/"
    [ -z "${FUZZ_SEED-}" ] || set -- "$@" -seed="$FUZZ_SEED"
    [ ! -f "$dictionary" ] || set -- "$@" -dict="$dictionary"
    FUZZ=$name TMPDIR=$here/tmp $here/fuzz "$@" "$here/corpus/$name" "$seeds/$name" \
        >"$here/log/$name" 2>&1
    status=$?
    printf '%-16s %s inputs%s\n' "$name" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$here/log/$name")" \
        "$([ $status -eq 0 ] || echo ", A FINDING")"
    return $status
}

max_len() {
    sed -n "s/^ *X($1, \([0-9]*\)).*/\1/p" "$top/tests/fuzz/fuzz.h"
}

tell_finding() {
    sed -n '/ERROR:\|does not hold\|runtime error\|^---/p' "$here/log/$1" | head -n 5
    file=$(sed -n 's/.*Test unit written to //p' "$here/log/$1" | tail -n 1)
    echo "    see $PWD/$here/log/$1"
    echo "    again: FUZZ=$1 $here/fuzz ${file:-FILE}"
    echo "    once it is mended, keep it: cp ${file:-FILE} tests/fuzz/seeds/$1/WHAT-IT-SHOWS"
}

if [ "${1-}" = one ]; then
    fuzz_one "$2" || echo "$2" >>"$here/found"
    exit 0
fi

names=${FUZZ:-$(sed -n 's/^ *X(\([a-z0-9_]*\),.*/\1/p' "$top/tests/fuzz/fuzz.h")}
mkdir -p "$here/tmp"
: >"$here/found"
ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=1}:quarantine_size_mb=32
export ASAN_OPTIONS FUZZ FUZZ_SEED SECONDS_EACH
printf '%s\n' $names | xargs -P "${JOBS:-2}" -n 1 sh "$0" one
rm -rf "$here/tmp"
for name in $(cat "$here/found"); do
    echo "== $name"
    tell_finding "$name"
done
! [ -s "$here/found" ]
