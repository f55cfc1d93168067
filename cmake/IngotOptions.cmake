# Language level, warnings and build switches, the same for every room.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# The front end dominates with MLIR's headers: -O1 costs nothing and the compiler's own hot paths are in LLVM.
set(CMAKE_CXX_FLAGS_RELEASE "-O1")
set(CMAKE_C_FLAGS_RELEASE "-O2")

option(INGOT_TESTS "Build the tests" ON)
set(INGOT_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter)
if(INGOT_SANITIZE)
  add_compile_options(-fsanitize=${INGOT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${INGOT_SANITIZE})
endif()
