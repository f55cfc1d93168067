// Weights do not pass through LLVM: neither as constants of IR (gigabytes and minutes) nor as bytes of its object streamer
// (a copy of all of them, and a copy more for the file).
//
// The code generator leaves the symbol NAME_weights undefined and a section .rodata.NAME_weights of one byte. In ELF a
// section's bytes may lie anywhere in the file, so they are appended behind everything else: the section header gets
// that offset and the real size, and the symbol becomes a hidden one at the start of the section. Nothing moves, no
// relocation changes.
#include "compiler/emit/Object.h"
#include "compiler/emit/CodeGen.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::object;

namespace {

constexpr uint64_t sectionAlign = 64;

template <typename ELFT> class WeightsPatch {
public:
  WeightsPatch(MutableArrayRef<char> object, StringRef model, int64_t weightBytes)
      : object(object), model(model), weightBytes(weightBytes) {}

  /// The change; false when the code does not use the weights.
  Expected<bool> apply() {
    Expected<ELFFile<ELFT>> file = ELFFile<ELFT>::create(StringRef(object.data(), object.size()));
    if (!file) {
      return file.takeError();
    }
    auto sections = file->sections();
    if (!sections) {
      return sections.takeError();
    }
    std::string wanted = ingot::emit::weightsSection(model);
    for (const auto &section : *sections) {
      Expected<StringRef> name = file->getSectionName(section);
      if (!name) {
        return name.takeError();
      }
      if (*name == wanted) {
        fill(writable(section));
        return define(*file, *sections, &section - sections->begin());
      }
    }
    return false;
  }

private:
  /// LLVM reads the object as constant; it is our buffer.
  template <typename T> T &writable(const T &part) { return const_cast<T &>(part); }

  void fill(typename ELFT::Shdr &section) {
    section.sh_offset = alignTo(object.size(), sectionAlign);
    section.sh_size = weightBytes;
    section.sh_addralign = sectionAlign;
  }

  Expected<bool> define(const ELFFile<ELFT> &file, typename ELFT::ShdrRange sections, size_t index) {
    std::string wanted = ingot::emit::weightsSymbol(model);
    for (const auto &table : sections) {
      if (table.sh_type != ELF::SHT_SYMTAB) {
        continue;
      }
      auto symbols = file.symbols(&table);
      auto names = file.getStringTableForSymtab(table);
      if (!symbols || !names) {
        return joinErrors(symbols.takeError(), names.takeError());
      }
      for (const auto &symbol : *symbols) {
        Expected<StringRef> name = symbol.getName(*names);
        if (!name) {
          return name.takeError();
        }
        if (*name == wanted) {
          auto &changed = writable(symbol);
          changed.st_shndx = index;
          changed.st_value = 0;
          changed.st_size = weightBytes;
          changed.setBindingAndType(ELF::STB_GLOBAL, ELF::STT_OBJECT);
          changed.setVisibility(ELF::STV_HIDDEN);
          return true;
        }
      }
    }
    return true; // nobody refers to the weights; they are still there
  }

  MutableArrayRef<char> object;
  StringRef model;
  int64_t weightBytes;
};

Expected<bool> patch(MutableArrayRef<char> object, StringRef model, int64_t weightBytes) {
  auto [bits, order] = getElfArchType(StringRef(object.data(), object.size()));
  if (order != ELF::ELFDATA2LSB) {
    return createStringError("the object is not little-endian ELF");
  }
  return bits == ELF::ELFCLASS64 ? WeightsPatch<ELF64LE>(object, model, weightBytes).apply()
                                 : WeightsPatch<ELF32LE>(object, model, weightBytes).apply();
}

} // namespace

Error ingot::emit::writeObject(MutableArrayRef<char> object, StringRef model, int64_t weightBytes,
                               const WeightsSource &weights, int fd) {
  // Code reaches its weights through 32-bit distances.
  if (weightBytes > (int64_t(1) << 31) - (int64_t(1) << 24)) {
    return createStringError("weights of " + Twine(weightBytes) + " bytes do not fit an object file of less than 2 GiB");
  }
  Expected<bool> hasWeights = patch(object, model, weightBytes);
  if (!hasWeights) {
    return hasWeights.takeError();
  }
  raw_fd_ostream out(fd, /*shouldClose=*/false);
  out.write(object.data(), object.size());
  if (*hasWeights) {
    out.write_zeros(alignTo(object.size(), sectionAlign) - object.size());
    int64_t written = 0;
    weights([&](ArrayRef<char> bytes) {
      out.write(bytes.data(), bytes.size());
      written += bytes.size();
    });
    if (written != weightBytes) {
      return createStringError("weights have " + Twine(written) + " bytes where " + Twine(weightBytes) +
                               " were announced");
    }
  }
  out.flush();
  if (out.has_error()) {
    std::error_code code = out.error();
    out.clear_error();
    return createStringError(code, "cannot write: " + code.message());
  }
  return Error::success();
}

Expected<ingot::emit::ObjectFacts> ingot::emit::inspectObject(StringRef object) {
  auto file = ObjectFile::createObjectFile(MemoryBufferRef(object, ""));
  if (!file) {
    return file.takeError();
  }
  ObjectFacts facts;
  for (const SectionRef &section : (*file)->sections()) {
    facts.codeBytes += section.isText() ? section.getSize() : 0;
  }
  for (const SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      return joinErrors(flags.takeError(), name.takeError());
    }
    if ((*flags & SymbolRef::SF_Undefined) && !name->empty()) {
      facts.undefined.push_back(name->str());
    }
  }
  llvm::sort(facts.undefined);
  return facts;
}
