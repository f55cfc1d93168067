#!/usr/bin/env bash
# The README's two commands, also what .ci/run calls, and the longer checks for every night.
#   ./build.sh demo       install, build the compiler, run the main job: find the face in a picture (examples/face)
#   ./build.sh test       install, build everything, run all tests; what follows goes to ctest: ./build.sh test -R lit
#   ./build.sh search     install, build the compiler, look for mistakes with seeds that were never run: ./build.sh search --minutes 30
#   ./build.sh sanitize   the same once more with address and undefined-behaviour sanitizers, in build-sanitize
#   ./build.sh fuzz       libFuzzer on the compiler for ten minutes, or --minutes N (test/fuzz/fuzz.py)
#   ./build.sh nightly    all of these one after the other, the suites that draw with 200 seeds, exported models and clang-tidy on every file: some hours
#   ./build.sh            install, build everything
set -euo pipefail
cd "$(dirname "$0")"
what=${1:-all}
jobs=${JOBS:-$(nproc)}
python="$PWD/build/venv/bin/python"

usage() {
  sed -n '3,9s/^# \{0,1\}//p' "$0"
  exit 1
}
case $what in demo | test | search | sanitize | fuzz | nightly | all) ;; *) usage ;; esac
shift $(($# > 0))

third_party/install.sh build/venv
preset=release
if [[ $what == sanitize || $what == fuzz ]]; then
  preset=sanitize
fi
cmake --preset $preset -DINGOT_PYTHON="$python"
case $what in
demo)
  cmake --build build --parallel "$jobs" --target face
  cmake --build build --target run-face
  ;;
test)
  cmake --build build --parallel "$jobs"
  "$python" test/tools/gate.py build --parallel "$jobs" "$@"
  ;;
search)
  cmake --build build --parallel "$jobs" --target ingot compile-server
  "$python" test/random/search.py --ingot build/bin/ingot --jobs "$jobs" "$@"
  ;;
sanitize)
  cmake --build --preset sanitize --parallel "$jobs"
  "$python" test/tools/gate.py build-sanitize --preset sanitize --parallel "$jobs" "$@"
  ;;
fuzz)
  cmake --build --preset sanitize --parallel "$jobs" --target fuzz-importer fuzz-compile fuzz-sizes
  "$python" test/fuzz/fuzz.py build-sanitize "$@"
  ;;
nightly)
  failed=()
  step() { echo "== $*" && "$@" || failed+=("$*"); }
  step ./build.sh test --nightly
  step "$python" test/random/drawing.py --ingot build/bin/ingot --seeds 200 --jobs "$jobs"
  step "$python" test/random/run.py --ingot build/bin/ingot --bare --target cortex-m4 --seed "$(date +%j)" --cases 3000 -j "$jobs"
  step ./build.sh search --minutes 10 --levels bare:cortex-m4 --suites static,open,mixed,relations,large,winograd,chains
  step ./build.sh search --minutes 60 --levels native,x86-64-v4,x86-64-v3,x86-64-v2
  step "$python" test/style/tidy.py build --all
  step "$python" test/exports/run.py --jobs "$jobs"
  step ./build.sh sanitize
  step ./build.sh fuzz --minutes 30
  printf 'failed: %s\n' "${failed[@]:-nothing}"
  ((${#failed[@]} == 0))
  ;;
all) cmake --build build --parallel "$jobs" ;;
esac
