// Generating text, a transformer's runs each concatenate what they were given of keys and values with a few rows more,
// and copy all of it. Here the caller's buffer has room for what is to come:
//
//   present = Concat(past, rows)            cache' = Append(cache, rows) at `past`
//   f(present), g(past)              ->     f(Slice(cache', 0, past + n)), g(Slice(cache, 0, past))
//   return present                          return cache'
//
// Kernels that read with strides read slices where they lie. All reads of the past come before the Append in the order
// of the ops, so that the memory plan finds that it may work in place.
#include "compiler/graph/ShareCaches.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/ops/Append.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/support/SymbolNames.h"
#include <map>
#include <set>

using namespace mlir;

namespace ingot::graph {
namespace {

using onnx::Size;
using onnx::Sizes;

/// Returns the text that `*` stands for in `pattern` when it matches `name`, which is empty without a star; nothing
/// when it does not match.
std::optional<std::string> match(StringRef pattern, StringRef name) {
  auto [before, after] = pattern.split('*');
  if (!pattern.contains('*')) {
    return pattern == name ? std::optional<std::string>("") : std::nullopt;
  }
  if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) {
    return std::nullopt;
  }
  return name.drop_front(before.size()).drop_back(after.size()).str();
}

class Sharing {
public:
  Sharing(func::FuncOp function, int64_t room)
      : function(function), room(room), block(function.getBody().front()), b(OpBuilder::atBlockBegin(&block)) {
    for (const std::string &name : onnx::symbolsOf(function, function.getArgumentTypes())) {
      taken.insert(name);
    }
  }

  LogicalResult pair(const CachePair &wanted) {
    bool found = false, ok = true;
    for (unsigned i = 0; i < block.getNumArguments(); ++i) {
      if (auto star = match(wanted.first, nameOf(function.getArgAttrOfType<StringAttr>(i, onnx::interfaceName)))) {
        found = true;
        ok &= succeeded(share(i, outputName(wanted.second, *star)));
      }
    }
    return found ? success(ok) : emitError(function.getLoc(), "--cache names no input: '") << wanted.first << "'";
  }

  /// Sets the function's type, and notes the symbols that no input has any more.
  void finish() {
    Operation *end = block.getTerminator();
    function.setType(FunctionType::get(b.getContext(), block.getArgumentTypes(), end->getOperandTypes()));
    std::vector<std::string> left = onnx::symbolsOf(block.getArgumentTypes());
    SmallVector<Attribute> free;
    for (const std::string &name : lengths) {
      if (!llvm::is_contained(left, name)) {
        free.push_back(b.getAttr<onnx::SymbolAttr>(onnx::Symbol::chosen(name)));
      }
    }
    if (!free.empty()) {
      function->setAttr(onnx::symbolsName, b.getArrayAttr(free));
    }
  }

private:
  func::FuncOp function;
  int64_t room;
  Block &block;
  OpBuilder b;
  std::set<std::string> lengths;            ///< symbols of axes that grow
  std::set<std::string> taken;              ///< names of symbols
  std::map<std::string, std::string> rooms; ///< the symbol of the room along each of these axes

  static StringRef nameOf(StringAttr name) { return name ? name.getValue() : StringRef(); }
  static std::string outputName(StringRef pattern, StringRef star) {
    auto [before, after] = pattern.split('*');
    return pattern.contains('*') ? (before + star + after).str() : pattern.str();
  }

  /// Looks through a Concat of one value, which exporters write, too.
  static Value source(Value v) {
    auto concat = v.getDefiningOp<onnx::ConcatOp>();
    return concat && concat->getNumOperands() == 1 ? concat->getOperand(0) : v;
  }

  InFlightDiagnostic refuse(StringRef input, StringRef output) {
    return emitError(function.getLoc(), "--cache: output '") << output << "' does not continue input '" << input << "'";
  }

  LogicalResult share(unsigned input, const std::string &outputName) {
    StringRef inputName = nameOf(function.getArgAttrOfType<StringAttr>(input, onnx::interfaceName));
    std::optional<unsigned> output = onnx::outputCalled(function, outputName);
    if (!output) {
      return refuse(inputName, outputName) << ": there is no such output";
    }
    Value past = block.getArgument(input);
    auto concat = block.getTerminator()->getOperand(*output).getDefiningOp<onnx::ConcatOp>();
    if (!concat || concat->getOperands().size() != 2 || source(concat->getOperand(0)) != past) {
      return refuse(inputName, outputName) << ": it is not a Concat of that and new rows";
    }
    Sizes sizes = onnx::sizesOf(onnx::ranked(past));
    auto axis = static_cast<size_t>(*onnx::normalAxis(concat.getAxis(), static_cast<int64_t>(sizes.size())));
    std::optional<support::Symbol> length = sizes[axis].asSymbol();
    if (!length) {
      return refuse(inputName, outputName) << ": the axis where it grows is not open";
    }
    lengths.insert(length->str());
    rewrite(input, concat, axis, room < 0 ? Size::symbol(roomOf(length->str())) : Size(room));
    return success();
  }

  /// Returns "past_room", with underscores behind it where the model has such a size.
  const std::string &roomOf(const std::string &length) {
    auto [room, isNew] = rooms.try_emplace(length, "");
    for (std::string name = support::symbolName(length) + "_room"; isNew; name += "_") {
      room->second = support::symbolText(name);
      isNew = !taken.insert(room->second).second;
    }
    return room->second;
  }

  void rewrite(unsigned input, onnx::ConcatOp concat, size_t axis, const Size &room) {
    Value cache = block.getArgument(input), rows = concat->getOperands()[1];
    RankedTensorType type = onnx::ranked(cache);
    Sizes sizes = onnx::sizesOf(type);
    Size past = sizes[axis], whole = past + onnx::sizesOf(onnx::ranked(rows))[axis];
    sizes[axis] = room;
    cache.setType(onnx::sizedType(sizes, type.getElementType()));
    b.setInsertionPoint(concat);
    onnx::Formula f(b, concat.getLoc());
    Value written =
        f.op("Append", {cache, rows}, {f.integer("axis", static_cast<int64_t>(axis)), f.sizes("sizes", {past})});
    auto first = [&](Value from, const Size &count) {
      int64_t at = static_cast<int64_t>(axis);
      return f.op("Slice", {from, onnx::makeIntegers(b, f.loc, {0}), onnx::makeSizes(b, f.loc, Sizes{count}),
                            onnx::makeIntegers(b, f.loc, {at}), onnx::makeIntegers(b, f.loc, {1})});
    };
    Value present = first(written, whole);
    b.setInsertionPointToStart(&block);
    Value before = first(cache, past);
    cache.replaceUsesWithIf(before, [&](OpOperand &use) {
      return use.getOwner() != written.getDefiningOp() && use.getOwner() != before.getDefiningOp() &&
             use.getOwner() != concat;
    });
    concat->getResult(0).replaceUsesWithIf(written,
                                           [&](OpOperand &use) { return use.getOwner() == block.getTerminator(); });
    concat->getResult(0).replaceAllUsesWith(present);
    concat.erase();
  }
};

} // namespace

LogicalResult shareCaches(func::FuncOp function, ArrayRef<CachePair> pairs, int64_t room) {
  Sharing sharing(function, room);
  bool ok = true;
  for (const CachePair &pair : pairs) {
    ok &= succeeded(sharing.pair(pair));
  }
  sharing.finish();
  return success(ok);
}

} // namespace ingot::graph
