#include "compiler/emit/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace {

/// Keywords, macros that common headers define, and what generated headers call their own.
const StringSet<> &reservedNames() {
  static const StringSet<> names = {
      "alignas",  "alignof",       "and",       "and_eq",    "asm",       "auto",      "bitand",       "bitor",
      "bool",     "break",         "case",      "catch",     "char",      "class",     "compl",        "complex",
      "concept",  "const",         "consteval", "constexpr", "constinit", "continue",  "co_await",     "co_return",
      "co_yield", "decltype",      "default",   "delete",    "do",        "double",    "else",         "enum",
      "explicit", "export",        "extern",    "false",     "float",     "for",       "friend",       "goto",
      "if",       "inline",        "int",       "long",      "mutable",   "namespace", "new",          "noexcept",
      "not",      "not_eq",        "nullptr",   "operator",  "or",        "or_eq",     "private",      "protected",
      "public",   "register",      "requires",  "restrict",  "return",    "short",     "signed",       "sizeof",
      "static",   "static_assert", "struct",    "switch",    "template",  "this",      "thread_local", "throw",
      "true",     "try",           "typedef",   "typeid",    "typename",  "typeof",    "union",        "unsigned",
      "using",    "virtual",       "void",      "volatile",  "wchar_t",   "while",     "xor",          "xor_eq",
      "I",        "NULL",          "EOF",       "NAN",       "INFINITY",  "errno",     "stdin",        "stdout",
      "stderr",   "linux",         "unix",      "assert",    "offsetof",  "workspace", "exec",         "model",
      "memory",   "run",           "inputs",    "outputs",   "ingot",     "std",       "int8_t",       "int16_t",
      "int32_t",  "int64_t",       "uint8_t",   "uint16_t",  "uint32_t",  "uint64_t",  "size_t"};
  return names;
}

/// What a class may not be called besides: its members, and types of ingot.hpp that it names.
const StringSet<> &namesInClass() {
  static const StringSet<> names = {"reserve", "reserved", "weights", "Status",  "Span",     "Workspace",
                                    "Strings", "String",   "Model",   "Float16", "BFloat16", "WeightsFile"};
  return names;
}

std::string makeUnique(std::string name, StringSet<> &taken) {
  std::string candidate = name;
  // Macros NAME_X_ELEMENTS are in capitals, so names must differ in more than their case.
  for (int number = 2; reservedNames().contains(candidate) || taken.contains(StringRef(candidate).lower()); ++number) {
    candidate = name + "_" + std::to_string(number);
  }
  taken.insert(StringRef(candidate).lower());
  return candidate;
}

template <typename Named>
std::vector<std::string> namesOf(const std::vector<Named> &all, StringRef role, StringSet<> &taken) {
  std::vector<std::string> names;
  for (const Named &one : all) {
    std::string name = ingot::emit::identifierFrom(one.name);
    if (name.empty() || isDigit(name[0])) {
      name = (role + (name.empty() ? "" : "_") + name).str();
    }
    names.push_back(makeUnique(name, taken));
  }
  return names;
}

} // namespace

std::string ingot::emit::identifierFrom(StringRef text) {
  std::string name;
  for (char c : text) {
    if (isAlnum(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') {
    name.pop_back();
  }
  return name;
}

std::string ingot::emit::className(const plan::ModelInfo &model) {
  bool taken = reservedNames().contains(model.name) || namesInClass().contains(model.name);
  return model.name + (taken ? "_" : "");
}

ingot::emit::ParameterNames ingot::emit::parameterNames(const plan::ModelInfo &model) {
  StringSet<> taken;
  ParameterNames names;
  names.inputs = namesOf(model.inputs, "input", taken);
  names.outputs = namesOf(model.outputs, "output", taken);
  names.symbols = namesOf(model.symbols, "size", taken);
  names.found = namesOf(model.found, "size", taken);
  return names;
}
