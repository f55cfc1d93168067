#!/bin/sh
# [CXX=clang++] alone.sh INGOT RUNTIME_SUPPORT: the example without CMake and without a library. What is in the folder that this makes is all that
# another machine needs: main.cpp, the model as rising.cpp and rising.h, and the headers and the core of the support library.
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" compile "$here/edges.onnx" --name rising --emit cpp -o "$work" >/dev/null
cp "$here/main.cpp" "$2"/core/*.[ch] "$2"/include/* "$work"
cd "$work"
"${CXX:-g++}" -std=c++17 -O3 -Wall -Wextra -Werror -x c++ *.cpp *.c -o example # the core is C that is C++, too
./example
