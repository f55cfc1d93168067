#include "compiler/driver/commands/CompileCache.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"
#include <dlfcn.h>
#include <filesystem>

namespace ingot::driver {
namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

// The files of an entry: the hash of each artifact and where it was (a line each; they are the files 0, 1, ... beside
// it), and what was said. The one whose key is without external data has but the names of that.
constexpr const char *artifactsFile = "artifacts", *outFile = "stdout", *diagnosticsFile = "stderr",
                     *namesFile = "external";

/// Returns the hash of a file's bytes, which is computed by pieces on all cores; nothing where it cannot be read.
std::optional<std::string> hashOf(const std::string &name) {
  constexpr size_t pieceBytes = size_t(8) << 20;
  auto buffer = llvm::MemoryBuffer::getFile(name, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    return std::nullopt;
  }
  llvm::ArrayRef bytes((*buffer)->getBuffer().bytes_begin(), (*buffer)->getBufferSize());
  llvm::SmallVector<llvm::XXH128_hash_t> pieces(llvm::divideCeil(bytes.size(), pieceBytes));
  llvm::parallelFor(0, pieces.size(), [&](size_t i) {
    pieces[i] = llvm::xxh3_128bits(bytes.drop_front(i * pieceBytes).take_front(pieceBytes));
  });
  std::string text = llvm::utohexstr(bytes.size());
  for (llvm::XXH128_hash_t piece : pieces) {
    text += "-" + llvm::utohexstr(piece.high64) + "." + llvm::utohexstr(piece.low64);
  }
  return text;
}

class Hasher {
public:
  /// Adds a text, apart from its neighbours.
  void text(llvm::StringRef text) {
    number(static_cast<int64_t>(text.size()));
    hash.update(text);
  }
  void number(int64_t n) { hash.update(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(&n), sizeof(n))); }
  /// Adds a file's bytes; false where it cannot be read.
  bool file(const std::string &name) {
    std::optional<std::string> bytes = hashOf(name);
    text(bytes.value_or(""));
    return bytes.has_value();
  }
  std::string key() { return llvm::toHex(hash.final<20>(), /*LowerCase=*/true); }

private:
  llvm::BLAKE3 hash;
};

/// Copies a file, in the kernel (LLVM's copy_file does it by 4 KB); false where it cannot.
bool copyFile(const std::string &from, const std::string &to) {
  std::error_code error;
  return std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
}

/// Adds the compiler: its program, and the library that makes the code, by its version, length and time.
bool addCompiler(Hasher &hash) {
  hash.text(LLVM_VERSION_STRING);
  Dl_info library = {};
  fs::file_status status;
  if (dladdr(reinterpret_cast<void *>(&llvm::sys::getHostCPUName), &library) && library.dli_fname &&
      !fs::status(library.dli_fname, status)) {
    hash.number(static_cast<int64_t>(status.getSize()));
    hash.number(status.getLastModificationTime().time_since_epoch().count());
  }
  return hash.file("/proc/self/exe");
}

/// Adds what `native` stands for.
void addHost(Hasher &hash) {
  std::optional<target::MachineModel> host = target::hostMachine();
  if (!host) {
    return;
  }
  hash.text(host->cpu);
  hash.text(host->features);
  for (int64_t bytes : {host->l1Bytes, host->l2Bytes, host->l3Bytes}) {
    hash.number(bytes);
  }
}

std::optional<std::string> readText(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
}

std::vector<std::string> linesOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return {lines.begin(), lines.end()};
}

bool writeText(const std::string &file, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream out(file, error);
  if (!error) {
    out << text;
    out.close();
    error = out.error();
    out.clear_error();
  }
  return !error;
}

/// Notes that a file was used now.
void use(const std::string &file) {
  int descriptor = 0;
  if (!fs::openFileForWrite(file, descriptor, fs::CD_OpenExisting, fs::OF_Append)) {
    (void)fs::setLastAccessAndModificationTime(descriptor, std::chrono::system_clock::now());
    (void)fs::closeFile(descriptor);
  }
}

/// Brings an artifact to where it was; a file that is there with these bytes already only gets a new time.
bool restore(const std::string &from, const std::string &to, llvm::StringRef hash) {
  if (hashOf(to) == hash) {
    use(to);
    return true;
  }
  return !fs::create_directories(path::parent_path(to)) && copyFile(from, to);
}

/// Removes a folder, under another name first, so that nobody finds half of it.
void removeFolder(const std::string &folder) {
  llvm::SmallString<128> away;
  fs::createUniquePath(folder + ".gone-%%%%%%%%", away, /*MakeAbsolute=*/false);
  fs::remove_directories(fs::rename(folder, away) ? llvm::Twine(folder) : llvm::Twine(away));
}

} // namespace

CompileCache::CompileCache(const Invocation &invocation)
    : folder(invocation.compileCache), mostBytes(invocation.compileCacheBytes),
      modelFolder(path::parent_path(invocation.model.modelPath)) {
  Hasher hash;
  bool known = addCompiler(hash);
  addHost(hash);
  for (const std::string &argument : invocation.arguments) {
    hash.text(argument);
  }
  known &= hash.file(invocation.model.modelPath);
  for (const std::string &plugIn : invocation.model.plugIns) {
    known &= hash.file(plugIn);
  }
  for (const std::string &file : {invocation.model.placementFile, invocation.model.tuningFile}) {
    known &= file.empty() || hash.file(file);
  }
  modelKey = known ? hash.key() : "";
}

std::string CompileCache::pathOf(const Key &key, llvm::StringRef file) const {
  llvm::SmallString<128> name(folder);
  path::append(name, key);
  if (!file.empty()) {
    path::append(name, file);
  }
  return name.str().str();
}

CompileCache::Key CompileCache::keyWith(const std::vector<std::string> &external) const {
  Hasher hash;
  hash.text(modelKey);
  for (const std::string &name : external) {
    llvm::SmallString<128> file(modelFolder);
    path::append(file, name);
    hash.text(name);
    if (!hash.file(file.str().str())) {
      return "";
    }
  }
  return hash.key();
}

void CompileCache::reads(const std::map<std::string, std::string> &external) {
  names.clear();
  for (const auto &[name, file] : external) {
    names.push_back(name);
  }
  key = modelKey.empty() ? "" : keyWith(names);
}

std::optional<CompileCache::Messages> CompileCache::find() {
  auto external = modelKey.empty() ? std::nullopt : readText(pathOf(modelKey, namesFile));
  Key known = external ? keyWith(linesOf(*external)) : "";
  auto artifacts = known.empty() ? std::nullopt : readText(pathOf(known, artifactsFile));
  auto out = artifacts ? readText(pathOf(known, outFile)) : std::nullopt;
  auto diagnostics = out ? readText(pathOf(known, diagnosticsFile)) : std::nullopt;
  if (!diagnostics) {
    return std::nullopt;
  }
  for (auto [i, artifact] : llvm::enumerate(linesOf(*artifacts))) {
    auto [hash, file] = llvm::StringRef(artifact).split(' ');
    if (!restore(pathOf(known, std::to_string(i)), file.str(), hash)) {
      removeFolder(pathOf(known)); // the entry is damaged, or being dropped
      return std::nullopt;
    }
  }
  use(pathOf(modelKey, namesFile));
  use(pathOf(known, artifactsFile));
  return Messages{std::move(*out), std::move(*diagnostics)};
}

void CompileCache::keep(llvm::ArrayRef<emit::Artifact> artifacts, const Messages &messages) {
  if (modelKey.empty() || key.empty() || fs::create_directories(folder)) {
    return;
  }
  auto add = [&](const Key &entry, llvm::function_ref<bool(const std::string &)> fill) {
    llvm::SmallString<128> making;
    fs::createUniquePath(pathOf(entry) + ".new-%%%%%%%%", making, /*MakeAbsolute=*/false);
    if (fs::create_directory(making)) {
      return;
    }
    // Another process may have been faster.
    if (!fill(making.str().str() + "/") || fs::rename(making, pathOf(entry))) {
      fs::remove_directories(making);
    }
  };
  add(key, [&](const std::string &entry) {
    std::string paths;
    for (auto [i, artifact] : llvm::enumerate(artifacts)) {
      std::optional<std::string> hash = hashOf(artifact.path);
      if (!hash || !copyFile(artifact.path, entry + std::to_string(i))) {
        return false;
      }
      paths += *hash + " " + artifact.path + "\n";
    }
    return writeText(entry + outFile, messages.out) && writeText(entry + diagnosticsFile, messages.diagnostics) &&
           writeText(entry + artifactsFile, paths);
  });
  add(modelKey, [&](const std::string &entry) { return writeText(entry + namesFile, llvm::join(names, "\n")); });
  makeRoom();
}

void CompileCache::makeRoom() const {
  struct CachedCompilation {
    std::string path;
    int64_t bytes = 0;
    llvm::sys::TimePoint<> used; ///< the time of the last use
  };
  std::vector<CachedCompilation> entries;
  int64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    entries.push_back({entry->path(), 4096, {}}); // this is the folder itself
    std::error_code inside;
    for (fs::directory_iterator file(entry->path(), inside); !inside && file != end; file.increment(inside)) {
      fs::file_status status;
      if (!fs::status(file->path(), status)) {
        entries.back().bytes += static_cast<int64_t>(status.getSize());
        entries.back().used = std::max(entries.back().used, status.getLastModificationTime());
      }
    }
    sum += entries.back().bytes;
  }
  llvm::sort(entries, [](const CachedCompilation &a, const CachedCompilation &b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const CachedCompilation &entry : entries) {
    if (sum <= mostBytes) {
      break;
    }
    removeFolder(entry.path);
    sum -= entry.bytes;
  }
}

} // namespace ingot::driver
