#include "compiler/partition/DescribePiece.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace ingot::partition {

/// Returns an attribute as pieces have it; nothing for one of a kind that they do not have.
static std::optional<target::PieceAttribute> convert(Attribute attribute) {
  if (auto boolean = dyn_cast<BoolAttr>(attribute)) {
    return boolean.getValue();
  }
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    return number.getInt();
  }
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    return number.getValueAsDouble();
  }
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    return text.str();
  }
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    return std::vector<int64_t>(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
  }
  if (auto numbers = dyn_cast<DenseF32ArrayAttr>(attribute)) {
    return std::vector<double>(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
  }
  return std::nullopt;
}

/// Whether an attribute is the compiler's own: its notes, and how MLIR groups operands.
static bool isInternal(NamedAttribute attribute) {
  StringRef name = attribute.getName();
  return name.contains('.') || name == "operandSegmentSizes" || name == "resultSegmentSizes";
}

static std::string unfitTensor(Value v) {
  RankedTensorType type = onnx::ranked(v);
  if (!type || !onnx::isSized(v) || onnx::numberOfElement(type.getElementType()) == 0) {
    return "a tensor whose type or sizes are not known";
  }
  bool isChosen = true, isEmpty = false;
  for (const onnx::Size &size : onnx::sizesOf(type)) {
    size.eachSymbol([&](support::Symbol symbol) { isChosen &= symbol.kind() == support::SymbolKind::Chosen; });
    isEmpty |= size.is(0);
  }
  return isEmpty ? "a tensor without elements" : isChosen ? "" : "speaks of sizes that the run finds";
}

std::string unfitForPieces(Operation &op) {
  if (op.getNumRegions() || op.getNumResults() == 0 || onnx::dataDependentSizeOf(&op)) {
    return "no operator that a piece can have";
  }
  for (NamedAttribute attribute : op.getAttrDictionary()) {
    if (!isInternal(attribute) && !convert(attribute.getValue())) {
      return "attribute '" + attribute.getName().str() + "' is of a kind that a piece cannot have";
    }
  }
  for (Value v : op.getOperands()) {
    auto argument = dyn_cast<BlockArgument>(v);
    if (argument && onnx::optionalInput(argument)) {
      return "a run may leave its operand out";
    }
    bool computed = !onnx::constantOf(v) && onnx::sizesIn(v).has_value();
    if (std::string why = !onnx::present(v) ? ""
                          : computed        ? "computed sizes as an operand"
                                            : unfitTensor(v);
        !why.empty()) {
      return why;
    }
  }
  for (Value v : op.getResults()) {
    if (std::string why = unfitTensor(v); !why.empty()) {
      return why;
    }
  }
  return "";
}

namespace {
/// Fills a target::Piece from the ops of a piece.
class PieceDescription {
public:
  PieceDescription(ArrayRef<Operation *> ops, DescribedPiece &to)
      : inside(ops.begin(), ops.end()), to(to), piece(to.piece) {}

  void run() {
    for (Operation *op : inside) {
      describe(*op);
    }
    for (Operation *op : inside) {
      for (Value v : op->getResults()) {
        if (llvm::any_of(v.getUsers(), [&](Operation *user) { return !inside.contains(outermost(user)); })) {
          piece.outputs.push_back(numberOf(v));
        }
      }
    }
    for (const support::Size &size : to.openSizes) {
      piece.openSizes.push_back(size.text());
    }
  }

private:
  llvm::SetVector<Operation *> inside;
  DescribedPiece &to;
  target::Piece &piece;
  llvm::DenseMap<Value, int32_t> numbers;

  /// Returns the op in the pieces' block that holds `user`, or is it.
  Operation *outermost(Operation *user) const {
    Operation *ancestor = inside.front()->getBlock()->findAncestorOpInBlock(*user);
    return ancestor ? ancestor : user;
  }

  void describe(Operation &op) {
    target::PieceOp described;
    described.name = op.getName().stripDialect().str();
    described.node = onnx::nodeOf(op.getLoc());
    for (NamedAttribute attribute : op.getAttrDictionary()) {
      if (!isInternal(attribute)) {
        described.attributes.emplace(attribute.getName().str(), *convert(attribute.getValue()));
      }
    }
    for (Value v : op.getOperands()) {
      described.operands.push_back(onnx::present(v) ? numberOf(v) : -1);
    }
    for (Value v : op.getResults()) {
      described.results.push_back(v.use_empty() ? -1 : numberOf(v));
    }
    piece.ops.push_back(std::move(described));
  }

  int32_t numberOf(Value v) {
    auto [it, isNew] = numbers.try_emplace(v, static_cast<int32_t>(piece.values.size()));
    if (isNew) {
      piece.values.push_back(describe(v));
      to.values.push_back(v);
      if (!piece.values.back().isConstant() && (!v.getDefiningOp() || !inside.contains(v.getDefiningOp()))) {
        piece.inputs.push_back(it->second);
      }
    }
    return it->second;
  }

  target::PieceValue describe(Value v) {
    target::PieceValue value;
    RankedTensorType type = onnx::ranked(v);
    value.type = static_cast<target::ElementType>(onnx::numberOfElement(type.getElementType()));
    for (const support::Size &size : onnx::sizesOf(type)) {
      value.sizes.push_back(size.isNumber() ? target::PieceSize{size.number(), -1}
                                            : target::PieceSize{-1, openSize(size)});
    }
    if (ElementsAttr constant = onnx::constantOf(v)) {
      ArrayRef<char> bytes = onnx::bytesOf(constant, to.own.emplace_back());
      value.data = bytes.data(), value.dataBytes = bytes.size();
    }
    return value;
  }

  int32_t openSize(const support::Size &size) {
    auto *it = llvm::find(to.openSizes, size);
    auto index = static_cast<int32_t>(it - to.openSizes.begin());
    if (it == to.openSizes.end()) {
      to.openSizes.push_back(size);
    }
    return index;
  }
};
} // namespace

void describePiece(ArrayRef<Operation *> ops, const target::MachineModel &machine, StringRef symbol, bool isStrict,
                   DescribedPiece &described) {
  described.piece.isStrict = isStrict;
  described.piece.symbol = symbol.str();
  described.piece.machine = {machine.spec,      machine.triple,  machine.cpu,     machine.features, machine.lanes,
                             machine.registers, machine.l1Bytes, machine.l2Bytes, machine.l3Bytes};
  PieceDescription(ops, described).run();
}

std::string keyOf(const target::Piece &piece) {
  std::string key;
  llvm::raw_string_ostream os(key);
  auto list = [&](const auto &values) {
    for (const auto &value : values) {
      os << value << ',';
    }
    os << ';';
  };
  os << piece.machine.spec << ';';
  for (const target::PieceValue &value : piece.values) {
    os << static_cast<int32_t>(value.type) << ':';
    for (const target::PieceSize &size : value.sizes) {
      os << size.number << '/' << size.open << ',';
    }
    if (value.isConstant()) {
      os << llvm::toHex(llvm::SHA256::hash({static_cast<const uint8_t *>(value.data), value.dataBytes}));
    }
    os << ';';
  }
  for (const target::PieceOp &op : piece.ops) {
    os << op.name << '{';
    for (const auto &[name, attribute] : op.attributes) {
      os << name << '=' << attribute.index() << ':';
      std::visit(
          [&](const auto &value) {
            using Held = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Held, std::vector<int64_t>> || std::is_same_v<Held, std::vector<double>>) {
              list(value);
            } else if constexpr (std::is_same_v<Held, std::string>) {
              os << value.size() << ' ' << value;
            } else {
              os << value;
            }
          },
          attribute);
    }
    os << '}';
    list(op.operands), list(op.results);
  }
  list(piece.inputs), list(piece.outputs), list(piece.openSizes);
  return key;
}

} // namespace ingot::partition
