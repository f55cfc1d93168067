# The core of the support library for Cortex-M4 and later, with clang-22 and no C library. Other processors of the family:
# -DCMAKE_C_FLAGS="-mcpu=cortex-m33 -mfloat-abi=softfp" -DCMAKE_C_COMPILER_TARGET=thumbv8m.main-none-eabi
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_C_COMPILER_TARGET thumbv7em-none-eabi CACHE STRING "")
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mfloat-abi=softfp")
set(CMAKE_AR /usr/lib/llvm-22/bin/llvm-ar CACHE FILEPATH "")
set(CMAKE_RANLIB /usr/lib/llvm-22/bin/llvm-ranlib CACHE FILEPATH "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
