// Includes ONNX's protobuf classes. Inside of ingot `onnx` is our dialect; the file format's classes are `pb`.
#pragma once
#include <onnx/onnx_pb.h>

namespace ingot::importer {
namespace pb = ::onnx;
} // namespace ingot::importer
