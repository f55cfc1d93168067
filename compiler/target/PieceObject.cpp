#include "compiler/target/PieceObject.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace llvm::object;

Error ingot::target::checkPieceObject(StringRef object, StringRef symbol, StringRef triple) {
  if (identify_magic(object) != file_magic::elf_relocatable) {
    return createStringError("is no relocatable ELF file");
  }
  Expected<std::unique_ptr<ObjectFile>> file = ObjectFile::createELFObjectFile(MemoryBufferRef(object, ""));
  if (!file) {
    return file.takeError();
  }
  Triple::ArchType wanted = Triple(triple).getArch();
  if ((*file)->getArch() != wanted) {
    return createStringError("is for " + Triple::getArchTypeName((*file)->getArch()) + ", not for " +
                             Triple::getArchTypeName(wanted));
  }
  bool isDefined = false;
  for (const SymbolRef &each : (*file)->symbols()) {
    Expected<uint32_t> flags = each.getFlags();
    Expected<StringRef> name = each.getName();
    if (!flags || !name) {
      return joinErrors(flags.takeError(), name.takeError());
    }
    if (!(*flags & SymbolRef::SF_Undefined)) {
      isDefined |= *name == symbol && (*flags & SymbolRef::SF_Global);
    } else if (!name->empty() && !name->starts_with("ingot_")) {
      return createStringError("refers to '" + *name + "', which the support library does not have");
    }
  }
  return isDefined ? Error::success() : createStringError("does not define '" + symbol + "'");
}
