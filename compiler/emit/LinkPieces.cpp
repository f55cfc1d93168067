// Links the model's object and the objects that targets brought into one relocatable object, in three steps:
//
//   1. in each brought object, every symbol but the function that the model calls becomes local, and its COMDAT groups
//      become ordinary groups of sections (clearGroups)
//   2. LLVM's linker combines the objects (ld -r), which resolves the model's calls
//   3. those functions become local, too
//
// Thus no symbol of a brought object is visible outside: two brought objects, or two models of a program, may define
// equal names. A COMDAT group would break that: a linker keeps one of the groups that are named by equal symbols, and
// would drop code that local symbols of another object refer to.
#include "compiler/emit/LinkPieces.h"
#include "compiler/emit/Linker.h"
#include "compiler/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using Bytes = SmallVector<char, 0>;

std::vector<ingot::emit::PieceObject> ingot::emit::takePieceObjects(mlir::ModuleOp module) {
  std::vector<PieceObject> objects;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (auto bytes = dyn_cast_or_null<mlir::DenseIntElementsAttr>(function->removeAttr(plan::objectName))) {
      ArrayRef<char> raw = bytes.getRawData();
      objects.push_back({function.getName().str(), std::string(raw.begin(), raw.end())});
    }
  }
  return objects;
}

/// Returns a copy of an object, made by LLVM's objcopy. `option` is the list of its settings to which the symbols are
/// added: those to make local, or those to keep global.
static Expected<Bytes> withSymbolSettings(StringRef object, ArrayRef<std::string> symbols,
                                          objcopy::NameMatcher objcopy::CommonConfig::*option) {
  Expected<std::unique_ptr<object::Binary>> file = object::createBinary(MemoryBufferRef(object, ""));
  if (!file) {
    return file.takeError();
  }
  objcopy::ConfigManager config;
  auto pass = [](Error error) { return error; };
  for (const std::string &symbol : symbols) {
    if (Error error = (config.Common.*option)
                          .addMatcher(objcopy::NameOrPattern::create(symbol, objcopy::MatchStyle::Literal, pass))) {
      return error;
    }
  }
  Bytes result;
  raw_svector_ostream stream(result);
  if (Error error = objcopy::executeObjcopyOnBinary(config, **file, stream)) {
    return error;
  }
  return result;
}

/// Clears the flag GRP_COMDAT of all groups of sections, by which a linker keeps only one of the groups of a name. A
/// group's section is a list of 32-bit numbers: its flags, then its members.
template <typename ELFT> static Error clearGroups(MutableArrayRef<char> object) {
  auto file = object::ELFFile<ELFT>::create(StringRef(object.data(), object.size()));
  if (!file) {
    return file.takeError();
  }
  auto sections = file->sections();
  if (!sections) {
    return sections.takeError();
  }
  for (const typename ELFT::Shdr &section : *sections) {
    if (section.sh_type == ELF::SHT_GROUP && section.sh_size >= 4 && section.sh_offset + 4 <= object.size()) {
      support::endian::write32le(&object[section.sh_offset], 0);
    }
  }
  return Error::success();
}

namespace {
/// Temporary files for the linker, which the destructor removes.
class TemporaryFiles {
public:
  Error add(ArrayRef<char> bytes) {
    SmallString<128> path;
    int fd = -1;
    if (std::error_code code = sys::fs::createTemporaryFile("ingot", "o", fd, path)) {
      return errorCodeToError(code);
    }
    removers.push_back(std::make_unique<FileRemover>(path));
    paths.push_back(path.str().str());
    raw_fd_ostream out(fd, /*shouldClose=*/true);
    out.write(bytes.data(), bytes.size());
    out.close();
    std::error_code code = out.error();
    out.clear_error();
    return errorCodeToError(code);
  }
  ArrayRef<std::string> all() const { return paths; }

private:
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<FileRemover>> removers;
};
} // namespace

/// Links all files but the last one, and writes the result to the last one.
static Error linkFiles(ArrayRef<std::string> paths) {
  SmallVector<const char *> arguments = {"-r", "-o", paths.back().c_str()};
  for (const std::string &path : paths.drop_back()) {
    arguments.push_back(path.c_str());
  }
  return ingot::emit::link(ingot::emit::Format::Elf, arguments, "linking the parts of the model's code");
}

Expected<Bytes> ingot::emit::linkObjects(ArrayRef<ArrayRef<char>> objects, ArrayRef<std::string> local) {
  TemporaryFiles files;
  for (ArrayRef<char> object : objects) {
    if (Error error = files.add(object)) {
      return error;
    }
  }
  if (Error error = files.add({})) {
    return error;
  }
  if (Error error = linkFiles(files.all())) {
    return error;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> linked = MemoryBuffer::getFile(files.all().back());
  if (!linked) {
    return errorCodeToError(linked.getError());
  }
  return withSymbolSettings((*linked)->getBuffer(), local, &objcopy::CommonConfig::SymbolsToLocalize);
}

Expected<Bytes> ingot::emit::linkPieces(StringRef object, ArrayRef<PieceObject> pieces) {
  std::vector<Bytes> owned;
  std::vector<ArrayRef<char>> objects = {ArrayRef<char>(object.data(), object.size())};
  std::vector<std::string> symbols;
  for (const PieceObject &piece : pieces) {
    Expected<Bytes> own = withSymbolSettings(piece.bytes, piece.symbol, &objcopy::CommonConfig::SymbolsToKeepGlobal);
    if (!own) {
      return own.takeError();
    }
    bool is64Bit = object::getElfArchType(StringRef(own->data(), own->size())).first == ELF::ELFCLASS64;
    if (Error error = is64Bit ? clearGroups<object::ELF64LE>(*own) : clearGroups<object::ELF32LE>(*own)) {
      return error;
    }
    owned.push_back(std::move(*own));
    symbols.push_back(piece.symbol);
  }
  objects.insert(objects.end(), owned.begin(), owned.end());
  return linkObjects(objects, symbols);
}
