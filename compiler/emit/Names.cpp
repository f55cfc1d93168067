// Makes identifiers of names. A name goes through three steps:
//
//   "input/image:0"  ->  input_image_0    identifierFrom: what is no letter or digit becomes one underscore
//   "float"          ->  float_2          makeUnique: keywords, and names that another one has in capitals, get a
//   number "Softmax"        ->  Softmax_         namesInCode: names that a header may have as a macro or a type, as
//   parameters
//
// The first two are the names in macros and functions, which programs spell, and must not change from one version to
// the next. So words that turn out to collide later are added to the third step alone (newerWords).
#include "compiler/emit/Names.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/SymbolNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace {

/// Returns keywords, macros that common headers define, and the names that generated headers use themselves.
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

/// Returns keywords that reservedNames() lacks, and that the text of code has to avoid. They are apart because reserved
/// names are changed in the names of macros and functions, too, which stay what they have always been.
const StringSet<> &newerWords() {
  static const StringSet<> names = {"atomic_cancel", "atomic_commit",    "atomic_noexcept", "char16_t",
                                    "char32_t",      "char8_t",          "const_cast",      "contract_assert",
                                    "dynamic_cast",  "reinterpret_cast", "static_cast",     "synchronized",
                                    "typeof_unqual"};
  return names;
}

/// Returns macros in small letters: those of C's library, of systems and processors, and of Windows.
const StringSet<> &smallMacros() {
  static const StringSet<> names = {"errno",     "math_errhandling",
                                    "stdin",     "stdout",
                                    "stderr",    "linux",
                                    "unix",      "i386",
                                    "sun",       "sparc",
                                    "vax",       "hpux",
                                    "sgi",       "mips",
                                    "cdecl",     "far",
                                    "hyper",     "huge",
                                    "interface", "near",
                                    "pascal",    "small"};
  return names;
}

/// Whether C's library may have a macro of that name: POSIX reserves these beginnings of names of members.
bool mayBeMember(StringRef name) {
  return llvm::any_of(ArrayRef<StringRef>{"h_", "s6_", "sa_", "sched_", "si_", "sigev_", "sival_", "st_", "sv_", "uc_"},
                      [&](StringRef prefix) { return name.starts_with(prefix); });
}

/// Whether a class may not be called so besides: its members, and types of ingot.hpp that it names.
bool isNameInClass(StringRef name) {
  static const StringSet<> names = {"reserve",        "reserved",        "weights",        "Status",
                                    "Span",           "Workspace",       "Strings",        "Model",
                                    "WeightsFile",    "Allocated",       "models",         "ownMemory_",
                                    "reserveStatus_", "weightsAddress_", "weightsReader_", "madeStrings_"};
  return names.contains(name) ||
         llvm::any_of(ingot::support::elementTypes(), [&](const auto &type) { return type.cpp == name; });
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

StringRef nameOf(const ingot::plan::TensorInfo &tensor) { return tensor.name; }
std::string nameOf(const ingot::plan::SymbolInfo &symbol) {
  return ingot::support::asWord(ingot::support::symbolName(symbol.name));
}
std::string nameOf(const ingot::plan::DataDependentSizeInfo &found) { return ingot::support::symbolName(found.name); }
std::string nameOf(const ingot::plan::MemoryInfo &memory) { return "workspace_" + memory.name; }

/// Returns the identifiers of tensors or sizes; `role` is what a name begins with that would begin with a digit.
template <typename Named>
std::vector<std::string> namesOf(const std::vector<Named> &all, StringRef role, StringSet<> &taken) {
  std::vector<std::string> names;
  for (const Named &one : all) {
    std::string name = ingot::emit::identifierFrom(nameOf(one));
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

/// Whether a name is a keyword of a compiler, such as __int128, __attribute__ and _Bool. Files are called __model__,
/// which is none.
static bool isKeywordOfCompiler(StringRef name) {
  StringRef core = name.trim('_');
  static const StringSet<> others = {"attribute", "extension", "imag", "label", "real", "thread", "builtin"};
  bool isOfCompiler = name.size() > 1 && name[0] == '_' && (name[1] == '_' || isUpper(name[1]));
  return isOfCompiler && (!name.ends_with("__") || reservedNames().contains(core) || others.contains(core));
}

/// Whether a name is a keyword of C++ that reservedNames() does not have.
static bool isNewKeyword(StringRef name) {
  return name.ends_with("_cast") ? newerWords().contains(name)
                                 : name == "char8_t" || name == "char16_t" || name == "char32_t";
}

std::string ingot::emit::className(const plan::ModelInfo &model) {
  const std::string &name = model.name;
  bool taken = reservedNames().contains(name) || isNameInClass(name) || isNewKeyword(name) || isKeywordOfCompiler(name);
  return name + (taken ? "_" : "");
}

bool ingot::emit::mayBeMacro(StringRef className) {
  // This finds FP_NAN, PRId64, P_tmpdir, but not MobileNet.
  bool isShort = className.size() == 1 || !isLower(className[1]);
  return className[0] == '_' || (isUpper(className[0]) && isShort) || mayBeMember(className) ||
         smallMacros().contains(className);
}

std::string ingot::emit::inComment(StringRef name) {
  std::string text = json::fixUTF8(name);
  // Marks that change the direction of text make a comment look like code.
  for (StringRef mark : {"\u200e", "\u200f", "\u061c", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066",
                         "\u2067", "\u2068", "\u2069", "\u2028", "\u2029", "*/", "/*"}) {
    for (size_t at; (at = text.find(mark)) != std::string::npos;) {
      text.replace(at, mark == "*/" || mark == "/*" ? 1 : mark.size(), " ");
    }
  }
  for (char &c : text) {
    c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return StringRef(text).rtrim('\\').str();
}

ingot::emit::ParameterNames ingot::emit::parameterNames(const plan::ModelInfo &model) {
  StringSet<> taken;
  ParameterNames names;
  names.inputs = namesOf(model.inputs, "input", taken);
  names.outputs = namesOf(model.outputs, "output", taken);
  names.symbols = namesOf(model.symbols, "size", taken);
  names.dataDependentSizes = namesOf(model.dataDependentSizes, "size", taken);
  names.memories = namesOf(model.memories, "memory", taken);
  return names;
}

ingot::emit::ParameterNames ingot::emit::namesInCode(const plan::ModelInfo &model) {
  ParameterNames names = parameterNames(model);
  for (std::vector<std::string> *list : {&names.inputs, &names.outputs, &names.symbols, &names.dataDependentSizes}) {
    for (std::string &name : *list) {
      bool isType = name.size() > 1 && isUpper(name[0]);
      name += isType || mayBeMember(name) || StringRef(name).starts_with("ingot") || newerWords().contains(name) ||
                      smallMacros().contains(name)
                  ? "_"
                  : "";
    }
  }
  return names;
}
