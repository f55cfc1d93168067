// A target that hands chains of image operators to Halide, which schedules and compiles them: a real compiler behind
// the interface of pieces. `halide` takes all that it can; `halide:Resize+MaxPool` only these.
#include "Object.h"
#include "Pipeline.h"
#include "compiler/target/PlugIn.h"

using namespace ingot::target;

namespace {

/// Halide's words for a machine, and nothing that would need its runtime.
Halide::Target targetOf(const PieceMachine &machine, bool isStrict) {
  using Halide::Target;
  bool isArm = machine.triple.rfind("aarch64", 0) == 0;
  std::vector<Target::Feature> features = {Target::NoRuntime, Target::NoAsserts, Target::NoBoundsQuery};
  if (!isArm && machine.lanes >= 4) {
    features.push_back(Target::SSE41);
  }
  if (!isArm && machine.lanes >= 8) {
    features.insert(features.end(), {Target::AVX, Target::AVX2, Target::FMA, Target::F16C});
  }
  if (!isArm && machine.lanes >= 16) {
    features.insert(features.end(), {Target::AVX512, Target::AVX512_Skylake});
  }
  if (isStrict) { // else sums may be taken in another order, and there is no NaN
    features.push_back(Target::StrictFloat);
  }
  return {Target::Linux, isArm ? Target::ARM : Target::X86, 64, features};
}

/// Whether the op is one of those that the spec names; all, where it names none.
bool isWanted(const std::string &spec, const std::string &op) {
  size_t colon = spec.find(':');
  return colon == std::string::npos || ("+" + spec.substr(colon + 1) + "+").find("+" + op + "+") != std::string::npos;
}

class HalideTarget final : public PieceTarget {
public:
  std::string name() const override { return "halide"; }
  std::vector<PieceLevel> levels() const override {
    return {{"halide", "image operators by Halide 14; halide:Conv+MaxPool takes only these"}};
  }
  bool accepts(const std::string &spec) const override { return spec == "halide" || spec.rfind("halide:", 0) == 0; }

  std::string refuses(const Piece &piece) const override {
    const PieceOp &op = piece.ops[0];
    bool isKnown = piece.machine.triple.rfind("x86_64", 0) == 0 || piece.machine.triple.rfind("aarch64", 0) == 0;
    if (!isKnown) {
      return "only x86-64 and 64-bit Arm here";
    }
    return isWanted(piece.machine.spec, op.name) ? halide_target::unsupported(piece, op) : "not asked for here";
  }

  PieceCode compile(const Piece &piece) const override {
    halide_target::Pipeline pipeline = halide_target::buildPipeline(piece, int(piece.machine.lanes));
    PieceCode code;
    code.constants = pipeline.constants;
    halide_target::Object object = compileObject(pipeline, piece.symbol, targetOf(piece.machine, piece.isStrict));
    if (!object.undefined.empty()) {
      return PieceCode::refused("Halide's code would call " + object.undefined);
    }
    code.object = std::move(object.bytes);
    code.scratch = {{object.scratchBytes}};
    return code;
  }
};

} // namespace

INGOT_PIECE_TARGET(HalideTarget)
