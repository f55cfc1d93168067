#include "compiler/partition/Bindings.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/plan/Plan.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot::partition {
namespace {

/// Returns the argument or result that is called `name`; results may share a name with an argument.
template <typename GetAttr> std::optional<unsigned> find(StringRef name, unsigned count, GetAttr attributeOf) {
  for (unsigned i = 0; i < count; ++i) {
    auto known = dyn_cast_or_null<StringAttr>(attributeOf(i));
    if (known && known.getValue() == name) {
      return i;
    }
  }
  return std::nullopt;
}

LogicalResult bind(func::FuncOp function, const std::string &name, const std::string &device) {
  SmallVector<StringRef> all = plan::devicesOf(function);
  auto known = llvm::find(all, device);
  auto refuse = [&] { return emitError(function.getLoc(), "--bind ") << name << "=" << device << ": "; };
  if (known == all.end()) {
    return refuse() << "no target is a device '" << device << "' with a memory of its own"
                    << (all.empty() ? "" : "; there are: " + llvm::join(all, ", "));
  }
  auto number = IntegerAttr::get(IntegerType::get(function.getContext(), 64), known - all.begin() + 1);
  std::optional<unsigned> input =
      find(name, function.getNumArguments(), [&](unsigned i) { return function.getArgAttr(i, onnx::interfaceName); });
  std::optional<unsigned> output =
      find(name, function.getNumResults(), [&](unsigned i) { return function.getResultAttr(i, onnx::interfaceName); });
  if (!input && !output) {
    return refuse() << "the model has no such input or output";
  }
  if (input && onnx::optionalInput(function.getArgument(*input))) {
    return refuse() << "a run may leave this input out";
  }
  if (input) {
    function.setArgAttr(*input, plan::deviceName, number);
  }
  if (output) {
    auto type = cast<RankedTensorType>(function.getResultTypes()[*output]);
    if (llvm::any_of(onnx::sizesOf(type), [](const support::Size &size) { return size.isDataDependent(); })) {
      return refuse() << "the run finds sizes of this output, which the host reads";
    }
    function.setResultAttr(*output, plan::deviceName, number);
  }
  return success();
}

} // namespace

LogicalResult bindToDevices(func::FuncOp function, const Bindings &bindings) {
  for (const auto &[name, device] : bindings) {
    if (failed(bind(function, name, device))) {
      return failure();
    }
  }
  return success();
}

} // namespace ingot::partition
