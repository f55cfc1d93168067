// Makes one body of functions that differ in numbers alone: layers of the same sizes whose scales differ, of other
// strides, of other counts. Each function becomes a call of the body with its own numbers.
//
//   conv_1(x, y): ... x * 0.5 ... i < 14 ...        conv_1(x, y): conv_1.shared(x, y, 0.5, 14)
//   conv_2(x, y): ... x * 0.7 ... i < 7 ...         conv_2(x, y): conv_1.shared(x, y, 0.7, 7)
//
// Two functions are alike when their instructions are the same one by one, and operands are what corresponds or
// constants. Constants that differ are holes; holes that have the same numbers in each function are one argument. A
// vector of equal elements is the argument of one, spread at the entry. Functions that are alike join one after the
// other while the body has few enough holes and calls cost less than the bodies that go.
#include "compiler/emit/CodeGen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <map>

using namespace llvm;

namespace {

/// The most holes of a body: with more of them the callers' numbers take what sharing saves.
constexpr size_t mostHoles = 24;

/// Instructions that a call takes, for itself and for each argument, in instructions of a body.
constexpr size_t callCost = 4, argumentCost = 2;

/// Shorter functions are not worth looking at.
constexpr size_t leastInstructions = 16;

/// An operand of an instruction, both by their numbers in the function.
using Place = std::pair<unsigned, unsigned>;
using Holes = MapVector<Place, Constant *>;

/// Functions that share a body, and for each of them the constants at all places in which any two differ.
struct Shared {
  SmallVector<Function *> functions;
  SmallVector<Place> places;
  SmallVector<SmallVector<Constant *>> constants; ///< by function and place
};

class Comparison {
public:
  Comparison(Function &one, Function &other) : one(one), other(other) {}

  /// The constants of `other` where it differs from `one`; nothing when they are not alike.
  std::optional<Holes> run() {
    if (one.size() != other.size() || one.getInstructionCount() != other.getInstructionCount()) {
      return std::nullopt;
    }
    for (auto [a, b] : zip_equal(one.args(), other.args())) {
      same[&a] = &b;
    }
    for (auto [a, b] : zip_equal(one, other)) {
      same[&a] = &b;
      if (a.size() != b.size()) {
        return std::nullopt;
      }
      for (auto [x, y] : zip_equal(a, b)) {
        same[&x] = &y;
      }
    }
    unsigned number = 0;
    for (auto [a, b] : zip_equal(instructions(one), instructions(other))) {
      if (!areAlike(a, b, number++)) {
        return std::nullopt;
      }
    }
    return std::move(holes);
  }

private:
  bool areAlike(Instruction &a, Instruction &b, unsigned number) {
    if (!a.isSameOperationAs(&b) || !a.hasSameSubclassOptionalData(&b) || metadataOf(a) != metadataOf(b)) {
      return false;
    }
    if (auto *phi = dyn_cast<PHINode>(&a)) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        if (same.lookup(phi->getIncomingBlock(i)) != cast<PHINode>(b).getIncomingBlock(i)) {
          return false;
        }
      }
    }
    for (unsigned i = 0; i < a.getNumOperands(); ++i) {
      Value *x = a.getOperand(i), *y = b.getOperand(i);
      auto *from = dyn_cast<Constant>(x), *to = dyn_cast<Constant>(y);
      if (!from || !to) {
        if (from || to || same.lookup(x) != y) {
          return false;
        }
      } else if (from != to) {
        if (!mayBeArgument(a, i, from, to)) {
          return false;
        }
        holes[{number, i}] = to;
      }
    }
    return true;
  }

  static SmallVector<std::pair<unsigned, MDNode *>> metadataOf(const Instruction &instruction) {
    SmallVector<std::pair<unsigned, MDNode *>> all;
    instruction.getAllMetadata(all);
    return all;
  }

  /// Whether the operand may be computed, by instructions as good as those of constants.
  static bool mayBeArgument(const Instruction &instruction, unsigned operand, Constant *from, Constant *to) {
    auto isNumber = [](const Constant *constant) {
      const Constant *element = constant->getType()->isVectorTy() ? constant->getSplatValue() : constant;
      return element && isa<ConstantInt, ConstantFP>(element);
    };
    if (from->getType() != to->getType() || !isNumber(from) || !isNumber(to)) {
      return false;
    }
    switch (instruction.getOpcode()) {
    case Instruction::UDiv: // by constants these are products
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      return operand == 0;
    case Instruction::Switch:
    case Instruction::Alloca:
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
      return false;
    case Instruction::GetElementPtr: { // a field's number is not computed
      const auto &address = cast<GetElementPtrInst>(instruction);
      return address.getNumOperands() == 2;
    }
    case Instruction::Call: {
      const auto &call = cast<CallBase>(instruction);
      return call.isArgOperand(&instruction.getOperandUse(operand)) && !isa<AnyMemIntrinsic>(call) &&
             !call.isInlineAsm() && !call.paramHasAttr(operand, Attribute::ImmArg);
    }
    default:
      return true;
    }
  }

  Function &one, &other;
  DenseMap<const Value *, const Value *> same; ///< what of `other` corresponds to a value of `one`
  Holes holes;
};

/// The arguments that a body of shared functions has for its holes.
class Arguments {
public:
  explicit Arguments(const Shared &shared) : shared(shared) {
    for (size_t place = 0; place < shared.places.size(); ++place) {
      std::vector<Constant *> values = valuesOf(place);
      auto [it, isNew] = numbers.try_emplace(values, lists.size());
      if (isNew) {
        lists.push_back(values);
      }
      indices.push_back(it->second);
    }
  }

  size_t size() const { return lists.size(); }
  size_t indexOf(size_t place) const { return indices[place]; }
  Constant *valueOf(size_t argument, size_t function) const { return lists[argument][function]; }

private:
  /// The numbers that the functions have at a place, elements of vectors.
  std::vector<Constant *> valuesOf(size_t place) const {
    std::vector<Constant *> values;
    for (const SmallVector<Constant *> &constants : shared.constants) {
      Constant *constant = constants[place];
      values.push_back(constant->getType()->isVectorTy() ? constant->getSplatValue() : constant);
    }
    return values;
  }

  const Shared &shared;
  std::map<std::vector<Constant *>, size_t> numbers;
  std::vector<std::vector<Constant *>> lists;
  std::vector<size_t> indices;
};

} // namespace

/// Returns the constants of a function at some places.
static SmallVector<Constant *> constantsAt(Function &function, ArrayRef<Place> places) {
  SmallVector<Instruction *> all;
  for (Instruction &instruction : instructions(function)) {
    all.push_back(&instruction);
  }
  return map_to_vector(places,
                       [&](const Place &place) { return cast<Constant>(all[place.first]->getOperand(place.second)); });
}

/// Returns how many instructions sharing saves: bodies that go, less the calls and their arguments.
static int64_t savedBy(const Shared &shared) {
  size_t arguments = shared.functions[0]->arg_size() + Arguments(shared).size(), functions = shared.functions.size();
  return int64_t((functions - 1) * shared.functions[0]->getInstructionCount()) -
         int64_t(functions * (callCost + argumentCost * arguments));
}

/// Lets a function share the body of others, if they are alike and it is worth it.
static bool join(Shared &shared, Function &function) {
  std::optional<Holes> holes = Comparison(*shared.functions[0], function).run();
  if (!holes) {
    return false;
  }
  Shared more = shared;
  more.functions.push_back(&function);
  for (const auto &[place, constant] : *holes) {
    if (!is_contained(more.places, place)) {
      more.places.push_back(place);
    }
  }
  more.constants.clear();
  for (Function *member : more.functions) {
    more.constants.push_back(constantsAt(*member, more.places));
  }
  bool isWorthIt = Arguments(more).size() <= mostHoles && savedBy(more) > std::max<int64_t>(0, savedBy(shared));
  if (isWorthIt) {
    shared = std::move(more);
  }
  return isWorthIt;
}

/// Moves the body of the first function to one that has the numbers as arguments.
static Function *makeBody(const Shared &shared, const Arguments &arguments) {
  Function &first = *shared.functions[0];
  SmallVector<Type *> types(first.getFunctionType()->params());
  for (size_t i = 0; i < arguments.size(); ++i) {
    types.push_back(arguments.valueOf(i, 0)->getType());
  }
  auto *type = FunctionType::get(first.getReturnType(), types, /*isVarArg=*/false);
  auto *body = Function::Create(type, GlobalValue::InternalLinkage, first.getName() + ".shared");
  first.getParent()->getFunctionList().insert(first.getIterator(), body);
  body->copyAttributesFrom(&first);
  body->splice(body->begin(), &first);
  for (auto [from, to] : zip(first.args(), body->args())) {
    from.replaceAllUsesWith(&to);
  }
  SmallVector<Instruction *> all;
  for (Instruction &instruction : instructions(*body)) {
    all.push_back(&instruction);
  }
  IRBuilder<> builder(&body->getEntryBlock(), body->getEntryBlock().getFirstInsertionPt());
  std::map<std::pair<size_t, Type *>, Value *> spread;
  for (auto [i, place] : enumerate(shared.places)) {
    Use &use = all[place.first]->getOperandUse(place.second);
    size_t argument = arguments.indexOf(i);
    Value *&value = spread[{argument, use->getType()}];
    if (!value) {
      value = body->getArg(first.arg_size() + argument);
      if (auto *vector = dyn_cast<VectorType>(use->getType())) {
        value = builder.CreateVectorSplat(vector->getElementCount(), value);
      }
    }
    use.set(value);
  }
  return body;
}

/// Makes a call of the body out of a function.
static void callBody(Function &function, Function &body, const Arguments &arguments, size_t number) {
  for (BasicBlock &block : function) {
    block.dropAllReferences();
  }
  while (!function.empty()) {
    function.begin()->eraseFromParent();
  }
  IRBuilder<> builder(BasicBlock::Create(function.getContext(), "", &function));
  SmallVector<Value *> values;
  for (Argument &argument : function.args()) {
    values.push_back(&argument);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.push_back(arguments.valueOf(i, number));
  }
  CallInst *call = builder.CreateCall(&body, values);
  call->setCallingConv(body.getCallingConv());
  call->setTailCall();
  call->getType()->isVoidTy() ? builder.CreateRetVoid() : builder.CreateRet(call);
}

/// Whether a function's body may be another's.
static bool mayShare(const Function &function) {
  return !function.isDeclaration() && function.hasLocalLinkage() && !function.isVarArg() &&
         !function.hasPersonalityFn() && !function.getSubprogram() &&
         function.getInstructionCount() >= leastInstructions;
}

/// A number that functions which are alike have in common.
static hash_code keyOf(const Function &function) {
  hash_code key = hash_combine(function.getFunctionType(), function.getAttributes().getRawPointer(),
                               function.getCallingConv(), function.size());
  for (const Instruction &instruction : instructions(function)) {
    key = hash_combine(key, instruction.getOpcode(), instruction.getType());
  }
  return key;
}

void ingot::emit::shareFunctions(Module &ir) {
  MapVector<size_t, SmallVector<Shared, 1>> known;
  for (Function &function : ir) {
    if (mayShare(function)) {
      SmallVector<Shared, 1> &alike = known[keyOf(function)];
      if (none_of(alike, [&](Shared &shared) { return join(shared, function); })) {
        alike.emplace_back();
        alike.back().functions.push_back(&function);
      }
    }
  }
  for (auto &[key, alike] : known) {
    for (const Shared &shared : alike) {
      if (shared.functions.size() > 1) {
        Arguments arguments(shared);
        Function *body = makeBody(shared, arguments);
        for (auto [number, function] : enumerate(shared.functions)) {
          callBody(*function, *body, arguments, number);
        }
      }
    }
  }
}
