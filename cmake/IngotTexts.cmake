# ingot_embed_texts(TARGET FUNCTION FOLDER FILES...): adds a source to TARGET that defines the function, a table of the files' names
# below FOLDER and their texts, for programs that write them. It is made anew when one of them changes.
#
# As a script (cmake -P) it writes that source: OUT, FUNCTION, FOLDER and FILES are given with -D.
if(CMAKE_SCRIPT_MODE_FILE)
  set(rows "")
  foreach(name IN LISTS FILES)
    file(READ ${FOLDER}/${name} text)
    string(APPEND rows "      {\"${name}\", R\"~~~~(${text})~~~~\"},\n")
  endforeach()
  file(WRITE ${OUT} "// Generated from files of ${FUNCTION}; do not edit.
#include \"compiler/driver/Texts.h\"

llvm::ArrayRef<ingot::driver::Text> ingot::driver::${FUNCTION}() {
  static const Text texts[] = {
${rows}  };
  return texts;
}
")
  return()
endif()

function(ingot_embed_texts target function folder)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE paths)
  add_custom_command(OUTPUT ${out}
                     COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFUNCTION=${function} -DFOLDER=${folder} "-DFILES=${ARGN}" -P ${script}
                     DEPENDS ${paths} ${script} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
