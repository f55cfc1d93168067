// Opens a compiled model, and completes its configuration: where config.pbtxt leaves inputs and outputs out, they are
// those of the model. Triton hands the configuration over as JSON in the compact form that it writes itself, in which
// an empty list is `"input":[]`; a list that somebody wrote is left as it is, and the server compares it with requests.
#include "Model.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ingot::triton {

namespace fs = std::filesystem;

void check(TRITONSERVER_Error *error) {
  if (error) {
    Failure failure(TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
    TRITONSERVER_ErrorDelete(error);
    throw failure;
  }
}

namespace {

/// An element type: ingot's number, Triton's number, and its name in a configuration.
struct Type {
  int32_t own;
  TRITONSERVER_DataType number;
  const char *name;
};
constexpr Type types[] = {
    {INGOT_BOOL, 1, "TYPE_BOOL"},      {INGOT_UINT8, 2, "TYPE_UINT8"},   {INGOT_UINT16, 3, "TYPE_UINT16"},
    {INGOT_UINT32, 4, "TYPE_UINT32"},  {INGOT_UINT64, 5, "TYPE_UINT64"}, {INGOT_INT8, 6, "TYPE_INT8"},
    {INGOT_INT16, 7, "TYPE_INT16"},    {INGOT_INT32, 8, "TYPE_INT32"},   {INGOT_INT64, 9, "TYPE_INT64"},
    {INGOT_FLOAT16, 10, "TYPE_FP16"},  {INGOT_FLOAT32, 11, "TYPE_FP32"}, {INGOT_FLOAT64, 12, "TYPE_FP64"},
    {INGOT_BFLOAT16, 14, "TYPE_BF16"},
};

const Type *find(int32_t type) {
  for (const Type &each : types) {
    if (each.own == type) {
      return &each;
    }
  }
  return nullptr;
}

/// Returns the only compiled model of a folder, without its suffix.
fs::path modelIn(const fs::path &folder) {
  fs::path found;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".so") {
      continue;
    }
    if (!found.empty()) {
      throw Failure(TRITONSERVER_ERROR_INVALID_ARG, folder.string() + " has several models");
    }
    found = entry.path();
  }
  if (found.empty()) {
    throw Failure(TRITONSERVER_ERROR_NOT_FOUND, folder.string() + " has no NAME.so (ingot compile --emit shared)");
  }
  return found.replace_extension();
}

/// Returns the number that stands behind `key` in a JSON text; nothing where the key is not there.
std::optional<int64_t> numberBehind(const std::string &text, const std::string &key) {
  size_t at = text.find(key);
  return at == std::string::npos ? std::nullopt : std::optional(std::atoll(text.c_str() + at + key.size()));
}

/// Returns whether the first axis of all inputs and outputs is the same open size.
bool hasRows(const ingot_model &model) {
  auto all = [&](const ingot_tensor_info *infos, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
      if (infos[i].rank == 0 || infos[i].dims[0] != model.inputs[0].dims[0]) {
        return false;
      }
    }
    return true;
  };
  bool some = model.input_count > 0 && model.inputs[0].rank > 0;
  return some && INGOT_DIM_IS_SYMBOL(model.inputs[0].dims[0]) && all(model.inputs, model.input_count) &&
         all(model.outputs, model.output_count);
}

std::string quoted(const char *text) {
  std::string all = "\"";
  for (; *text; ++text) {
    char hex[8];
    if (*text == '"' || *text == '\\') {
      (all += '\\') += *text;
    } else if (static_cast<unsigned char>(*text) < ' ') {
      snprintf(hex, sizeof hex, "\\u%04x", *text);
      all += hex;
    } else {
      all += *text;
    }
  }
  return all + '"';
}

/// Returns a configuration's list of tensors, without the axis of the batch where there is one. Triton has no tensor
/// without an axis; it has one of shape [1] in its place.
std::string listOf(const ingot_tensor_info *infos, int32_t count, bool isInput, bool batches) {
  std::string all;
  for (int32_t i = 0; i < count; ++i) {
    const ingot_tensor_info &info = infos[i];
    std::string dims;
    for (int32_t axis = batches; axis < info.rank; ++axis) {
      dims += (dims.empty() ? "" : ",") + std::to_string(std::max<int64_t>(-1, info.dims[axis]));
    }
    std::string optional = isInput && info.flags & INGOT_TENSOR_OPTIONAL ? ",\"optional\":true" : "";
    all += std::string(i ? "," : "") + "{\"name\":" + quoted(info.name) + ",\"data_type\":\"" + find(info.type)->name +
           "\",\"dims\":[" + (dims.empty() ? "1" : dims) + "]" + optional + "}";
  }
  return "[" + all + "]";
}

void replace(std::string &text, const std::string &from, const std::string &to) {
  if (size_t at = text.find(from); at != std::string::npos) {
    text.replace(at, from.size(), to);
  }
}

} // namespace

std::optional<TRITONSERVER_DataType> tritonType(int32_t type) {
  const Type *found = find(type);
  return found ? std::optional(found->number) : std::nullopt;
}

Model::Model(TRITONBACKEND_Model *model) {
  TRITONBACKEND_ArtifactType type;
  const char *location = nullptr;
  uint64_t version = 0;
  check(TRITONBACKEND_ModelRepository(model, &type, &location));
  check(TRITONBACKEND_ModelVersion(model, &version));
  if (type != TRITONBACKEND_ARTIFACT_FILESYSTEM) {
    throw Failure(TRITONSERVER_ERROR_UNSUPPORTED, "the repository is no folder");
  }
  fs::path stem = modelIn(fs::path(location) / std::to_string(version));
  library.emplace(stem.string() + ".so", stem.filename().string(), stem.string() + ".weights");

  TRITONSERVER_Message *message = nullptr;
  const char *text = nullptr;
  size_t bytes = 0;
  check(TRITONBACKEND_ModelConfig(model, 1, &message));
  check(TRITONSERVER_MessageSerializeToJson(message, &text, &bytes));
  std::string configuration(text, bytes);
  check(TRITONSERVER_MessageDelete(message));
  rows = numberBehind(configuration, "\"max_batch_size\":").value_or(0);
  runThreads = static_cast<int>(numberBehind(configuration, "\"threads\":{\"string_value\":\"").value_or(1));

  const ingot_model &own = facts();
  for (int32_t i = 0; i < own.input_count + own.output_count; ++i) {
    const ingot_tensor_info &info = i < own.input_count ? own.inputs[i] : own.outputs[i - own.input_count];
    if (!find(info.type)) {
      throw Failure(TRITONSERVER_ERROR_UNSUPPORTED,
                    std::string("'") + info.name + "' is of " + ingot_type_text(info.type) + ", which is not served");
    }
  }
  if (rows > 0 && !hasRows(own)) {
    throw Failure(TRITONSERVER_ERROR_INVALID_ARG, "max_batch_size: the inputs and outputs have no first axis in common "
                                                  "that is open; the model cannot run batches");
  }
  bool wanted = false;
  check(TRITONBACKEND_ModelAutoCompleteConfig(model, &wanted));
  if (wanted) {
    completeConfiguration(model, std::move(configuration));
  }
}

void Model::completeConfiguration(TRITONBACKEND_Model *model, std::string text) const {
  const ingot_model &own = facts();
  replace(text, "\"input\":[]", "\"input\":" + listOf(own.inputs, own.input_count, true, batches()));
  replace(text, "\"output\":[]", "\"output\":" + listOf(own.outputs, own.output_count, false, batches()));
  TRITONSERVER_Message *message = nullptr;
  check(TRITONSERVER_MessageNewFromSerializedJson(&message, text.data(), text.size()));
  TRITONSERVER_Error *error = TRITONBACKEND_ModelSetConfig(model, 1, message);
  check(TRITONSERVER_MessageDelete(message));
  check(error);
}

} // namespace ingot::triton
