// Lists the algorithms, and chooses among them, in one place: candidates are compared in the order of their algorithms'
// ranks, the most general one first, and a later one takes the place of the best so far if it beats it. A candidate
// that the user or a table of schedules asks for beats all others that are possible.
#include "compiler/lower/Algorithm.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

#define ALGORITHM(Name) std::unique_ptr<Algorithm> create##Name##Algorithm();
#include "compiler/lower/Algorithms.inc"
#undef ALGORITHM

using Algorithms = SmallVector<const Algorithm *, 8>;

namespace {
class List {
public:
  List() {
#define ALGORITHM(Name) all.push_back(create##Name##Algorithm());
#include "compiler/lower/Algorithms.inc"
#undef ALGORITHM
    llvm::sort(all,
               [](const auto &a, const auto &b) { return std::pair(a->rank, a->name) < std::pair(b->rank, b->name); });
    for (const auto &algorithm : all) {
      for (TypeID root : algorithm->roots()) {
        byRoot[root].push_back(algorithm.get());
      }
    }
  }

  /// Returns the algorithms of a root, the lowest rank first.
  const Algorithms &of(Operation *root) const { return byRoot.find(root->getName().getTypeID())->second; }

private:
  std::vector<std::unique_ptr<Algorithm>> all;
  llvm::DenseMap<TypeID, Algorithms> byRoot;
};
} // namespace

static const Algorithms &algorithmsOf(Operation *root) {
  static const auto *list = new List;
  return list->of(root);
}

/// Whether a schedule is one of this algorithm: it says so, or says that none of the others is used.
static bool isOf(const target::Schedule &requested, const Algorithm &algorithm, ArrayRef<const Algorithm *> all) {
  auto uses = [&](const Algorithm *a) { return !a->key.empty() && requested[a->key].value_or(0) > 0; };
  return !requested.empty() && (algorithm.key.empty() ? llvm::none_of(all, uses) : uses(&algorithm));
}

/// Whether a candidate takes the place of the best one so far. The loser notes why, in case it is the faster one.
static bool replaces(Candidate &next, Candidate &best) {
  bool isRequested = next.isWanted != best.isWanted;
  double share = next.algorithm == best.algorithm ? next.belowOwn : next.mustBeBelow * best.countsAs;
  bool wins = isRequested ? next.isWanted : next.drawback.empty() && next.cycles + next.mustSave < share * best.cycles;
  Candidate &loser = wins ? best : next;
  if (isRequested) {
    loser.whyLost = (wins ? next : best).name + " is asked for";
  } else if (wins) {
    loser.whyLost = llvm::formatv("{0} may take {1:f2} times as long", next.name, share);
  } else if (!next.drawback.empty()) {
    loser.whyLost = next.drawback;
  } else {
    std::string less = next.mustSave > 0 ? ", less " + countText(next.mustSave) : "";
    loser.whyLost = llvm::formatv("has to be below {0:f2} of {1}{2}", share, best.name, less);
  }
  return wins;
}

std::string whyAmbiguous(ArrayRef<Candidate> candidates) {
  const Algorithm *keyless = nullptr, *other = nullptr;
  bool areScheduled = false;
  for (const Candidate &candidate : candidates) {
    if (candidate.algorithm->key.empty()) {
      areScheduled |= !candidate.schedule.empty();
      other = keyless && keyless != candidate.algorithm ? keyless : other;
      keyless = candidate.algorithm;
    }
  }
  return areScheduled && other ? "algorithms '" + other->name + "' and '" + keyless->name +
                                     "' compute the same kernel, and no schedule can say which: one of them needs a key"
                               : "";
}

Choice choose(plan::KernelOp kernel, const target::MachineModel &machine) {
  return choose(kernel, machine, algorithmsOf(kernel.root()));
}

Choice choose(plan::KernelOp kernel, const target::MachineModel &machine, ArrayRef<const Algorithm *> all) {
  target::Schedule requested = requestedSchedule(kernel.root());
  Choice choice;
  for (const Algorithm *algorithm : all) {
    if (!algorithm->key.empty() && requested[algorithm->key] == 0) {
      choice.whyNot.push_back({algorithm->name, "the file of schedules says so"});
      continue;
    }
    Offer offer = algorithm->offer(kernel, machine);
    if (offer.candidates.empty()) {
      choice.whyNot.push_back({algorithm->name, std::move(offer.whyNot)});
    }
    for (Candidate &candidate : offer.candidates) {
      candidate.algorithm = algorithm;
      candidate.isWanted |= isOf(requested, *algorithm, all);
      bool isBest = choice.candidates.empty() || replaces(candidate, choice.candidates[choice.chosen]);
      choice.candidates.push_back(std::move(candidate));
      choice.chosen = isBest ? choice.candidates.size() - 1 : choice.chosen;
    }
  }
  assert(!choice.candidates.empty() && "some algorithm computes every kernel of a family");
  if (std::string why = whyAmbiguous(choice.candidates); !why.empty()) {
    llvm::report_fatal_error(llvm::Twine(why));
  }
  return choice;
}

// These write texts.

/// Returns a name and what else the schedule says, "winograd=4 strips=2".
static std::string withSchedule(StringRef name, target::Schedule schedule, const std::string &key = "") {
  schedule.erase(key);
  return schedule.empty() ? name.str() : (name + " " + schedule.text()).str();
}

std::string onlyChoice(StringRef name, const target::Schedule &schedule) {
  return withSchedule(name, schedule) + "; the only algorithm";
}

std::string Choice::text() const {
  const Candidate &best = this->best();
  std::string text = withSchedule(best.name, best.schedule.with(best.numbers), best.algorithm->key);
  text += ": " + countText(best.cycles) + " cycles";
  for (auto [i, other] : llvm::enumerate(candidates)) {
    if (i != chosen) {
      text += "; " + other.name + " " + countText(other.cycles);
      text += other.cycles < best.cycles ? " (" + other.whyLost + ")" : "";
    }
  }
  for (const auto &[name, why] : whyNot) {
    text += "; " + name + ": " + why;
  }
  std::string why = best.whySchedule ? best.whySchedule() : "";
  return why.empty() ? text : text + "; why " + why;
}

// These are the answers of a family whose kernels are computed by algorithms (ByAlgorithm).

LayoutRule layoutOf(Operation *root, const target::MachineModel &machine) {
  for (const Algorithm *algorithm : llvm::reverse(algorithmsOf(root))) {
    if (std::optional<LayoutRule> rule = algorithm->layoutRule(root, machine)) {
      return *rule;
    }
  }
  return LayoutRule::RowMajor;
}

static KernelShape shapeOf(const Choice &choice) {
  KernelShape shape = choice.best().shape();
  shape.choice = choice.text();
  return shape;
}

KernelShape chosenShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  return shapeOf(choose(kernel, machine));
}

KernelShape chosenShape(plan::KernelOp kernel, const target::MachineModel &machine, ArrayRef<const Algorithm *> all) {
  return shapeOf(choose(kernel, machine, all));
}

/// Returns the schedule that turns off each algorithm that has a key and could compute the kernel: "winograd=0
/// matrix=0".
static target::Schedule withoutKeys(const Algorithms &all, llvm::function_ref<bool(const Algorithm *)> isPossible) {
  target::Schedule zeros;
  for (const Algorithm *algorithm : all) {
    if (!algorithm->key.empty() && isPossible(algorithm)) {
      zeros.set(algorithm->key, 0);
    }
  }
  return zeros;
}

/// Returns the cycles that would be expected of a kernel for which a table had this schedule.
static double cyclesWith(plan::KernelOp kernel, const target::Schedule &schedule, const target::MachineModel &machine) {
  Attribute before = kernel->getAttr(scheduleName);
  kernel->setAttr(scheduleName, StringAttr::get(kernel.getContext(), schedule.text()));
  double cycles = choose(kernel, machine).best().cycles;
  before ? kernel->setAttr(scheduleName, before) : static_cast<void>(kernel->removeAttr(scheduleName));
  return cycles;
}

std::optional<target::ScheduleChoices> schedulesOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  const Algorithms &all = algorithmsOf(kernel.root());
  Choice choice = choose(kernel, machine);
  std::map<const Algorithm *, std::vector<target::Schedule>> more;
  for (const Algorithm *algorithm : all) {
    more[algorithm] = algorithm->schedules(kernel, machine);
  }
  auto isPossible = [&](const Algorithm *algorithm) {
    auto isIts = [&](const Candidate &candidate) { return candidate.algorithm == algorithm; };
    return llvm::any_of(choice.candidates, isIts) || !more[algorithm].empty();
  };
  target::Schedule zeros = withoutKeys(all, isPossible);
  auto whole = [&](target::Schedule schedule, const Algorithm *algorithm) {
    return algorithm->key.empty() ? schedule.with(zeros) : schedule;
  };
  target::ScheduleChoices choices;
  const Candidate &best = choice.best();
  choices.why = choice.text(), choices.without = zeros, choices.chosen = whole(best.schedule, best.algorithm);
  auto add = [&](target::Schedule schedule) {
    if (!schedule.empty() && schedule != choices.chosen && !llvm::is_contained(choices.others, schedule)) {
      choices.remarks.push_back(countText(cyclesWith(kernel, schedule, machine)) + " cycles");
      choices.others.push_back(std::move(schedule));
    }
  };
  for (auto [i, other] : llvm::enumerate(choice.candidates)) {
    if (i != choice.chosen) { // an algorithm without a key is chosen by saying that no other is used
      add(other.algorithm->key.empty() && !zeros.empty() ? zeros : other.schedule);
    }
  }
  for (const Algorithm *algorithm : llvm::reverse(all)) {
    for (const target::Schedule &schedule : more[algorithm]) {
      add(whole(schedule, algorithm));
    }
  }
  return choices.others.empty() ? std::nullopt : std::optional(std::move(choices));
}

std::optional<RowShape> chosenRowShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  for (const Algorithm *algorithm : algorithmsOf(kernel.root())) {
    if (std::optional<RowShape> shape = algorithm->rowShape(kernel, machine)) {
      Choice choice = choose(kernel, machine);
      if (choice.best().algorithm != algorithm) {
        shape->alone = choice.best().cycles;
      }
      return shape;
    }
  }
  return std::nullopt;
}

} // namespace ingot::lower
