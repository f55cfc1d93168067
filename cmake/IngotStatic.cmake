# INGOT_STATIC_LLVM: LLVM and MLIR are linked into the programs, so that a program runs where neither is installed: the one of the
# Python wheel (python/). Of their archives a program takes what it refers to, so that it has the code generators that targets/ names
# and no others. Plug-ins (--load-target) are for the usual build: they need LLVM's shared library in the program that opens them.
#
# ingot_mlir is what every room links: the two shared libraries, or all archives.
option(INGOT_STATIC_LLVM "Link LLVM and MLIR into the programs" OFF)
add_library(ingot_mlir INTERFACE)
if(NOT INGOT_STATIC_LLVM)
  target_link_libraries(ingot_mlir INTERFACE MLIR LLVM)
  return()
endif()

get_property(archives GLOBAL PROPERTY MLIR_ALL_LIBS)
set(llvm_archives ${LLVM_AVAILABLE_LIBS})
list(FILTER llvm_archives INCLUDE REGEX "^LLVM.")
# LLVM's packages are built around the shared library, and say so of each archive; z3, curl and others belong to parts that we do
# not take. The linker looks at all archives as often as it has to, so nothing is lost with the order.
set_target_properties(lldELF lldWasm lldCommon PROPERTIES INTERFACE_LINK_LIBRARIES "")
set(generators ${LLVM_TARGETS_TO_BUILD})
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/targets/*.cpp)
foreach(source IN LISTS sources)
  file(READ ${source} text)
  string(REGEX MATCHALL "LLVMInitialize[A-Za-z0-9]+Target\\(" names "${text}")
  list(TRANSFORM names REPLACE "LLVMInitialize(.+)Target." "\\1")
  list(REMOVE_ITEM generators "" ${names})
endforeach()
list(TRANSFORM generators REPLACE "(.+)" "WITHOUT(\\1)")
list(JOIN generators " " generators)
add_library(ingot_static_parts STATIC ${PROJECT_SOURCE_DIR}/cmake/StaticParts.cpp)
target_compile_definitions(ingot_static_parts PRIVATE "INGOT_OTHER_GENERATORS=${generators}")
target_compile_options(ingot_static_parts PRIVATE -Wno-missing-prototypes)
set(there ingot_static_parts) # in front of the archives
foreach(archive IN LISTS archives llvm_archives)
  set(type "")
  if(TARGET ${archive})
    get_target_property(type ${archive} TYPE)
  endif()
  if(type STREQUAL STATIC_LIBRARY)
    set_target_properties(${archive} PROPERTIES INTERFACE_LINK_LIBRARIES "")
    list(APPEND there ${archive})
  endif()
endforeach()
foreach(name libz.a libzstd.a)
  find_library(archive_${name} NAMES ${name} REQUIRED)
  list(APPEND there ${archive_${name}})
endforeach()
target_link_libraries(ingot_mlir INTERFACE ${there} dl m rt pthread)
target_link_options(ingot_mlir INTERFACE -Wl,--gc-sections -Wl,--as-needed)
