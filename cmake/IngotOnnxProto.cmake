# ingot_onnx_proto: ONNX's protobuf classes (importer/Protobuf.h). Debian has them as shared libraries, which the usual build
# links. A program that runs where these are not installed (INGOT_STATIC_LLVM) has them in it: protobuf is an archive of Debian's,
# and ONNX's classes are compiled again from the description of the format that Debian's library has of itself, by the same protoc,
# so that they are those of Debian's headers.
if(NOT INGOT_STATIC_LLVM)
  add_library(ingot_onnx_proto INTERFACE)
  target_link_libraries(ingot_onnx_proto INTERFACE onnx_proto)
  return()
endif()

set(onnx_folder ${PROJECT_BINARY_DIR}/onnx-proto)
get_target_property(onnx_definitions onnx_proto INTERFACE_COMPILE_DEFINITIONS)
get_target_property(onnx_library onnx_proto IMPORTED_LOCATION_RELEASE)
# ingot_onnx_format(NAME CLASS HEADER): writes NAME.pb.cc, the format's file that describes CLASS.
function(ingot_onnx_format name class header)
  if(EXISTS ${onnx_folder}/onnx/${name}.pb.cc)
    return()
  endif()
  set(describe ${onnx_folder}/describe-${name})
  file(WRITE ${describe}.cpp "#include <onnx/${header}>\n#include <cstdio>\n"
                             "int main() { std::puts(onnx::${class}::descriptor()->file()->DebugString().c_str()); }\n")
  list(TRANSFORM onnx_definitions PREPEND -D OUTPUT_VARIABLE flags)
  try_run(ran compiled ${describe} ${describe}.cpp COMPILE_DEFINITIONS ${flags} LINK_LIBRARIES ${onnx_library} ${Protobuf_LIBRARIES}
          COMPILE_OUTPUT_VARIABLE said RUN_OUTPUT_VARIABLE description)
  if(NOT compiled OR NOT ran EQUAL 0)
    message(FATAL_ERROR "${onnx_library} does not describe the format of ONNX's files:\n${said}${description}")
  endif()
  unset(ran CACHE)
  unset(compiled CACHE)
  file(WRITE ${onnx_folder}/onnx/${name}.proto "${description}")
  execute_process(COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=dllexport_decl=ONNX_API:. onnx/${name}.proto
                  WORKING_DIRECTORY ${onnx_folder} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
ingot_onnx_format(onnx-ml ModelProto onnx_pb.h)
ingot_onnx_format(onnx-data MapProto onnx-data_pb.h)

find_library(INGOT_PROTOBUF_ARCHIVE libprotobuf.a REQUIRED)
add_library(ingot_onnx_proto STATIC ${onnx_folder}/onnx/onnx-ml.pb.cc ${onnx_folder}/onnx/onnx-data.pb.cc)
target_include_directories(ingot_onnx_proto SYSTEM PUBLIC ${onnx_folder})
target_compile_definitions(ingot_onnx_proto PUBLIC ${onnx_definitions} PRIVATE ONNX_API=) # that of onnx_pb.h is for shared libraries
target_compile_options(ingot_onnx_proto PRIVATE -w) # the code is protoc's
target_link_libraries(ingot_onnx_proto PUBLIC ${INGOT_PROTOBUF_ARCHIVE})
