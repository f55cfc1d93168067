# 64-bit RISC-V Linux (rv64gc) with clang and lld from any machine; headers and libraries are Debian's libc6-dev-riscv64-cross and libgcc-12-dev-riscv64-cross.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/../DebianCross.cmake)
