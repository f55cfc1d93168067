// ONNX's types and attributes as MLIR's.
#pragma once
#include "compiler/importer/Graph.h"
#include "compiler/importer/Import.h"
#include "compiler/importer/TensorData.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::importer {

/// Returns signless integers for ONNX's signed ones, unsigned ones for unsigned, and i1 for bool. Null: the compiler
/// has no tensors of the type.
mlir::Type elementType(mlir::MLIRContext *context, int32_t type);

/// A constant: small ones as dense attributes, large ones as a resource called `name` over the bytes where they are.
llvm::Expected<mlir::ElementsAttr> makeElements(mlir::MLIRContext *context, const TensorData &data,
                                                llvm::StringRef name);

/// Returns the type of a tensor, or of the tensor in an optional one; null: it is something else.
const pb::TypeProto::Tensor *tensorTypeOf(const pb::TypeProto &type);

/// The type that a subgraph declares for a value; null: it declares none that there are tensors of.
mlir::Type declaredType(mlir::MLIRContext *context, const pb::ValueInfoProto &value);

/// A type as an attribute, if it is a sequence: an array with what its tensors have in common, empty where there are no
/// tensors of their element type. Other types are but there: nothing depends on them.
mlir::Attribute sequenceAttribute(mlir::Type element);

/// Returns a node's attribute. `name` is used for resources.
llvm::Expected<mlir::Attribute> makeAttribute(mlir::MLIRContext *context, const pb::AttributeProto &attribute,
                                              llvm::StringRef name, ModelFile &file);

/// The value of a Constant node, whichever of its attributes holds it.
llvm::Expected<mlir::ElementsAttr> makeConstantNode(mlir::MLIRContext *context, const Node &node, ModelFile &file);

/// The type of a sequence of tensors, or of one in an optional value; null: something else.
const pb::TypeProto::Sequence *sequenceTypeOf(const pb::TypeProto &type);

/// Holds, on an argument of the function, what the model calls each of its axes, an array of strings; "": nothing. The
/// importer sets it for openAxes(), which reads it.
inline constexpr llvm::StringLiteral dimsName = "onnx.dims";

struct Input {
  std::string name;
  mlir::Type type;
  std::vector<std::string> symbols; ///< what the model calls each axis; "": nothing
  bool isOptional = false;          ///< a run may leave it out
};

/// An input or output of a graph, and how many tensors of the function stand for it (support::SequenceCode).
struct Spread {
  std::string name;
  int64_t tensors;
  mlir::Type element = {}; ///< of an input that is a sequence: of its tensors
  bool isAbsent = false;   ///< an optional one that runs do not get
};

/// The graph's inputs (those without an initializer) with the options' sizes in the place of unknown ones; of sequences
/// their tensors.
std::vector<Input> readInputs(mlir::MLIRContext *context, const pb::GraphProto &graph, const ImportOptions &options,
                              Problems &problems, std::vector<Spread> &spread);

} // namespace ingot::importer
