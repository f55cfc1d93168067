// Visits records of facts field by field. A function beside the record names its fields once,
//   template <typename V> void visitFields(V &v, typename V::template Ref<Record> record);
// and whatever writes or reads them is a visitor. Where exits differ in a field, the difference stands beside the
// field.
#pragma once
#include "compiler/support/ElementTypes.h"
#include "compiler/support/Size.h"
#include "compiler/support/SymbolNames.h"
#include "compiler/support/Words.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

namespace ingot::support {

enum class Presence { Always, UnlessEmpty, Never }; // empty: zero, false, no text, no elements, an unknown size

/// The rule by which each exit has a field.
struct FieldRule {
  Presence manifest = Presence::Always; ///< NAME.json of a compiled model
  Presence summary = Presence::Always;  ///< --json, and the page of `ingot report`
  bool negativeIsNull = false;
};
inline constexpr FieldRule unlessEmpty = {Presence::UnlessEmpty, Presence::UnlessEmpty},
                           orNull = {Presence::Always, Presence::Always, true},
                           inManifest = {Presence::Always, Presence::Never},
                           inManifestUnlessEmpty = {Presence::UnlessEmpty, Presence::Never};

/// Writes fields as attributes of the object that a stream is in.
class JsonFieldWriter {
public:
  static constexpr bool reads = false;
  template <typename T> using Ref = const T &;
  using Exit = Presence FieldRule::*;

  JsonFieldWriter(llvm::json::OStream &json, Exit exit) : json(json), exit(exit) {}

  template <typename T> void operator()(const char *name, const T &value, FieldRule rule = {}) {
    if (rule.*exit == Presence::Always || (rule.*exit == Presence::UnlessEmpty && !isEmpty(value))) {
      json.attributeBegin(name);
      rule.negativeIsNull &&isNegative(value) ? json.value(nullptr) : write(value);
      json.attributeEnd();
    }
  }
  /// Writes a value that follows from other facts, and that nobody reads again.
  template <typename T> void derived(const char *name, const T &value, FieldRule rule = {}) {
    (*this)(name, value, rule);
  }
  /// Writes a size where it is not `other`.
  void unlike(const char *name, const Size &size, const Size &other) {
    (*this)(name, same(size, other) ? Size(0) : size, unlessEmpty);
  }
  template <typename Value>
  void word(const char *name, Value value, FieldRule rule = {}, llvm::ArrayRef<Word<Value>> words = wordsOf(Value())) {
    (*this)(name, wordOf(value, words), rule);
  }
  /// Writes the text of a symbol by the name that the model gives it.
  void symbol(const char *name, const std::string &text) { (*this)(name, symbolName(text)); }
  void elementType(const char *name, int32_t type) { (*this)(name, support::elementType(type).name); }
  void hash(const char *name, uint64_t value) { (*this)(name, llvm::utohexstr(value, /*LowerCase=*/true, 16)); }
  /// Writes one of several things by its name; -1: none.
  void choice(const char *name, int64_t index, llvm::ArrayRef<std::string> names, FieldRule rule) {
    (*this)(name, index < 0 ? std::string() : names[static_cast<size_t>(index)], rule);
  }
  template <typename Fields> void object(const char *name, Fields fields) {
    json.attributeObject(name, [&] { fields(*this); });
  }
  /// Writes a list of objects; `fields` visits each of them with its number.
  template <typename Record, typename Fields>
  void list(const char *name, const std::vector<Record> &records, FieldRule rule, Fields fields) {
    if (rule.*exit == Presence::Always || (rule.*exit == Presence::UnlessEmpty && !records.empty())) {
      json.attributeArray(name, [&] {
        for (size_t i = 0; i < records.size(); ++i) {
          json.object([&] { fields(*this, records[i], i); });
        }
      });
    }
  }
  template <typename Record> void list(const char *name, const std::vector<Record> &records, FieldRule rule = {}) {
    list(name, records, rule, [](auto &v, const Record &record, size_t) { visitFields(v, record); });
  }

private:
  template <typename T> static bool isEmpty(const T &value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return value == 0;
    } else {
      return value.empty();
    }
  }
  static bool isEmpty(const Size &size) { return size.is(0) || size.isUnknown(); }
  template <typename T> static bool isNegative(const T &value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return value < 0;
    }
    return false;
  }

  template <typename T> void write(const T &value) {
    if constexpr (std::is_arithmetic_v<T>) {
      json.value(value);
    } else {
      json.array([&] {
        for (const auto &element : value) {
          write(element);
        }
      });
    }
  }
  void write(llvm::StringRef text) { json.value(llvm::json::fixUTF8(text)); }
  void write(const std::string &text) { json.value(llvm::json::fixUTF8(text)); }
  /// Writes a number, the text of an expression of the symbols, or null where nothing is known.
  void write(const Size &size) {
    size.isUnknown()  ? json.value(nullptr)
    : size.isNumber() ? json.value(size.number())
                      : json.value(llvm::json::fixUTF8(size.text()));
  }

  llvm::json::OStream &json;
  Exit exit;
};

/// Reads fields from an object. One that is absent stays what it is, or is 0 where it is of another kind.
class JsonFieldReader {
public:
  static constexpr bool reads = true;
  template <typename T> using Ref = T &;

  explicit JsonFieldReader(const llvm::json::Object &object) : from(object) {}

  template <typename T> void operator()(const char *name, T &field, FieldRule = {}) {
    if (const llvm::json::Value *value = from.get(name)) {
      read(*value, field);
    }
  }
  template <typename T> void derived(const char *, const T &, FieldRule = {}) {}
  void unlike(const char *name, Size &size, const Size &other) {
    size = other;
    (*this)(name, size);
  }
  template <typename Value>
  void word(const char *name, Value &field, FieldRule = {}, llvm::ArrayRef<Word<Value>> words = wordsOf(Value())) {
    field = valueOf(textOf(name), words).value_or(field);
  }
  void symbol(const char *name, std::string &text) { text = symbolText(textOf(name)); }
  void elementType(const char *name, int32_t &type) {
    llvm::ArrayRef<ElementType> types = elementTypes();
    const auto *known = llvm::find_if(types, [&](const ElementType &row) { return row.name == textOf(name); });
    type = known == types.end() ? 0 : known->number;
  }
  void hash(const char *name, uint64_t &value) { (void)textOf(name).getAsInteger(16, value); }
  void choice(const char *name, int64_t &index, llvm::ArrayRef<std::string> names, FieldRule) {
    const auto *known = llvm::find(names, textOf(name));
    index = known == names.end() ? -1 : known - names.begin();
  }
  template <typename Fields> void object(const char *name, Fields fields) {
    if (const llvm::json::Object *inner = from.getObject(name)) {
      JsonFieldReader reader(*inner);
      fields(reader);
    }
  }
  template <typename Record, typename Fields>
  void list(const char *name, std::vector<Record> &records, FieldRule, Fields fields) {
    const llvm::json::Array *values = from.getArray(name);
    for (size_t i = 0; values && i < values->size(); ++i) {
      records.emplace_back();
      if (const llvm::json::Object *inner = (*values)[i].getAsObject()) {
        JsonFieldReader reader(*inner);
        fields(reader, records.back(), i);
      }
    }
  }
  template <typename Record> void list(const char *name, std::vector<Record> &records, FieldRule rule = {}) {
    list(name, records, rule, [](auto &v, Record &record, size_t) { visitFields(v, record); });
  }

private:
  template <typename T> static void read(const llvm::json::Value &value, T &field) {
    if constexpr (std::is_same_v<T, bool>) {
      field = value.getAsBoolean().value_or(false);
    } else if constexpr (std::is_arithmetic_v<T>) {
      field = static_cast<T>(value.getAsInteger().value_or(value.getAsNull() ? -1 : 0));
    } else if (const llvm::json::Array *elements = value.getAsArray()) {
      field.resize(elements->size());
      for (size_t i = 0; i < elements->size(); ++i) {
        read((*elements)[i], field[i]);
      }
    }
  }
  static void read(const llvm::json::Value &value, std::string &text) { text = value.getAsString().value_or("").str(); }
  static void read(const llvm::json::Value &value, Size &size) {
    std::optional<llvm::StringRef> text = value.getAsString();
    size = text ? Size::parse(*text).value_or(Size(0)) : Size(value.getAsInteger().value_or(0));
  }

  llvm::StringRef textOf(const char *name) const { return from.getString(name).value_or(""); }

  const llvm::json::Object &from;
};

} // namespace ingot::support
