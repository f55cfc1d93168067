#include "compiler/onnx/Texts.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ops/Text.h"
#include "runtime_support/core/text.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;

namespace ingot::onnx {

// Tables.

template <typename T> static void append(std::vector<char> &bytes, T value) {
  const char *from = reinterpret_cast<const char *>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value); // little endian, as all machines are for which there is code
}

std::vector<char> poolOf(ArrayRef<StringRef> texts) {
  std::vector<char> pool;
  append<uint64_t>(pool, texts.size());
  uint64_t offset = 0;
  for (StringRef text : texts) {
    append(pool, offset);
    offset += text.size();
  }
  append(pool, offset);
  for (StringRef text : texts) {
    pool.insert(pool.end(), text.begin(), text.end());
  }
  return pool;
}

/// Slots for `count` keys, and behind them what the keys are.
static std::vector<char> tableOf(size_t count, llvm::function_ref<uint64_t(size_t)> hash,
                                 llvm::function_ref<bool(size_t, size_t)> same, ArrayRef<char> keys) {
  uint64_t slots = llvm::PowerOf2Ceil(2 * count + 1);
  std::vector<uint64_t> all(slots, 0);
  for (size_t i = 0; i < count; ++i) {
    uint64_t own = hash(i), at = own >> 32 & (slots - 1);
    while (all[at] && !same(static_cast<uint32_t>(all[at]) - 1, i)) {
      at = (at + 1) & (slots - 1);
    }
    all[at] = all[at] ? all[at] : own << 32 | (i + 1);
  }
  std::vector<char> table;
  append<uint64_t>(table, slots - 1);
  append<uint64_t>(table, 16 + 8 * slots);
  for (uint64_t slot : all) {
    append(table, slot);
  }
  table.insert(table.end(), keys.begin(), keys.end());
  return table;
}

std::vector<char> keysOf(ArrayRef<StringRef> keys) {
  auto hash = [&](size_t i) { return ingot_text_hash(keys[i].data(), static_cast<int64_t>(keys[i].size())); };
  return tableOf(keys.size(), hash, [&](size_t a, size_t b) { return keys[a] == keys[b]; }, poolOf(keys));
}

std::vector<char> keysOf(ArrayRef<int64_t> keys) {
  std::vector<char> numbers;
  append<int64_t>(numbers, static_cast<int64_t>(keys.size()));
  for (int64_t key : keys) {
    append(numbers, key);
  }
  auto hash = [&](size_t i) { return ingot_text_number_hash(keys[i]); };
  return tableOf(keys.size(), hash, [&](size_t a, size_t b) { return keys[a] == keys[b]; }, numbers);
}

namespace {
struct Letters {
  uint32_t first, last, step;
  int32_t distance;
};
} // namespace

static ArrayRef<Letters> letters(bool upper) {
  static constexpr Letters toLower[] = {
#define LETTERS_LOWER
#include "compiler/onnx/Letters.inc"
#undef LETTERS_LOWER
  };
  static constexpr Letters toUpper[] = {
#define LETTERS_UPPER
#include "compiler/onnx/Letters.inc"
#undef LETTERS_UPPER
  };
  return upper ? ArrayRef(toUpper) : ArrayRef(toLower);
}

void eachLetter(bool upper, llvm::function_ref<void(uint32_t, uint32_t)> f) {
  for (const Letters &row : letters(upper)) {
    for (uint32_t c = row.first; c <= row.last; c += row.step) {
      f(c, c + row.distance);
    }
  }
}

std::vector<char> lettersOf(bool upper) {
  SmallVector<std::pair<uint32_t, uint32_t>> pairs;
  eachLetter(upper, [&](uint32_t from, uint32_t to) { pairs.push_back({from, to}); });
  llvm::sort(pairs);
  std::vector<char> table;
  append<uint32_t>(table, static_cast<uint32_t>(pairs.size()));
  for (auto [from, to] : pairs) {
    append(table, from);
    append(table, to);
  }
  return table;
}

static uint32_t lowerCase(uint32_t c) {
  for (const Letters &row : letters(/*upper=*/false)) {
    if (c >= row.first && c <= row.last && (c - row.first) % row.step == 0) {
      return c + row.distance;
    }
  }
  return c;
}

std::string lowerCase(StringRef text) {
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.begin()), *end = at + text.size();
  std::string result;
  while (at < end) {
    llvm::UTF32 c = 0;
    const llvm::UTF8 *begin = at;
    if (llvm::convertUTF8Sequence(&at, end, &c, llvm::strictConversion) != llvm::conversionOK) {
      at = begin + 1;
      result += static_cast<char>(*begin);
      continue;
    }
    char bytes[4], *last = bytes;
    llvm::ConvertCodePointToUTF8(lowerCase(c), last);
    result.append(bytes, last);
  }
  return result;
}

// Operations.

Value makeText(Formula &f, ArrayRef<Value> xs, TextCall call) {
  SmallVector<Value> operands(xs);
  Value table;
  if (!call.table.empty()) {
    auto type = tensorOf({static_cast<int64_t>(call.table.size())},
                         IntegerType::get(f.b.getContext(), 8, IntegerType::Unsigned));
    table = makeConstant(f.b, f.loc, constantFromBytes(type, std::move(call.table)));
  }
  operands.push_back(table);
  SmallVector<NamedAttribute> attributes = {f.b.getNamedAttr("does", f.b.getStringAttr(call.does)),
                                            f.integer("to", call.to), f.integer("number", call.number)};
  if (call.tail) {
    attributes.push_back(f.sizes("tail", {*call.tail}));
  }
  return make<TextOp>(f.b, f.loc, operands, attributes);
}

Value spell(Formula &f, Value numbers, ArrayRef<StringRef> texts) {
  return makeText(f, {f.cast(numbers, f.b.getI64Type(), INGOT_INT64)}, {"spell", INGOT_STRING, poolOf(texts)});
}

Value find(Formula &f, Value strings, ArrayRef<StringRef> keys, bool isNeeded) {
  return makeText(f, {strings}, {"find", INGOT_INT64, keysOf(keys), isNeeded ? INGOT_ERROR_STRING : 0});
}

/// Equal texts stand in the pool once.
Value spelled(OpBuilder &b, Location loc, DenseStringElementsAttr attribute) {
  Formula f(b, loc);
  llvm::StringMap<int64_t> known;
  SmallVector<StringRef> texts;
  SmallVector<int64_t> numbers;
  ArrayRef<StringRef> all = attribute.getRawStringData();
  int64_t count = attribute.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    StringRef text = all[attribute.isSplat() ? 0 : i];
    auto [it, isNew] = known.try_emplace(text, static_cast<int64_t>(texts.size()));
    if (isNew) {
      texts.push_back(text);
    }
    numbers.push_back(it->second);
  }
  auto type = tensorOf(attribute.getType().getShape(), b.getI64Type());
  return spell(f, makeConstant(b, loc, constantFromIntegers(type, numbers)), texts);
}

/// Floats are written and read as float32 or float64, integers below a byte as bytes.
static int64_t writtenAs(int64_t number) {
  const support::ElementType &row = support::elementType(static_cast<int32_t>(number));
  if (row.isFloat()) {
    return row.bits < 32 ? INGOT_FLOAT32 : number;
  }
  return row.bits >= 8 ? number : row.kind == support::ElementKind::Signed ? INGOT_INT8 : INGOT_UINT8;
}

Value castText(Formula &f, Value x, int64_t to) {
  int64_t from = numberOfElement(elementOf(x));
  auto cast = [&](Value v, int64_t number) { return f.cast(v, elementOfNumber(number, f.b.getContext()), number); };
  if (from == to) {
    return x;
  }
  if (to == INGOT_STRING) {
    return makeText(f, {cast(x, writtenAs(from))}, {"write_number", to, {}, writtenAs(from)});
  }
  return cast(makeText(f, {x}, {"read_number", writtenAs(to), {}, writtenAs(to)}), to);
}

SmallVector<StringRef> textsIn(const Node &node, StringRef name) {
  SmallVector<StringRef> texts;
  Attribute attribute = node.attributes.get(name);
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute)) {
    for (Attribute text : list) {
      if (auto string = dyn_cast<StringAttr>(text)) {
        texts.push_back(string.getValue());
      }
    }
  } else if (auto tensor = dyn_cast_or_null<DenseStringElementsAttr>(attribute)) {
    for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
      texts.push_back(tensor.getRawStringData()[tensor.isSplat() ? 0 : i]);
    }
  }
  return texts;
}

bool makesStrings(Operation *op) {
  auto text = dyn_cast_or_null<TextOp>(op);
  return text && llvm::is_contained({"join", "case", "write_number"}, text.getDoes());
}

} // namespace ingot::onnx
