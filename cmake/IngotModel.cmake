# ingot_add_model(NAME MODEL file.onnx [LEVELS level...] [TARGETS level...] [DIMS symbol=size...] [SHAPES input=AxBxC...] [WEIGHTS place]
#                 [OPTIONS flag...])
# Compiles an ONNX model while the project is built. Afterwards
#   target_link_libraries(app PRIVATE NAME)
# gives the program NAME.h, the model's code and libingot_rt.a. Editing the model, a file that it refers to, or the compiler compiles
# it again and links what uses it; nothing else does.
#
#   MODEL    the .onnx file, relative to the current source folder
#   TARGETS  what `ingot compile --target` takes; none: `native`, the machine that builds, which is rarely what a program that is
#            shipped wants. With one target the C prefix is NAME. With several, each gets a library and a prefix of its own,
#            NAME_<level> (`NAME_x86_64_v3_run`, header NAME_x86_64_v3.h), and linking NAME links them all. Which one to call is the
#            program's decision.
#   LEVELS   instead of TARGETS: what `ingot compile --levels` takes, x86-64-v2 x86-64-v3 x86-64-v4. One library with one prefix; each run
#            takes the highest level that the machine has
#   DIMS     sizes or bounds of symbolic dimensions, for example batch=1 or batch=1..8 (`ingot compile --dim`); others stay open
#   SHAPES   shapes of inputs, for example image=1x3x224x224 (`ingot compile --shape`)
#   WEIGHTS  embed (the default), file or extern (`ingot compile --weights`). With the last two NAME.weights lies beside the library; the
#            target's property INGOT_WEIGHTS is its path, to install it or to copy it where the program looks for it
#   OPTIONS  further flags of `ingot compile`
#
# INGOT_EXECUTABLE names the compiler to run; by default the one that came with this package. A cross build sets it to the host's.
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

function(ingot_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;WEIGHTS" "LEVELS;TARGETS;DIMS;SHAPES;OPTIONS")
  if(NOT arg_MODEL OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ingot_add_model: expected NAME MODEL file.onnx [LEVELS ...] [TARGETS ...] [DIMS ...] [SHAPES ...] [WEIGHTS place] [OPTIONS ...]")
  endif()
  list(TRANSFORM arg_DIMS PREPEND "--dim=")
  list(TRANSFORM arg_SHAPES PREPEND "--shape=")
  set(options ${arg_DIMS} ${arg_SHAPES} ${arg_OPTIONS})
  if(arg_LEVELS)
    list(JOIN arg_LEVELS "," levels)
    list(APPEND options --levels=${levels})
  endif()
  if(arg_WEIGHTS)
    list(APPEND options --weights=${arg_WEIGHTS})
  endif()
  list(LENGTH arg_TARGETS count)
  if(count LESS_EQUAL 1)
    ingot_add_model_library(${name} "${arg_MODEL}" "${arg_TARGETS}" "${options}")
    return()
  endif()
  add_library(${name} INTERFACE)
  foreach(target IN LISTS arg_TARGETS)
    string(MAKE_C_IDENTIFIER "${name}_${target}" variant)
    ingot_add_model_library(${variant} "${arg_MODEL}" "${target}" "${options}")
    target_link_libraries(${name} INTERFACE ${variant})
  endforeach()
endfunction()

# One compilation: the command, and the library target in front of its files.
function(ingot_add_model_library name model target options)
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "ingot_add_model: '${name}' is not a C identifier")
  endif()
  get_filename_component(model "${model}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(compiler ingot::ingot)
  if(INGOT_EXECUTABLE)
    set(compiler "${INGOT_EXECUTABLE}")
  endif()
  if(target)
    list(PREPEND options "--target=${target}")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/models/${name}")
  file(MAKE_DIRECTORY "${folder}") # an include folder has to exist when the build files are written
  set(weights "")
  set(files "${folder}/${name}.a" "${folder}/${name}.h" "${folder}/${name}.json")
  if("--weights=file" IN_LIST options OR "--weights=extern" IN_LIST options)
    set(weights "${folder}/${name}.weights")
    list(APPEND files "${weights}")
  endif()
  add_custom_command(
    OUTPUT ${files}
    COMMAND ${compiler} compile "${model}" -o "${folder}" --name ${name} --depfile ${options}
    DEPENDS "${model}" ${compiler}
    DEPFILE "${folder}/${name}.d"
    COMMENT "Compiling model ${name}"
    VERBATIM)
  add_custom_target(${name}_compile DEPENDS ${files})
  add_library(${name} STATIC IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${folder}/${name}.a" INGOT_WEIGHTS "${weights}")
  target_include_directories(${name} INTERFACE "${folder}")
  target_link_libraries(${name} INTERFACE ingot::rt)
  add_dependencies(${name} ${name}_compile)
endfunction()

cmake_policy(POP)
