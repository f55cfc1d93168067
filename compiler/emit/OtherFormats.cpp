// Brings weights into objects of other formats than ELF, as Object.cpp does for that: the section that was made for
// them has no contents, and becomes one whose bytes lie behind everything else. Both formats have a section header with
// a place in the file, which may be anywhere:
//
//              Mach-O                                    COFF
//   before     __DATA,__bss, S_ZEROFILL                  uninitialized data, may be written
//   after      __TEXT,__const, S_REGULAR, offset         .rdata, initialized, PointerToRawData
//
// In Mach-O the section of all zeros has nothing else in it, since models have no variables, and the segment around all
// sections has to reach to the end of its last one. In COFF the weights are a section of their own. A section that is
// not as expected is an error, not a guess.
#include "compiler/emit/OtherFormats.h"
#include "llvm/BinaryFormat/COFF.h"
#include "llvm/BinaryFormat/MachO.h"
#include "llvm/Object/COFF.h"
#include "llvm/Object/MachO.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace llvm::object;

namespace {

Error notTheSection() { return createStringError("the weights' section is not the one that was made for them"); }

void setName(char (&field)[16], StringRef name) {
  std::memset(field, 0, sizeof(field));
  std::memcpy(field, name.data(), name.size());
}

/// The number of the section of the symbol, from 1 on; 0 when there is none.
Expected<unsigned> sectionOf(const MachOObjectFile &file, StringRef wanted) {
  for (const SymbolRef &symbol : file.symbols()) {
    Expected<StringRef> name = symbol.getName();
    if (!name) {
      return name.takeError();
    }
    if (name->consume_front("_") && *name == wanted) {
      return file.getSymbol64TableEntry(symbol.getRawDataRefImpl()).n_sect;
    }
  }
  return 0U;
}

} // namespace

Expected<bool> ingot::emit::patchMachO(StringRef object, StringRef wanted, int64_t size, uint64_t offset) {
  auto file = MachOObjectFile::create(MemoryBufferRef(object, ""), /*IsLittleEndian=*/true, /*Is64Bits=*/true);
  if (!file) {
    return file.takeError();
  }
  Expected<unsigned> number = sectionOf(**file, wanted);
  if (!number || *number == 0) {
    return number ? Expected<bool>(false) : number.takeError();
  }
  for (const MachOObjectFile::LoadCommandInfo &command : (*file)->load_commands()) {
    if (command.C.cmd != MachO::LC_SEGMENT_64) {
      continue;
    }
    auto *segment = reinterpret_cast<MachO::segment_command_64 *>(const_cast<char *>(command.Ptr)); // our buffer
    auto &section = reinterpret_cast<MachO::section_64 *>(segment + 1)[*number - 1];
    if (*number > segment->nsects || section.flags != MachO::S_ZEROFILL || int64_t(section.size) != size) {
      break;
    }
    setName(section.segname, "__TEXT");
    setName(section.sectname, "__const");
    section.flags = MachO::S_REGULAR;
    section.offset = uint32_t(offset);
    segment->filesize = offset + size - segment->fileoff;
    segment->vmsize = std::max(segment->vmsize, segment->filesize);
    return true;
  }
  return notTheSection();
}

Expected<bool> ingot::emit::patchCoff(StringRef object, StringRef wanted, int64_t size, uint64_t offset) {
  auto file = COFFObjectFile::create(MemoryBufferRef(object, ""));
  if (!file) {
    return file.takeError();
  }
  for (const SymbolRef &symbol : (*file)->symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<section_iterator> where = symbol.getSection();
    if (!name || !where) {
      return joinErrors(name.takeError(), where.takeError());
    }
    if (*name != wanted || *where == (*file)->section_end()) {
      continue;
    }
    auto *section = const_cast<coff_section *>((*file)->getCOFFSection(**where)); // our buffer
    uint32_t kind = section->Characteristics;
    if (!(kind & COFF::IMAGE_SCN_CNT_UNINITIALIZED_DATA) || int64_t(section->SizeOfRawData) != size) {
      return notTheSection();
    }
    section->PointerToRawData = uint32_t(offset);
    section->Characteristics = (kind & ~(COFF::IMAGE_SCN_CNT_UNINITIALIZED_DATA | COFF::IMAGE_SCN_MEM_WRITE)) |
                               COFF::IMAGE_SCN_CNT_INITIALIZED_DATA;
    std::memset(section->Name, 0, sizeof(section->Name));
    std::memcpy(section->Name, ".rdata", 6);
    return true;
  }
  return false;
}
