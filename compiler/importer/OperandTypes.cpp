// Tells which element types an operator takes by asking the op's verifier, since its definition says it there. The
// verifier stops at the first operand whose type is wrong, so operands are tried one after the other, those in front of
// it with a type that they take. Attributes get the first value that is of their kind; what else the verifier finds
// wrong is not about types.
#include "compiler/importer/Import.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/interfaces/Expansion.h"
#include "compiler/onnx/rewriting/Operators.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot::importer {
namespace {

class Trial {
public:
  Trial(MLIRContext &context, RegisteredOperationName info) : context(context), builder(&context), info(info) {}

  std::vector<std::vector<int32_t>> run() {
    int64_t declared = info.getInterface<onnx::Importable>()->inputCount();
    auto count = static_cast<size_t>(declared < 0 ? 1 : declared);
    setAttributes();
    std::vector<std::vector<int32_t>> found;
    for (size_t i = 0; i < count; ++i) {
      found.push_back(taken(i, count));
      types.push_back(found.back().empty() ? builder.getNoneType() : typeOf(found.back().front()));
    }
    return found;
  }

private:
  MLIRContext &context;
  OpBuilder builder;
  RegisteredOperationName info;
  NamedAttrList attributes;
  SmallVector<Type> types; ///< the types of the operands that have been tried

  Type typeOf(int32_t number) { return UnrankedTensorType::get(onnx::elementOfNumber(number, &context)); }

  void setAttributes() {
    Attribute one = builder.getI64IntegerAttr(1);
    Attribute kinds[] = {one,
                         builder.getF32FloatAttr(1),
                         builder.getStringAttr(""),
                         builder.getDenseI64ArrayAttr({1}),
                         builder.getDenseF32ArrayAttr({1}),
                         builder.getStrArrayAttr({""}),
                         builder.getUnitAttr(),
                         DenseElementsAttr::get(RankedTensorType::get({1}, builder.getF32Type()), 1.0F)};
    for (StringAttr name : info.getAttributeNames()) {
      for (Attribute kind : kinds) {
        NamedAttrList own;
        own.set(name, kind);
        ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
        auto complain = [&] { return emitError(UnknownLoc::get(&context)); };
        if (succeeded(info.verifyInherentAttrs(own, complain))) {
          attributes.set(name, kind);
          break;
        }
      }
    }
  }

  /// Returns the types that operand `i` of `count` takes.
  std::vector<int32_t> taken(size_t i, size_t count) {
    std::vector<int32_t> numbers;
    for (const support::ElementType &row : support::elementTypes()) {
      if (row.kind == support::ElementKind::None || !onnx::elementOfNumber(row.number, &context)) {
        continue;
      }
      SmallVector<Type> all(types);
      all.resize(count, typeOf(row.number));
      if (complaintOf(all) != "operand #" + std::to_string(i)) {
        numbers.push_back(row.number);
      }
    }
    return numbers;
  }

  /// Returns the operand that the verifier complains about first ("operand #1"); empty: about none.
  std::string complaintOf(ArrayRef<Type> operands) {
    std::string first;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (first.empty()) {
        std::string said = diagnostic.str();
        size_t at = said.find("operand #");
        first = at == std::string::npos ? "another" : said.substr(at, said.find(' ', at + 8) - at);
      }
      return success();
    });
    Block block;
    OperationState state(UnknownLoc::get(&context), info);
    for (Type type : operands) {
      state.addOperands(block.addArgument(type, state.location));
    }
    state.addAttributes(attributes.getAttrs());
    state.addTypes(
        SmallVector<Type>(onnx::resultCount(info).value_or(1), UnrankedTensorType::get(builder.getF32Type())));
    if (auto *holder = info.getInterface<onnx::SubgraphHolder>()) {
      for (size_t i = 0; i < holder->subgraphNames().size(); ++i) {
        state.addRegion();
      }
    }
    Operation *op = Operation::create(state);
    (void)verify(op, /*verifyRecursively=*/false);
    op->destroy();
    return first;
  }
};

} // namespace

std::vector<std::vector<int32_t>> operandTypes(MLIRContext &context, llvm::StringRef domain, llvm::StringRef op) {
  std::optional<RegisteredOperationName> info = onnx::lookupOperator(&context, domain, op);
  auto *importable = info ? info->getInterface<onnx::Importable>() : nullptr;
  return importable && !importable->isAlias() ? Trial(context, *info).run() : std::vector<std::vector<int32_t>>();
}

} // namespace ingot::importer
