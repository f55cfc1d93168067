#include "compiler/lower/product/StateProduct.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

using onnx::Num;
using support::Size;
using Method = RecurrentPlan::Method;

/// A digit of int16 has so many bits that sums of products stay within int32 (onnx::mostOfPairs).
static constexpr int64_t pairBits = 12;
/// The least magnitude that is taken for a row's largest one. Rows of zeros are divided by it, too.
static constexpr float leastMagnitude = 1e-30F;
/// Eight sums that do not depend on each other hide the latency of multiply-adds on any machine.
static constexpr int64_t enoughSums = 8;

SmallVector<TypeID> RecurrentAlgorithm::roots() const { return rootsOf<onnx::RecurrenceOp>(); }

Offer RecurrentAlgorithm::offer(plan::KernelOp kernel, const target::MachineModel &machine) const {
  if (std::string why = whyNot(kernel, machine); !why.empty()) {
    return why;
  }
  RecurrentPlan plan(kernel, machine, method);
  return Candidate{name, plan.cycles(), {}, /*isWanted=*/false, [=] { return recurrenceShape(kernel, plan); }};
}

bool RecurrentAlgorithm::isOfBytes(plan::KernelOp kernel) {
  return onnx::isInt(onnx::elementOf(cast<onnx::RecurrenceOp>(kernel.root()).getR()), 8);
}

RecurrentPlan::RecurrentPlan(plan::KernelOp kernel, const target::MachineModel &machine, Method method)
    : method(method) {
  auto op = cast<onnx::RecurrenceOp>(kernel.root());
  RankedTensorType p = Group::typeOf(op.getP());
  kind = op.getKind();
  steps = onnx::sizeOf(p, 0), batch = onnx::sizeOf(p, 1);
  hidden = Group::typeOf(op.getR()).getDimSize(1);
  gates = hidden ? p.getDimSize(2) / hidden : 0;
  lanes = machine.lanes;
  blocks = llvm::divideCeil(hidden, lanes);
  padded = blocks * lanes;
  rest = hidden % lanes;
  constantR = static_cast<bool>(constantOperand(kernel, op.getR()));
  digits = method == Method::ByteDots ? static_cast<int64_t>(op.getDigits()) : method == Method::Int16Dots ? 2 : 1;
  for (RecurrentGates &each : recurrentStages(op, gates)) {
    stages.push_back({std::move(each)});
  }
  // A tile of one row has as many vectors of R as there are registers for. With more rows, digits have four vectors at
  // least: each loaded vector is multiplied with the digits of all rows, and each loaded digit with all vectors.
  bool oneRow = batch.isNumber() && batch.number() <= 1;
  // R comes from the second cache, unless it is small: twice as fast if a panel has few cache lines side by side.
  int64_t bytesOfVector = lanes * onnx::elementBytes(onnx::elementOf(op.getR()));
  bool isNear = gates * blocks * hidden * bytesOfVector <= machine.l1Bytes / 2;
  int64_t near = isNear ? 8 : std::min<int64_t>(8, 4 * machine.lineBytes / bytesOfVector);
  int64_t vectors = ofDigits() ? (oneRow ? (machine.registers - 6) / digits : 4) : oneRow ? near : 1;
  if (!ofDigits() && !oneRow && stages.size() > 1) {
    vectors = stages[0].gates.size(); // a stage of fewer gates has as many vectors, so that its sums hide the latency
  }
  int64_t wide = 1, offset = 0;
  for (GateStage &stage : stages) {
    int64_t g = stage.gates.size();
    stage.group = std::clamp<int64_t>(vectors / g, 1, std::max<int64_t>(1, blocks));
    for (int64_t even = stage.group; ofDigits() && oneRow && 2 * even > vectors / g; --even) {
      if (blocks % even == 0) { // a short tile at the end would not hide the latency of multiply-adds
        stage.group = even;
        break;
      }
    }
    stage.offset = offset;
    wide = std::max(wide, oneRow ? g : g * stage.group);
    offset += g * padded * rowsOfTile();
  }
  rows = (machine.tileRegisters() - 2 - wide) / (wide * digits);
  if (!ofDigits()) { // sums, an element of each row and the vectors of R are in registers
    rows = (machine.tileRegisters() - wide) / (wide + 1);
    rows = rows < 4 ? rows : static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(rows)));
  }
  rows = std::max<int64_t>(1, rows);
}

/// Estimates two instructions a cycle. A word of R is loaded and multiplied at once if it is floats; bytes are widened
/// and converted before, or widened to int16 for two instructions a digit, or multiplied as they are.
double RecurrentPlan::cycles() const {
  constexpr int64_t openBatch = 2;
  int64_t rows = batch.isNumber() ? batch.number() : openBatch, vectors = gates * blocks;
  int64_t before = method == Method::WidenedBytes ? 2 : method == Method::Int16Dots ? 1 : 0;
  int64_t each = method == Method::ByteDots ? digits : method == Method::Int16Dots ? 2 * digits : 1;
  return 0.5 * static_cast<double>((before + rows * each) * wordsOfRow() * vectors);
}

/// Returns the bytes of the digits, and those of the scale and the sums that each row of the batch has.
Size RecurrentPlan::scratchBytes() const {
  return ofDigits() ? stateElements() * Size(digits * bytesOfDigit()) + batch * Size(4 * (1 + digits)) : Size(0);
}

/// Calls f(stage, first, count) for each tile of R's packed form: of `count` blocks of units from the first one on.
static void eachTile(const RecurrentPlan &plan,
                     llvm::function_ref<void(const RecurrentPlan::GateStage &, int64_t, int64_t)> f) {
  for (const RecurrentPlan::GateStage &stage : plan.stages) {
    for (int64_t first = 0; first < plan.blocks; first += stage.group) {
      f(stage, first, std::min(stage.group, plan.blocks - first));
    }
  }
}

/// Calls f(to, from) for each element of R and its place in the packed form; from is -1 in the padding, and in the
/// rows that ByteDots has behind each tile.
static void eachPacked(const RecurrentPlan &plan, llvm::function_ref<void(int64_t, int64_t)> f) {
  int64_t to = 0;
  eachTile(plan, [&](const RecurrentPlan::GateStage &stage, int64_t first, int64_t count) {
    for (int64_t word = 0; word < plan.rowsOfTile(); ++word) {
      for (int64_t u = 0; u < count; ++u) {
        for (int64_t gate : stage.gates) {
          for (int64_t l = 0; l < plan.lanes * plan.step(); ++l) {
            int64_t unit = (first + u) * plan.lanes + l / plan.step(), k = word * plan.step() + l % plan.step();
            bool isThere = unit < plan.hidden && k < plan.hidden;
            f(to++, isThere ? (gate * plan.hidden + unit) * plan.hidden + k : -1);
          }
        }
      }
    }
  });
}

/// Packs -128 times the sum of each row of R behind the tile that has the row. The first digit of the state is signed,
/// but multiplied as an unsigned byte, to which 128 has been added.
static void packCorrections(const RecurrentPlan &plan, ArrayRef<char> from, MutableArrayRef<char> to) {
  int64_t at = 0;
  eachTile(plan, [&](const RecurrentPlan::GateStage &stage, int64_t first, int64_t count) {
    at += plan.wordsOfRow() * count * static_cast<int64_t>(stage.gates.size()) * plan.lanes;
    for (int64_t u = 0; u < count; ++u) {
      for (int64_t gate : stage.gates) {
        for (int64_t l = 0; l < plan.lanes; ++l, ++at) {
          int64_t unit = (first + u) * plan.lanes + l;
          int32_t sum = 0;
          for (int64_t k = 0; unit < plan.hidden && k < plan.hidden; ++k) {
            sum -= 128 * static_cast<int8_t>(from[(gate * plan.hidden + unit) * plan.hidden + k]);
          }
          std::memcpy(to.data() + 4 * at, &sum, 4);
        }
      }
    }
  });
}

void RecurrentPlan::pack(plan::KernelOp kernel, KernelShape &shape) const {
  auto op = cast<onnx::RecurrenceOp>(kernel.root());
  if (!constantR) {
    return;
  }
  plan::WeightTable::Recipe recipe;
  recipe.key = llvm::formatv("gates {0} {1} {2} {3} {4} {5} in {6}", kind, hidden, lanes, stages.size(),
                             stages[0].group, step(), rowsOfTile())
                   .str();
  int64_t size = onnx::elementBytes(onnx::elementOf(op.getR()));
  recipe.bytes = packedElements() * size;
  recipe.pack = [plan = *this, size](ArrayRef<char> from, MutableArrayRef<char> to) {
    eachPacked(plan, [&](int64_t target, int64_t source) {
      if (source >= 0) {
        std::copy_n(from.data() + size * source, size, to.data() + size * target);
      }
    });
    if (plan.method == Method::ByteDots) {
      packCorrections(plan, from, to);
    }
  };
  shape.packed[operandNumber(op.getR())] = recipe;
  auto paddedRows = [gates = gates, hidden = hidden, padded = padded](ArrayRef<char> from, MutableArrayRef<char> to) {
    for (int64_t gate = 0; gate < gates; ++gate) {
      std::copy_n(from.data() + 4 * gate * hidden, 4 * hidden, to.data() + 4 * gate * padded);
    }
  };
  for (Value v : {op.getScale(), op.getZero()}) {
    if (onnx::present(v)) {
      shape.packed[operandNumber(v)] = {llvm::formatv("rows of gates {0} {1} {2}", gates, hidden, padded).str(),
                                        4 * gates * padded, paddedRows};
    }
  }
}

// What is written.

StateProduct::StateProduct(Build &build, const RecurrentPlan &plan, Size at)
    : w(build.w), plan(plan), bytes(build.w.machine), element(w.b.getF32Type()),
      vector(w.vectorOf(element, plan.lanes)), integers(w.vectorOf(w.b.getI32Type(), plan.lanes)) {
  auto op = cast<onnx::RecurrenceOp>(build.group.root);
  r = build.group.buffer(op.getR());
  scale = build.group.buffer(op.getScale()), zero = build.group.buffer(op.getZero());
  if (plan.method == Method::ByteDots) {
    words = ByteProducts::words(w, r);
  }
  if (plan.ofDigits()) {
    auto piece = [&](Type type, const Size &count) {
      int64_t each = type.getIntOrFloatBitWidth() / 8;
      Buffer made = w.scratch(build.scratch, at, type, memoryExtent(count));
      at = at + count * Size(each);
      return made;
    };
    Size all = plan.stateElements() * Size(plan.digits), bytesOfAll = all * Size(plan.bytesOfDigit());
    digitWords = w.scratch(build.scratch, at, w.b.getI32Type(), memoryExtent(bytesOfAll));
    digits = piece(w.b.getIntegerType(8 * plan.bytesOfDigit()), all);
    digitScales = piece(element, plan.batch);
    digitSums = piece(w.b.getI32Type(), plan.batch * Size(plan.digits));
  }
}

/// Writes the loops of eachPacked.
void StateProduct::pack(Buffer to) {
  eachTile(plan, [&](const RecurrentPlan::GateStage &stage, int64_t first, int64_t count) {
    int64_t g = stage.gates.size();
    w.loop(0, plan.hidden, 1, [&](Ix k) {
      for (int64_t u = 0; u < count; ++u) {
        for (int64_t i = 0; i < g; ++i) {
          int64_t unit = (first + u) * plan.lanes;
          w.loop(0, std::min(plan.lanes, plan.hidden - unit), 1, [&](Ix l) {
            Ix source = (Ix(stage.gates[i] * plan.hidden + unit) + l) * plan.hidden + k;
            w.store(w.load(r, source), to,
                    Ix(stage.offset + first * plan.lanes * g * plan.hidden) +
                        (k * count * g + Ix(u * g + i)) * plan.lanes + l);
          });
        }
      }
    });
  });
  r = to;
}

void StateProduct::read(Buffer from, Ix at) {
  state = from, stateAt = at;
  if (plan.ofDigits()) {
    w.loop(0, plan.batch, 1, [&](Ix row) { readRow(row); });
  }
}

/// Returns a vector of the state; what is behind the last hidden unit is zero.
Value StateProduct::block(Ix row, Ix unit, bool partial) {
  Value v = w.load(state, stateAt + row * Ix(plan.padded) + unit, plan.lanes);
  return partial ? arith::SelectOp::create(w.b, w.loc, w.maskFor(plan.rest, plan.lanes), v, w.constant(0, vector)) : v;
}

/// Compares magnitudes as the integers that their bits are, among which NaN is the largest. NaN and infinity make all
/// of the row NaN.
std::pair<Value, Value> StateProduct::quantizationOf(Ix row) {
  auto larger = [&](Value a, Value b) { return arith::MaxSIOp::create(w.b, w.loc, a, b).getResult(); };
  auto magnitude = [&](Ix unit, bool partial) -> Value {
    Value bits = arith::BitcastOp::create(w.b, w.loc, integers, block(row, unit, partial));
    return arith::AndIOp::create(w.b, w.loc, bits, w.constant(0x7fffffff, integers));
  };
  Ix whole = plan.hidden - plan.rest;
  Value most = w.loop(0, whole, plan.lanes, w.constant(0, integers), [&](Ix unit, ValueRange carried) -> Values {
    return {larger(carried[0], magnitude(unit, false))};
  })[0];
  if (plan.rest) {
    most = larger(most, magnitude(whole, true));
  }
  Value bits = vector::ReductionOp::create(w.b, w.loc, vector::CombiningKind::MAXSI, most);
  bits = larger(bits, w.constant(llvm::bit_cast<int32_t>(leastMagnitude), w.b.getI32Type()));
  Num largest(w.b, w.loc, arith::BitcastOp::create(w.b, w.loc, element, bits), element);
  double limit =
      (int64_t(1) << (plan.method == Method::ByteDots ? 8 * plan.digits - 1 : pairBits * plan.digits - 1)) - 2;
  return {limit / largest, largest * (1 / limit)};
}

void StateProduct::readRow(Ix row) {
  auto [factor, scale] = quantizationOf(row);
  w.store(scale, digitScales, row);
  Value by = w.splat(factor, plan.lanes);
  auto each = [&](Ix at, bool partial, ValueRange carried) {
    Values sums(carried);
    Num x = Num(w.b, w.loc, block(row, at, partial), element) * Num(w.b, w.loc, by, element);
    x = select(abs(x) < double(1 << 24), x, x.constant(0)); // NaN, in a row that becomes NaN by its scale
    storeDigits(roundEven(x).to(w.b.getI32Type()), row, at, sums);
    return sums;
  };
  Values sums(zero ? plan.digits : 0, w.constant(0, integers));
  Ix whole = plan.hidden - plan.rest;
  sums = w.loop(0, whole, plan.lanes, sums, [&](Ix at, ValueRange carried) { return each(at, false, carried); });
  if (plan.rest) {
    sums = each(whole, true, sums);
  }
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value all = vector::ReductionOp::create(w.b, w.loc, vector::CombiningKind::ADD, sum);
    w.store(all, digitSums, row * Ix(plan.digits) + Ix(static_cast<int64_t>(i)));
  }
}

/// Stores the digits of a vector of numbers, the highest one first; that one is signed.
void StateProduct::storeDigits(Value number, Ix row, Ix unit, Values &sums) {
  int64_t bits = plan.method == Method::ByteDots ? 8 : pairBits;
  Type narrow = w.vectorOf(digits.element, plan.lanes);
  for (int64_t i = 0; i < plan.digits; ++i) {
    auto constant = [&](int64_t n) { return w.constant(n, integers); };
    int64_t shift = bits * (plan.digits - 1 - i);
    Value digit = shift ? arith::ShRSIOp::create(w.b, w.loc, number, constant(shift)).getResult() : number;
    if (i) {
      digit = arith::AndIOp::create(w.b, w.loc, digit, constant((1 << bits) - 1));
    }
    if (zero) {
      sums[i] = arith::AddIOp::create(w.b, w.loc, sums[i], digit);
    }
    if (i == 0 && plan.method == Method::ByteDots) {
      digit = arith::AddIOp::create(w.b, w.loc, digit, constant(128));
    }
    w.store(arith::TruncIOp::create(w.b, w.loc, narrow, digit), digits, digitAt(i, row) + unit);
  }
}

Ix StateProduct::placeOf(const Tile &t, Ix k, int64_t v) const {
  int64_t g = t.stage.gates.size();
  return Ix(t.stage.offset) + t.unit * Ix(g * plan.rowsOfTile()) + k * Ix(t.width() * plan.lanes) + Ix(v * plan.lanes);
}

Value StateProduct::ofRows(const Buffer &from, const Tile &t, int64_t v) {
  int64_t g = t.stage.gates.size();
  return w.load(from, Ix(t.stage.gates[v % g] * plan.padded) + t.unit + Ix(v / g * plan.lanes), plan.lanes);
}

SmallVector<Value> StateProduct::sums(const RecurrentPlan::GateStage &stage, ArrayRef<Ix> rows, Ix unit,
                                      int64_t count) {
  Tile t{stage, rows, unit, count};
  return plan.ofDigits() ? digitsSums(t) : floatSums(t);
}

StateProduct::Values StateProduct::floatSums(const Tile &t) {
  const int64_t unroll = w.machine.tuning.unroll, width = t.width(), all = static_cast<int64_t>(t.rows.size()) * width;
  // Where there are too few sums to hide the latency of multiply-adds, each is computed in parts, of every `parts`-th
  // element of the state, which are added up at the end.
  const int64_t parts = t.rows.size() == 1 ? std::clamp<int64_t>(enoughSums / width, 1, unroll) : 1;
  Values sums(parts * all, w.constant(0, vector)), zeros;
  for (int64_t v = 0; zero && v < width; ++v) {
    zeros.push_back(arith::SIToFPOp::create(w.b, w.loc, vector, ofRows(zero, t, v)));
  }
  auto weight = [&](Ix k, int64_t v) {
    Value loaded = w.load(r, placeOf(t, k, v), plan.lanes);
    if (plan.method == Method::Floats) {
      return loaded;
    }
    loaded = arith::SIToFPOp::create(w.b, w.loc, vector, arith::ExtSIOp::create(w.b, w.loc, integers, loaded));
    return zero ? arith::SubFOp::create(w.b, w.loc, loaded, zeros[v]).getResult() : loaded;
  };
  auto several = [&](Ix k, int64_t n, ValueRange carried) {
    Values next(carried);
    for (int64_t i = 0; i < n; ++i) {
      Values weights;
      for (int64_t v = 0; v < width; ++v) {
        weights.push_back(weight(k + Ix(i), v));
      }
      for (size_t row = 0; row < t.rows.size(); ++row) {
        Value x = w.splat(w.load(state, stateAt + t.rows[row] * plan.padded + k + Ix(i)), plan.lanes);
        for (int64_t v = 0; v < width; ++v) {
          Value &sum = next[i % parts * all + static_cast<int64_t>(row) * width + v];
          sum = w.fma(x, weights[v], sum);
        }
      }
    }
    return next;
  };
  int64_t whole = plan.hidden - plan.hidden % unroll;
  sums = w.loop(0, whole, unroll, sums, [&](Ix k, ValueRange carried) { return several(k, unroll, carried); });
  sums = several(whole, plan.hidden - whole, sums);
  for (int64_t i = all; i < parts * all; ++i) {
    sums[i % all] = arith::AddFOp::create(w.b, w.loc, sums[i % all], sums[i]);
  }
  sums.truncate(all);
  for (size_t i = 0; plan.method != Method::Floats && i < sums.size(); ++i) {
    sums[i] = arith::MulFOp::create(w.b, w.loc, sums[i], ofRows(scale, t, static_cast<int64_t>(i) % width));
  }
  return sums;
}

/// Returns what the sums of each row, vector and digit begin with: the corrections, less the zero points times the sums
/// of the digits.
StateProduct::Values StateProduct::firstSums(const Tile &t) {
  Values sums;
  for (Ix row : t.rows) {
    for (int64_t v = 0; v < t.width(); ++v) {
      for (int64_t d = 0; d < plan.digits; ++d) {
        Value sum = d == 0 && plan.method == Method::ByteDots
                        ? w.load(words, placeOf(t, plan.wordsOfRow(), v), plan.lanes)
                        : w.constant(0, integers);
        if (zero) {
          Value all = w.splat(w.load(digitSums, row * Ix(plan.digits) + Ix(d)), plan.lanes);
          sum = arith::SubIOp::create(w.b, w.loc, sum, arith::MulIOp::create(w.b, w.loc, all, ofRows(zero, t, v)));
        }
        sums.push_back(sum);
      }
    }
  }
  return sums;
}

StateProduct::Values StateProduct::digitsSums(const Tile &t) {
  int64_t width = t.width(), each = plan.digits;
  bool areByteDots = plan.method == Method::ByteDots;
  Type i16 = w.vectorOf(w.b.getI16Type(), 2 * plan.lanes), i8 = w.vectorOf(w.b.getI8Type(), 4 * plan.lanes);
  auto weight = [&](Ix k, int64_t v) {
    Ix at = placeOf(t, k, v);
    return areByteDots ? w.load(words, at, plan.lanes)
                       : arith::ExtSIOp::create(w.b, w.loc, i16, w.load(r, at * Ix(2), 2 * plan.lanes)).getResult();
  };
  // Products of int16 pairs are not unrolled: LLVM would reorder their additions (ByteProducts::takesTwoInstructions).
  const int64_t unroll = areByteDots ? 2 : 1;
  auto several = [&](Ix k, int64_t n, ValueRange carried) {
    Values next(carried);
    for (int64_t i = 0; i < n; ++i) {
      Values elements;
      for (Ix row : t.rows) {
        for (int64_t d = 0; d < each; ++d) {
          Value word = w.splat(w.load(digitWords, digitAt(d, row, plan.step()) + k + Ix(i)), plan.lanes);
          elements.push_back(areByteDots ? vector::BitCastOp::create(w.b, w.loc, i8, word).getResult() : word);
        }
      }
      for (int64_t v = 0; v < width; ++v) {
        Value loaded = weight(k + Ix(i), v);
        for (size_t e = 0; e < elements.size(); ++e) {
          Value &sum = next[(e / each * width + v) * each + e % each];
          sum = areByteDots ? bytes.add(w, sum, elements[e], loaded)
                            : ByteProducts::addPairs(w, sum, elements[e], loaded);
        }
      }
    }
    return next;
  };
  int64_t whole = plan.wordsOfRow() / unroll * unroll;
  Values sums =
      w.loop(0, whole, unroll, firstSums(t), [&](Ix k, ValueRange carried) { return several(k, unroll, carried); });
  sums = several(whole, plan.wordsOfRow() - whole, sums);
  Values floats;
  for (auto [i, row] : llvm::enumerate(t.rows)) {
    for (int64_t v = 0; v < width; ++v) {
      floats.push_back(joined(t, row, ArrayRef(sums).slice((i * width + v) * each, each), v));
    }
  }
  return floats;
}

/// Adds up the sums of the digits, each of which counts 2^8 or 2^12 times as much as the next one, and scales the
/// result.
Value StateProduct::joined(const Tile &t, Ix row, ArrayRef<Value> sums, int64_t v) {
  double base = plan.method == Method::ByteDots ? 1 << 8 : 1 << pairBits, power = 1;
  Value all;
  for (Value sum : llvm::reverse(sums)) {
    Value number = arith::SIToFPOp::create(w.b, w.loc, vector, sum);
    all = all ? w.fma(number, w.constant(power, vector), all) : number;
    power *= base;
  }
  all = arith::MulFOp::create(w.b, w.loc, all, w.splat(w.load(digitScales, row), plan.lanes));
  return arith::MulFOp::create(w.b, w.loc, all, ofRows(scale, t, v));
}

} // namespace ingot::lower
