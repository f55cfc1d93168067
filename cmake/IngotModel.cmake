# ingot_add_model(NAME MODEL file.onnx [LEVELS level...] [TARGETS level...] [DIMS symbol=size...] [SHAPES input=AxBxC...] [WEIGHTS place]
#                 [BUDGET kind=bytes...] [MEMORIES name=bytes...] [EMIT cpp] [OPTIONS flag...])
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
#   WEIGHTS  embed (the default), file, extern or stream (`ingot compile --weights`). With the others NAME.weights lies beside the library; the
#            target's property INGOT_WEIGHTS is its path, to install it or to copy it where the program looks for it
#   BUDGET   what the model may take, for example flash=256K ram=64K (`ingot compile --budget`). Where it takes more, the build fails
#            with a table of what takes most
#   MEMORIES memories that share the workspace, the fastest first, for example dtcm=64K sram=256K (`ingot compile --memories`)
#   EMIT     cpp: the model becomes C++ source (`ingot compile --emit cpp`), which the project's own compiler builds for its own machine.
#            The project's languages are CXX and ASM then; the library takes the project's flags, to which INGOT_SOURCE_OPTIONS are added
#            (-O3 where that is not set)
#   OPTIONS  further flags of `ingot compile`
#
# INGOT_EXECUTABLE names the compiler to run; by default the one that came with this package. A cross build sets it to the host's.
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

function(ingot_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;WEIGHTS;EMIT" "LEVELS;TARGETS;DIMS;SHAPES;BUDGET;MEMORIES;OPTIONS")
  if(NOT arg_MODEL OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ingot_add_model: expected NAME MODEL file.onnx [LEVELS ...] [TARGETS ...] [DIMS ...] [SHAPES ...] [WEIGHTS place] [BUDGET ...] [MEMORIES ...] [EMIT cpp] [OPTIONS ...]")
  endif()
  if(arg_EMIT AND NOT arg_EMIT STREQUAL "cpp")
    message(FATAL_ERROR "ingot_add_model: EMIT ${arg_EMIT}: what a model can be made of besides machine code is cpp")
  endif()
  list(TRANSFORM arg_DIMS PREPEND "--dim=")
  list(TRANSFORM arg_SHAPES PREPEND "--shape=")
  list(TRANSFORM arg_BUDGET PREPEND "--budget=")
  list(TRANSFORM arg_MEMORIES PREPEND "--memories=")
  set(options ${arg_DIMS} ${arg_SHAPES} ${arg_BUDGET} ${arg_MEMORIES} ${arg_OPTIONS})
  if(arg_LEVELS)
    list(JOIN arg_LEVELS "," levels)
    list(APPEND options --levels=${levels})
  endif()
  if(arg_WEIGHTS)
    list(APPEND options --weights=${arg_WEIGHTS})
  endif()
  list(LENGTH arg_TARGETS count)
  if(count LESS_EQUAL 1)
    ingot_add_model_library(${name} "${arg_MODEL}" "${arg_TARGETS}" "${options}" "${arg_EMIT}")
    return()
  endif()
  add_library(${name} INTERFACE)
  foreach(target IN LISTS arg_TARGETS)
    string(MAKE_C_IDENTIFIER "${name}_${target}" variant)
    ingot_add_model_library(${variant} "${arg_MODEL}" "${target}" "${options}" "${arg_EMIT}")
    target_link_libraries(${name} INTERFACE ${variant})
  endforeach()
endfunction()

# One compilation: the command, and the library target in front of its files.
function(ingot_add_model_library name model target options emit)
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
  set(code "${folder}/${name}.a")
  if(emit)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "CXX" IN_LIST languages OR NOT "ASM" IN_LIST languages)
      message(FATAL_ERROR "ingot_add_model: EMIT cpp needs project(... LANGUAGES CXX ASM)")
    endif()
    list(APPEND options --emit=cpp)
    set(code "${folder}/${name}.cpp" "${folder}/${name}.weights.S")
  endif()
  set(files ${code} "${folder}/${name}.h" "${folder}/${name}.json")
  if("--weights=file" IN_LIST options OR "--weights=extern" IN_LIST options OR "--weights=stream" IN_LIST options)
    set(weights "${folder}/${name}.weights")
    list(APPEND files "${weights}")
  endif()
  # Few weights are in the source, and then the compiler writes no file for the assembler.
  set(touched "")
  if(emit)
    set(touched COMMAND ${CMAKE_COMMAND} -E touch "${folder}/${name}.weights.S")
  endif()
  add_custom_command(
    OUTPUT ${files}
    COMMAND ${compiler} compile "${model}" -o "${folder}" --name ${name} --depfile ${options}
    ${touched}
    DEPENDS "${model}" ${compiler}
    DEPFILE "${folder}/${name}.d"
    COMMENT "Compiling model ${name}"
    VERBATIM)
  add_custom_target(${name}_compile DEPENDS ${files})
  if(emit)
    add_library(${name} STATIC ${code})
    target_compile_features(${name} PRIVATE cxx_std_17)
    if(NOT DEFINED INGOT_SOURCE_OPTIONS)
      set(INGOT_SOURCE_OPTIONS -O3)
    endif()
    target_compile_options(${name} PRIVATE ${INGOT_SOURCE_OPTIONS})
    target_include_directories(${name} PUBLIC "${folder}")
    target_link_libraries(${name} PUBLIC ingot::rt)
  else()
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${code}")
    target_include_directories(${name} INTERFACE "${folder}")
    target_link_libraries(${name} INTERFACE ingot::rt)
  endif()
  set_target_properties(${name} PROPERTIES INGOT_WEIGHTS "${weights}")
  add_dependencies(${name} ${name}_compile)
endfunction()

cmake_policy(POP)
