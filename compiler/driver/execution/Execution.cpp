#include "compiler/driver/execution/Execution.h"
#include "compiler/driver/Crash.h"
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <new>
#include <random>

namespace ingot::driver {

llvm::ArrayRef<ingot_tensor_info> inputsOf(const ingot_model &model) {
  return {model.inputs, size_t(model.input_count)};
}
llvm::ArrayRef<ingot_tensor_info> outputsOf(const ingot_model &model) {
  return {model.outputs, size_t(model.output_count)};
}

size_t outputAxes(const ingot_model &model) {
  size_t axes = 0;
  for (const ingot_tensor_info &info : outputsOf(model)) {
    axes += size_t(info.rank);
  }
  return axes;
}

int64_t tensorBytes(int32_t type, llvm::ArrayRef<int64_t> dims) {
  int64_t bytes = int64_t(ingot_type_bytes(type));
  for (int64_t dim : dims) {
    if (dim != 0 && llvm::is_contained(dims, 0)) {
      return 0; // there are none, whatever the other axes are
    }
    if (__builtin_mul_overflow(bytes, dim, &bytes)) {
      throw std::bad_alloc();
    }
  }
  int64_t pack = ingot_type_pack(type);
  return bytes / pack + (bytes % pack != 0);
}

namespace {

std::string typeText(int32_t type, llvm::ArrayRef<int64_t> dims) {
  return (importer::elementName(type) + importer::dimsText(dims)).str();
}

/// Returns a type as "float32[batch, 3]".
std::string typeText(const ingot_model &model, const ingot_tensor_info &info) {
  std::string text = importer::elementName(info.type).str() + "[";
  for (int64_t dim : llvm::ArrayRef(info.dims, size_t(info.rank))) {
    text += text.back() == '[' ? "" : ", ";
    text += dim >= 0 ? std::to_string(dim) : INGOT_DIM_IS_SYMBOL(dim) ? model.symbols[INGOT_DIM_SYMBOL(dim)].name : "?";
  }
  return text + "]";
}

template <typename T> void fillReal(char *data, int64_t elements, std::minstd_rand &random) {
  for (T *value = reinterpret_cast<T *>(data), *end = value + elements; value != end; ++value) {
    *value = T(int(random() % 2001) - 1000) / T(1000);
  }
}

template <typename T> void fillBits(char *data, int64_t elements, std::minstd_rand &random) {
  for (T *value = reinterpret_cast<T *>(data), *end = value + elements; value != end; ++value) {
    *value = T(random() >> 8 & 1);
  }
}

/// Fills in narrow floats as fillReal() does; zeros and ones of other types, several in a byte where they are packed.
void fillCodes(const support::ElementType &type, char *data, int64_t elements, std::minstd_rand &random) {
  size_t bytes = ingot_type_bytes(type.number);
  for (int64_t i = 0; i < elements; ++i) {
    uint64_t codes = 0;
    for (int64_t k = 0; k < ingot_type_pack(type.number); ++k) {
      uint64_t code = type.isFloat() ? type.format.encode((int(random() % 2001) - 1000) / 1000.0) : random() >> 8 & 1;
      codes |= code << (size_t(k) * type.bits);
    }
    std::memcpy(data + size_t(i) * bytes, &codes, bytes);
  }
}

void fillRandomly(const ingot_tensor_info &info, char *data, int64_t elements, std::minstd_rand &random) {
  switch (info.type) {
  case INGOT_FLOAT32:
    fillReal<float>(data, elements, random);
    break;
  case INGOT_FLOAT64:
    fillReal<double>(data, elements, random);
    break;
  case INGOT_INT32:
  case INGOT_UINT32:
    fillBits<int32_t>(data, elements, random);
    break;
  case INGOT_INT64:
  case INGOT_UINT64:
    fillBits<int64_t>(data, elements, random);
    break;
  case INGOT_UINT8:
  case INGOT_INT8:
  case INGOT_BOOL:
    fillBits<char>(data, elements, random);
    break;
  default:
    fillCodes(support::elementType(info.type), data, elements, random);
  }
}

/// Returns words of up to twelve small letters.
std::vector<std::string> randomWords(int64_t count, std::minstd_rand &random) {
  std::vector<std::string> words(static_cast<size_t>(count));
  for (std::string &word : words) {
    for (auto letters = random() % 12 + 1; letters > 0; --letters) {
      word += static_cast<char>('a' + random() % 26);
    }
  }
  return words;
}

/// Gives sizes to the symbols of an input; returns whether it can have the shape.
bool takeShape(const ingot_tensor_info &info, llvm::ArrayRef<int64_t> shape, std::vector<int64_t> &sizes) {
  if (shape.size() != size_t(info.rank)) {
    return false;
  }
  for (auto [dim, size] : llvm::zip(llvm::ArrayRef(info.dims, size_t(info.rank)), shape)) {
    int64_t wanted = dim;
    if (INGOT_DIM_IS_SYMBOL(dim)) {
      int64_t &known = sizes[INGOT_DIM_SYMBOL(dim)];
      wanted = known = known < 0 ? size : known;
    }
    if (wanted != size) {
      return false;
    }
  }
  return true;
}

/// Returns the sizes of the model's symbols that `given` says.
llvm::Expected<std::vector<int64_t>> sizesFrom(const ingot_model &model, const GivenSizes &given) {
  llvm::ArrayRef<ingot_symbol_info> symbols(model.symbols, size_t(model.symbol_count));
  std::vector<int64_t> sizes(symbols.size(), -1);
  for (const auto &[name, size] : given.dims) {
    auto isNamed = [&name = name](const ingot_symbol_info &s) { return name == s.name; };
    auto isAlike = [&name = name](const ingot_symbol_info &s) {
      return support::asWord(name) == support::asWord(s.name);
    };
    const auto *symbol = llvm::find_if(symbols, isNamed);
    if (symbol == symbols.end() && llvm::count_if(symbols, isAlike) == 1) {
      symbol = llvm::find_if(symbols, isAlike);
    }
    if (symbol == symbols.end()) {
      return llvm::createStringError("--dim " + name + ": the model has no such size");
    }
    sizes[symbol - symbols.begin()] = size;
  }
  for (const auto &[name, shape] : given.shapes) {
    llvm::ArrayRef<ingot_tensor_info> all = inputsOf(model);
    const auto *info = llvm::find_if(all, [&](const ingot_tensor_info &i) { return name == i.name; });
    if (info == all.end()) {
      return llvm::createStringError("--shape " + name + ": the model has no such input");
    }
    if (!takeShape(*info, shape, sizes)) {
      return llvm::createStringError("--shape " + name + ": the input is " + typeText(model, *info) +
                                     ", of which --dim or another --shape gives other sizes");
    }
  }
  for (auto [symbol, size] : llvm::zip(symbols, sizes)) {
    if (size < 0) {
      size = std::max<int64_t>(symbol.least, symbol.most < 0 ? 1 : std::min<int64_t>(symbol.most, 1));
      llvm::errs() << "warning: the size '" << symbol.name << "' is open and taken as " << size
                   << "; give another with --dim " << symbol.name << "=SIZE, --shape or --data\n";
    }
  }
  return sizes;
}

} // namespace

llvm::Error Execution::failure(int status, const std::string &more) const {
  char text[512];
  ingot_error_text(&model, status, text, sizeof(text));
  bool isOfValues =
      llvm::is_contained({INGOT_ERROR_INDEX, INGOT_ERROR_SIZE, INGOT_ERROR_STRING}, INGOT_STATUS_KIND(status));
  return llvm::createStringError((isOfValues && !folder.empty() ? folder + ": error: " : "") + text +
                                 (more.empty() ? "" : ": " + more));
}

/// Returns what is known of the symbols of an input: "; here batch is 9 (at most 4), rows is 5".
std::string Execution::sizesText(const ingot_tensor_info &info, llvm::ArrayRef<int64_t> dims) const {
  std::string text;
  for (int64_t dim : llvm::ArrayRef(info.dims, size_t(info.rank))) {
    int32_t symbol = INGOT_DIM_IS_SYMBOL(dim) ? INGOT_DIM_SYMBOL(dim) : -1;
    if (symbol < 0 || sizes[symbol] < 0) {
      continue;
    }
    const ingot_symbol_info &known = model.symbols[symbol];
    text += (text.empty() ? "; here " : ", ") + std::string(known.name) + " is " + std::to_string(sizes[symbol]);
    if (sizes[symbol] < known.least) {
      text += " (at least " + std::to_string(known.least) + ")";
    } else if (known.most >= 0 && sizes[symbol] > known.most) {
      text += " (at most " + std::to_string(known.most) + ")";
    }
  }
  for (auto [dim, size] : llvm::zip(llvm::ArrayRef(info.dims, size_t(info.rank)), dims)) {
    if (INGOT_DIM_IS_SYMBOL(dim) && sizes[INGOT_DIM_SYMBOL(dim)] != size && sizes[INGOT_DIM_SYMBOL(dim)] >= 0) {
      std::string name = model.symbols[INGOT_DIM_SYMBOL(dim)].name;
      return text + ", for all axes of that name; compile with " + shellQuoted("--independent-dims=" + name) +
             " where they may differ";
    }
  }
  return text;
}

llvm::Error Execution::bind(llvm::ArrayRef<HostTensor> tensors) {
  std::vector<ingot_shape> shapes;
  for (const HostTensor &tensor : tensors) {
    shapes.push_back({tensor.dims.data(), tensor.isAbsent ? -1 : int32_t(tensor.dims.size())});
  }
  sizes.assign(size_t(model.symbol_count), -1);
  int status = ingot_bind(&model, shapes.data(), int32_t(shapes.size()), sizes.data());
  int number = INGOT_STATUS_NUMBER(status);
  for (auto [index, info, tensor] : llvm::enumerate(inputsOf(model), tensors)) {
    bool optional = info.flags & INGOT_TENSOR_OPTIONAL;
    if (tensor.isOptional && !optional) {
      return llvm::createStringError(folder + ": error: input '" + llvm::Twine(info.name) +
                                     "' is a tensor, but the recorded one is an optional value or a sequence");
    }
    if (tensor.isAbsent) {
      continue;
    }
    if (tensor.type != info.type || number == int(index)) {
      return llvm::createStringError(folder + ": error: input '" + llvm::Twine(info.name) + "' is " +
                                     typeText(model, info) + ", but the recorded one is " +
                                     typeText(tensor.type, tensor.dims) + sizesText(info, tensor.dims));
    }
  }
  return status ? failure(status) : llvm::Error::success();
}

llvm::Error Execution::setInputs(llvm::ArrayRef<HostTensor> tensors, const std::string &from) {
  folder = from;
  if (int64_t(tensors.size()) != model.input_count) {
    return llvm::createStringError(folder + ": error: the folder has " + llvm::Twine(tensors.size()) +
                                   " input_K.pb, the model has " + llvm::Twine(model.input_count) + " inputs");
  }
  if (llvm::Error error = bind(tensors)) {
    return error;
  }
  return prepare(tensors);
}

llvm::Error Execution::setRandomInputs(const GivenSizes &given) {
  llvm::Expected<std::vector<int64_t>> chosen = sizesFrom(model, given);
  if (!chosen) {
    return chosen.takeError();
  }
  sizes = std::move(*chosen);
  std::vector<HostTensor> tensors;
  std::minstd_rand random(1);
  for (const ingot_tensor_info &info : inputsOf(model)) {
    HostTensor tensor;
    tensor.type = info.type;
    tensor.dims.assign(info.dims, info.dims + info.rank);
    for (int64_t &dim : tensor.dims) {
      dim = INGOT_DIM_IS_SYMBOL(dim) ? sizes[INGOT_DIM_SYMBOL(dim)] : dim;
    }
    int64_t bytes = tensorBytes(info.type, tensor.dims);
    if (info.type == INGOT_STRING) {
      tensor.strings = randomWords(bytes / int64_t(sizeof(ingot_string)), random);
      tensors.push_back(std::move(tensor));
      continue;
    }
    tensor.bytes.resize(size_t(bytes));
    fillRandomly(info, tensor.bytes.data(), int64_t(tensor.bytes.size() / ingot_type_bytes(info.type)), random);
    tensors.push_back(std::move(tensor));
  }
  return prepare(tensors);
}

int64_t Execution::evaluate(const support::Size &size) const {
  auto symbol = [&](llvm::StringRef name) -> std::optional<int64_t> {
    for (int32_t i = 0; i < model.symbol_count; ++i) {
      if (name == support::symbolText(model.symbols[i].name)) {
        return sizes[size_t(i)];
      }
    }
    return std::nullopt;
  };
  return size.evaluate(symbol).value_or(0);
}

} // namespace ingot::driver
