// Finds memory for the outputs of a run, and makes Python's objects of what it wrote. An output whose sizes are known,
// of a type that numpy has, is an array that is made before the run and written by it. Of others the run writes bytes,
// of which Python code makes an array: the sizes that it found, types of ml_dtypes, strings.
#include "Model.h"
#include <cstring>
#include <optional>

namespace nb = nanobind;

namespace ingot::python {

/// Returns the bytes of a tensor with these sizes; nothing where they are more than can be addressed.
static std::optional<int64_t> bytesOf(const ingot_tensor_info &info, const int64_t *dims) {
  int64_t elements = 1, pack = ingot_type_pack(info.type), bytes = 0;
  for (int32_t axis = 0; axis < info.rank; ++axis) {
    if (dims[axis] < 0 || __builtin_mul_overflow(elements, dims[axis], &elements)) {
      return std::nullopt;
    }
  }
  elements = elements / pack + (elements % pack != 0);
  if (__builtin_mul_overflow(elements, int64_t(ingot_type_bytes(info.type)), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

static nb::object tupleOf(const int64_t *dims, int32_t rank) {
  nb::object tuple = nb::steal(PyTuple_New(rank));
  for (int32_t axis = 0; axis < rank; ++axis) {
    PyTuple_SetItem(tuple.ptr(), axis, PyLong_FromLongLong(dims[axis]));
  }
  return tuple;
}

void Model::placeOutputs(Context &context) const {
  const int64_t *dims = context.dims.data();
  for (int32_t i = 0; i < model.output_count; ++i) {
    if (context.outputs[size_t(i)].is_valid()) {
      borrowOutput(context, i, dims);
    } else {
      placeOutput(context, i, dims);
    }
    dims += model.outputs[i].rank;
  }
}

void Model::placeOutput(Context &context, int32_t number, const int64_t *dims) const {
  const ingot_tensor_info &info = model.outputs[number];
  ingot_buffer &buffer = context.outputBuffers[size_t(number)];
  if (info.flags & INGOT_TENSOR_ALLOCATED) {
    context.allocated[size_t(number)] = nullptr;
    buffer = {&context.allocated[size_t(number)], 0};
    return;
  }
  std::optional<int64_t> bytes = bytesOf(info, dims);
  int64_t size = int64_t(ingot_type_bytes(info.type));
  if (!bytes) {
    fail(INGOT_STATUS(INGOT_ERROR_SHAPE, model.input_count + number));
  }
  if (info.type == INGOT_STRING) {
    std::vector<ingot_string> &views = context.strings[size_t(model.input_count + number)];
    views.assign(size_t(*bytes / size) + 1, ingot_string{nullptr, 0});
    buffer = {views.data(), *bytes / size};
    return;
  }
  bool isReady = isPlain(info.type) && !isFound[size_t(number)];
  nb::object array = isReady ? empty(tupleOf(dims, info.rank), outputTypes[size_t(number)])
                             : empty(nb::int_(*bytes), nb::str("uint8"));
  Buffer &view = context.outputViews[size_t(number)];
  if (!view.take(array.ptr(), PyBUF_WRITABLE)) {
    throw std::runtime_error("numpy's arrays have no buffer");
  }
  buffer = {view.get().buf, *bytes / size};
  context.outputs[size_t(number)] = std::move(array);
}

/// Takes the memory that the caller gives for an output.
void Model::borrowOutput(Context &context, int32_t number, const int64_t *dims) const {
  const ingot_tensor_info &info = model.outputs[number];
  std::string what = std::string("out: output '") + info.name + "' ";
  if (info.type == INGOT_STRING || isFound[size_t(number)]) {
    throw nb::type_error((what + "is made by the run, and takes no memory").c_str());
  }
  nb::object given = context.outputs[size_t(number)];
  Buffer &view = context.outputViews[size_t(number)];
  constexpr int flags = PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT;
  bool isDense = isPlain(info.type) && view.take(given.ptr(), flags) && view.holds(info.type);
  if (isDense) {
    if (view.get().ndim != info.rank || !std::equal(dims, dims + info.rank, view.dims())) {
      throw nb::value_error((what + "has the shape " + nb::repr(tupleOf(dims, info.rank)).c_str()).c_str());
    }
  } else {
    nb::object shape = tupleOf(dims, info.rank);
    nb::object bytes = tensors.attr("to_output")(given, ingot_type_text(info.type), info.name, shape);
    if (!view.take(bytes.ptr(), PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)) {
      throw nb::type_error((what + "cannot be written").c_str());
    }
  }
  context.outputBuffers[size_t(number)] = {view.get().buf, view.get().len / int64_t(ingot_type_bytes(info.type))};
  checkOverlap(context, number);
}

/// Throws where an output's memory is that of an input which it may not overwrite, or of another output.
void Model::checkOverlap(const Context &context, int32_t number) const {
  auto rangeOf = [](const ingot_buffer &buffer, int32_t type) {
    auto begin = reinterpret_cast<uintptr_t>(buffer.data);
    return std::pair(begin, begin + uintptr_t(buffer.elements) * ingot_type_bytes(type));
  };
  auto [begin, end] = rangeOf(context.outputBuffers[size_t(number)], model.outputs[number].type);
  auto check = [&, begin = begin, end = end](const ingot_buffer &other, const ingot_tensor_info &info, bool mayBeSame) {
    auto [from, to] = rangeOf(other, info.type);
    if (begin < to && from < end && !(mayBeSame && begin == from)) {
      throw nb::value_error(
          (std::string("out: output '") + model.outputs[number].name + "' lies in the memory of '" + info.name + "'")
              .c_str());
    }
  };
  for (int32_t i = 0; i < model.input_count; ++i) {
    check(context.inputBuffers[size_t(i)], model.inputs[i], model.outputs[number].in_place_of == i + 1);
  }
  for (int32_t i = 0; i < number; ++i) {
    if (!(model.outputs[i].flags & INGOT_TENSOR_ALLOCATED)) {
      check(context.outputBuffers[size_t(i)], model.outputs[i], false);
    }
  }
}

nb::object Model::results(Context &context) const {
  if (model.found_count) {
    ingot_found_dims(&model, context.sizes.data(), context.dims.data());
  }
  nb::object all = model.output_count == 1 ? nb::object() : nb::steal(PyTuple_New(model.output_count));
  const int64_t *dims = context.dims.data();
  for (int32_t i = 0; i < model.output_count; ++i) {
    bool isReady = context.outputs[size_t(i)].is_valid() && isPlain(model.outputs[i].type) && !isFound[size_t(i)];
    nb::object result = isReady ? std::move(context.outputs[size_t(i)]) : finish(context, i, dims);
    dims += model.outputs[i].rank;
    if (model.output_count == 1) {
      return result;
    }
    PyTuple_SetItem(all.ptr(), i, result.release().ptr());
  }
  return all;
}

/// Makes the array of an output of which the run wrote bytes.
nb::object Model::finish(Context &context, int32_t number, const int64_t *dims) const {
  const ingot_tensor_info &info = model.outputs[number];
  nb::object shape = tupleOf(dims, info.rank);
  nb::object data = std::move(context.outputs[size_t(number)]);
  std::optional<int64_t> bytes = bytesOf(info, dims);
  bool isAllocated = info.flags & INGOT_TENSOR_ALLOCATED;
  void *memory = isAllocated ? context.allocated[size_t(number)] : context.outputBuffers[size_t(number)].data;
  if (!bytes || (*bytes && !memory)) {
    throw std::runtime_error("a run found no size of an output");
  }
  if (info.type == INGOT_STRING) {
    nb::list texts;
    const auto *views = static_cast<const ingot_string *>(memory);
    for (int64_t i = 0; i < *bytes / int64_t(sizeof *views); ++i) {
      const char *text = views[i].size ? views[i].data : "";
      texts.append(nb::steal(PyUnicode_DecodeUTF8(text, views[i].size, "surrogateescape")));
    }
    data = texts;
  } else if (isAllocated) {
    data = empty(nb::int_(*bytes), nb::str("uint8"));
    Buffer copy;
    copy.take(data.ptr(), PyBUF_WRITABLE);
    std::memcpy(copy.get().buf, memory, size_t(*bytes));
  }
  if (isAllocated) {
    context.exec.release(context.exec.allocator, memory);
    context.allocated[size_t(number)] = nullptr;
  }
  return tensors.attr("to_array")(data, *bytes, ingot_type_text(info.type), shape);
}

} // namespace ingot::python
