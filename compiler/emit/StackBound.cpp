// The bound is the longest way through a graph whose nodes are the sections of an object. Each function has a section
// of its own, and its weight is the frame that LLVM writes into .stack_sizes. An edge is a relocation: code that refers
// to a function may call it, itself or by handing it to ingot_parallel_for, and so may code that refers to constants
// with the function's address. That is more than is ever called, and never less.
//
// What lies behind the model's own code is a table of this file: the support library's functions, as C compilers make
// them with the options of its build (test/firmware/library_stack.py compares), and those of the C compiler's library.
// There is no bound, and a reason, where the stack depends on anything else: a cycle, a frame of open size, or a
// function that is not in the table, such as one that asks the caller for memory.
#include "compiler/emit/StackBound.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/LEB128.h"
#include <map>

using namespace llvm;
using namespace llvm::object;
using ingot::emit::FunctionSize;
using ingot::emit::StackBound;

namespace {

/// The stack that functions take whose names begin like this, all that they call included, also what Cortex-M0+ calls
/// of the C compiler's library. parallel_for has the bodies on top of it, to which the caller of it refers, and the
/// functions of an ingot_reader, which is the caller's, come on top of it all.
struct LibraryRow {
  StringLiteral prefix;
  int64_t bytes;
};
constexpr LibraryRow libraryRows[] = {{"ingot_wide_", 224}, {"ingot_parallel_for", 32}, {"ingot_weights_", 48}};
constexpr int64_t compilersBytes = 64;

/// A section that is a function, or constants that refer to functions.
struct Node {
  std::string function;              ///< its name; empty: constants
  int64_t frame = -1;                ///< -1: LLVM says none, as for a frame whose size is open
  SmallVector<uint64_t, 8> uses;     ///< sections that it refers to
  SmallVector<StringRef, 4> outside; ///< functions of others that it refers to
  bool callsItself = false;
};

class StackGraph {
public:
  StackGraph(const ObjectFile &file, ArrayRef<StringLiteral> compilerCalls, ArrayRef<FunctionSize> overAligned)
      : file(file), compilerCalls(compilerCalls) {
    for (const FunctionSize &function : overAligned) {
      lostBytes[function.name] = function.bytes;
    }
  }

  Error read() {
    for (const SymbolRef &symbol : file.symbols()) {
      if (Error error = addFunction(symbol)) {
        return error;
      }
    }
    for (const SectionRef &section : file.sections()) {
      if (Error error = addRelocations(section)) {
        return error;
      }
    }
    return Error::success();
  }

  /// Returns the longest way from any function but NAME_model, which refers to all by returning the model's
  /// description, and calls none.
  StackBound bound(StringRef model) {
    StackBound most{0, "", {}};
    for (auto &[number, node] : nodes) {
      if (!node.function.empty() && node.function != model.str() + "_model") {
        StackBound from = below(number);
        if (from.bytes < 0) {
          return from;
        }
        if (from.bytes > most.bytes) {
          most = from;
        }
      }
    }
    return most;
  }

private:
  Error addFunction(const SymbolRef &symbol) {
    Expected<SymbolRef::Type> type = symbol.getType();
    Expected<StringRef> name = symbol.getName();
    Expected<section_iterator> section = symbol.getSection();
    if (!type || !name || !section) {
      return joinErrors(joinErrors(type.takeError(), name.takeError()), section.takeError());
    }
    if (*type == SymbolRef::ST_Function && *section != file.section_end()) {
      Node &node = nodes[(*section)->getIndex()];
      if (!node.function.empty() && node.function != *name) {
        return createStringError("two functions share a section: " + node.function + " and " + *name);
      }
      node.function = name->str();
    }
    return Error::success();
  }

  /// Adds the edges of the section that `relocations` belongs to, or the frames where that is .stack_sizes.
  Error addRelocations(const SectionRef &relocations) {
    Expected<section_iterator> of = relocations.getRelocatedSection();
    if (!of) {
      return of.takeError();
    }
    if (*of == file.section_end()) {
      return Error::success();
    }
    Expected<StringRef> name = (*of)->getName();
    if (!name) {
      return name.takeError();
    }
    bool areFrames = *name == ".stack_sizes";
    bool inMemory = ELFSectionRef(**of).getFlags() & ELF::SHF_ALLOC;
    for (const RelocationRef &relocation : relocations.relocations()) {
      symbol_iterator symbol = relocation.getSymbol();
      if (symbol == file.symbol_end() || (!areFrames && !inMemory)) {
        continue;
      }
      Error error = areFrames ? addFrame(**of, relocation, *symbol) : addEdge(**of, *symbol);
      if (error) {
        return error;
      }
    }
    return Error::success();
  }

  Error addFrame(const SectionRef &sizes, const RelocationRef &relocation, const SymbolRef &symbol) {
    Expected<StringRef> bytes = sizes.getContents();
    Expected<section_iterator> section = symbol.getSection();
    if (!bytes || !section) {
      return joinErrors(bytes.takeError(), section.takeError());
    }
    uint64_t at = relocation.getOffset() + file.getBytesInAddress();
    if (*section == file.section_end() || at >= bytes->size()) {
      return createStringError("wrong entry of .stack_sizes");
    }
    const char *message = nullptr;
    uint64_t frame = decodeULEB128(bytes->bytes_begin() + at, nullptr, bytes->bytes_end(), &message);
    if (message) {
      return createStringError("wrong number in .stack_sizes: " + Twine(message));
    }
    nodes[(*section)->getIndex()].frame = int64_t(frame);
    return Error::success();
  }

  Error addEdge(const SectionRef &from, const SymbolRef &symbol) {
    Expected<section_iterator> to = symbol.getSection();
    Expected<SymbolRef::Type> type = symbol.getType();
    Expected<StringRef> name = symbol.getName();
    if (!to || !type || !name) {
      return joinErrors(joinErrors(to.takeError(), type.takeError()), name.takeError());
    }
    Node &node = nodes[from.getIndex()];
    if (*to == file.section_end()) {
      if (from.isText() && !name->empty()) {
        node.outside.push_back(*name);
      }
    } else if ((*to)->getIndex() != from.getIndex()) {
      node.uses.push_back((*to)->getIndex());
    } else { // a jump within the function refers to a label
      node.callsItself |= *type == SymbolRef::ST_Function;
    }
    return Error::success();
  }

  /// Returns the stack of a function outside; -1: nobody knows it.
  int64_t bytesOutside(StringRef name) const {
    if (is_contained(compilerCalls, name)) {
      return compilersBytes;
    }
    const auto *row = llvm::find_if(libraryRows, [&](const LibraryRow &row) { return name.starts_with(row.prefix); });
    return row == std::end(libraryRows) ? -1 : row->bytes;
  }

  /// Returns the longest way from a section on, which is computed once.
  StackBound below(uint64_t number) {
    auto known = bounds.find(number);
    if (known != bounds.end()) {
      return known->second;
    }
    Node &node = nodes[number];
    if (node.callsItself || !underWay.insert(number).second) {
      return StackBound{-1, node.function + " calls itself", {}};
    }
    StackBound result = throughCalls(node);
    underWay.erase(number);
    bounds[number] = result;
    return result;
  }

  StackBound throughCalls(const Node &node) {
    bool isFunction = !node.function.empty();
    if (isFunction && node.frame < 0) {
      return StackBound{-1, "the frame of " + node.function + " has no fixed size", {}};
    }
    StackBound most{0, "", {}};
    for (uint64_t used : node.uses) {
      StackBound next = below(used);
      if (next.bytes < 0) {
        return next;
      }
      if (next.bytes > most.bytes) {
        most = std::move(next);
      }
    }
    for (StringRef name : node.outside) {
      int64_t bytes = bytesOutside(name);
      if (bytes < 0) {
        return StackBound{
            -1, node.function + " calls " + name.str() + ", which takes what its caller's program decides", {}};
      }
      if (name == "ingot_parallel_for") { // the bodies that it calls are among those that are referred to
        most.bytes += bytes;
        most.path.insert(most.path.begin(), {name.str(), bytes});
      }
    }
    for (StringRef name : node.outside) {
      if (int64_t bytes = bytesOutside(name); bytes > most.bytes) {
        most = {bytes, "", {{name.str(), bytes}}};
      }
    }
    if (isFunction) {
      int64_t frame = node.frame + lostBytes.lookup(node.function);
      most.bytes += frame;
      most.path.insert(most.path.begin(), {node.function, frame});
    }
    return most;
  }

  const ObjectFile &file;
  ArrayRef<StringLiteral> compilerCalls;
  StringMap<int64_t> lostBytes;
  std::map<uint64_t, Node> nodes; ///< by the section's number, whose order is the object's
  DenseMap<uint64_t, StackBound> bounds;
  DenseSet<uint64_t> underWay;
};

} // namespace

std::vector<FunctionSize> ingot::emit::overAlignedFrames(const Module &ir) {
  int64_t usual = ir.getDataLayout().getStackAlignment().valueOrOne().value();
  std::vector<FunctionSize> found;
  for (const Function &function : ir) {
    int64_t most = 1;
    for (const Instruction &instruction : instructions(function)) {
      if (const auto *array = dyn_cast<AllocaInst>(&instruction)) {
        most = std::max<int64_t>(most, array->getAlign().value());
      }
    }
    if (most > usual) {
      found.push_back({function.getName().str(), most - usual});
    }
  }
  return found;
}

Expected<StackBound> ingot::emit::boundStack(StringRef object, StringRef model, ArrayRef<StringLiteral> compilerCalls,
                                             ArrayRef<FunctionSize> overAligned) {
  auto file = ObjectFile::createObjectFile(MemoryBufferRef(object, ""));
  if (!file) {
    return file.takeError();
  }
  StackGraph graph(**file, compilerCalls, overAligned);
  if (Error error = graph.read()) {
    return error;
  }
  return graph.bound(model);
}
