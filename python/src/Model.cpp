#include "Model.h"
#include <cstring>

namespace nb = nanobind;

namespace ingot::python {

Context::~Context() {
  ingot_strings_release(&exec);
  ingot_heap_clear(&heap);
}

void Context::drop() {
  for (std::vector<Buffer> *views : {&inputViews, &outputViews}) {
    for (Buffer &view : *views) {
      view.drop();
    }
  }
  for (std::vector<nb::object> *objects : {&inputs, &outputs}) {
    for (nb::object &object : *objects) {
      object.reset();
    }
  }
  named.reset();
  for (void *&memory : allocated) {
    if (memory) {
      exec.release(exec.allocator, memory);
      memory = nullptr;
    }
  }
}

class Model::Lease {
public:
  explicit Lease(const Model &model) : owner(model) {
    {
      std::lock_guard lock(owner.mutex);
      if (!owner.idle.empty()) {
        context = std::move(owner.idle.back());
        owner.idle.pop_back();
        return;
      }
    }
    const ingot_model &facts = owner.model;
    size_t inputs = size_t(facts.input_count), outputs = size_t(facts.output_count), axes = 0;
    for (size_t i = 0; i < outputs; ++i) {
      axes += size_t(facts.outputs[i].rank);
    }
    context = std::make_unique<Context>();
    context->inputs.resize(inputs), context->outputs.resize(outputs);
    context->inputViews.resize(inputs), context->outputViews.resize(outputs);
    context->converted.resize(inputs), context->strings.resize(inputs + outputs);
    context->shapes.resize(inputs), context->inputBuffers.resize(inputs), context->outputBuffers.resize(outputs);
    context->allocated.resize(outputs), context->dims.resize(axes);
    context->sizes.resize(size_t(facts.symbol_count + facts.found_count));
  }
  ~Lease() {
    context->drop();
    std::lock_guard lock(owner.mutex);
    owner.idle.push_back(std::move(context));
  }
  Context &operator*() const { return *context; }

private:
  const Model &owner;
  std::unique_ptr<Context> context;
};

Model::Model(const std::string &path, const std::string &name, const std::string &weights, int threads)
    : threads(threads), library(path, name, weights), model(library.model()) {
  empty = nb::module_::import_("numpy").attr("empty");
  tensors = nb::module_::import_("ingot._tensors");
  errors = nb::module_::import_("ingot._errors");
  for (int32_t i = 0; i < model.input_count; ++i) {
    places[model.inputs[i].name] = i;
  }
  for (int32_t i = 0; i < model.output_count; ++i) {
    const ingot_tensor_info &info = model.outputs[i];
    outputTypes.push_back(isPlain(info.type) ? tensors.attr("numpy_type")(ingot_type_text(info.type)) : nb::none());
    bool found = info.flags & INGOT_TENSOR_ALLOCATED;
    for (int32_t axis = 0; axis < info.rank; ++axis) {
      int64_t size = info.dims[axis];
      found |= INGOT_DIM_IS_SYMBOL(size) && INGOT_DIM_SYMBOL(size) >= model.symbol_count;
    }
    isFound.push_back(found);
  }
}

void Model::fail(int status) const {
  size_t length = ingot_error_text(&model, status, nullptr, 0);
  std::string text(length, '\0');
  ingot_error_text(&model, status, text.data(), length + 1);
  int kind = INGOT_STATUS_KIND(status), number = INGOT_STATUS_NUMBER(status);
  nb::object error = errors.attr("make_run_error")(nb::str(text.c_str()), kind, number);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

nb::object Model::call(nb::handle arguments, nb::handle named) {
  Lease lease(*this);
  Context &context = *lease;
  takeArguments(context, arguments, named);
  for (int32_t i = 0; i < model.input_count; ++i) {
    borrowInput(context, i);
  }
  findSizes(context);
  placeOutputs(context);
  run(context);
  return results(context);
}

void Model::takeArguments(Context &context, nb::handle arguments, nb::handle named) const {
  size_t count = size_t(PyTuple_Size(arguments.ptr()));
  if (count > context.inputs.size()) {
    throw nb::type_error(
        ("the model takes " + std::to_string(context.inputs.size()) + " inputs, and was given " + std::to_string(count))
            .c_str());
  }
  for (size_t i = 0; i < count; ++i) {
    context.inputs[i] = nb::borrow(PyTuple_GetItem(arguments.ptr(), Py_ssize_t(i)));
  }
  if (!named.is_valid()) {
    return;
  }
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(named.ptr(), &at, &key, &value);) {
    if (PyObject *place = PyDict_GetItem(places.ptr(), key)) {
      size_t number = PyLong_AsSize_t(place);
      if (context.inputs[number].is_valid()) {
        throw nb::type_error((std::string("input '") + model.inputs[number].name + "' is given twice").c_str());
      }
      context.inputs[number] = nb::borrow(value);
    } else if (PyUnicode_CompareWithASCIIString(key, "out") == 0) {
      takeOutputs(context, value);
    } else if (PyUnicode_CompareWithASCIIString(key, "sizes") == 0) {
      context.named = nb::borrow(value);
    } else {
      throw nb::type_error((std::string("the model has no input '") + nb::str(nb::handle(key)).c_str() + "'").c_str());
    }
  }
}

void Model::takeOutputs(Context &context, nb::handle out) const {
  if (out.is_none()) {
    return;
  }
  if (PyDict_Check(out.ptr())) {
    size_t used = 0;
    for (int32_t i = 0; i < model.output_count; ++i) {
      if (PyObject *value = PyDict_GetItemString(out.ptr(), model.outputs[i].name)) {
        context.outputs[size_t(i)] = nb::borrow(value);
        ++used;
      }
    }
    if (used != size_t(PyDict_Size(out.ptr()))) {
      throw nb::type_error("out: a name is no output of the model");
    }
  } else if (PyTuple_Check(out.ptr()) || PyList_Check(out.ptr())) {
    size_t count = nb::len(out);
    if (count != context.outputs.size()) {
      throw nb::type_error(("out: the model has " + std::to_string(context.outputs.size()) + " outputs").c_str());
    }
    for (size_t i = 0; i < count; ++i) {
      context.outputs[i] = out[i];
    }
  } else if (model.output_count == 1) {
    context.outputs[0] = nb::borrow(out);
  } else {
    throw nb::type_error("out: a list or a dictionary of several outputs is needed");
  }
  for (nb::object &output : context.outputs) {
    if (output.is_valid() && output.is_none()) {
      output.reset();
    }
  }
}

void Model::borrowInput(Context &context, int32_t number) const {
  const ingot_tensor_info &info = model.inputs[number];
  const nb::object &given = context.inputs[size_t(number)];
  ingot_shape &shape = context.shapes[size_t(number)];
  if (!given.is_valid() || given.is_none()) {
    if (!(info.flags & INGOT_TENSOR_OPTIONAL)) {
      throw nb::type_error((std::string("input '") + info.name + "' is not given").c_str());
    }
    shape = {nullptr, -1};
    context.inputBuffers[size_t(number)] = {nullptr, 0};
    return;
  }
  Buffer &buffer = context.inputViews[size_t(number)];
  if (!isPlain(info.type) || !buffer.take(given.ptr(), PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) || !buffer.holds(info.type)) {
    convertInput(context, number);
    return;
  }
  const Py_buffer &view = buffer.get();
  shape = {buffer.dims(), view.ndim};
  context.inputBuffers[size_t(number)] = {view.buf, view.len / view.itemsize};
}

/// Takes an input that is no dense array of the model's type as Python code makes it: bytes, or a list of bytes, and
/// the shape.
void Model::convertInput(Context &context, int32_t number) const {
  const ingot_tensor_info &info = model.inputs[number];
  nb::object pair = tensors.attr("to_input")(context.inputs[size_t(number)], ingot_type_text(info.type), info.name);
  nb::object data = pair[0];
  std::vector<int64_t> &dims = context.converted[size_t(number)];
  dims.clear();
  for (nb::handle size : nb::borrow<nb::tuple>(pair[1])) {
    dims.push_back(nb::cast<int64_t>(size));
  }
  context.shapes[size_t(number)] = {dims.data(), int32_t(dims.size())};
  context.inputs[size_t(number)] = data; // what is borrowed has to stay
  ingot_buffer &buffer = context.inputBuffers[size_t(number)];
  if (info.type == INGOT_STRING) {
    std::vector<ingot_string> &views = context.strings[size_t(number)];
    views.clear();
    for (nb::handle text : nb::borrow<nb::list>(data)) {
      char *bytes = nullptr;
      Py_ssize_t size = 0;
      if (PyBytes_AsStringAndSize(text.ptr(), &bytes, &size)) {
        throw nb::python_error();
      }
      views.push_back({bytes, size});
    }
    static ingot_string none;
    buffer = {views.empty() ? &none : views.data(), int64_t(views.size())};
    return;
  }
  Buffer &view = context.inputViews[size_t(number)];
  if (!view.take(data.ptr(), PyBUF_C_CONTIGUOUS)) {
    throw std::runtime_error("an input was not converted to bytes");
  }
  buffer = {view.get().buf, view.get().len / int64_t(ingot_type_bytes(info.type))};
}

void Model::findSizes(Context &context) const {
  if (context.named.is_valid()) {
    size_t used = 0;
    for (int32_t i = 0; i < model.symbol_count; ++i) {
      if (PyObject *value = PyDict_Check(context.named.ptr())
                                ? PyDict_GetItemString(context.named.ptr(), model.symbols[i].name)
                                : nullptr) {
        context.sizes[size_t(i)] = PyLong_AsLongLong(value);
        if (PyErr_Occurred()) {
          throw nb::python_error();
        }
        ++used;
      }
    }
    if (used != nb::len(context.named)) {
      throw nb::type_error("sizes: a dictionary with sizes of the model (m.symbols) is needed");
    }
  }
  if (int status = ingot_bind(&model, context.shapes.data(), model.input_count, context.sizes.data())) {
    fail(status);
  }
  int64_t bytes = 0;
  if (int status = ingot_plan(&model, context.sizes.data(), context.dims.data(), &bytes)) {
    fail(status);
  }
  if (!context.workspace || size_t(bytes) > context.workspace.size()) {
    context.workspace = Workspace(size_t(bytes), size_t(model.workspace_align));
    if (!context.workspace) {
      fail(INGOT_ERROR_MEMORY);
    }
  }
}

void Model::run(Context &context) const {
  const ingot_exec *shared = sharedThreads(threads);
  int status = 0;
  {
    nb::gil_scoped_release release;
    ingot_exec own = shared ? *shared : ingot_exec{};
    own.weights = library.weights();
    own.allocator = &context.heap;
    own.allocate = ingot_heap_allocate;
    own.release = ingot_heap_release;
    own.strings = &context.made;
    context.exec = own;
    ingot_strings_clear(&context.exec);
    status = ingot_run(&model, context.inputBuffers.data(), model.input_count, context.outputBuffers.data(),
                       model.output_count, context.sizes.data(), context.workspace.data(), context.workspace.size(),
                       &context.exec);
  }
  if (status) {
    fail(status);
  }
}

nb::dict Model::describe() const {
  auto tensorsOf = [&](const ingot_tensor_info *infos, int32_t count) {
    nb::list all;
    for (int32_t i = 0; i < count; ++i) {
      const ingot_tensor_info &info = infos[i];
      nb::list dims;
      for (int32_t axis = 0; axis < info.rank; ++axis) {
        int64_t size = info.dims[axis];
        if (!INGOT_DIM_IS_SYMBOL(size)) {
          dims.append(size == INGOT_DIM_COMPUTED ? nb::object(nb::none()) : nb::object(nb::int_(size)));
        } else {
          dims.append(model.symbols[INGOT_DIM_SYMBOL(size)].name);
        }
      }
      nb::object place = info.in_place_of ? nb::object(nb::str(model.inputs[info.in_place_of - 1].name)) : nb::none();
      bool isOptional = info.flags & INGOT_TENSOR_OPTIONAL;
      all.append(nb::make_tuple(info.name, ingot_type_text(info.type), nb::tuple(dims), isOptional, place));
    }
    return all;
  };
  nb::dict facts;
  facts["name"] = model.name;
  facts["target"] = model.target;
  facts["inputs"] = tensorsOf(model.inputs, model.input_count);
  facts["outputs"] = tensorsOf(model.outputs, model.output_count);
  facts["weight_bytes"] = model.weight_bytes;
  nb::list symbols;
  for (int32_t i = 0; i < model.symbol_count; ++i) {
    const ingot_symbol_info &symbol = model.symbols[i];
    nb::object most = symbol.most < 0 ? nb::object(nb::none()) : nb::object(nb::int_(symbol.most));
    symbols.append(nb::make_tuple(symbol.name, symbol.least, most));
  }
  facts["symbols"] = symbols;
  return facts;
}

} // namespace ingot::python
