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
llvm_map_components_to_libnames(llvm_archives all)
# LLVM's packages are built around the shared library, and say so of each archive; z3, curl and others belong to parts that we do
# not take. The linker looks at all archives as often as it has to, so nothing is lost with the order.
foreach(archive IN LISTS archives llvm_archives ITEMS lldELF lldCommon)
  if(TARGET ${archive})
    set_target_properties(${archive} PROPERTIES INTERFACE_LINK_LIBRARIES "")
    list(APPEND there ${archive})
  endif()
endforeach()
list(REMOVE_ITEM there lldELF lldCommon)
foreach(name libz.a libzstd.a)
  find_library(archive_${name} NAMES ${name} REQUIRED)
  list(APPEND there ${archive_${name}})
endforeach()
target_link_libraries(ingot_mlir INTERFACE ${there} dl m rt pthread)
target_link_options(ingot_mlir INTERFACE -Wl,--gc-sections -Wl,--as-needed)
