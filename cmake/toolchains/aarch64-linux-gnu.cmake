# 64-bit Arm Linux with clang and lld from any machine; headers and libraries are Debian's libc6-dev-arm64-cross and libgcc-12-dev-arm64-cross.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/../DebianCross.cmake)
