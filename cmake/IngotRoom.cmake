# ingot_room(NAME [USES rooms...] [LINKS libraries...] [NO_PCH])
# One static library ingot_NAME from every .cpp below the current folder (found, not listed).
# USES is the layering: the rooms whose headers this one may include (test/layering checks the same table).
function(ingot_room name)
  cmake_parse_arguments(ROOM "NO_PCH" "" "USES;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(ingot_${name} STATIC ${sources})
  add_dependencies(ingot_${name} ingot_generated)
  list(TRANSFORM ROOM_USES PREPEND ingot_)
  target_link_libraries(ingot_${name} PUBLIC ${ROOM_USES} ${ROOM_LINKS} ingot_mlir)
  if(NOT ROOM_NO_PCH)
    target_precompile_headers(ingot_${name} REUSE_FROM ingot_pch)
  endif()
endfunction()

# ingot_found_list(OUT FORMAT paths...): one line a file; @NAME@ in FORMAT is the file's stem.
# This is how ops, fusions, kernel families, algorithms and targets are found by folder, without a list kept by hand.
function(ingot_found_list out format)
  set(text "// Generated from the folder listing; do not edit.\n")
  foreach(path IN LISTS ARGN)
    get_filename_component(NAME "${path}" NAME_WE)
    string(REPLACE "@NAME@" "${NAME}" line "${format}")
    string(APPEND text "${line}\n")
  endforeach()
  file(CONFIGURE OUTPUT "${out}" CONTENT "${text}" @ONLY)
endfunction()
