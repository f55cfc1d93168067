// An algorithm is one way to compute the kernels of some operators: it says whether it applies to a kernel, what it is
// expected to cost there, which layout and schedules it wants, and how it writes the loops. An algorithm is a file of
// algorithms/ (found by folder) that defines
//   std::unique_ptr<Algorithm> ingot::lower::create<Stem>Algorithm();
// and nobody names it. Layouts are decided first, by layoutOf(). For a kernel that has its layouts, choose() alone
// decides which algorithm computes it on a machine. It is pure and may be asked again. What it decides travels in the
// kernel's shape (KernelShape::build), and the text of it is what people see.
// See algorithms/RowMajorConv.cpp for a small one, and StrassenMatMul.cpp for one with a key.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Counts.h"

namespace ingot::lower {

class Algorithm;

/// One way to compute a kernel, decided in all details.
struct Candidate {
  std::string name; ///< for people: "winograd=4"
  /// The estimated time of one thread, in cycles of the machine's model, for one image, one matrix product, or one step
  /// of a recurrent network. Sizes that only the run knows count with typical ones.
  double cycles;
  target::Schedule schedule = {}; ///< the schedule by which a table asks for it
  bool isWanted = false;          ///< whether the user or a table asks for it, whatever it costs
  std::function<KernelShape()> shape = {};
  target::Schedule numbers = {};                 ///< numbers of its schedule for which no table may ask, for people
  std::function<std::string()> whySchedule = {}; ///< why the numbers are what they are, and which others were compared

  // These decide whether it takes the place of the best of the candidates before it. It does where
  //
  //   cycles + mustSave < share * (the best one's cycles).
  //
  // The share is belowOwn where the best one is of the same algorithm, else mustBeBelow * (the best one's countsAs).
  // For example, direct takes 100 k cycles. Winograd's F(2x2), with a mustBeBelow of 0.9, has to take less than 90 k,
  // and takes 80 k. Then F(4x4), with a belowOwn of 0.95, has to take less than 76 k, and takes 78 k: F(2x2) stays.
  // Matrix registers come next, with a mustBeBelow of 1. F(2x2) has a countsAs of 1.2, so they have to take less than
  // 96 k.
  double mustBeBelow = 1;    ///< below 1: its own estimate is too good; above 1: those of others are
  double belowOwn = 1;       ///< below 1: it has to gain so much over another candidate of its own algorithm
  double mustSave = 0;       ///< cycles that it has to gain besides
  double countsAs = 1;       ///< above 1: it takes longer than is estimated, so that a later algorithm may take more
  std::string drawback = {}; ///< why it is only taken where it is asked for; empty: there is no such reason

  // These are what choose() adds.
  const Algorithm *algorithm = nullptr;
  std::string whyLost = {}; ///< why it lost to a candidate that takes longer
};

/// The answer of an algorithm for a kernel: candidates, or the reason why there are none.
struct Offer {
  std::vector<Candidate> candidates;
  std::string whyNot;

  Offer(Candidate candidate) { candidates.push_back(std::move(candidate)); }
  Offer(std::vector<Candidate> candidates) : candidates(std::move(candidates)) {}
  Offer(std::string whyNot) : whyNot(std::move(whyNot)) {}
  Offer(const char *whyNot) : whyNot(whyNot) {}
};

class Algorithm {
public:
  virtual ~Algorithm() = default;

  /// The name for people, "winograd".
  const std::string name;
  /// Algorithms of a higher rank are for fewer kernels: they are asked for a layout first, and for candidates last.
  /// docs/performance.md lists the ranks.
  const int rank;
  /// The key in a schedule whose number says whether the algorithm is used, "winograd". Empty: the algorithm is used if
  /// no other is. Of the algorithms that may compute the same kernel by several schedules, all but one have a key.
  const std::string key;

  /// Returns the ops that are the roots of its kernels.
  virtual llvm::SmallVector<mlir::TypeID> roots() const = 0;
  /// Returns the layout for which it would compute a kernel of `root`; nothing: others decide.
  virtual std::optional<LayoutRule> layoutRule(mlir::Operation *root, const target::MachineModel &machine) const {
    return std::nullopt;
  }
  /// Returns how it would compute a kernel whose operands have their layouts, and follows what a table says of the
  /// kernel (requestedSchedule). Candidates may refer to the machine, which lives longer than they do.
  virtual Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const = 0;
  /// Returns schedules beside those of its candidates, those first that are most likely to be faster.
  virtual std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const {
    return {};
  }
  /// Returns what KernelFamily::rowShape() does. `alone` is the estimate of this algorithm for the whole image;
  /// choose() may know a faster one.
  virtual std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const {
    return std::nullopt;
  }

protected:
  Algorithm(std::string name, int rank, std::string key = "")
      : name(std::move(name)), rank(rank), key(std::move(key)) {}
  template <typename... Ops> static llvm::SmallVector<mlir::TypeID> rootsOf() { return {mlir::TypeID::get<Ops>()...}; }
};

/// The candidate that computes a kernel on a machine, and all others.
struct Choice {
  std::vector<Candidate> candidates; ///< at least one
  size_t chosen = 0;
  std::vector<std::pair<std::string, std::string>> whyNot; ///< reasons by the names of algorithms that do not apply

  const Candidate &best() const { return candidates[chosen]; }
  /// Returns the choice as a text: "winograd=4 strips=1: 62 k cycles; direct 84 k; winograd=2 60 k (has to be below 0.9
  /// of direct); matrix: the machine has no matrix registers; why strips=1: 62 k, strips=2 64 k".
  std::string text() const;
};

/// Decides which algorithm computes a kernel, and gives the same answer each time. The kernel has its layouts, and its
/// root is one of an algorithm's roots.
Choice choose(plan::KernelOp kernel, const target::MachineModel &machine);
/// Decides the same among algorithms of a target's own, the lowest rank first.
Choice choose(plan::KernelOp kernel, const target::MachineModel &machine, llvm::ArrayRef<const Algorithm *> all);

/// Returns what is wrong with algorithms that offer these candidates for a kernel: two of them have no key, so that no
/// schedule could say which one it means. Empty: nothing.
std::string whyAmbiguous(llvm::ArrayRef<Candidate> candidates);

/// Returns the text for people of a kernel that has one algorithm, in these numbers.
std::string onlyChoice(llvm::StringRef name, const target::Schedule &schedule);

// These are the answers of a family whose kernels are computed by algorithms.

/// Returns the layoutRule() of the algorithm of the highest rank that wants one.
LayoutRule layoutOf(mlir::Operation *root, const target::MachineModel &machine);
KernelShape chosenShape(plan::KernelOp kernel, const target::MachineModel &machine);
/// Returns the shape that the best of a target's own algorithms gives; they are as for choose().
KernelShape chosenShape(plan::KernelOp kernel, const target::MachineModel &machine,
                        llvm::ArrayRef<const Algorithm *> all);
std::optional<target::ScheduleChoices> schedulesOf(plan::KernelOp kernel, const target::MachineModel &machine);
std::optional<RowShape> chosenRowShape(plan::KernelOp kernel, const target::MachineModel &machine);

/// A family whose kernels are computed by the algorithm that choose() says.
template <typename Base = KernelFamily> class ByAlgorithm : public Base {
public:
  LayoutRule layoutRule(mlir::Operation *root, const target::MachineModel &machine) const override {
    return layoutOf(root, machine);
  }
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return chosenShape(kernel, machine);
  }
  std::optional<target::ScheduleChoices> schedules(plan::KernelOp kernel,
                                                   const target::MachineModel &machine) const override {
    return schedulesOf(kernel, machine);
  }
  std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return chosenRowShape(kernel, machine);
  }
};

} // namespace ingot::lower
