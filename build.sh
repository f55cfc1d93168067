#!/usr/bin/env bash
# The README's two commands, also what .ci/run calls.
#   ./build.sh demo   install, build the compiler, run the main job: find the face in a picture (examples/face)
#   ./build.sh test   install, build everything, run all tests
#   ./build.sh        install, build everything
set -euo pipefail
cd "$(dirname "$0")"
what=${1:-all}
jobs=${JOBS:-$(nproc)}

third_party/install.sh build/venv
cmake --preset release -DINGOT_PYTHON="$PWD/build/venv/bin/python"
case $what in
demo)
  cmake --build build --parallel "$jobs" --target face
  cmake --build build --target run-face
  ;;
test)
  cmake --build build --parallel "$jobs"
  ctest --test-dir build --parallel "$jobs" --output-on-failure
  ;;
all) cmake --build build --parallel "$jobs" ;;
*)
  sed -n '2,5s/^# \{0,1\}//p' "$0"
  exit 1
  ;;
esac
