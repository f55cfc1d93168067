// Writes names, expressions and statements, as a part of FunctionWriter; loops and blocks are in ControlFlow.cpp.
//
//   %0 = memref.load %a[%i]         an expression that waits: a[i]
//   %1 = arith.mulf %0, %b          another one, which has taken it: a[i] * b
//   memref.store %1, %c[%i]         =>   c[i] = a[i] * b;
//
// With two users of %0, or with a store between it and %1, there would be `const float x0 = a[i];` first. A pending
// expression is taken exactly once, so that its text is written in one place, and in the order of evaluation that the
// IR has as far as memory is concerned.
#include "compiler/emit/cpp/FunctionWriter.h"
#include "compiler/emit/cpp/Cpp.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot::emit::cpp {

std::string wrapped(StringRef text, unsigned indent) {
  std::string result, start(indent, ' ');
  size_t room = mostColumns - indent;
  while (text.size() > room) {
    StringRef fits = text.substr(0, room);
    size_t comma = fits.rfind(", ");
    size_t at = comma != StringRef::npos && comma > room / 3 ? comma + 1 : text.substr(0, room + 1).rfind(' ');
    if (at == StringRef::npos || text.substr(0, at).count('"') % 2) {
      break;
    }
    result += start + text.substr(0, at).str() + "\n";
    text = text.drop_front(at + 1);
    start = std::string(indent + 4, ' ');
    room = mostColumns - indent - 4;
  }
  return result + start + text.str() + "\n";
}

bool mentions(StringRef text, StringRef name) {
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    if ((at == 0 || !isPart(text[at - 1])) && (end == text.size() || !isPart(text[end]))) {
      return true;
    }
  }
  return false;
}

std::string functionName(func::FuncOp function, const plan::ModelInfo &model) {
  StringRef name = function.getName();
  return (name.consume_front(model.name + "_") ? name : function.getName()).str();
}

// These deal with names and expressions.

/// Returns a new name, whose letter tells the kind of value: x is a real number, n an integer, b a condition, p a
/// pointer and v a vector.
std::string FunctionWriter::newName(Type type) {
  char letter = isa<MemRefType>(type)          ? 'p'
                : isa<VectorType>(type)        ? 'v'
                : type.isF32() || type.isF64() ? 'x'
                : type.isInteger(1)            ? 'b'
                                               : 'n';
  return std::string(1, letter) + std::to_string(numbers[letter]++);
}

/// Whether an operation adds a product to a sum. Each step of such sums is a statement, in the order in which the
/// kernel has them, for which there are enough registers.
static bool addsProduct(Operation *op) {
  auto isProduct = [](Value operand) { return operand.getDefiningOp<arith::MulFOp>() != nullptr; };
  return isa<vector::FMAOp>(op) || (isa<arith::AddFOp>(op) && llvm::any_of(op->getOperands(), isProduct));
}
static bool isStepOfSum(Value value) {
  Operation *op = value.getDefiningOp();
  return op && addsProduct(op) && value.hasOneUse() && addsProduct(*value.user_begin());
}

/// Returns the carried value of which the last step of a sum is the next value, if that may be changed there: its old
/// value was read by a step before, and by nobody else.
static BlockArgument carriedSum(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop || !addsProduct(op) || !op->hasOneUse() || *op->user_begin() != loop.getBody()->getTerminator()) {
    return {};
  }
  BlockArgument carried = loop.getRegionIterArg(op->use_begin()->getOperandNumber());
  Operation *reader = carried.hasOneUse() ? *carried.user_begin() : nullptr;
  bool isRead = reader == op || (reader && reader->getBlock() == op->getBlock() && reader->isBeforeInBlock(op) &&
                                 isStepOfSum(reader->getResult(0)));
  return isRead ? carried : BlockArgument();
}

// Steps of a sum do not wait, since one long expression would leave their order to the compiler (addsProduct).
bool FunctionWriter::waits(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && !isStepOfSum(value) && !shared.contains(value) && value.hasOneUse() &&
         (*value.user_begin())->getBlock() == op->getBlock();
}

// Names and literals cost nothing, so that they are used as often as they are needed.
void FunctionWriter::define(Value value, Expression expression) {
  bool isPlain =
      !expression.reads &&
      (expression.rank == Rank::Name &&
       (expression.sign == Sign::Literal || llvm::all_of(expression.text, [](char c) { return llvm::isAlnum(c); })));
  if (isPlain && !shared.contains(value)) {
    known[value] = expression;
  } else if (waits(value)) {
    pending[value] = expression;
  } else if (!value.use_empty()) {
    declareConstant(value, expression);
  }
}

void FunctionWriter::declareConstant(Value value, const Expression &expression) {
  Sign sign = expression.sign == Sign::Literal ? Sign::Unsigned : expression.sign;
  auto variable = shared.find(value);
  if (variable != shared.end()) {
    known[value] = {variable->second};
    return line(variable->second + " = " + expression.text + ";");
  }
  std::string type = sign == Sign::Signed ? integerName(bitsOf(value.getType()), true) : typeName(value.getType());
  if (type.empty()) {
    return refuse(value.getDefiningOp() ? *value.getDefiningOp() : *function);
  }
  std::string name = newName(value.getType());
  known[value] = {name, Rank::Name, sign};
  line((isa<MemRefType>(value.getType()) ? type + "const " : "const " + type + " ") + name + " = " + expression.text +
       ";");
}

std::string FunctionWriter::declareVariable(Value value, StringRef start) {
  auto variable = shared.find(value);
  std::string name = variable != shared.end() ? variable->second : newName(value.getType());
  known[value] = {name};
  std::string type = typeName(value.getType());
  std::string declared = variable != shared.end() ? name : type + (StringRef(type).ends_with("*") ? "" : " ") + name;
  if (variable == shared.end() || !start.empty()) {
    line(declared + (start.empty() ? "" : (" = " + start).str()) + ";");
  }
  return name;
}

Expression FunctionWriter::take(Value value) {
  auto it = pending.find(value);
  if (it == pending.end()) {
    return known.lookup(value);
  }
  Expression expression = it->second;
  pending.erase(it);
  known[value] = expression;
  return expression;
}

Expression FunctionWriter::named(Value value) {
  auto it = pending.find(value);
  if (it != pending.end()) {
    Expression expression = it->second;
    pending.erase(it);
    declareConstant(value, expression);
  }
  return known.lookup(value);
}

/// Returns how many characters the operands of one statement may have, so that lines stay readable.
size_t FunctionWriter::room() const { return std::max<size_t>(mostColumns - 30 - std::min(indent, 60u), 40); }

// While the operands' texts together are longer than `most`, the longest one becomes a named constant.
SmallVector<Expression> FunctionWriter::takeAll(ValueRange values, size_t most) {
  while (true) {
    size_t sum = 0, longest = 0;
    Value worst;
    for (Value value : values) {
      auto it = pending.find(value);
      size_t length = it != pending.end() ? it->second.text.size() : known.lookup(value).text.size();
      sum += length;
      if (it != pending.end() && length > longest) {
        longest = length, worst = value;
      }
    }
    if (sum <= most || !worst) {
      break;
    }
    named(worst);
  }
  return llvm::map_to_vector(values, [&](Value value) { return take(value); });
}

void FunctionWriter::flushReads() {
  SmallVector<Value> readers;
  for (auto &[value, expression] : pending) {
    if (expression.reads) {
      readers.push_back(value);
    }
  }
  for (Value value : readers) {
    named(value);
  }
}

// These write statements.

void FunctionWriter::line(const Twine &text) { out += wrapped(text.str(), indent); }
void FunctionWriter::open(const Twine &text) {
  line(text + " {");
  indent += 2;
}
void FunctionWriter::close(const Twine &text) {
  indent -= 2;
  line(text);
}

void FunctionWriter::refuse(Operation &op) {
  if (!failed) {
    op.emitOpError("has no form in C++ source");
  }
  failed = true;
}

void FunctionWriter::visitAll(Block &block) {
  for (Operation &op : block.without_terminator()) {
    visit(op);
  }
}

void FunctionWriter::visit(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<arith::ConstantOp, memref::LoadOp, memref::StoreOp, memref::ViewOp, memref::AllocaOp, func::CallOp,
            func::CallIndirectOp, scf::ForOp, scf::IfOp, scf::WhileOp, run::FieldOp, run::OverItemsOp>(
          [&](auto each) { visit(each); })
      .Case([&](memref::GetGlobalOp global) { known[global] = {"weights"}; })
      .Case([&](run::GivenOp given) { define(given, take(given.getPointer())); })
      .Case<arith::MulSIExtendedOp, arith::MulUIExtendedOp>([&](auto) { multiplied(op); })
      .Case([&](vector::ToElementsOp lanes) {
        std::string vector = named(lanes.getSource()).text;
        for (auto [i, lane] : llvm::enumerate(lanes.getElements())) {
          define(lane, {vector + "[" + std::to_string(i) + "]"});
        }
      })
      .Default([&](Operation *) {
        if (!visitVectorStore(op)) {
          visitOther(op);
        }
      });
}

void FunctionWriter::visitOther(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumRegions() || typeName(op.getResult(0).getType()).empty()) {
    return refuse(op);
  }
  if (op.getName().getStringRef() == "ub.poison") { // any value will do
    known[op.getResult(0)] = {typeName(op.getResult(0).getType()) + "{}"};
    return;
  }
  std::optional<Expression> expression = express(&op, takeAll(op.getOperands(), room()), helpers);
  if (BlockArgument sum = expression ? carriedSum(&op) : BlockArgument()) {
    known[op.getResult(0)] = known.lookup(sum);
    return line(known.lookup(sum).text + " = " + expression->text + ";");
  }
  expression ? define(op.getResult(0), *expression) : refuse(op);
}

/// Writes the two halves of a product.
void FunctionWriter::multiplied(Operation &op) {
  Expression a = named(op.getOperand(0)), b = named(op.getOperand(1));
  if (bitsOf(op.getResult(0).getType()) != 64) {
    return refuse(op);
  }
  std::string name = helpers.use(isa<arith::MulSIExtendedOp>(op) ? "highSigned" : "highUnsigned");
  define(op.getResult(0), {"uint64_t(" + a.text + ") * " + asOperand(b, Rank::Unary), Rank::Product});
  define(op.getResult(1), {name + "(" + a.text + ", " + b.text + ")"});
}

/// Writes an operation that stores a vector, and returns whether it is one.
bool FunctionWriter::visitVectorStore(Operation &op) {
  if (!isa<vector::StoreOp, vector::MaskedStoreOp, vector::ScatterOp>(op)) {
    return false;
  }
  std::optional<std::string> text = storeVector(&op, takeAll(op.getOperands(), room() + 20), helpers);
  flushReads();
  text ? line(*text + ";") : refuse(op);
  return true;
}

void FunctionWriter::visit(arith::ConstantOp constant) {
  std::optional<Expression> number = literal(constant.getType(), constant.getValue(), helpers);
  number ? void(known[constant] = *number) : refuse(*constant);
}

void FunctionWriter::visit(run::FieldOp field) {
  std::string text = argument(field.getExec()) + "->" + field.getField().str();
  if (isa<MemRefType>(field.getType())) {
    return declareConstant(field, {helpers.use("raw") + "(" + text + ")"});
  }
  known[field] = {text};
}

void FunctionWriter::visit(memref::LoadOp load) {
  SmallVector<Expression> parts = takeAll(load->getOperands(), room());
  define(load, {asOperand(parts[0], Rank::Name) + "[" + parts[1].text + "]", Rank::Name, Sign::Unsigned, true});
}

void FunctionWriter::visit(memref::StoreOp store) {
  SmallVector<Expression> parts = takeAll(store->getOperands(), room() + 20);
  flushReads();
  line(asOperand(parts[1], Rank::Name) + "[" + parts[2].text + "] = " + parts[0].text + ";");
}

void FunctionWriter::visit(memref::ViewOp view) {
  std::string element = elementName(view.getType().getElementType());
  Expression offset = take(view.getByteShift());
  std::string base = argument(view.getSource());
  if (element == "u8") {
    bool isStart = offset.sign == Sign::Literal && offset.text == "0";
    Expression moved = {base + " + " + asOperand(offset, Rank::Product), Rank::Sum};
    return define(view, isStart ? Expression{base} : moved);
  }
  define(view, {helpers.use("at_" + element) + "(" + base + ", " + offset.text + ")"});
}

void FunctionWriter::visit(memref::AllocaOp array) {
  if (known.contains(array)) { // arrays of the function are declared at its start
    return;
  }
  MemRefType type = array.getType();
  bool isVector = array->hasAttr(lanesName);
  std::string name = isVector ? newName(VectorType::get({1}, type.getElementType())) : newName(type);
  known[array] = {name};
  std::string align = array.getAlignment() ? "alignas(" + std::to_string(*array.getAlignment()) + ") " : "";
  std::string element = isVector ? typeName(type.getElementType()) : elementName(type.getElementType());
  line(align + element + " " + name + "[" + std::to_string(type.getNumElements()) + "];");
}

std::string FunctionWriter::callOf(func::FuncOp callee, ArrayRef<std::string> arguments) {
  return functionName(callee, model) + "(" + llvm::join(arguments, ", ") + ")";
}

void FunctionWriter::visit(func::CallOp call) {
  SmallVector<std::string> arguments = texts(call.getOperands());
  flushReads();
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (callee.isExternal()) {
    callLibrary(call, arguments);
  } else if (call.getNumResults() == 1 && !call.getResult(0).use_empty()) {
    declareConstant(call.getResult(0), {callOf(callee, arguments)});
  } else {
    line(callOf(callee, arguments) + ";");
  }
}

void FunctionWriter::visit(run::OverItemsOp op) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getKernelAttr());
  SmallVector<std::string> arguments = texts(op.getArguments());
  std::string exec = argument(op.getExec()), worth = argument(op.getIsWorth()), items = argument(op.getItems());
  flushReads();
  arguments.append({"begin", "end"});
  std::string call = callOf(kernel, arguments);
  std::string body = kernel.getNumResults() == 1 ? "return int(" + call + ");" : call + "; return 0;";
  std::string threads = worth == "true" ? exec : worth + " ? " + exec + " : nullptr";
  declareConstant(op.getStatus(), {"uint32_t(" + helpers.use("overItems") + "(" + threads + ", " + items +
                                   ", [&](uint64_t begin, uint64_t end) { " + body + " }))"});
}

/// Writes a call of a function of ingot_exec, whose integers are signed.
void FunctionWriter::visit(func::CallIndirectOp call) {
  SmallVector<std::string> arguments;
  for (Value operand : call.getArgOperands()) {
    Type type = operand.getType();
    std::string text = argument(operand);
    arguments.push_back(type.isInteger() ? integerName(bitsOf(type), /*isSigned=*/true) + "(" + text + ")" : text);
  }
  flushReads();
  line(argument(call.getCallee()) + "(" + llvm::join(arguments, ", ") + ");");
}

/// Writes a call of a function of ingot.h. An array of words that a function on memory gets is its list, and one that a
/// function on strings gets is its arguments; memory that a function returns consists of bytes.
void FunctionWriter::callLibrary(func::CallOp call, ArrayRef<std::string> arguments) {
  SmallVector<std::string> given(arguments);
  for (auto [text, operand] : llvm::zip_equal(given, call.getOperands())) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (type && type.getElementType().isInteger(64)) {
      StringRef pointee = call.getCallee().starts_with("ingot_memory")  ? "ingot_memory"
                          : call.getCallee().starts_with("ingot_text_") ? "const int64_t"
                                                                        : "int64_t";
      text = ("reinterpret_cast<" + pointee + " *>(" + text + ")").str();
    }
  }
  std::string text = call.getCallee().str() + "(" + llvm::join(given, ", ") + ")";
  if (!call.getNumResults() || call.getResult(0).use_empty()) {
    return line(text + ";");
  }
  Type type = call.getResult(0).getType();
  declareConstant(call.getResult(0), {isa<MemRefType>(type) ? "static_cast<" + typeName(type) + ">(" + text + ")"
                                                            : typeName(type) + "(" + text + ")"});
}

/// Whether a parameter is a pointer to const: nothing but loads uses it.
bool FunctionWriter::isOnlyRead(BlockArgument pointer) const {
  return llvm::all_of(pointer.getUsers(), [](Operation *user) {
    return isa<memref::LoadOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(user);
  });
}

void FunctionWriter::nameParameters() {
  for (BlockArgument argument : function.getArguments()) {
    known[argument] = {isExec(argument.getType()) ? "exec" : newName(argument.getType())};
  }
}

/// Returns the function's signature, in which parameters that the body does not mention have no name.
std::string FunctionWriter::signature(StringRef body) {
  SmallVector<std::string> parameters;
  for (BlockArgument argument : function.getArguments()) {
    Type type = argument.getType();
    bool isRestricted = function.getArgAttr(argument.getArgNumber(), plan::noAliasName) != nullptr;
    std::string text = (isa<MemRefType>(type) && isOnlyRead(argument) ? "const " : "") + typeName(type) +
                       (isRestricted ? "__restrict" : "");
    std::string name = known.lookup(argument).text;
    bool isSpaced = !StringRef(text).ends_with("*");
    parameters.push_back(text + (mentions(body, name) ? (isSpaced ? " " : "") + name : ""));
  }
  std::string result = function.getNumResults() == 1 ? "uint32_t " : "void ";
  return wrapped(result + functionName(function, model) + "(" + llvm::join(parameters, ", ") + ") {", 0);
}

FailureOr<std::string> FunctionWriter::write() {
  nameParameters();
  formChains();
  if (chains.size() > 1) {
    shareValues();
  }
  // Constants and arrays belong to all chains, whatever their order.
  function.walk([&](Operation *op) {
    bool isArray = isa<memref::AllocaOp>(op) && op->getParentOp() == function;
    if (isArray || isa<arith::ConstantOp, memref::GetGlobalOp>(op)) {
      visit(*op);
    }
  });
  std::string declared = std::move(out);
  for (auto [i, chain] : llvm::enumerate(chains)) {
    out.clear();
    indent = chains.size() > 1 ? 4 : 2;
    writeChain(chain, i + 1 < chains.size() ? chains[i + 1].head : nullptr);
    chain.text = out;
  }
  if (failed) {
    return failure();
  }
  std::string text = std::move(declared);
  for (auto [i, chain] : llvm::enumerate(chains)) {
    if (chains.size() > 1) {
      std::string label = targets.contains(chain.head) ? "block" + std::to_string(i) + ": " : "  ";
      text += (label == "  " ? "  {\n" : label + "{\n") + chain.text + "  }\n";
    } else {
      text += chain.text;
    }
  }
  bool readsSection = false; // a reader of streamed weights is a field of that name
  function.walk([&](memref::GetGlobalOp global) { readsSection |= !global.use_empty(); });
  if (!model.takesWeights() && readsSection && mentions(text, "weights")) {
    text = "  u8 *const weights = " + helpers.use("raw") + "(" + model.name + "_weights);\n" + text;
  }
  return signature(text) + text + "}\n";
}

} // namespace ingot::emit::cpp
