// Lays out the tables that the support library reads (runtime_support/core/text.h has their structures) and makes the
// calls that read them. A table is one constant of bytes, in the byte order of the machines for which there is code:
//
//   pool    count, offset of each text, offset of the end, and then the bytes of all texts
//   keys    a head, slots of a hash table, and for each key its length and first and last bytes, so that most keys that
//           differ are told apart without reading the rest of the text
//   grams   a tree of n-grams as a hash table of (node, number) -> (next node, place)
//
// Letters of the other case come from a table of ranges, which is Unicode's simple mapping (UnicodeTables.inc).
#include "compiler/onnx/text/Texts.h"
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
  bytes.insert(bytes.end(), from, from + sizeof value); // all machines for which there is code are little endian
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

/// Returns how many slots a table has: a power of 2, of which a quarter is taken at most, so that few searches have to
/// go on to the next slot.
static uint64_t slotsFor(size_t count) { return llvm::PowerOf2Ceil(4 * count + 2); }

/// Returns the head and the slots of a table of `count` keys, behind which the caller writes `width` bytes for each
/// key.
static std::vector<char> slotsOf(size_t count, size_t width, int64_t otherwise,
                                 llvm::function_ref<uint64_t(size_t)> hash,
                                 llvm::function_ref<bool(size_t, size_t)> same) {
  uint64_t slots = slotsFor(count), shift = llvm::Log2_64_Ceil(count + 2), lower = (uint64_t(1) << shift) - 1;
  std::vector<uint32_t> all(slots, 0);
  for (size_t i = 0; i < count; ++i) {
    uint64_t own = hash(i), at = own >> 32 & (slots - 1);
    while (all[at] && !same((all[at] & lower) - 1, i)) {
      at = (at + 1) & (slots - 1);
    }
    all[at] = all[at] ? all[at] : static_cast<uint32_t>((own & ~lower) | (i + 1));
  }
  std::vector<char> table;
  uint64_t keys = llvm::alignTo(sizeof(ingot_text_keys) + 4 * slots, 8);
  append(table, ingot_text_keys{slots - 1, otherwise, keys, keys + width * count, shift});
  for (uint32_t slot : all) {
    append(table, slot);
  }
  table.resize(keys);
  return table;
}

std::vector<char> keysOf(ArrayRef<StringRef> texts) {
  auto count = static_cast<int64_t>(texts.size());
  return keysOf(texts, llvm::to_vector(llvm::seq<int64_t>(0, count + 1)));
}

/// The last value is for texts that are no key. Texts above 16 bytes stand behind the keys; shorter ones are in the
/// key.
std::vector<char> keysOf(ArrayRef<StringRef> texts, ArrayRef<int64_t> values) {
  std::vector<ingot_text_key> keys;
  uint32_t from = 0;
  for (auto [text, value] : llvm::zip_first(texts, values)) {
    auto size = static_cast<uint32_t>(text.size());
    ingot_text_key key = {0, 0, size, from, value};
    ingot_text_ends(text.data(), size, &key.low, &key.high);
    from += size > 16 ? size : 0;
    keys.push_back(key);
  }
  auto hash = [&](size_t i) {
    return ingot_text_hash(texts[i].data(), static_cast<int64_t>(texts[i].size()), keys[i].low, keys[i].high);
  };
  auto same = [&](size_t a, size_t b) { return texts[a] == texts[b]; };
  std::vector<char> table = slotsOf(keys.size(), sizeof(ingot_text_key), values.back(), hash, same);
  for (const ingot_text_key &key : keys) {
    append(table, key);
  }
  for (StringRef text : texts) {
    table.insert(table.end(), text.begin(), text.size() > 16 ? text.end() : text.begin());
  }
  return table;
}

std::vector<char> keysOf(ArrayRef<int64_t> keys) {
  auto hash = [&](size_t i) { return ingot_text_number_hash(keys[i]); };
  auto same = [&](size_t a, size_t b) { return keys[a] == keys[b]; };
  std::vector<char> table = slotsOf(keys.size(), sizeof(int64_t), static_cast<int64_t>(keys.size()), hash, same);
  for (int64_t key : keys) {
    append(table, key);
  }
  return table;
}

/// A node is made when a longer gram goes on from it, so that grams share the nodes of their common beginnings.
std::vector<char> gramsOf(ArrayRef<Gram> grams, int64_t least, int64_t most, int64_t skips) {
  size_t steps = 0;
  for (const Gram &gram : grams) {
    steps += gram.numbers.size();
  }
  uint64_t slots = slotsFor(steps);
  std::vector<ingot_text_gram> all(slots, ingot_text_gram{0, 0, 0});
  uint32_t nodes = 0;
  for (const Gram &gram : grams) {
    uint64_t node = 0;
    ingot_text_gram *last = nullptr;
    for (int64_t number : gram.numbers) {
      if (last && !last->node) {
        last->node = ++nodes;
      }
      node = last ? last->node : 0;
      uint64_t step = (node << 32 | static_cast<uint64_t>(number)) + 1;
      uint64_t at = ingot_text_number_hash(static_cast<int64_t>(step)) >> 32 & (slots - 1);
      while (all[at].step && all[at].step != step) {
        at = (at + 1) & (slots - 1);
      }
      last = &all[at];
      last->step = step;
    }
    last->place = gram.place + 1;
  }
  std::vector<char> table;
  append(table, ingot_text_grams{slots - 1, static_cast<uint64_t>(least), static_cast<uint64_t>(most),
                                 static_cast<uint64_t>(skips)});
  for (const ingot_text_gram &slot : all) {
    append(table, slot);
  }
  return table;
}

/// Offsets of the automata stand in front; the pool with the padding and the two marks comes first behind them.
std::vector<char> tokenizerOf(const Tokenizer &tokenizer) {
  std::vector<char> table, searches, pool = poolOf({tokenizer.pad, "\x02", "\x03"});
  uint64_t count = tokenizer.searchers.size(), at = sizeof(ingot_text_tokenizer) + 16 * count;
  append(table,
         ingot_text_tokenizer{tokenizer.kind, static_cast<uint64_t>(tokenizer.least), tokenizer.marks, at, count});
  auto place = [&](ArrayRef<char> bytes) {
    llvm::append_range(searches, bytes);
    searches.resize(llvm::alignTo(searches.size(), 8));
  };
  place(pool);
  for (const Searcher &searcher : tokenizer.searchers) {
    for (const std::vector<char> &automaton : {searcher.end, searcher.begin}) {
      append(table, at + searches.size());
      place(automaton);
    }
  }
  llvm::append_range(table, searches);
  return table;
}

namespace {
struct CaseRange {
  uint32_t first, last, step;
  int32_t distance;
};
} // namespace

static ArrayRef<CaseRange> letters(bool upper) {
  static constexpr CaseRange toLower[] = {
#define LETTERS_LOWER
#include "compiler/onnx/text/UnicodeTables.inc"
#undef LETTERS_LOWER
  };
  static constexpr CaseRange toUpper[] = {
#define LETTERS_UPPER
#include "compiler/onnx/text/UnicodeTables.inc"
#undef LETTERS_UPPER
  };
  return upper ? ArrayRef(toUpper) : ArrayRef(toLower);
}

void eachLetter(bool upper, llvm::function_ref<void(uint32_t, uint32_t)> f) {
  for (const CaseRange &row : letters(upper)) {
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

/// Returns the letter in lower case, or the character itself.
static uint32_t lowerCase(uint32_t c) {
  for (const CaseRange &row : letters(/*upper=*/false)) {
    if (c >= row.first && c <= row.last && (c - row.first) % row.step == 0) {
      return c + row.distance;
    }
  }
  return c;
}

/// Bytes that are no UTF-8 stay as they are, as in the support library.
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

Value makeTable(Formula &f, std::vector<char> table) {
  Type byte = IntegerType::get(f.b.getContext(), 8, IntegerType::Unsigned);
  auto type = tensorOf({static_cast<int64_t>(table.size())}, byte);
  return makeConstant(f.b, f.loc, constantFromBytes(type, std::move(table)));
}

Value makeText(Formula &f, ArrayRef<Value> xs, TextCall call) {
  SmallVector<Value> operands(xs);
  Value table = call.constant;
  if (!call.table.empty()) {
    table = makeTable(f, std::move(call.table));
  }
  operands.push_back(table);
  SmallVector<NamedAttribute> attributes = {f.b.getNamedAttr("does", f.b.getStringAttr(call.does)),
                                            f.integer("to", call.to), f.integer("number", call.number)};
  if (call.tail) {
    attributes.push_back(f.sizes("tail", {*call.tail}));
  }
  if (call.rows) {
    attributes.push_back(f.flag("rows"));
  }
  return make<TextOp>(f.b, f.loc, operands, attributes);
}

Value spell(Formula &f, Value numbers, ArrayRef<StringRef> texts) {
  return makeText(f, {f.cast(numbers, f.b.getI64Type(), INGOT_INT64)}, {"spell", INGOT_STRING, poolOf(texts)});
}

Value find(Formula &f, Value strings, ArrayRef<StringRef> keys, bool isNeeded) {
  return makeText(f, {strings}, {"find", INGOT_INT64, keysOf(keys), isNeeded ? INGOT_ERROR_STRING : 0});
}
Value find(Formula &f, Value strings, ArrayRef<StringRef> keys, ArrayRef<int64_t> values) {
  return makeText(f, {strings}, {"find", INGOT_INT64, keysOf(keys, values)});
}

Value ranks(Formula &f, Value strings, bool inOrder) {
  Value flat = f.reshape(strings, {-1});
  Value numbers = makeText(f, {flat}, {"rank", INGOT_INT64, {}, inOrder});
  return f.reshapeTo(numbers, sizesOf(ranked(strings)));
}

/// Each text stands in the pool once, since `known` gives equal ones the same number.
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

/// Returns the type as which a number is written and read: float32 or float64 for floats, a byte for integers below it.
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

/// Calls that only choose among texts of the table, or of their operands, make no new ones.
bool makesStrings(Operation *op) {
  auto text = dyn_cast_or_null<TextOp>(op);
  return text && llvm::is_contained({"join", "case", "write_number"}, text.getDoes());
}

} // namespace ingot::onnx
