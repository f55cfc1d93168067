# ingot_embed_bitcode(TARGET SOURCES...): C sources as LLVM's bitcode for small processors, in a source of TARGET that defines
# ingot::emit::supportBitcode. Without clang-22 there is none.
#
# As a script (cmake -P) it writes that source: OUT, and FILES, "ARCHITECTURE=PATH", are given with -D.
if(CMAKE_SCRIPT_MODE_FILE)
  set(arrays "")
  set(cases "")
  foreach(pair IN LISTS FILES)
    string(REGEX MATCH "^([^=]*)=(.*)$" pair ${pair})
    set(name ${CMAKE_MATCH_1})
    file(READ ${CMAKE_MATCH_2} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "alignas(4) static const unsigned char ${name}[] = {${bytes}};\n")
    string(APPEND cases "  case llvm::Triple::${name}:\n    return {reinterpret_cast<const char *>(${name}), sizeof ${name}};\n")
  endforeach()
  file(WRITE ${OUT} "// Generated from runtime_support; do not edit.
#include \"compiler/emit/SupportCode.h\"

${arrays}
llvm::StringRef ingot::emit::supportBitcode(llvm::Triple::ArchType architecture) {
  switch (architecture) {
${cases}  default:
    return {};
  }
}
")
  return()
endif()

find_program(INGOT_CROSS_COMPILER clang-22 DOC "What the toolchains in cmake/toolchains name")
find_program(INGOT_BITCODE_LINKER llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR} NAMES llvm-link llvm-link-22)

function(ingot_embed_bitcode target)
  set(thumb --target=thumbv6m-none-eabi -mcpu=cortex-m0plus) # every processor's code: the model's own attributes replace this one's
  set(riscv32 --target=riscv32-unknown-elf -march=rv32imc)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  set(files "")
  set(inputs "")
  foreach(name IN ITEMS thumb riscv32)
    if(NOT INGOT_CROSS_COMPILER OR NOT INGOT_BITCODE_LINKER)
      message(STATUS "no clang-22 and llvm-link: models cannot be compiled with --symbols none")
      break()
    endif()
    set(parts "")
    foreach(source IN LISTS ARGN)
      get_filename_component(stem ${source} NAME_WE)
      set(part ${CMAKE_CURRENT_BINARY_DIR}/${name}-${stem}.bc)
      add_custom_command(OUTPUT ${part}
                         COMMAND ${INGOT_CROSS_COMPILER} ${${name}} -std=c11 -Os -ffreestanding -fno-builtin -fno-stack-protector -I
                                 ${PROJECT_SOURCE_DIR}/runtime_support/include -emit-llvm -MD -MF ${part}.d -c ${source} -o ${part}
                         DEPENDS ${source} DEPFILE ${part}.d VERBATIM)
      list(APPEND parts ${part})
    endforeach()
    set(whole ${CMAKE_CURRENT_BINARY_DIR}/${name}.bc)
    add_custom_command(OUTPUT ${whole} COMMAND ${INGOT_BITCODE_LINKER} ${parts} -o ${whole} DEPENDS ${parts} VERBATIM)
    list(APPEND files ${name}=${whole})
    list(APPEND inputs ${whole})
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/supportBitcode.cpp)
  add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${files}" -P ${script} DEPENDS ${inputs} ${script} VERBATIM)
  target_sources(${target} PRIVATE ${out})
  set_source_files_properties(${out} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
