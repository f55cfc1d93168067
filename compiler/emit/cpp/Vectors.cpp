// Writes vectors as g++ and clang have them: types with the attribute vector_size, on which operators work lane by
// lane, for any processor. A row is for each operation, as in Expression.cpp,
//
//   $0   an operand, $s0 the same bits as signed integers, $u0 as unsigned ones
//   $T   the result's type, $S, $U that of signed or unsigned integers of its width
//   $@name$ the helper `name`
//
// Types are called by kind, bits and lanes (lanesName): f32x8, u8x16, i32x4. Integers are unsigned, whose sums may
// wrap, and become signed ones where an operation asks for that.
//
// A vector of conditions has lanes of 32 bits, all of them set or none; conditions on wider or narrower lanes are
// converted to that, and to the lanes that they choose.
#include "compiler/emit/cpp/Expression.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot::emit::cpp {
namespace {

struct Row {
  const char *op, *pattern;
  Rank rank = Rank::Name;
};

// clang-format off
constexpr Row rows[] = {
    {"arith.addi", "$0 + $1", Rank::Sum},
    {"arith.subi", "$0 - $1", Rank::Sum},
    {"arith.muli", "$0 * $1", Rank::Product},
    {"arith.divui", "$0 / $1", Rank::Product},
    {"arith.remui", "$0 % $1", Rank::Product},
    {"arith.divsi", "($T)($s0 / $s1)", Rank::Unary},
    {"arith.remsi", "($T)($s0 % $s1)", Rank::Unary},
    {"arith.andi", "$0 & $1", Rank::And},
    {"arith.ori", "$0 | $1", Rank::Or},
    {"arith.xori", "$0 ^ $1", Rank::Xor},
    {"arith.shli", "$0 << $1", Rank::Shift},
    {"arith.shrui", "$0 >> $1", Rank::Shift},
    {"arith.shrsi", "($T)($s0 >> $s1)", Rank::Unary},
    {"arith.maxsi", "($T)$@larger$($s0, $s1)", Rank::Unary},
    {"arith.minsi", "($T)$@smaller$($s0, $s1)", Rank::Unary},
    {"arith.maxui", "$@larger$($0, $1)"},
    {"arith.minui", "$@smaller$($0, $1)"},
    {"arith.addf", "$0 + $1", Rank::Sum},
    {"arith.subf", "$0 - $1", Rank::Sum},
    {"arith.mulf", "$0 * $1", Rank::Product},
    {"arith.divf", "$0 / $1", Rank::Product},
    {"arith.negf", "-$0", Rank::Unary},
    {"arith.maximumf", "$@maximumOf$<$U>($0, $1)"},
    {"arith.minimumf", "$@minimumOf$<$U>($0, $1)"},
    {"math.absf", "$@magnitude$<$U>($0)"},
    {"math.copysign", "$@withSign$<$U>($0, $1)"},
    {"math.sqrt", "$@rootOf$($0)"},
    {"math.floor", "$@floorOf$($0)"},
    {"math.ceil", "$@ceilOf$($0)"},
    {"math.trunc", "$@truncOf$($0)"},
    {"math.round", "$@roundOf$($0)"},
    {"math.roundeven", "$@evenOf$($0)"},
    {"math.absi", "($T)$@larger$($s0, -$s0)", Rank::Unary},
    {"arith.cmpi eq", "$0 == $1", Rank::Equal},
    {"arith.cmpi ne", "$0 != $1", Rank::Equal},
    {"arith.cmpi slt", "$s0 < $s1", Rank::Compare},
    {"arith.cmpi sle", "$s0 <= $s1", Rank::Compare},
    {"arith.cmpi sgt", "$s0 > $s1", Rank::Compare},
    {"arith.cmpi sge", "$s0 >= $s1", Rank::Compare},
    {"arith.cmpi ult", "$u0 < $u1", Rank::Compare},
    {"arith.cmpi ule", "$u0 <= $u1", Rank::Compare},
    {"arith.cmpi ugt", "$u0 > $u1", Rank::Compare},
    {"arith.cmpi uge", "$u0 >= $u1", Rank::Compare},
    {"arith.cmpf oeq", "$0 == $1", Rank::Equal},
    {"arith.cmpf une", "$0 != $1", Rank::Equal},
    {"arith.cmpf ogt", "$0 > $1", Rank::Compare},
    {"arith.cmpf oge", "$0 >= $1", Rank::Compare},
    {"arith.cmpf olt", "$0 < $1", Rank::Compare},
    {"arith.cmpf ole", "$0 <= $1", Rank::Compare},
    {"arith.cmpf ugt", "~($0 <= $1)", Rank::Unary},
    {"arith.cmpf uge", "~($0 < $1)", Rank::Unary},
    {"arith.cmpf ult", "~($0 >= $1)", Rank::Unary},
    {"arith.cmpf ule", "~($0 > $1)", Rank::Unary},
    {"arith.cmpf one", "$@areOther$($0, $1)"},
    {"arith.cmpf ueq", "~$@areOther$($0, $1)", Rank::Unary},
    {"arith.cmpf ord", "$@areOrdered$($0, $1)"},
    {"arith.cmpf uno", "~$@areOrdered$($0, $1)", Rank::Unary},
};
// clang-format on

std::string lanesName(char kind, unsigned bits, int64_t count) {
  return std::string(1, kind) + std::to_string(bits) + "x" + std::to_string(count);
}

VectorType vectorOf(Type type) { return dyn_cast<VectorType>(type); }
bool isMask(VectorType type) { return type.getElementType().isInteger(1); }
/// Returns how many bits a lane has as it is held: those of a mask are held as words of 32 bits.
unsigned laneBits(VectorType type) { return isMask(type) ? 32 : bitsOf(type.getElementType()); }

std::string converted(const std::string &text, const std::string &type) {
  return "__builtin_convertvector(" + text + ", " + type + ")";
}

class VectorWriter {
public:
  VectorWriter(Operation *op, ArrayRef<Expression> operands, Helpers &helpers)
      : op(op), operands(operands), helpers(helpers) {}

  std::optional<Expression> write() {
    return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
        .Case<arith::SelectOp, arith::BitcastOp, vector::BitCastOp, arith::TruncIOp, arith::ExtUIOp, arith::ExtSIOp,
              arith::IndexCastOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::ExtFOp,
              arith::TruncFOp, vector::BroadcastOp, vector::ShuffleOp, vector::ExtractOp, vector::InsertOp,
              vector::ReductionOp, vector::FromElementsOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp,
              vector::FMAOp, LLVM::CallIntrinsicOp>([&](auto each) { return write(each); })
        .Default([&](Operation *) { return pattern(); });
  }

private:
  VectorType result() { return vectorOf(op->getResult(0).getType()); }
  VectorType given(unsigned i) { return vectorOf(op->getOperand(i).getType()); }
  std::string text(unsigned i) { return asOperand(operands[i], Rank::Unary); }

  /// Writes an instruction of the machine by what Instructions.def says of it in C++.
  std::optional<Expression> write(LLVM::CallIntrinsicOp call) {
    std::optional<target::Instruction> which = target::instructionOf(call.getIntrin());
    const char *source = which ? target::infoOf(*which).source : "";
    return *source ? std::optional(Expression{filled(source)}) : std::nullopt;
  }

  /// Writes an operation by its row; nothing where there is none, or a mask would be put in order.
  std::optional<Expression> pattern() {
    static const llvm::StringMap<const Row *> table = [] {
      llvm::StringMap<const Row *> rowsOf;
      for (const Row &row : rows) {
        rowsOf[row.op] = &row;
      }
      return rowsOf;
    }();
    auto found = table.find(keyOf(op));
    bool isOrder = isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op);
    if (found == table.end() || !result() || (isMask(result()) && isOrder)) {
      return std::nullopt;
    }
    const Row &row = *found->second;
    Expression e{filled(row.pattern), row.rank};
    bool compares = isa<arith::CmpIOp, arith::CmpFOp>(op);
    if (compares && laneBits(given(0)) != 32) {
      e = {converted(e.text, typeName(result()))};
    }
    return e;
  }

  /// Returns a pattern with its placeholders replaced.
  std::string filled(StringRef pattern) {
    std::string all;
    while (!pattern.empty()) {
      auto [before, rest] = pattern.split('$');
      all += before;
      pattern = rest;
      if (rest.empty()) {
        break;
      }
      char how = pattern.front();
      pattern = pattern.drop_front();
      if (how == '@') {
        auto [name, behind] = pattern.split('$');
        all += helpers.use(name);
        pattern = behind;
      } else if (how == 'T') {
        all += typeName(result());
      } else if (how == 'S' || how == 'U') {
        all += lanesName(how == 'S' ? 'i' : 'u', laneBits(given(0)), given(0).getNumElements());
      } else if (llvm::isDigit(how)) {
        all += text(unsigned(how - '0'));
      } else {
        unsigned i = unsigned(pattern.front() - '0');
        pattern = pattern.drop_front();
        all += "(" + lanesName(how == 's' ? 'i' : 'u', laneBits(given(i)), given(i).getNumElements()) + ")" + text(i);
      }
    }
    return all;
  }

  Expression write(arith::SelectOp select) {
    Expression e{"", Rank::Choice};
    std::string condition = asOperand(operands[0], Rank::Unary);
    if (VectorType mask = given(0); mask && laneBits(result()) != 32) {
      condition = converted(condition, lanesName('i', laneBits(result()), mask.getNumElements()));
    }
    // To clang a shuffle of constant variables is constant, and not of the type of what it may be chosen beside.
    auto chosen = [&](unsigned i) {
      bool isShuffle = StringRef(operands[i].text).starts_with("__builtin_shufflevector");
      return isShuffle ? "(" + typeName(result()) + ")" + operands[i].text : text(i);
    };
    e.text = condition + " ? " + chosen(1) + " : " + chosen(2);
    return e;
  }
  Expression write(vector::BitCastOp) { return {"(" + typeName(result()) + ")" + text(0), Rank::Unary}; }
  Expression write(arith::BitcastOp) { return {"(" + typeName(result()) + ")" + text(0), Rank::Unary}; }

  std::optional<Expression> write(arith::TruncIOp) {
    if (isMask(result())) {
      Expression odd{"(" + text(0) + " & 1) != 0", Rank::Equal};
      return laneBits(given(0)) == 32 ? odd : Expression{converted(odd.text, typeName(result()))};
    }
    return Expression{converted(operands[0].text, typeName(result()))};
  }
  /// Extends integers by zeros or by their sign. A mask is extended as the bit that it stands for.
  std::optional<Expression> widened(bool isSigned) {
    VectorType from = given(0);
    int64_t count = from.getNumElements();
    if (isMask(from)) { // -1 where it holds
      std::string lanes =
          laneBits(result()) == 32 ? text(0) : converted(operands[0].text, lanesName('i', laneBits(result()), count));
      std::string bits = "(" + typeName(result()) + ")" + lanes;
      return isSigned ? Expression{bits, Rank::Unary} : Expression{bits + " & 1", Rank::And};
    }
    if (!isSigned) {
      return Expression{converted(operands[0].text, typeName(result()))};
    }
    return Expression{"(" + typeName(result()) + ")" +
                          converted("(" + lanesName('i', laneBits(from), count) + ")" + text(0),
                                    lanesName('i', laneBits(result()), count)),
                      Rank::Unary};
  }
  std::optional<Expression> write(arith::ExtUIOp) { return widened(false); }
  std::optional<Expression> write(arith::ExtSIOp) { return widened(true); }
  std::optional<Expression> write(arith::IndexCastOp) {
    return laneBits(given(0)) == laneBits(result()) ? std::optional(operands[0])
           : laneBits(given(0)) < laneBits(result())
               ? widened(true)
               : std::optional(Expression{converted(operands[0].text, typeName(result()))});
  }
  std::optional<Expression> write(arith::SIToFPOp) {
    return Expression{converted("(" + lanesName('i', laneBits(given(0)), given(0).getNumElements()) + ")" + text(0),
                                typeName(result()))};
  }
  std::optional<Expression> write(arith::UIToFPOp) {
    std::string lanes = isMask(given(0)) ? text(0) + " & 1" : operands[0].text;
    return Expression{converted(lanes, typeName(result()))};
  }
  std::optional<Expression> rounded() { // as the scalar ones: lane by lane, where what does not fit is defined
    unsigned bits = laneBits(result());
    if (isMask(result())) {
      return std::nullopt;
    }
    bool isSigned = isa<arith::FPToSIOp>(op);
    std::string name = bits == 64                ? isSigned ? "toSigned64" : "toUnsigned64"
                       : bits == 32 && !isSigned ? "toSigned64"
                                                 : "toSigned32";
    helpers.use(name);
    return Expression{helpers.use("eachLane") + "<" + typeName(result()) + ">(" + operands[0].text +
                      ", [](auto lane) { return " + integerName(bits) + "(" + name + "(lane)); })"};
  }
  std::optional<Expression> write(arith::FPToSIOp) { return rounded(); }
  std::optional<Expression> write(arith::FPToUIOp) { return rounded(); }
  /// Converts between types of floats. Those below 32 bits are integers in memory and go through helpers, lane by lane.
  std::optional<Expression> cast() {
    bool isNarrow = given(0).getElementType().getIntOrFloatBitWidth() < 32 ||
                    result().getElementType().getIntOrFloatBitWidth() < 32;
    if (!isNarrow) {
      return Expression{converted(operands[0].text, typeName(result()))};
    }
    bool isF16 = given(0).getElementType().isF16() || result().getElementType().isF16();
    bool isWidening = isa<arith::ExtFOp>(op);
    std::string name = helpers.use(isWidening ? isF16 ? "fromFloat16" : "fromBfloat16"
                                   : isF16    ? "toFloat16"
                                              : "toBfloat16");
    return Expression{helpers.use("eachLane") + "<" + typeName(result()) + ">(" + operands[0].text +
                      ", [](auto lane) { return " + name + "(lane); })"};
  }
  std::optional<Expression> write(arith::ExtFOp) { return cast(); }
  std::optional<Expression> write(arith::TruncFOp) { return cast(); }

  std::optional<Expression> write(vector::BroadcastOp) {
    if (given(0)) {
      return given(0) == result() ? std::optional(operands[0]) : std::nullopt;
    }
    std::string lane = isMask(result()) ? "-int(" + operands[0].text + ")" : operands[0].text;
    return Expression{helpers.use("splat") + "<" + typeName(result()) + ">(" + lane + ")"};
  }
  std::optional<Expression> write(vector::ShuffleOp shuffle) {
    std::string lanes;
    for (int64_t lane : shuffle.getMask()) {
      lanes += ", " + std::to_string(lane);
    }
    if (given(0) != given(1)) {
      return std::nullopt;
    }
    return Expression{"__builtin_shufflevector(" + operands[0].text + ", " + operands[1].text + lanes + ")"};
  }
  std::optional<Expression> write(vector::ExtractOp extract) {
    auto position = extract.getMixedPosition();
    if (position.size() != 1 || result()) {
      return position.empty() ? std::optional(operands[0]) : std::nullopt;
    }
    std::string lane = isa<Attribute>(position[0])
                           ? std::to_string(cast<IntegerAttr>(cast<Attribute>(position[0])).getInt())
                           : operands[1].text;
    Expression e{asOperand(operands[0], Rank::Name) + "[" + lane + "]"};
    return isMask(given(0)) ? Expression{e.text + " != 0", Rank::Equal} : e;
  }
  std::optional<Expression> write(vector::InsertOp insert) {
    auto position = insert.getMixedPosition();
    if (position.size() != 1 || given(0)) {
      return std::nullopt;
    }
    bool isStatic = isa<Attribute>(position[0]);
    std::string lane =
        isStatic ? std::to_string(cast<IntegerAttr>(cast<Attribute>(position[0])).getInt()) : operands[2].text;
    std::string value = isMask(result()) ? "-int(" + operands[0].text + ")" : operands[0].text;
    return Expression{helpers.use("withLane") + "(" + operands[1].text + ", " + lane + ", " + value + ")"};
  }
  std::optional<Expression> write(vector::FromElementsOp) {
    std::string lanes;
    for (const Expression &each : operands) {
      lanes += (lanes.empty() ? "" : ", ") + (isMask(result()) ? "-int(" + each.text + ")" : each.text);
    }
    return Expression{typeName(result()) + "{" + lanes + "}"};
  }
  /// How two lanes become one; empty for what has no form. What a mask's lanes become is not a sum.
  std::string step(vector::CombiningKind kind) {
    using Kind = vector::CombiningKind;
    static const std::pair<Kind, const char *> operators[] = {
        {Kind::ADD, "+"}, {Kind::MUL, "*"}, {Kind::AND, "&"}, {Kind::OR, "|"}, {Kind::XOR, "^"}};
    static const std::pair<Kind, const char *> functions[] = {
        {Kind::MAXIMUMF, "maximum"},  {Kind::MINIMUMF, "minimum"}, {Kind::MAXNUMF, "maxNumber"},
        {Kind::MINNUMF, "minNumber"}, {Kind::MAXSI, "maxSigned"},  {Kind::MINSI, "minSigned"},
        {Kind::MAXUI, "maxUnsigned"}, {Kind::MINUI, "minUnsigned"}};
    bool isReal = isa<FloatType>(given(0).getElementType());
    for (auto [each, sign] : operators) {
      if (kind == each && (!isMask(given(0)) || kind == Kind::AND || kind == Kind::OR)) {
        return std::string("a ") + sign + " b";
      }
    }
    for (auto [each, name] : functions) {
      if (kind == each && !isMask(given(0))) {
        return helpers.use(name + (isReal ? "" : std::to_string(laneBits(given(0))))) + "(a, b)";
      }
    }
    return "";
  }
  /// From the first lane to the last.
  std::optional<Expression> write(vector::ReductionOp reduction) {
    std::string how = step(reduction.getKind());
    if (how.empty() || reduction.getAcc()) {
      return std::nullopt;
    }
    Expression e{helpers.use("across") + "(" + operands[0].text + ", [](auto a, auto b) { return " + how + "; })"};
    return isMask(given(0)) ? Expression{e.text + " != 0", Rank::Equal} : e;
  }
  /// Returns the address of an element: the operand `memory`, and the next one as an index.
  std::string address(unsigned memory) {
    return asOperand(operands[memory], Rank::Name) + " + " + asOperand(operands[memory + 1], Rank::Sum);
  }
  std::optional<Expression> write(vector::LoadOp) {
    return Expression{helpers.use("load") + "<" + typeName(result()) + ">(" + address(0) + ")", Rank::Name,
                      Sign::Unsigned, true};
  }
  std::optional<Expression> write(vector::MaskedLoadOp) {
    return Expression{helpers.use("loadSome") + "(" + address(0) + ", " + operands[2].text + ", " + operands[3].text +
                          ")",
                      Rank::Name, Sign::Unsigned, true};
  }
  std::optional<Expression> write(vector::GatherOp) {
    return Expression{helpers.use("gather") + "(" + address(0) + ", " + operands[2].text + ", " + operands[3].text +
                          ", " + operands[4].text + ")",
                      Rank::Name, Sign::Unsigned, true};
  }
  Expression write(vector::FMAOp) { return {text(0) + " * " + text(1) + " + " + text(2), Rank::Sum}; }

  Operation *op;
  ArrayRef<Expression> operands;
  Helpers &helpers;
};

} // namespace

std::string vectorName(VectorType type) {
  int64_t count = type.getNumElements();
  bool isHeld = type.getRank() == 1 && !type.isScalable() && llvm::isPowerOf2_64(uint64_t(count));
  if (!isHeld) { // compilers have powers of two
    return "";
  }
  Type element = type.getElementType();
  bool isReal = element.isF32() || element.isF64();
  return lanesName(isMask(type) ? 'i' : isReal ? 'f' : 'u', laneBits(type), count);
}

std::optional<Expression> vectorLiteral(VectorType type, DenseElementsAttr values, Helpers &helpers) {
  auto lane = [&](Attribute value) {
    std::optional<Expression> number = literal(type.getElementType(), value, helpers);
    return !number ? "" : isMask(type) ? number->text == "true" ? "-1" : "0" : number->text;
  };
  if (values.isSplat()) {
    return Expression{helpers.use("splat") + "<" + typeName(type) + ">(" + lane(values.getSplatValue<Attribute>()) +
                      ")"};
  }
  std::string lanes;
  for (Attribute value : values.getValues<Attribute>()) {
    std::string each = lane(value);
    bool isUnsigned = !isMask(type) && isa<IntegerType, IndexType>(type.getElementType()) && each[0] == '-';
    lanes += (lanes.empty() ? "" : ", ") +
             (isUnsigned ? integerName(bitsOf(type.getElementType())) + "(" + each + ")" : each);
  }
  return Expression{typeName(type) + "{" + lanes + "}"};
}

std::optional<Expression> expressVector(Operation *op, ArrayRef<Expression> operands, Helpers &helpers) {
  return VectorWriter(op, operands, helpers).write();
}

std::optional<std::string> storeVector(Operation *op, ArrayRef<Expression> operands, Helpers &helpers) {
  auto at = [&](unsigned memory) {
    return asOperand(operands[memory], Rank::Name) + " + " + asOperand(operands[memory + 1], Rank::Sum);
  };
  if (isa<vector::StoreOp>(op)) {
    return helpers.use("store") + "(" + operands[0].text + ", " + at(1) + ")";
  }
  if (isa<vector::MaskedStoreOp>(op)) {
    return helpers.use("storeSome") + "(" + operands[3].text + ", " + at(0) + ", " + operands[2].text + ")";
  }
  if (isa<vector::ScatterOp>(op)) {
    return helpers.use("scatter") + "(" + operands[4].text + ", " + at(0) + ", " + operands[2].text + ", " +
           operands[3].text + ")";
  }
  return std::nullopt;
}

} // namespace ingot::emit::cpp
