// Chooses the forms of operators that depend on who computes them; nothing else does. The phase `partition` gives each
// node a device first and calls this then. With --levels it calls this first: each level has one device, and all levels
// get the forms that pay on every one of them, so that they share their weights.
#include "compiler/fusion/Fuse.h"
#include "compiler/graph/Simplify.h"
#include "compiler/integer/Bounds.h"
#include "compiler/integer/Halves.h"
#include "compiler/integer/Quantize.h"
#include "compiler/integer/Short.h"
#include "compiler/integer/Taps.h"
#include "compiler/integer/Wide.h"
#include "compiler/pipeline/State.h"

using namespace mlir;

namespace ingot::pipeline {
namespace {

/// The forms of ops by the devices that compute them. Levels share their weights and with these the forms: all ops get
/// those that pay on each of them.
class DeviceForms {
public:
  DeviceForms(const State &s, const Body &body) : devices(body.devices), areLevels(!s.options.levels.empty()) {
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
  bool haveHalves() const {
    return llvm::any_of(each, [](const integer::MachineForms &forms) { return forms.halves; });
  }

private:
  ArrayRef<partition::Device> devices;
  bool areLevels;
  std::vector<integer::MachineForms> each;
};

} // namespace

/// Chooses the forms of quantized ops. Machines that multiply pairs of bytes or of int16 want marks and factors of
/// their own. Weights, and views around a form, are for fusions what they are in any model.
static LogicalResult chooseIntegerForms(State &s, func::FuncOp function, const DeviceForms &forms, bool &changed) {
  bool isStrict = s.options.isStrict();
  if (!isStrict && failed(integer::useBytes(function, forms, changed))) {
    return failure();
  }
  if (changed && failed(graph::simplify(function))) {
    return failure();
  }
  bool hasFolded = integer::foldTaps(function, forms);
  if (hasFolded && failed(graph::simplify(function))) {
    return failure();
  }
  integer::markShortSums(function, forms);
  bool hasWidened = integer::widenFactors(function, forms);
  changed = changed || hasFolded || hasWidened;
  if (!changed) {
    return success();
  }
  graph::eliminateCommon(function);
  return fusion::fuse(function, isStrict);
}

LogicalResult chooseForms(State &s, Body &body, Result &) {
  func::FuncOp function = body.function();
  DeviceForms forms(s, body);
  bool changed = false;
  if ((integer::isQuantized(function) && failed(chooseIntegerForms(s, function, forms, changed))) ||
      (forms.haveHalves() && failed(integer::useHalves(function, forms, changed))) ||
      (changed && failed(graph::simplify(function)))) {
    return failure();
  }
  if (changed) {
    graph::eliminateCommon(function);
  }
  integer::markBounds(function, s.options.isStrict());
  return success();
}

} // namespace ingot::pipeline
