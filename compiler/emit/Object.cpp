// Weights do not pass through LLVM: neither as constants of IR (gigabytes and minutes) nor as bytes of its object
// streamer (a copy of all of them, and a copy more for the file).
//
// The code generator makes a .bss section of the full size, which has no contents, with the symbol at its start. In ELF
// a section's bytes may lie anywhere in the file, so they are appended behind everything else and the section header is
// changed: the section has contents, is read-only, and begins at that offset. Nothing moves, no relocation changes.
// Only the names would be wrong; the symbol is made as ".rodata.NAME_weights" and its section as
// ".bss..rodata.NAME_weights" (or with what a platform has in the place of ".rodata"), and both names become right by
// starting later in the string table.
//
// In WebAssembly the section has contents, and the weights are written in the place of its zeros.
#include "compiler/emit/Object.h"
#include "compiler/emit/CodeGen.h"
#include "compiler/emit/OtherFormats.h"
#include "compiler/emit/WeightsFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Object/Wasm.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::object;

namespace {

constexpr uint64_t sectionAlign = 64;

/// LLVM reads the object as constant; it is our buffer.
template <typename T> T &writable(const T &part) { return const_cast<T &>(part); }

/// Makes the section of the symbol `wanted` one with contents at `offset`; false when there is none.
template <typename ELFT> class WeightsPatch {
public:
  WeightsPatch(const ELFFile<ELFT> &file, StringRef symbol, StringRef wanted)
      : file(file), symbolName(symbol), wanted(wanted) {}

  Expected<bool> apply(int64_t size, uint64_t offset) {
    auto sections = file.sections();
    if (!sections) {
      return sections.takeError();
    }
    for (const typename ELFT::Shdr &table : *sections) {
      if (table.sh_type == ELF::SHT_SYMTAB) {
        Expected<const typename ELFT::Sym *> symbol = findSymbol(table);
        if (!symbol || !*symbol) {
          return symbol ? Expected<bool>(false) : symbol.takeError();
        }
        writable(**symbol).st_name += wanted.size() - symbolName.size();
        return fill((*sections)[(*symbol)->st_shndx], size, offset);
      }
    }
    return false;
  }

private:
  Expected<const typename ELFT::Sym *> findSymbol(const typename ELFT::Shdr &table) {
    auto symbols = file.symbols(&table);
    auto names = file.getStringTableForSymtab(table);
    if (!symbols || !names) {
      return joinErrors(symbols.takeError(), names.takeError());
    }
    for (const typename ELFT::Sym &symbol : *symbols) {
      Expected<StringRef> name = symbol.getName(*names);
      if (!name) {
        return name.takeError();
      }
      if (*name == wanted && symbol.getType() == ELF::STT_OBJECT && symbol.st_shndx < ELF::SHN_LORESERVE) {
        return &symbol;
      }
    }
    return nullptr;
  }

  Expected<bool> fill(const typename ELFT::Shdr &section, int64_t size, uint64_t offset) {
    Expected<StringRef> name = file.getSectionName(section);
    if (!name) {
      return name.takeError();
    }
    if (*name != (".bss." + wanted).str() || section.sh_type != ELF::SHT_NOBITS || int64_t(section.sh_size) != size) {
      return createStringError("section " + *name + " is not the one that was made for the weights");
    }
    typename ELFT::Shdr &changed = writable(section);
    changed.sh_name += StringRef(".bss.").size();
    changed.sh_type = ELF::SHT_PROGBITS;
    changed.sh_flags = ELF::SHF_ALLOC;
    changed.sh_offset = offset;
    return true;
  }

  const ELFFile<ELFT> &file;
  StringRef symbolName, wanted;
};

template <typename ELFT>
Expected<bool> patchAs(StringRef object, StringRef symbol, StringRef wanted, int64_t size, uint64_t offset) {
  Expected<ELFFile<ELFT>> file = ELFFile<ELFT>::create(object);
  return file ? WeightsPatch<ELFT>(*file, symbol, wanted).apply(size, offset) : file.takeError();
}

Expected<bool> patch(StringRef object, StringRef model, StringRef constants, int64_t size, uint64_t offset) {
  std::string symbol = ingot::emit::weightsSymbol(model), wanted = ingot::emit::weightsSection(model, constants);
  switch (identify_magic(object)) {
  case file_magic::macho_object:
    return ingot::emit::patchMachO(object, symbol, size, offset);
  case file_magic::coff_object:
    return ingot::emit::patchCoff(object, symbol, size, offset);
  default:
    break;
  }
  auto [bits, order] = getElfArchType(object);
  if (order != ELF::ELFDATA2LSB) {
    return createStringError("the object is neither little-endian ELF nor Mach-O nor COFF");
  }
  return bits == ELF::ELFCLASS64 ? patchAs<ELF64LE>(object, symbol, wanted, size, offset)
                                 : patchAs<ELF32LE>(object, symbol, wanted, size, offset);
}

} // namespace

/// Returns where the bytes of the weights are in a WebAssembly object, whose segments lie in the file as they do in
/// memory: zeros have room there. Nothing: it has no weights.
static Expected<std::optional<uint64_t>> placeInWasm(StringRef object, StringRef section, int64_t size) {
  auto file = ObjectFile::createWasmObjectFile(MemoryBufferRef(object, ""));
  if (!file) {
    return file.takeError();
  }
  for (const WasmSegment &segment : (*file)->dataSegments()) {
    if (segment.Data.Name == section && int64_t(segment.Data.Content.size()) == size) {
      return reinterpret_cast<const char *>(segment.Data.Content.data()) - object.data();
    }
  }
  return std::nullopt;
}

/// Writes a WebAssembly object with the weights in the place of its zeros.
static Error writeWasm(StringRef object, StringRef section, int64_t size, const ingot::emit::WeightsSource &weights,
                       int fd) {
  Expected<std::optional<uint64_t>> place = placeInWasm(object, section, size);
  if (!place) {
    return place.takeError();
  }
  raw_fd_ostream out(fd, /*shouldClose=*/false);
  out << object.take_front(place->value_or(object.size()));
  int64_t written = 0;
  if (*place) {
    weights([&](ArrayRef<char> bytes) {
      out.write(bytes.data(), bytes.size());
      written += bytes.size();
    });
    out << object.drop_front(**place + size);
  }
  return ingot::emit::checkWritten(out, written, *place ? size : 0);
}

Error ingot::emit::checkFitsObject(int64_t weightBytes) {
  // Code reaches its weights through 32-bit distances.
  if (weightBytes > (int64_t(1) << 31) - (int64_t(1) << 24)) {
    return createStringError("weights of " + Twine(weightBytes) +
                             " bytes do not fit an object file of less than 2 GiB; '--weights=file' gives them a file "
                             "of their own");
  }
  return Error::success();
}

Error ingot::emit::writeObject(MutableArrayRef<char> object, StringRef model, int64_t weightBytes, StringRef constants,
                               const WeightsSource &weights, int fd) {
  uint64_t offset = alignTo(object.size(), sectionAlign);
  StringRef bytes(object.data(), object.size());
  if (identify_magic(bytes) == file_magic::wasm_object) {
    return writeWasm(bytes, weightsSection(model, constants), weightBytes, weights, fd);
  }
  Expected<bool> hasWeights = patch(bytes, model, constants, weightBytes, offset);
  if (!hasWeights) {
    return hasWeights.takeError();
  }
  raw_fd_ostream out(fd, /*shouldClose=*/false);
  out.write(object.data(), object.size());
  int64_t written = 0;
  if (*hasWeights) {
    out.write_zeros(offset - object.size());
    weights([&](ArrayRef<char> bytes) {
      out.write(bytes.data(), bytes.size());
      written += bytes.size();
    });
  }
  return checkWritten(out, written, *hasWeights ? weightBytes : 0);
}

/// C's name of a symbol.
static StringRef plainName(const ObjectFile &file, StringRef name) {
  if (file.isMachO()) {
    name.consume_front("_");
  }
  return name;
}

/// What LLVM refers to on a system and every program there has: where the stack is committed page by page, a function
/// that touches it, and a mark that floats are used; in WebAssembly what its linker defines.
static bool isOfTheSystem(const ObjectFile &file, StringRef name) {
  return (file.isCOFF() && (name == "__chkstk" || name == "_fltused")) ||
         (file.isWasm() &&
          llvm::is_contained({"__linear_memory", "__stack_pointer", "__indirect_function_table"}, name));
}

/// Returns the sum to which a section's bytes are added; null where a program does not have the section in memory.
static int64_t ingot::emit::BuildSizes::*kindOf(const SectionRef &section) {
  using ingot::emit::BuildSizes;
  bool isElf = isa<ELFObjectFileBase>(section.getObject());
  uint64_t flags = isElf ? ELFSectionRef(section).getFlags() : 0;
  if (section.isText()) {
    return &BuildSizes::code;
  }
  if (section.getObject()->isWasm()) { // other sections are a linker's
    return section.isData() ? &BuildSizes::constants : nullptr;
  }
  if (isElf && !(flags & ELF::SHF_ALLOC)) {
    return nullptr;
  }
  if (section.isBSS()) {
    return &BuildSizes::zeroed;
  }
  if (isElf) {
    return flags & ELF::SHF_WRITE ? &BuildSizes::data : &BuildSizes::constants;
  }
  if (section.isDebugSection()) {
    return nullptr;
  }
  // COFF and Mach-O sections have no such flag here, so the section's name decides whether the program writes to it.
  Expected<StringRef> name = section.getName();
  if (!name) {
    consumeError(name.takeError());
    return &BuildSizes::constants;
  }
  return *name == ".data" || *name == "__data" ? &BuildSizes::data : &BuildSizes::constants;
}

/// Adds the functions with their sizes, largest first.
static Error addFunctions(const ObjectFile &file, ingot::emit::BuildSizes &sizes) {
  for (const auto &[symbol, bytes] : computeSymbolSizes(file)) {
    Expected<SymbolRef::Type> type = symbol.getType();
    Expected<StringRef> name = symbol.getName();
    if (!type || !name) {
      return joinErrors(type.takeError(), name.takeError());
    }
    if (*type == SymbolRef::ST_Function && bytes > 0) {
      sizes.functions.push_back({plainName(file, *name).str(), static_cast<int64_t>(bytes)});
    }
  }
  llvm::sort(sizes.functions,
             [](const auto &a, const auto &b) { return std::tuple(-a.bytes, a.name) < std::tuple(-b.bytes, b.name); });
  return Error::success();
}

Expected<ingot::emit::ObjectFacts> ingot::emit::inspectObject(StringRef object) {
  auto file = ObjectFile::createObjectFile(MemoryBufferRef(object, ""));
  if (!file) {
    return file.takeError();
  }
  ObjectFacts facts;
  for (const SectionRef &section : (*file)->sections()) {
    if (int64_t ingot::emit::BuildSizes::*kind = kindOf(section)) {
      facts.sizes.*kind += section.getSize();
    }
  }
  if (Error error = addFunctions(**file, facts.sizes)) {
    return error;
  }
  for (const SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      return joinErrors(flags.takeError(), name.takeError());
    }
    StringRef plain = plainName(**file, *name);
    if ((*flags & SymbolRef::SF_Undefined) && !plain.empty() && !isOfTheSystem(**file, plain)) {
      facts.undefined.push_back(plain.str());
    }
  }
  llvm::sort(facts.undefined);
  return facts;
}
