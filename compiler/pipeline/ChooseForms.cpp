// Chooses the forms of operators that depend on who computes them; nothing else does. The phase `partition` gives each
// node a device first and calls this then. With --levels it calls this first: each level has one device, and all levels
// get the forms that pay on every one of them, so that they share their weights.
#include "compiler/fusion/Fuse.h"
#include "compiler/graph/Simplify.h"
#include "compiler/integer/Bfloat16.h"
#include "compiler/integer/Bounds.h"
#include "compiler/integer/FoldTaps.h"
#include "compiler/integer/Int16Factors.h"
#include "compiler/integer/Int16Sums.h"
#include "compiler/integer/Quantize.h"
#include "compiler/pipeline/State.h"

using namespace mlir;

namespace ingot::pipeline {
namespace {

/// The forms of ops by the devices that compute them. Levels share their weights and with these the forms: all ops get
/// those that pay on each of them.
class DeviceForms {
public:
  DeviceForms(const State &s, const Variant &variant) : devices(variant.devices), areLevels(!s.options.levels.empty()) {
    bool isFast = s.options.accuracy == Accuracy::Fast;
    if (areLevels) {
      auto machines = llvm::map_to_vector(s.devices, [](const auto &device) { return &device.machine; });
      each = {integer::formsFor(machines, isFast)};
      return;
    }
    for (const partition::Device &device : devices) {
      each.push_back(integer::formsFor(&device.machine, isFast));
    }
  }
  const integer::MachineForms &operator()(Operation *op) const {
    if (areLevels) {
      return each.front();
    }
    static constexpr integer::MachineForms none; // a target brings the op's code
    const partition::Device *device = partition::deviceOf(op, devices);
    return device ? each[device - devices.data()] : none;
  }
  bool haveBf16() const {
    return llvm::any_of(each, [](const integer::MachineForms &forms) { return forms.bf16Products; });
  }

private:
  ArrayRef<partition::Device> devices;
  bool areLevels;
  std::vector<integer::MachineForms> each;
};

} // namespace

/// Chooses the forms of quantized ops; returns whether any changed. Machines that multiply pairs of bytes or of int16
/// want marks and factors of their own. Weights, and views around a form, are for fusions what they are in any model.
static FailureOr<bool> chooseIntegerForms(State &s, func::FuncOp function, const DeviceForms &forms) {
  bool isStrict = s.options.isStrict();
  FailureOr<bool> usesBytes = isStrict ? false : integer::useBytes(function, forms);
  if (failed(usesBytes) || (*usesBytes && failed(graph::simplify(function)))) {
    return failure();
  }
  bool hasFolded = integer::foldTaps(function, forms);
  if (hasFolded && failed(graph::simplify(function))) {
    return failure();
  }
  integer::markInt16Sums(function, forms);
  bool hasWidened = integer::widenFactors(function, forms);
  if (!*usesBytes && !hasFolded && !hasWidened) {
    return false;
  }
  graph::eliminateCommon(function);
  if (failed(fusion::fuse(function, isStrict))) {
    return failure();
  }
  return true;
}

LogicalResult chooseForms(State &s, Variant &variant, Result &) {
  func::FuncOp function = variant.function();
  DeviceForms forms(s, variant);
  FailureOr<bool> areIntegers = integer::isQuantized(function) ? chooseIntegerForms(s, function, forms) : false;
  if (failed(areIntegers)) {
    return failure();
  }
  FailureOr<bool> areBf16 = forms.haveBf16() ? integer::useBfloat16(function, forms) : false;
  if (failed(areBf16)) {
    return failure();
  }
  if (*areIntegers || *areBf16) {
    if (failed(graph::simplify(function))) {
      return failure();
    }
    graph::eliminateCommon(function);
  }
  integer::markBounds(function, s.options.isStrict());
  return success();
}

} // namespace ingot::pipeline
