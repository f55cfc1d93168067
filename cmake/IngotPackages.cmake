# What the compiler is built from. Versions are pinned in third_party/packages.txt; nothing is vendored.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(Protobuf REQUIRED) # before ONNX, whose package names protobuf::libprotobuf
find_package(ONNX CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(LLD REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/lld)

include(IngotStatic)
include(IngotOnnxProto)

set(MLIR_TABLEGEN_EXE ${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${PROJECT_BINARY_DIR}/generated)
include_directories(${PROJECT_SOURCE_DIR})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${llvm_definitions})
add_link_options(-B${LLVM_TOOLS_BINARY_DIR} -fuse-ld=lld)
