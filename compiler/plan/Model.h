// What a compiled model is besides its code: names, types, sizes, and the bytes of its weights section. Plain data.
#pragma once
#include "compiler/support/Size.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace ingot::plan {

struct TensorInfo {
  std::string name;
  int32_t type = 0;    ///< ONNX's TensorProto.DataType number
  support::Sizes dims; ///< of the model's symbols
  support::Size bytes;
  /// Of an output with sizes that the run finds: what the caller makes room for, also in `bytes`. Empty: the dims.
  support::Sizes most = {};
  const support::Sizes &capacity() const { return most.empty() ? dims : most; }
  bool isOptional = false;  ///< an input that a run may leave out
  bool isAllocated = false; ///< an output that nothing bounds: the run gives the caller its memory; `bytes` is unknown
  int64_t device = 0;       ///< in whose memory the caller has it: 0 is the host's, n the n-th of ModelInfo::devices
  int64_t inPlaceOf = -1;   ///< the input in whose memory the caller may have this output written; -1: none
  /// The keys of an output that is made of maps: each row is a map, and each column has the key of its number here.
  std::vector<std::string> mapKeys = {};
  bool hasStringKeys = false; ///< else they are integers
};

/// A size that a run finds in data and gives back with its outputs.
struct DataDependentSizeInfo {
  std::string name;   ///< the text of the symbol in outputs' dims
  support::Size size; ///< of data-dependent sizes and symbols, as computed when the run ends
  support::Size most; ///< of the model's symbols; unknown: nothing bounds it
};

/// A size that the caller chooses for each run, through the shapes of the inputs or (the rows of a cache with room) by
/// itself.
struct SymbolInfo {
  std::string name;  ///< the symbol's text; support::symbolName() makes the model's name of it
  int64_t most = -1; ///< the largest that a run may have; -1: none is given
  int64_t least = 0;
  std::string from;                ///< where the model has it: "axis 0 of input 'x'", one behind the other
  std::string boundedBy;           ///< who gave it a bound: "--dim", "node 'n'"; empty when there is none
  std::vector<int64_t> sizes = {}; ///< for which there are variants of their own
  bool others = true;              ///< whether other sizes can run, too
  /// No size is within the bounds.
  bool isImpossible() const { return most >= 0 && least > most; }
};

/// What every run's sizes are checked for, and the ONNX node that says so: "a = b", "seq <= 512".
struct RequirementInfo {
  std::string text, node;
};

/// Memory of a size that nothing bounds, which the run asks its host for.
struct AllocationInfo {
  std::string node, bytes; ///< bytes: an expression of data-dependent sizes and symbols
  std::string why;         ///< who finds these sizes: "$0 is found by node 'n'"
  int64_t output = -1;     ///< the output that it is
  bool grows = false;      ///< by a slice in each iteration of a loop
};

/// A call of a kernel. Nodes are "name (Operator)", symbols those that its sizes are made of, operands the types of
/// what it reads and then of what it writes: "f32[1, 3, 8, 8]", and their layout where that is not row-major.
struct LaunchInfo {
  std::string kernel;
  std::vector<std::string> nodes, symbols, operands = {};
  std::string function = {}; ///< its name in the loop IR, which differs where variants have kernels of the same name
  support::Size macs = 0;    ///< multiplications with accumulation of its products and convolutions
  support::Size bytes = 0;   ///< of its operands and results
  /// Those of float32 that take as long as the kernel's own, and the bytes of operands that are weights.
  support::Size ownMacs = 0, weightBytes = 0;
  std::string choice = {}; ///< its algorithm, and what else there was, for people
};

/// One of the machines that a model was compiled for with --levels.
struct LevelInfo {
  std::string spec;
  int32_t number = 0;                          ///< as ingot_machine_level counts
  int64_t weightBytes = 0, ownWeightBytes = 0; ///< that its variant reads; those that no other variant does
};

/// A device with a memory of its own on which kernels run: the n-th of the functions' plan.devices has number n + 1.
struct DeviceInfo {
  std::string spec;
  int64_t workspaceBytes = 0;             ///< -1: depends on the symbols
  int64_t weightBytes = 0, weightsAt = 0; ///< its part of the weights section
};

/// One of several memories of the host, each of which has a part of the workspace.
struct MemoryInfo {
  std::string name;       ///< an identifier
  int64_t mostBytes = 0;  ///< that there are of it for a run
  int64_t wordCycles = 1; ///< what a read or write of a word costs, beside that of other memories
  /// Its part of the workspace, where this is one block.
  int64_t workspaceAt = 0, workspaceBytes = 0;
  int64_t trafficBytes = 0; ///< that a run reads and writes in it
};

/// Where the bytes of the weights are: in the object, in NAME.weights which the support library maps, wherever the
/// caller puts those of NAME.weights, or where a run reads them piece by piece, through a function of the caller's.
enum class WeightsPlace { Embed, File, Extern, Stream };

/// A read of streamed weights, by the kernel that waits for it.
struct ReadInfo {
  std::string kernel;
  int64_t at = 0, bytes = 0; ///< in NAME.weights
};

struct ModelInfo {
  std::string name;        ///< a C identifier
  std::string target;      ///< as resolved, "x86-64-v3"; several levels, or machines of one memory, with commas
  std::string triple = {}; ///< LLVM's
  std::vector<LevelInfo> levels = {}; ///< highest first; empty: the model is for one machine
  std::vector<DeviceInfo> devices = {};
  std::vector<TensorInfo> inputs, outputs;
  /// For each input and output of the ONNX model, how it stands among these tensors: a support::SequenceCode, or the
  /// length of a sequence whose elements are tensors of their own. The list is empty where all are tensors.
  std::vector<int64_t> inputSequences, outputSequences;
  bool makesStrings = false; ///< runs need ingot_exec.strings
  bool hostFallback = false; ///< runs without the devices take code for the host alone
  std::vector<SymbolInfo>
      symbols; ///< in the order in which they first occur in the inputs' dims, then those of no input
  std::vector<DataDependentSizeInfo>
      dataDependentSizes; ///< in the order in which they first occur in the outputs' dims
  /// -1: depends on the symbols; the loop IR's @NAME_plan computes it.
  int64_t workspaceBytes = 0;
  int64_t workspaceAlign = 64, weightBytes = 0;
  std::vector<MemoryInfo> memories = {}; ///< that share the workspace; empty: it is one block
  std::vector<std::string> nodes;        ///< names that an error status may carry, by index
  support::Size macs = 0;
  int64_t kernels = 0;
  int64_t arenaBytes = 0; ///< -1: depends on the symbols
  WeightsPlace weightsPlace = WeightsPlace::Embed;
  int64_t streamedBytes = 0; ///< of NAME.weights, where weights are streamed; `weightBytes` has the others
  /// Bytes of the workspace that streamed weights take at one time, at most; -1: they depend on the symbols.
  int64_t streamBytes = 0;
  std::vector<ReadInfo> reads; ///< of streamed weights, in the order in which they stand in the entry
  std::vector<RequirementInfo> requirements;
  std::vector<LaunchInfo> launches;        ///< in the order in which they stand in the entry
  std::vector<AllocationInfo> allocations; ///< empty: a run asks for no memory
  uint64_t weightHash = 0;                 ///< XXH64 of NAME.weights, where there is one

  /// Returns where the parts of the workspace begin; a run has a parameter for each.
  std::vector<int64_t> workspaceParts() const {
    std::vector<int64_t> parts;
    parts.reserve(memories.size());
    for (const MemoryInfo &memory : memories) {
      parts.push_back(memory.workspaceAt);
    }
    return parts.empty() ? std::vector<int64_t>{0} : parts;
  }
  /// Whether the host's weights, or those that are not streamed, are in the object.
  bool embedsWeights() const { return weightsPlace == WeightsPlace::Embed || weightsPlace == WeightsPlace::Stream; }
  /// Whether a run gets the address of its weights from ingot_exec.
  bool takesWeights() const { return !embedsWeights() && weightBytes > 0; }
  /// Whether a run gets a reader of weights from ingot_exec.
  bool streamsWeights() const { return streamedBytes > 0; }
};

/// The weights section: constants in the forms that kernels read. It has a part for the host and one for each device
/// with a memory of its own, one behind the other, each with what is read there. Bytes are made only while they are
/// written, one entry at a time, from the mapped model file through the packer into the object: they are never all in
/// memory twice.
class WeightTable {
public:
  /// Fills `to` (zeroed, the entry's size) from the constant's dense row-major bytes, aligned for any element.
  using Pack = std::function<void(llvm::ArrayRef<char> from, llvm::MutableArrayRef<char> to)>;
  /// The recipe of one operand: `key` names it uniquely (equal keys pack equally), `bytes` is the packed size.
  struct Recipe {
    std::string key;
    int64_t bytes = 0;
    Pack pack; ///< empty: a plain copy
  };

  /// Where constants begin, as the machine wants it (Platform::alignment); asked for before any is added.
  void setAlignment(int64_t bytes) { alignment = bytes; }
  /// Offset of the packed form of `source` in the device's part. The same source under the same recipe is stored once
  /// in each.
  int64_t add(mlir::ElementsAttr source, const Recipe &recipe, size_t device = 0);
  /// Who reads what is added from now on: a number below 64.
  void setReader(unsigned number) { reader = uint64_t(1) << number; }
  /// Bytes that the reader reads; with `only`, those that nobody else does.
  int64_t bytesOf(unsigned reader, bool only) const;
  /// From now on equal bytes under equal recipes are stored once, too.
  void shareEqual() { sharesEqual = true; }
  int64_t bytes() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t(0)); }
  /// A device's part of the section: where it begins, and its bytes.
  std::pair<int64_t, int64_t> part(size_t device) const {
    auto end = sizes.begin() + static_cast<ptrdiff_t>(std::min(device, sizes.size()));
    return {std::accumulate(sizes.begin(), end, int64_t(0)), end == sizes.end() ? 0 : *end};
  }
  /// Streams the section in order, in pieces.
  void write(llvm::function_ref<void(llvm::ArrayRef<char>)> sink) const;

  // Weights that a run reads piece by piece are in a section of their own, in the order in which they are read.

  /// The bytes that a constant of the host's part takes, with what is left free behind it. It begins at `offset`.
  int64_t bytesAt(int64_t offset) const;
  /// Copies the host's constants that begin at `offsets` to the streamed section, one behind the other, and returns
  /// where the first of them begins there. The same ones in the same order are there once.
  int64_t stream(llvm::ArrayRef<int64_t> offsets);
  /// Forgets the host's constants but for those that begin at `offsets`. Returns where they begin from now on.
  std::map<int64_t, int64_t> keep(const std::set<int64_t> &offsets);
  int64_t streamedBytes() const { return streamedEnd; }
  void writeStreamed(llvm::function_ref<void(llvm::ArrayRef<char>)> sink) const;

private:
  struct Constant {
    mlir::ElementsAttr source;
    Recipe recipe;
    int64_t offset;
    size_t device;
    uint64_t readers = 0;
  };
  const Constant &atOffset(int64_t offset) const;
  std::vector<Constant> entries;
  std::map<std::tuple<const void *, std::string, size_t>, size_t> known; ///< constant, recipe, device -> entry
  uint64_t reader = 1;
  int64_t alignment = 64;
  bool sharesEqual = false;
  std::multimap<std::pair<uint64_t, std::string>, size_t> byContent; ///< hash and recipe -> entry
  std::optional<size_t> equalTo(mlir::ElementsAttr source, const Recipe &recipe, size_t device);
  void pack(const Constant &entry, std::vector<char> &packed) const;
  std::vector<int64_t> sizes = {0}; ///< of the parts
  std::vector<Constant> streamed;
  std::map<std::vector<int64_t>, int64_t> reads; ///< offsets of stream() -> where these constants begin
  int64_t streamedEnd = 0;
};

} // namespace ingot::plan
