// Loads a model: maps it, walks it (SlimModel), and parses the slim bytes with bounded recursion. Protobuf's own
// complaints are silenced: the walk has already said more, and nothing of ours may write to stderr by itself.
#include "compiler/importer/ModelFile.h"
#include "compiler/importer/SlimModel.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>
#include <sys/mman.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace ingot::importer {

llvm::Expected<std::unique_ptr<MappedFile>> MappedFile::open(const llvm::Twine &name) {
  // The status comes first: opening a pipe would wait for its writer.
  fs::file_status status;
  if (std::error_code error = fs::status(name, status)) {
    return llvm::createStringError(error, "cannot be opened: " + error.message());
  }
  if (status.type() != fs::file_type::regular_file) {
    return llvm::createStringError("is not a regular file");
  }
  llvm::Expected<fs::file_t> handle = fs::openNativeFileForRead(name);
  if (!handle) {
    return llvm::createStringError("cannot be opened: " + llvm::toString(handle.takeError()));
  }
  llvm::scope_exit close([&] { fs::closeFile(*handle); });
  auto file = std::make_unique<MappedFile>();
  if (status.getSize() == 0) {
    return file;
  }
  std::error_code error;
  file->region =
      std::make_unique<fs::mapped_file_region>(*handle, fs::mapped_file_region::readonly, status.getSize(), 0, error);
  if (error) {
    return llvm::createStringError(error, "cannot be mapped: " + error.message());
  }
  return file;
}

const std::string *unknownField(const google::protobuf::Message &message, int number) {
  const google::protobuf::UnknownFieldSet &fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = fields.field_count() - 1; i >= 0; --i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      return &field.length_delimited();
    }
  }
  return nullptr;
}

void MappedFile::forget() {
  if (region) { // glibc's posix_madvise, which LLVM calls, does nothing
    madvise(const_cast<char *>(region->const_data()), region->size(), MADV_DONTNEED);
  }
}

void ModelFile::forget() {
  mapping->forget();
  for (auto &entry : externals) {
    entry.second->forget();
  }
}

std::unique_ptr<ModelFile> ModelFile::load(llvm::StringRef name, Problems &problems) {
  llvm::Expected<std::unique_ptr<MappedFile>> mapping = MappedFile::open(name);
  if (!mapping) {
    problems.add(llvm::toString(mapping.takeError()));
    return nullptr;
  }
  auto model = std::make_unique<ModelFile>();
  model->file = name.str();
  model->mapping = std::move(*mapping);
  if (!model->parse(model->mapping->bytes(), problems)) {
    return nullptr;
  }
  return model;
}

bool ModelFile::parse(llvm::StringRef bytes, Problems &problems) {
  if (bytes.empty()) {
    problems.add("is empty");
    return false;
  }
  if (bytes.starts_with("version https://git-lfs")) {
    problems.add("is a git-lfs pointer, not the model itself ('git lfs pull' fetches it)");
    return false;
  }
  llvm::Expected<SlimModel> slim = slimModel(bytes);
  if (!slim) {
    problems.add(llvm::toString(slim.takeError()));
    return false;
  }
  google::protobuf::LogSilencer silence;
  google::protobuf::io::ArrayInputStream stream(slim->bytes.data(), int(slim->bytes.size()));
  google::protobuf::io::CodedInputStream input(&stream);
  input.SetTotalBytesLimit(INT_MAX);
  input.SetRecursionLimit(100);
  if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    problems.add("not an ONNX model, or a damaged one: protobuf cannot parse it");
    return false;
  }
  if (!proto.has_graph()) {
    problems.add("not an ONNX model: it has no graph");
    return false;
  }
  slices = std::move(slim->slices);
  return true;
}

llvm::StringRef ModelFile::rawData(const pb::TensorProto &tensor) const {
  std::optional<uint32_t> index = sliceIndex(tensor.raw_data());
  return index && *index < slices.size() ? slices[*index] : llvm::StringRef();
}

llvm::StringRef ModelFile::keep(std::vector<char> bytes) {
  kept.push_back(std::move(bytes));
  return llvm::StringRef(kept.back().data(), kept.back().size());
}

/// Whether the real path `inner` lies below the real folder `folder`.
static bool liesIn(llvm::StringRef inner, llvm::StringRef folder) {
  return inner.consume_front(folder) && (folder == "/" || inner.starts_with("/"));
}

llvm::Expected<llvm::StringRef> ModelFile::external(llvm::StringRef location) {
  if (location.empty() || location.contains('\0')) {
    return llvm::createStringError("external data without a location");
  }
  std::string shown = "external data " + quoted(location) + " ";
  if (path::is_absolute(location) ||
      std::find(path::begin(location), path::end(location), "..") != path::end(location)) {
    return llvm::createStringError(shown + "is refused: it must lie inside the model's folder");
  }
  llvm::StringRef parent = path::parent_path(file);
  llvm::SmallString<256> given(parent.empty() ? "." : parent), folder, realFile, real;
  llvm::SmallString<256> joined = given;
  path::append(joined, location);
  if (std::error_code error = fs::real_path(joined, real)) {
    return llvm::createStringError(error, shown + "cannot be opened: " + error.message());
  }
  // A model that is itself a link (a download cache) may have its data beside the link or beside what it points to.
  if (fs::real_path(given, folder) || fs::real_path(file, realFile) ||
      (!liesIn(real, folder) && !liesIn(real, path::parent_path(realFile)))) {
    return llvm::createStringError(shown + "is refused: it is a link that leads outside the model's folder");
  }
  locations[location.str()] = std::string(real);
  std::unique_ptr<MappedFile> &entry = externals[real];
  if (!entry) {
    llvm::Expected<std::unique_ptr<MappedFile>> opened = MappedFile::open(real);
    if (!opened) {
      return llvm::createStringError(shown + llvm::toString(opened.takeError()));
    }
    entry = std::move(*opened);
  }
  return entry->bytes();
}

std::vector<std::string> ModelFile::externalPaths() const {
  std::vector<std::string> paths;
  for (llvm::StringRef path : externals.keys()) {
    paths.push_back(path.str());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace ingot::importer
