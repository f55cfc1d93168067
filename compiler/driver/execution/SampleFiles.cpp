// Reads files of samples. .npz is a zip archive of numpy's arrays. Sounds are PCM or floats in RIFF. Pictures are
// decoded and resized by stb, which also inflates the archives.
#include "compiler/driver/execution/SampleFiles.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/execution/NumpyFile.h"
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

// The library's code is a part of this file, with names of its own.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#include <stb/stb_image.h>
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
#include <stb/stb_image_resize.h>
#pragma clang diagnostic pop

namespace ingot::driver {
namespace {

struct Free {
  void operator()(void *data) const { std::free(data); }
};

llvm::Error problem(const std::string &path, const llvm::Twine &text) {
  return llvm::createStringError(path + ": error: " + text);
}

/// Returns the files of a zip archive, from its directory at the end.
llvm::Expected<std::map<std::string, std::string>> readArchive(const std::string &path, llvm::StringRef bytes) {
  using namespace llvm::support::endian;
  llvm::Error damaged = problem(path, "is a damaged archive");
  size_t end = bytes.rfind("PK\5\6");
  if (end == llvm::StringRef::npos || end + 22 > bytes.size()) {
    return damaged;
  }
  std::map<std::string, std::string> files;
  size_t at = read32le(bytes.data() + end + 16), count = read16le(bytes.data() + end + 10);
  for (size_t i = 0; i < count; ++i) {
    if (at + 46 > bytes.size() || !bytes.substr(at).starts_with("PK\1\2")) {
      return damaged;
    }
    const char *entry = bytes.data() + at;
    size_t method = read16le(entry + 10), packed = read32le(entry + 20), size = read32le(entry + 24);
    size_t name = read16le(entry + 28), local = read32le(entry + 42);
    if (local + 30 > bytes.size()) {
      return damaged;
    }
    size_t data = local + 30 + read16le(bytes.data() + local + 26) + read16le(bytes.data() + local + 28);
    if (data + packed > bytes.size() || (method != 0 && method != 8)) {
      return damaged;
    }
    std::string content = bytes.substr(data, packed).str();
    if (method == 8) {
      content.append(4, '\0'); // stb wants something behind the end, where zlib's own format has a sum
      int length = 0;
      std::unique_ptr<char, Free> inflated(
          stbi_zlib_decode_noheader_malloc(content.data(), int(content.size()), &length));
      content.assign(inflated ? inflated.get() : "", inflated ? size_t(length) : 0);
    }
    if (content.size() != size) {
      return damaged;
    }
    files[bytes.substr(at + 46, name).str()] = std::move(content);
    at += 46 + name + read16le(entry + 30) + read16le(entry + 32);
  }
  llvm::consumeError(std::move(damaged));
  return files;
}

llvm::Expected<std::vector<HostTensor>> readArrays(const std::string &path, llvm::StringRef bytes,
                                                   const std::vector<ValueFacts> &inputs) {
  llvm::Expected<std::map<std::string, std::string>> files = readArchive(path, bytes);
  if (!files) {
    return files.takeError();
  }
  std::vector<HostTensor> tensors;
  for (const ValueFacts &input : inputs) {
    auto found = files->find(input.name + ".npy");
    if (inputs.size() == 1 && files->size() == 1) { // numpy calls an array arr_0 that was given no name
      found = files->begin();
    }
    if (found == files->end()) {
      std::vector<std::string> names;
      llvm::transform(*files, std::back_inserter(names), [](const auto &file) { return plainName(file.first); });
      return problem(path, "has no array for input '" + plainName(input.name) + "'" +
                               (names.empty() ? "" : ": it has " + llvm::join(names, ", ")));
    }
    llvm::Expected<HostTensor> tensor = readNumpyArray(path + "/" + found->first, found->second);
    if (!tensor) {
      return tensor.takeError();
    }
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// Returns floats as elements of the input's type.
llvm::Expected<HostTensor> tensorFor(const std::string &path, const ValueFacts &input, std::vector<int64_t> dims,
                                     const std::vector<float> &values) {
  HostTensor tensor;
  tensor.name = input.name, tensor.type = input.type, tensor.dims = std::move(dims);
  const support::ElementType &type = support::elementType(input.type);
  if (type.bits < 8 || type.bits > 32) {
    return problem(path, "cannot be read for input '" + plainName(input.name) + "', which is " + input.text());
  }
  size_t step = type.bits / 8;
  tensor.bytes.resize(values.size() * step);
  bool isSigned = type.kind == support::ElementKind::Signed;
  double most = std::exp2(double(type.bits - (isSigned ? 1 : 0))) - 1, least = isSigned ? -most - 1 : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double whole = std::nearbyint(values[i]);
    if (!type.isFloat() && !(whole >= least && whole <= most)) {
      return problem(path, "gives " + numberText(values[i]) + " for input '" + plainName(input.name) + "', which is " +
                               input.text() + " and cannot hold it");
    }
    uint64_t code = type.isFloat() ? 0 : uint64_t(int64_t(whole));
    if (type.isFloat() && type.bits == 32) {
      std::memcpy(&code, &values[i], sizeof(float));
    } else if (type.isFloat()) {
      code = type.format.encode(values[i]);
    }
    std::memcpy(tensor.bytes.data() + i * step, &code, step);
  }
  return tensor;
}

float normalized(float value, size_t channel, const Preprocessing &how) {
  auto of = [&](const std::vector<float> &list, float otherwise) {
    return list.empty() ? otherwise : list[list.size() == 1 ? 0 : channel];
  };
  return (value * how.scale - of(how.mean, 0)) / of(how.deviation, 1);
}

/// Checks that there is one number for all channels or one for each.
llvm::Error checkChannels(const std::string &path, const ValueFacts &input, size_t channels, const Preprocessing &how) {
  for (auto [flag, list] : {std::pair("--mean", &how.mean), std::pair("--deviation", &how.deviation)}) {
    if (list->size() > 1 && list->size() != channels) {
      return problem(path, llvm::Twine(flag) + " has " + llvm::Twine(list->size()) + " numbers, but input '" +
                               plainName(input.name) + "', " + input.text() + ", has " + llvm::Twine(channels) +
                               (channels == 1 ? " channel" : " channels"));
    }
  }
  return llvm::Error::success();
}

llvm::Expected<HostTensor> readPicture(const std::string &path, llvm::StringRef bytes, const ValueFacts &input,
                                       const Preprocessing &how) {
  size_t rank = input.shape ? input.shape->size() : 0;
  auto sizeOf = [&](size_t axis) { return (*input.shape)[axis].size; };
  auto isChannels = [&](size_t axis) { return sizeOf(axis) == 1 || sizeOf(axis) == 3 || sizeOf(axis) == 4; };
  bool first = (rank == 3 || rank == 4) && isChannels(rank - 3),
       last = (rank == 3 || rank == 4) && isChannels(rank - 1);
  if ((!first && !last) || (rank == 4 && sizeOf(0) > 1)) {
    return problem(path, "is a picture, which input '" + plainName(input.name) + "' is not: it is " + input.text());
  }
  size_t channelAxis = first ? rank - 3 : rank - 1, rowAxis = first ? rank - 2 : rank - 3;
  int channels = int(sizeOf(channelAxis)), width = 0, height = 0, own = 0;
  if (llvm::Error error = checkChannels(path, input, size_t(channels), how)) {
    return error;
  }
  std::unique_ptr<stbi_uc, Free> pixels(stbi_load_from_memory(reinterpret_cast<const stbi_uc *>(bytes.data()),
                                                              int(bytes.size()), &width, &height, &own, channels));
  if (!pixels) {
    return problem(path, llvm::Twine("the picture cannot be read: ") + stbi_failure_reason());
  }
  int64_t rows = sizeOf(rowAxis) > 0 ? sizeOf(rowAxis) : height;
  int64_t columns = sizeOf(rowAxis + 1) > 0 ? sizeOf(rowAxis + 1) : width;
  std::vector<stbi_uc> sized(size_t(rows * columns * channels));
  if (!stbir_resize_uint8(pixels.get(), width, height, 0, sized.data(), int(columns), int(rows), 0, channels)) {
    throw std::bad_alloc();
  }
  std::vector<float> values(sized.size());
  size_t area = size_t(rows * columns);
  for (size_t pixel = 0; pixel < area; ++pixel) {
    for (size_t c = 0; c < size_t(channels); ++c) {
      size_t to = first ? c * area + pixel : pixel * size_t(channels) + c;
      values[to] = normalized(sized[pixel * size_t(channels) + c], c, how);
    }
  }
  std::vector<int64_t> dims(rank, 1);
  dims[channelAxis] = channels, dims[rowAxis] = rows, dims[rowAxis + 1] = columns;
  return tensorFor(path, input, dims, values);
}

/// Returns the samples of a sound, which are the mean of its channels, from -1 to 1.
llvm::Expected<std::vector<float>> readSound(const std::string &path, llvm::StringRef bytes) {
  using namespace llvm::support::endian;
  unsigned format = 0, channels = 0, bits = 0;
  if (!bytes.starts_with("RIFF") || bytes.substr(8, 4) != "WAVE") {
    return problem(path, "is no sound in RIFF");
  }
  for (size_t at = 12; at + 8 <= bytes.size();) {
    size_t size = read32le(bytes.data() + at + 4);
    llvm::StringRef name = bytes.substr(at, 4), chunk = bytes.substr(at + 8, size);
    if (name == "fmt " && chunk.size() >= 16) {
      format = read16le(chunk.data()), channels = read16le(chunk.data() + 2), bits = read16le(chunk.data() + 14);
      format = format == 0xFFFE && chunk.size() >= 26 ? read16le(chunk.data() + 24) : format; // the extensible format
    }
    if (name != "data") {
      at += 8 + size + size % 2;
      continue;
    }
    bool isFloat = format == 3 && bits == 32, isWhole = format == 1 && (bits == 8 || bits == 16 || bits == 32);
    if (channels == 0 || (!isFloat && !isWhole)) {
      return problem(path, "is a sound whose samples are neither of 8, 16 or 32 bits nor floats of 32");
    }
    size_t step = bits / 8;
    std::vector<float> values(chunk.size() / step / channels);
    for (size_t i = 0; i < values.size() * channels; ++i) {
      const char *from = chunk.data() + i * step;
      float value = isFloat      ? llvm::bit_cast<float>(read32le(from))
                    : bits == 8  ? (float(uint8_t(*from)) - 128) / 128
                    : bits == 16 ? float(int16_t(read16le(from))) / 32768
                                 : float(int32_t(read32le(from))) / 2147483648.0f;
      values[i / channels] += value / float(channels);
    }
    return values;
  }
  return problem(path, "is a sound without samples");
}

/// Returns a sound as long as the input, cut or with silence behind it; where the input's length is open, it stays as
/// it is.
llvm::Expected<HostTensor> soundFor(const std::string &path, llvm::StringRef bytes, const ValueFacts &input,
                                    const Preprocessing &how) {
  llvm::Expected<std::vector<float>> values = readSound(path, bytes);
  if (!values) {
    return values.takeError();
  }
  size_t rank = input.shape ? input.shape->size() : 0;
  std::vector<int64_t> dims(rank, 1);
  for (size_t axis = 0; axis + 1 < rank; ++axis) {
    if ((*input.shape)[axis].size > 1) {
      rank = 0;
    }
  }
  if (rank == 0) {
    return problem(path, "is a sound, which input '" + plainName(input.name) + "' is not: it is " + input.text());
  }
  if (values->empty()) {
    return problem(path, "is a sound without samples");
  }
  if (llvm::Error error = checkChannels(path, input, 1, how)) {
    return error;
  }
  int64_t length = input.shape->back().size;
  dims.back() = length > 0 ? length : int64_t(values->size());
  values->resize(size_t(dims.back()));
  for (float &value : *values) {
    value = normalized(value, 0, how);
  }
  return tensorFor(path, input, dims, *values);
}

} // namespace

bool isPreprocessed(llvm::StringRef path) {
  std::string ending = llvm::sys::path::extension(path).lower();
  return isSampleFile(path) && ending != ".npy" && ending != ".npz";
}

bool isSampleFile(llvm::StringRef path) {
  static const llvm::StringLiteral endings[] = {".npy", ".npz", ".png", ".jpg", ".jpeg",
                                                ".bmp", ".ppm", ".pgm", ".wav"};
  std::string ending = llvm::sys::path::extension(path).lower();
  return llvm::is_contained(endings, llvm::StringRef(ending));
}

llvm::Expected<std::vector<HostTensor>> readSampleFile(const std::string &path, const std::vector<ValueFacts> &inputs,
                                                       const Preprocessing &preprocessing) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) {
    return problem(path, "cannot be read: " + file.getError().message());
  }
  llvm::StringRef bytes = (*file)->getBuffer();
  std::string ending = llvm::sys::path::extension(path).lower();
  for (const ValueFacts &input : inputs) {
    if (input.isSequence || input.isMap || input.areMaps) {
      return problem(path,
                     "input '" + plainName(input.name) + "' is a " + input.text() + ", which only input_K.pb can hold");
    }
  }
  if (bytes.size() > size_t(std::numeric_limits<int>::max()) && ending != ".npy" && ending != ".wav") {
    return problem(path, "is larger than 2 GB");
  }
  if (ending == ".npz") {
    return readArrays(path, bytes, inputs);
  }
  if (inputs.size() != 1) {
    return problem(path, "is one tensor, but the model has " + llvm::Twine(inputs.size()) +
                             " inputs; a .npz has an array for each");
  }
  llvm::Expected<HostTensor> tensor = ending == ".npy"   ? readNumpyArray(path, bytes)
                                      : ending == ".wav" ? soundFor(path, bytes, inputs[0], preprocessing)
                                                         : readPicture(path, bytes, inputs[0], preprocessing);
  if (!tensor) {
    return tensor.takeError();
  }
  std::vector<HostTensor> tensors;
  tensors.push_back(std::move(*tensor));
  return tensors;
}

} // namespace ingot::driver
