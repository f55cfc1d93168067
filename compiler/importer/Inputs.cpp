// Input types. A dimension is a number, a symbol (the same name is the same size in all inputs) or nothing. --shape
// gives one input's sizes and, through its symbols, those of others; --dim gives symbols. What nobody gives stays open:
// each run chooses it.
#include "compiler/importer/Types.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/support/Sequences.h"
#include "compiler/support/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

using namespace mlir;

namespace ingot::importer {

namespace {

class InputReader {
public:
  InputReader(MLIRContext *context, const pb::GraphProto &graph, const ImportOptions &options, Problems &problems)
      : context(context), graph(graph), options(options), problems(problems) {}

  std::vector<Input> run();
  std::vector<Spread> spread; ///< once run() has been called

private:
  void nameAxes();
  void dimsGiveSymbols();
  void shapesGiveSymbols();
  void shapeGivesSymbols(const pb::ValueInfoProto &value, llvm::ArrayRef<int64_t> sizes);
  void namesGiveSymbols();
  void optionsMeanSomething();
  bool mayDiffer(const std::string &name) const;
  const OpenAxis &axisOf(const pb::ValueInfoProto &value, size_t axis) const { return axes.at({&value, axis}); }
  void input(const pb::ValueInfoProto &value);
  void shape(const pb::ValueInfoProto &value, SmallVectorImpl<int64_t> &dims);

  MLIRContext *context;
  const pb::GraphProto &graph;
  const ImportOptions &options;
  Problems &problems;
  std::map<std::pair<const pb::ValueInfoProto *, size_t>, OpenAxis> axes; ///< of all values
  std::map<std::string, int64_t> symbols;                                 ///< that are given
  std::map<std::string, std::set<int64_t>> givenByShapes;                 ///< by what the model calls the axis
  void sequence(const pb::ValueInfoProto &value);
  void map(const pb::ValueInfoProto &value);

  std::vector<const pb::ValueInfoProto *> values; ///< the inputs that have no initializer, tensors of sequences too
  std::deque<pb::ValueInfoProto> ofSequences;
  std::vector<Input> inputs;
};

} // namespace

using Dimension = pb::TensorShapeProto::Dimension;

/// Exporters also write unknown sizes as negative numbers.
static bool isKnown(const Dimension &dim) { return dim.has_dim_value() && dim.dim_value() >= 0; }

/// What the model calls an axis; empty where it has no name. Exporters also write that nothing is known as a name:
/// those axes are not of one size.
static std::string nameOf(const Dimension &dim) {
  const std::string &name = dim.dim_param();
  static const llvm::StringSet<> unnamed = {"-1", "none", "unk", "unknown"};
  bool hasLetters = llvm::any_of(name, [](unsigned char c) { return isalnum(c) || c >= 0x80; });
  return !hasLetters || unnamed.contains(llvm::StringRef(name).lower()) ? "" : name;
}

static const pb::TensorShapeProto &shapeOf(const pb::ValueInfoProto &value) {
  const pb::TypeProto::Tensor *type = tensorTypeOf(value.type());
  return type ? type->shape() : pb::TensorShapeProto::default_instance();
}

/// Names that exporters give to sizes that have nothing to do with each other: Windows ML's and Paddle's converters
/// (DynamicDimension_0, DynamicDimension.0), tf2onnx (unk__1), converters that call every open axis N or dynamic.
static bool isReused(llvm::StringRef name) {
  llvm::StringRef number = name;
  number.consume_front("p2o.");
  bool isNumbered = number.consume_front("DynamicDimension.") || number.consume_front("DynamicDimension_") ||
                    number.consume_front("unk__");
  return name == "N" || name.equals_insensitive("dynamic") ||
         (isNumbered && !number.empty() && llvm::all_of(number, llvm::isDigit));
}

bool InputReader::mayDiffer(const std::string &name) const {
  return isReused(name) || options.independentDims.contains("*") || options.independentDims.contains(name);
}

/// Axes of one name are one size. Where they may differ, the first has the name, and the others are named as those
/// without one are: by input and number, so that no other axis has that name.
void InputReader::nameAxes() {
  std::set<std::string> taken, first;
  auto each = [&](llvm::function_ref<void(const pb::ValueInfoProto &, size_t, const std::string &)> f) {
    for (const pb::ValueInfoProto *value : values) {
      for (auto [axis, dim] : llvm::enumerate(shapeOf(*value).dim())) {
        f(*value, axis, nameOf(dim));
      }
    }
  };
  each([&](const pb::ValueInfoProto &, size_t, const std::string &name) { taken.insert(name); });
  each([&](const pb::ValueInfoProto &value, size_t axis, const std::string &name) {
    std::string symbol = name;
    if (name.empty() || (!first.insert(name).second && mayDiffer(name))) {
      std::string base = support::asWord(value.name() + "_" + std::to_string(axis));
      symbol = base;
      for (int number = 2; !taken.insert(symbol).second; ++number) {
        symbol = base + "_" + std::to_string(number);
      }
    }
    axes[{&value, axis}] = {symbol, name};
  });
}

static std::string shapeText(const pb::TensorShapeProto &shape) {
  std::string text = "[";
  for (const Dimension &dim : shape.dim()) {
    text += text.size() > 1 ? ", " : "";
    text += isKnown(dim) ? std::to_string(dim.dim_value()) : dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text + "]";
}

void InputReader::dimsGiveSymbols() {
  auto all = llvm::to_vector(llvm::make_second_range(axes));
  for (const auto &[name, size] : options.dims) {
    std::vector<std::string> named = symbolsNamed(all, name);
    for (const std::string &symbol : named) {
      symbols[symbol] = size;
    }
    if (named.empty()) {
      problems.add("--dim names " + quoted(name) + ", which is not a dimension of any input");
    }
    if (size < 0) {
      problems.add("--dim gives " + quoted(name) + " a negative size");
    }
  }
}

void InputReader::shapeGivesSymbols(const pb::ValueInfoProto &value, ArrayRef<int64_t> sizes) {
  for (auto [axis, dim, size] : llvm::enumerate(shapeOf(value).dim(), sizes)) {
    if (isKnown(dim) && dim.dim_value() != size && dim.dim_value() != 0) {
      problems.add("--shape gives input " + quoted(value.name()) + " the dim " + llvm::Twine(size) +
                   " where the model says " + llvm::Twine(dim.dim_value()));
    }
    const OpenAxis &open = axisOf(value, axis);
    if (open.name.empty()) {
      continue;
    }
    givenByShapes[open.name].insert(size);
    auto [symbol, isNew] = symbols.try_emplace(open.symbol, size);
    if (!isNew && symbol->second != size) {
      problems.add("dimension " + quoted(open.symbol) + " is given two sizes: " + llvm::Twine(symbol->second) +
                   " and " + llvm::Twine(size) + "; axes of one name may differ with --independent-dims=" + open.name);
    }
  }
}

void InputReader::shapesGiveSymbols() {
  for (const pb::ValueInfoProto *value : values) {
    auto given = options.shapes.find(value->name());
    if (given == options.shapes.end()) {
      continue;
    }
    const pb::TensorShapeProto &shape = shapeOf(*value);
    const pb::TypeProto::Tensor *type = tensorTypeOf(value->type());
    bool ranked = type && type->has_shape();
    if (ranked && size_t(shape.dim_size()) != given->second.size()) {
      problems.add("--shape gives input " + quoted(value->name()) + " " + llvm::Twine(given->second.size()) +
                   " dims, but the model says " + quoted(shapeText(shape)));
      continue;
    }
    if (ranked) {
      shapeGivesSymbols(*value, given->second);
    }
  }
  namesGiveSymbols();
}

/// Gives the size that --shape has for one axis to all axes of that name, even where they may differ, unless --shape
/// has several sizes for the name.
void InputReader::namesGiveSymbols() {
  for (const auto &[place, axis] : axes) {
    auto given = givenByShapes.find(axis.name);
    if (given != givenByShapes.end() && given->second.size() == 1) {
      symbols.try_emplace(axis.symbol, *given->second.begin());
    }
  }
}

void InputReader::optionsMeanSomething() {
  llvm::StringSet<> names, known;
  for (const pb::ValueInfoProto *value : values) {
    names.insert(value->name());
  }
  for (const auto &[place, axis] : axes) {
    known.insert(axis.name);
  }
  for (const auto &[name, length] : options.sequences) {
    auto named = [&, &name = name](const pb::ValueInfoProto &value) {
      return value.name() == name && sequenceTypeOf(value.type());
    };
    if (llvm::none_of(graph.input(), named)) {
      problems.add("--sequence names " + quoted(name) + ", which is no input that is a sequence");
    }
  }
  for (const auto &[name, dims] : options.shapes) {
    if (!names.contains(name)) {
      problems.add("--shape names " + quoted(name) + ", which is not an input");
    }
    if (llvm::any_of(dims, [](int64_t dim) { return dim < 0; })) {
      problems.add("--shape gives input " + quoted(name) + " a negative dim");
    }
  }
  for (const std::string &name : options.independentDims) {
    if (name != "*" && !known.contains(name)) {
      problems.add("--independent-dims names " + quoted(name) + ", which is not a dimension of any input");
    }
  }
}

void InputReader::shape(const pb::ValueInfoProto &value, SmallVectorImpl<int64_t> &dims) {
  auto given = options.shapes.find(value.name());
  if (given != options.shapes.end()) {
    dims.assign(given->second.begin(), given->second.end());
    return;
  }
  for (auto [axis, dim] : llvm::enumerate(shapeOf(value).dim())) {
    auto symbol = symbols.find(axisOf(value, axis).symbol);
    bool fixed = isKnown(dim) || symbol != symbols.end();
    dims.push_back(isKnown(dim) ? dim.dim_value() : fixed ? symbol->second : ShapedType::kDynamic);
  }
}

std::vector<OpenAxis> openAxes(func::FuncOp function) {
  std::vector<OpenAxis> axes;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto names = function.getArgAttrOfType<ArrayAttr>(unsigned(number), dimsName);
    for (auto [axis, size] : llvm::enumerate(onnx::sizesOf(cast<RankedTensorType>(type)))) {
      if (std::optional<support::Symbol> symbol = size.asSymbol()) {
        bool isNamed = names && axis < names.size();
        axes.push_back({support::symbolName(*symbol), isNamed ? cast<StringAttr>(names[axis]).str() : ""});
      }
    }
  }
  return axes;
}

std::vector<std::string> symbolsNamed(ArrayRef<OpenAxis> axes, StringRef name) {
  std::vector<std::string> symbols;
  std::set<std::string> called;
  std::string word = support::asWord(name);
  for (bool exactly : {true, false}) {
    for (const OpenAxis &axis : axes) {
      auto isNamed = [&](const std::string &known) {
        return !known.empty() && (exactly ? known == name : support::asWord(known) == word);
      };
      if ((isNamed(axis.symbol) || isNamed(axis.name)) && !llvm::is_contained(symbols, axis.symbol)) {
        symbols.push_back(axis.symbol);
        called.insert(axis.name.empty() ? axis.symbol : axis.name);
      }
    }
    if (!symbols.empty()) {
      break;
    }
  }
  return called.size() > 1 ? std::vector<std::string>() : symbols;
}

/// Says of a type that is none of a tensor, a sequence or a map what it is, "is a sparse tensor, which is unsupported".
static std::string whatItIs(const pb::TypeProto &type) {
  if (type.has_optional_type()) {
    return "is an optional value of no tensor, which is unsupported";
  }
  return type.has_sparse_tensor_type() ? "is a sparse tensor, which is unsupported" : "has no type that is known";
}

void InputReader::input(const pb::ValueInfoProto &value) {
  const pb::TypeProto::Tensor *tensor = tensorTypeOf(value.type());
  if (!tensor) {
    problems.add("input " + quoted(value.name()) + " " + whatItIs(value.type()) +
                 "; inputs may be tensors, sequences of tensors, both of them optional, and maps");
    return;
  }
  const pb::TypeProto::Tensor &type = *tensor;
  Type element = elementType(context, type.elem_type());
  if (!element) {
    llvm::StringRef name = elementName(type.elem_type());
    problems.add("input " + quoted(value.name()) + " has the element type " +
                 (name.empty() ? llvm::StringRef("undefined") : name) + ", which is unsupported");
    return;
  }
  Input result{value.name(), {}, {}, value.type().has_optional_type()};
  if (!type.has_shape() && !options.shapes.contains(value.name())) {
    problems.add("input " + quoted(value.name()) + " has an unknown number of dims; fix them with --shape " +
                 value.name() + "=AxBx...");
    return;
  }
  SmallVector<int64_t> dims;
  shape(value, dims);
  onnx::Sizes sizes(dims.begin(), dims.end());
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    result.symbols.push_back(int(axis) < type.shape().dim_size() ? nameOf(type.shape().dim(int(axis))) : "");
    if (ShapedType::isDynamic(dims[axis])) {
      size = onnx::Size::symbol(support::symbolText(axisOf(value, axis).symbol));
    }
  }
  SmallVector<int64_t> least = llvm::map_to_vector(dims, [](int64_t dim) { return std::max<int64_t>(dim, 1); });
  std::optional<int64_t> elements = elementCount(least);
  if (!elements || !byteCount(type.elem_type(), *elements)) {
    problems.add("input " + quoted(value.name()) + " has impossible dims " + dimsText(least));
    return;
  }
  result.type = onnx::sizedType(sizes, element);
  inputs.push_back(std::move(result));
}

/// The tensors of a sequence, which may differ in their sizes: what the model says that they have in common by a name
/// is none of a symbol.
void InputReader::sequence(const pb::ValueInfoProto &value) {
  const pb::TypeProto &element = sequenceTypeOf(value.type())->elem_type();
  auto given = options.sequences.find(value.name());
  if (given == options.sequences.end() || !element.has_tensor_type()) {
    problems.add("input " + quoted(value.name()) +
                 (element.has_tensor_type()
                      ? " is a sequence; say how many tensors it has with --sequence " + value.name() + "=N"
                      : " is a sequence of what is no tensor, which is unsupported"));
    return;
  }
  if (given->second > support::kMostTensors) {
    problems.add("--sequence gives input " + quoted(value.name()) + " more than " + llvm::Twine(support::kMostTensors) +
                 " tensors");
    return;
  }
  bool isAbsent = given->second < 0;
  if (isAbsent && !value.type().has_optional_type()) {
    problems.add("--sequence leaves out input " + quoted(value.name()) + ", which is not optional");
    return;
  }
  Type type = elementType(context, element.tensor_type().elem_type());
  if (!type) {
    problems.add("input " + quoted(value.name()) + " is a sequence of tensors of an element type that is unsupported");
    return;
  }
  spread.push_back({value.name(), std::max<int64_t>(given->second, 0), type, isAbsent});
  for (int64_t i = 0; i < given->second; ++i) {
    pb::ValueInfoProto &own = ofSequences.emplace_back();
    own.set_name(support::nameInSequence(value.name(), i));
    *own.mutable_type() = element;
    if (element.tensor_type().has_shape()) {
      for (Dimension &dim : *own.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        dim.clear_dim_param();
      }
    }
    values.push_back(&own);
  }
}

/// Its keys and its values are two tensors of one length, which each run chooses.
void InputReader::map(const pb::ValueInfoProto &value) {
  const pb::TypeProto::Map &type = value.type().map_type();
  if (!type.value_type().has_tensor_type()) {
    problems.add("input " + quoted(value.name()) + " is a map to what is no tensor, which is unsupported");
    return;
  }
  spread.push_back({value.name(), support::isMap});
  for (auto [name, element] : {std::pair(nameOfKeys(value.name()), type.key_type()),
                               {nameOfValues(value.name()), type.value_type().tensor_type().elem_type()}}) {
    pb::ValueInfoProto &own = ofSequences.emplace_back();
    own.set_name(name);
    pb::TypeProto::Tensor &tensor = *own.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(element);
    tensor.mutable_shape()->add_dim()->set_dim_param(value.name() + "_size");
    values.push_back(&own);
  }
}

std::vector<Input> InputReader::run() {
  llvm::StringSet<> initialized;
  for (const pb::TensorProto &tensor : graph.initializer()) {
    initialized.insert(tensor.name());
  }
  for (const pb::SparseTensorProto &tensor : graph.sparse_initializer()) {
    initialized.insert(tensor.values().name());
  }
  for (const pb::ValueInfoProto &value : graph.input()) {
    if (sequenceTypeOf(value.type())) {
      sequence(value);
    } else if (value.type().has_map_type()) {
      map(value);
    } else if (!initialized.contains(value.name())) {
      values.push_back(&value);
      spread.push_back({value.name(), support::isTensor});
    }
  }
  nameAxes();
  optionsMeanSomething();
  dimsGiveSymbols();
  shapesGiveSymbols();
  for (const pb::ValueInfoProto *value : values) {
    input(*value);
  }
  return std::move(inputs);
}

std::vector<Input> readInputs(MLIRContext *context, const pb::GraphProto &graph, const ImportOptions &options,
                              Problems &problems, std::vector<Spread> &spread) {
  InputReader reader(context, graph, options, problems);
  std::vector<Input> inputs = reader.run();
  spread = std::move(reader.spread);
  return inputs;
}

} // namespace ingot::importer
