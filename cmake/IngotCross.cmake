# The support library and ingot-runner for other machines: for each cmake/toolchains/TRIPLE.cmake whose C library is installed, in
# lib/TRIPLE, where `ingot compile --emit shared` and --runner look for them. WebAssembly has no C library here: of that machine there is
# the core alone, which `ingot package` links.
include(ExternalProject)
file(GLOB toolchains CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/toolchains/*.cmake)
find_program(INGOT_CROSS_COMPILER clang-22 DOC "What the toolchains in cmake/toolchains name")
foreach(toolchain IN LISTS toolchains)
  get_filename_component(triple ${toolchain} NAME_WE)
  if(triple MATCHES "-none-") # the core alone, which needs no C library: test/tools/bare.py
    continue()
  endif()
  set(has_programs ON)
  set(files libingot_rt.a ingot-runner)
  if(triple MATCHES "^wasm")
    set(has_programs OFF)
    set(files libingot_rt_core.a)
  endif()
  if(NOT INGOT_CROSS_COMPILER OR (has_programs AND NOT EXISTS /usr/${triple}/include/stdio.h))
    message(STATUS "no compiler or no C library for ${triple}: models for it are linked elsewhere")
    continue()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/lib/${triple})
  list(TRANSFORM files PREPEND ${folder}/ OUTPUT_VARIABLE byproducts)
  ExternalProject_Add(
    runtime-${triple}
    SOURCE_DIR ${PROJECT_SOURCE_DIR}/runtime_support
    BINARY_DIR ${PROJECT_BINARY_DIR}/runtime-${triple}
    PREFIX ${PROJECT_BINARY_DIR}/runtime-${triple}
    CMAKE_ARGS -DCMAKE_TOOLCHAIN_FILE=${toolchain} -DCMAKE_BUILD_TYPE=Release -DINGOT_RUNTIME_OUTPUT=${folder}
    BUILD_ALWAYS TRUE
    INSTALL_COMMAND ""
    BUILD_BYPRODUCTS ${byproducts})
  if(has_programs)
    set_property(GLOBAL APPEND PROPERTY INGOT_CROSS_TRIPLES ${triple})
  endif()
  set_property(GLOBAL APPEND PROPERTY INGOT_CROSS_FILES ${byproducts})
endforeach()
