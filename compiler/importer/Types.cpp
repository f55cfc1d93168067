// Makes constants that keep their bytes where they are: in the mapped file unless they are small.
#include "compiler/importer/Types.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ingot::importer {

static constexpr int64_t kDenseLimit = 1024;

Type elementType(MLIRContext *context, int32_t type) { return onnx::elementOfNumber(type, context); }

const pb::TypeProto::Tensor *tensorTypeOf(const pb::TypeProto &type) {
  const pb::TypeProto &element = type.has_optional_type() ? type.optional_type().elem_type() : type;
  return element.has_tensor_type() ? &element.tensor_type() : nullptr;
}

const pb::TypeProto::Sequence *sequenceTypeOf(const pb::TypeProto &type) {
  const pb::TypeProto &element = type.has_optional_type() ? type.optional_type().elem_type() : type;
  return element.has_sequence_type() ? &element.sequence_type() : nullptr;
}

/// Returns the alignment that bytes in a file happen to have.
static size_t alignmentOf(llvm::StringRef bytes) {
  auto address = reinterpret_cast<uintptr_t>(bytes.data());
  return address % 64 == 0 ? 64 : address & (~address + 1);
}

/// Returns a byte for each element; integers are extended by their sign.
static std::vector<char> unpacked(const TensorData &data) {
  const support::ElementType &type = support::elementType(data.type);
  std::vector<char> bytes(data.elements);
  for (int64_t i = 0; i < data.elements; ++i) {
    unsigned shift = i % type.pack() * type.bits;
    auto code = static_cast<uint8_t>(data.data[i / type.pack()]) >> shift & ((1u << type.bits) - 1);
    bool negative = type.kind == support::ElementKind::Signed && code >> (type.bits - 1);
    bytes[i] = static_cast<char>(negative ? code - (1u << type.bits) : code);
  }
  return bytes;
}

llvm::Expected<ElementsAttr> makeElements(MLIRContext *context, const TensorData &data, llvm::StringRef name) {
  Type element = elementType(context, data.type);
  if (!element) {
    return llvm::createStringError("has the element type " + elementName(data.type) + ", which is unsupported");
  }
  auto type = RankedTensorType::get(data.dims, element);
  if (data.type == kString) {
    return DenseStringElementsAttr::get(type, data.strings);
  }
  if (support::elementType(data.type).isPacked()) {
    return onnx::constantFromBytes(type, unpacked(data));
  }
  if (data.bytes <= kDenseLimit || data.type == kBool) {
    return onnx::constantFromBytes(type, std::vector<char>(data.data.begin(), data.data.end()));
  }
  ArrayRef<char> bytes(data.data.data(), data.data.size());
  return DenseResourceElementsAttr::get(type, name,
                                        UnmanagedAsmResourceBlob::allocateWithAlign(bytes, alignmentOf(data.data)));
}

Type declaredType(MLIRContext *context, const pb::ValueInfoProto &value) {
  const pb::TypeProto::Tensor *type = tensorTypeOf(value.type());
  Type element = type ? elementType(context, type->elem_type()) : Type();
  if (!element || !type->has_shape()) {
    return element ? onnx::unrankedOf(element) : Type();
  }
  SmallVector<int64_t> dims;
  for (const pb::TensorShapeProto::Dimension &dim : type->shape().dim()) {
    bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
    dims.push_back(isKnown ? dim.dim_value() : ShapedType::kDynamic);
  }
  return onnx::tensorOf(dims, element);
}

Attribute sequenceAttribute(Type element) {
  return ArrayAttr::get(element.getContext(), TypeAttr::get(onnx::unrankedOf(element)));
}

static llvm::Expected<ElementsAttr> tensorAttribute(MLIRContext *context, llvm::Expected<TensorData> data,
                                                    llvm::StringRef name) {
  if (!data) {
    return data.takeError();
  }
  return makeElements(context, *data, name);
}

static llvm::Expected<Attribute> typeAttribute(MLIRContext *context, const pb::TypeProto &type) {
  if (!type.has_sequence_type()) {
    return UnitAttr::get(context);
  }
  Type element = elementType(context, type.sequence_type().elem_type().tensor_type().elem_type());
  return element ? sequenceAttribute(element) : ArrayAttr::get(context, {});
}

/// Returns what an attribute holds. Files older than the `type` field say it by what is filled in.
static pb::AttributeProto::AttributeType kindOf(const pb::AttributeProto &a) {
  if (a.type() != pb::AttributeProto::UNDEFINED) {
    return a.type();
  }
  return a.has_f()          ? pb::AttributeProto::FLOAT
         : a.has_i()        ? pb::AttributeProto::INT
         : a.has_s()        ? pb::AttributeProto::STRING
         : a.has_t()        ? pb::AttributeProto::TENSOR
         : a.has_g()        ? pb::AttributeProto::GRAPH
         : a.floats_size()  ? pb::AttributeProto::FLOATS
         : a.ints_size()    ? pb::AttributeProto::INTS
         : a.strings_size() ? pb::AttributeProto::STRINGS
                            : pb::AttributeProto::UNDEFINED;
}

llvm::Expected<Attribute> makeAttribute(MLIRContext *context, const pb::AttributeProto &attribute, llvm::StringRef name,
                                        ModelFile &file) {
  Builder b(context);
  switch (kindOf(attribute)) {
  case pb::AttributeProto::FLOAT:
    return b.getF32FloatAttr(attribute.f());
  case pb::AttributeProto::INT:
    return b.getI64IntegerAttr(attribute.i());
  case pb::AttributeProto::STRING:
    return b.getStringAttr(attribute.s());
  case pb::AttributeProto::FLOATS:
    return b.getDenseF32ArrayAttr(ArrayRef(attribute.floats().data(), attribute.floats_size()));
  case pb::AttributeProto::INTS: {
    SmallVector<int64_t> values(attribute.ints().begin(), attribute.ints().end());
    return b.getDenseI64ArrayAttr(values);
  }
  case pb::AttributeProto::STRINGS: {
    SmallVector<Attribute> values;
    for (const std::string &value : attribute.strings()) {
      values.push_back(b.getStringAttr(value));
    }
    return b.getArrayAttr(values);
  }
  case pb::AttributeProto::TENSOR:
    return tensorAttribute(context, readTensor(attribute.t(), file), name);
  case pb::AttributeProto::SPARSE_TENSOR:
    return tensorAttribute(context, readSparse(attribute.sparse_tensor(), file), name);
  case pb::AttributeProto::TYPE_PROTO:
    return typeAttribute(context, attribute.tp());
  case pb::AttributeProto::GRAPH:
  case pb::AttributeProto::GRAPHS:
    return llvm::createStringError("holds a subgraph, which is unsupported");
  default:
    return llvm::createStringError("holds a value of a kind that is unsupported");
  }
}

llvm::Expected<ElementsAttr> makeConstantNode(MLIRContext *context, const Node &node, ModelFile &file) {
  if (node.attributes.size() != 1) {
    return llvm::createStringError("needs exactly one attribute with the value");
  }
  Builder b(context);
  const auto &[name, proto] = node.attributes.front();
  auto vectorOf = [](int64_t size, Type element) { return RankedTensorType::get({size}, element); };
  auto scalarOf = [](Type element) { return RankedTensorType::get({}, element); };
  if (name == "value") {
    return tensorAttribute(context, readTensor(proto->t(), file), node.name);
  }
  if (name == "sparse_value") {
    return tensorAttribute(context, readSparse(proto->sparse_tensor(), file), node.name);
  }
  if (name == "value_float") {
    return onnx::constantFromFloats(scalarOf(b.getF32Type()), {proto->f()});
  }
  if (name == "value_int") {
    return onnx::constantFromIntegers(scalarOf(b.getI64Type()), {proto->i()});
  }
  if (name == "value_floats") {
    SmallVector<double> values(proto->floats().begin(), proto->floats().end());
    return onnx::constantFromFloats(vectorOf(proto->floats_size(), b.getF32Type()), values);
  }
  if (name == "value_ints") {
    SmallVector<int64_t> values(proto->ints().begin(), proto->ints().end());
    return onnx::constantFromIntegers(vectorOf(proto->ints_size(), b.getI64Type()), values);
  }
  if (name == "value_string" || name == "value_strings") {
    bool one = name == "value_string";
    SmallVector<llvm::StringRef> texts(proto->strings().begin(), proto->strings().end());
    texts = one ? SmallVector<llvm::StringRef>(1, proto->s()) : texts;
    Type element = elementType(context, kString);
    auto type = one ? scalarOf(element) : vectorOf(proto->strings_size(), element);
    return DenseStringElementsAttr::get(type, texts);
  }
  return llvm::createStringError("has the unknown attribute " + quoted(name));
}

} // namespace ingot::importer
