// C++17 helpers around ingot.h: views of the caller's data, a workspace that frees itself, errors as values, a thread
// pool. It is header only, and works without exceptions and RTTI. A run through these helpers allocates nothing and
// checks everything that ingot_run checks, and element types besides.
//
//   ingot::Runner net(squeezenet_model());                    // one for each thread that runs the model
//   ingot::Status status = net.run({image}, {scores});        // anything with data() and size(), or an array
//   if (!status.ok()) { puts(status.message().c_str()); }
//
// A model with symbols takes their values, in the order of ingot_model.symbols, behind the outputs:
//
//   ingot::Runner net(bert_model());
//   net.reserve({8, 512});                                    // batch, sequence: the largest that will come
//   status = net.run({ids, mask}, {hidden}, {1, 17});
//
// ThreadPool and WeightsFile use the hosted part of libingot_rt.a (link ingot::threads in CMake); the rest needs the
// core only.
#ifndef INGOT_HPP
#define INGOT_HPP

#include "ingot.h"
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ingot {

/// The outcome of a call: 0, or what went wrong and where.
class [[nodiscard]] Status {
public:
  Status(int code = 0, const ingot_model *model = nullptr) : value(code), about(model) {}

  bool ok() const { return value == 0; }
  int code() const { return value; }
  ingot_error_kind kind() const { return static_cast<ingot_error_kind>(INGOT_STATUS_KIND(value)); }
  /// Returns the number of the argument or node that the error is about (see ingot_error_kind); -1: none.
  int number() const { return INGOT_STATUS_NUMBER(value); }

  /// Returns a sentence with the names of the model and of the tensor or node.
  std::string message() const {
    std::string text(ingot_error_text(about, value, nullptr, 0), '\0');
    ingot_error_text(about, value, text.data(), text.size() + 1);
    return text;
  }

private:
  int value;
  const ingot_model *about;
};

/// A view of `size` elements in the caller's memory, made from a pointer and a size, an array, or anything with data()
/// and size().
template <typename T> class Span {
public:
  constexpr Span() = default;
  constexpr Span(T *data, std::size_t size) : pointer(data), count(size) {}
  template <std::size_t N> constexpr Span(T (&array)[N]) : pointer(array), count(N) {}
  template <typename Container,
            typename = std::enable_if_t<std::is_convertible_v<
                std::remove_pointer_t<decltype(std::declval<Container &>().data())> (*)[], T (*)[]>>>
  constexpr Span(Container &&container) : pointer(container.data()), count(container.size()) {}

  constexpr T *data() const { return pointer; }
  constexpr std::size_t size() const { return count; }
  constexpr T *begin() const { return pointer; }
  constexpr T *end() const { return pointer + count; }
  constexpr T &operator[](std::size_t i) const { return pointer[i]; }

private:
  T *pointer = nullptr;
  std::size_t count = 0;
};

/// A float of 16 bits, for which C++17 has no type, as the bits that the tensor holds.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
/// A float of 8 bits, as the bits that the tensor holds.
struct Float8E4M3FN {
  std::uint8_t bits;
};
struct Float8E4M3FNUZ {
  std::uint8_t bits;
};
struct Float8E5M2 {
  std::uint8_t bits;
};
struct Float8E5M2FNUZ {
  std::uint8_t bits;
};
struct Float8E8M0 {
  std::uint8_t bits;
};
/// A byte that holds several elements, the first one in the lowest bits. A tensor has (elements + 1) / 2 or (elements +
/// 3) / 4 of these.
struct Int4x2 {
  std::uint8_t bits;
};
struct UInt4x2 {
  std::uint8_t bits;
};
struct Float4E2M1x2 {
  std::uint8_t bits;
};
struct Int2x4 {
  std::uint8_t bits;
};
struct UInt2x4 {
  std::uint8_t bits;
};

/// An element of a tensor of strings: a view, which has the layout of ingot_string.
struct String : ingot_string {
  String() : ingot_string{nullptr, 0} {}
  String(std::string_view text) : ingot_string{text.data(), static_cast<std::int64_t>(text.size())} {}
  template <typename Text, typename = std::enable_if_t<std::is_convertible_v<const Text &, std::string_view>>>
  String(const Text &text) : String(std::string_view(text)) {}
  operator std::string_view() const { return {data, static_cast<std::size_t>(size)}; }
};
static_assert(sizeof(String) == 16 && sizeof(String) == sizeof(ingot_string), "tensors hold 16 bytes a string");

namespace detail {
template <typename T> struct ElementType;
template <> struct ElementType<float> : std::integral_constant<std::int32_t, INGOT_FLOAT32> {};
template <> struct ElementType<double> : std::integral_constant<std::int32_t, INGOT_FLOAT64> {};
template <> struct ElementType<Float16> : std::integral_constant<std::int32_t, INGOT_FLOAT16> {};
template <> struct ElementType<BFloat16> : std::integral_constant<std::int32_t, INGOT_BFLOAT16> {};
template <> struct ElementType<Float8E4M3FN> : std::integral_constant<std::int32_t, INGOT_FLOAT8E4M3FN> {};
template <> struct ElementType<Float8E4M3FNUZ> : std::integral_constant<std::int32_t, INGOT_FLOAT8E4M3FNUZ> {};
template <> struct ElementType<Float8E5M2> : std::integral_constant<std::int32_t, INGOT_FLOAT8E5M2> {};
template <> struct ElementType<Float8E5M2FNUZ> : std::integral_constant<std::int32_t, INGOT_FLOAT8E5M2FNUZ> {};
template <> struct ElementType<Float8E8M0> : std::integral_constant<std::int32_t, INGOT_FLOAT8E8M0> {};
template <> struct ElementType<Int4x2> : std::integral_constant<std::int32_t, INGOT_INT4> {};
template <> struct ElementType<UInt4x2> : std::integral_constant<std::int32_t, INGOT_UINT4> {};
template <> struct ElementType<Float4E2M1x2> : std::integral_constant<std::int32_t, INGOT_FLOAT4E2M1> {};
template <> struct ElementType<Int2x4> : std::integral_constant<std::int32_t, INGOT_INT2> {};
template <> struct ElementType<UInt2x4> : std::integral_constant<std::int32_t, INGOT_UINT2> {};
template <> struct ElementType<bool> : std::integral_constant<std::int32_t, INGOT_BOOL> {};
template <> struct ElementType<std::int8_t> : std::integral_constant<std::int32_t, INGOT_INT8> {};
template <> struct ElementType<std::int16_t> : std::integral_constant<std::int32_t, INGOT_INT16> {};
template <> struct ElementType<std::int32_t> : std::integral_constant<std::int32_t, INGOT_INT32> {};
template <> struct ElementType<std::int64_t> : std::integral_constant<std::int32_t, INGOT_INT64> {};
template <> struct ElementType<std::uint8_t> : std::integral_constant<std::int32_t, INGOT_UINT8> {};
template <> struct ElementType<std::uint16_t> : std::integral_constant<std::int32_t, INGOT_UINT16> {};
template <> struct ElementType<std::uint32_t> : std::integral_constant<std::int32_t, INGOT_UINT32> {};
template <> struct ElementType<std::uint64_t> : std::integral_constant<std::int32_t, INGOT_UINT64> {};
template <> struct ElementType<String> : std::integral_constant<std::int32_t, INGOT_STRING> {};
template <> struct ElementType<ingot_string> : std::integral_constant<std::int32_t, INGOT_STRING> {};
static_assert(sizeof(bool) == 1, "tensors hold one byte a boolean");

template <typename Range> using Element = std::remove_pointer_t<decltype(Span(std::declval<Range>()).data())>;
} // namespace detail

template <typename T, std::size_t N> Span(T (&)[N]) -> Span<T>;
template <typename Container>
Span(Container &&) -> Span<std::remove_pointer_t<decltype(std::declval<Container &>().data())>>;

/// One input of a run: elements that are only read, and their type.
struct Input {
  template <typename Range, typename T = std::remove_const_t<detail::Element<Range &>>,
            std::int32_t Type = detail::ElementType<T>::value>
  Input(const Range &range) : type(Type) {
    Span<const T> elements(range);
    buffer = {const_cast<T *>(elements.data()), static_cast<std::int64_t>(elements.size())};
  }
  ingot_buffer buffer;
  std::int32_t type;
};

/// One output of a run: elements that are written, and their type.
struct Output {
  template <typename Range, typename T = detail::Element<Range &>, std::int32_t Type = detail::ElementType<T>::value>
  Output(Range &range) : type(Type) {
    Span<T> elements(range);
    buffer = {elements.data(), static_cast<std::int64_t>(elements.size())};
  }
  ingot_buffer buffer;
  std::int32_t type;
};

/// Lets runs that ask for memory have it from the heap, unless `exec` says where they get it.
inline void allocateOnHeap(ingot_exec &exec) {
  if (!exec.allocate) {
    exec.allocate = ingot_heap_allocate;
    exec.release = ingot_heap_release;
  }
}

/// Memory for runs that ask for it, kept from run to run, for one thread. Memory that it gave must be released before
/// it ends.
class Heap {
public:
  Heap() = default;
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;
  ~Heap() { ingot_heap_clear(&heap); }

  /// Lets runs on `exec` have memory from here.
  void serve(ingot_exec &exec) {
    exec.allocator = &heap;
    exec.allocate = ingot_heap_allocate;
    exec.release = ingot_heap_release;
  }

private:
  ingot_heap heap = {nullptr, 0};
};

/// The strings that runs make; they live until the next run that is served, clear(), or the end of this object.
class Strings {
public:
  Strings() = default;
  Strings(const Strings &) = delete;
  Strings &operator=(const Strings &) = delete;
  ~Strings() { ingot_strings_release(&host); }

  /// Lets a run on `exec` make strings here, in memory that its `allocate` gives, or the heap where there is none.
  void serve(ingot_exec &exec) {
    allocateOnHeap(exec);
    if (exec.allocator != host.allocator || exec.release != host.release) {
      ingot_strings_release(&host);
    }
    exec.strings = &made;
    host = exec;
    clear();
  }
  /// Forgets all strings; their memory stays for the next run.
  void clear() { ingot_strings_clear(&host); }

private:
  ingot_exec host = {};
  ingot_strings made = {nullptr, 0, 0, nullptr};
};

/// An output that the run allocates, because nothing bounds its sizes. It is released with the object.
template <typename T> class Allocated {
public:
  Allocated() = default;
  Allocated(Allocated &&other) noexcept { swap(other); }
  Allocated &operator=(Allocated &&other) noexcept {
    Allocated(std::move(other)).swap(*this);
    return *this;
  }
  ~Allocated() {
    if (pointer) {
      host.release(host.allocator, pointer);
    }
  }

  /// Returns the elements; null unless the last run succeeded.
  T *data() const { return static_cast<T *>(pointer); }
  T &operator[](std::size_t i) const { return data()[i]; }
  /// Returns what a run on `exec` takes for this output.
  ingot_buffer receive(const ingot_exec &exec) {
    Allocated().swap(*this);
    host = exec;
    return {&pointer, 0};
  }

private:
  void swap(Allocated &other) {
    std::swap(pointer, other.pointer);
    std::swap(host, other.host);
  }
  void *pointer = nullptr;
  ingot_exec host = {};
};

/// The values of a model's symbols, in their order: {8, 128}, or anything with data() and size() of std::int64_t; {}
/// for a model without. This is a view like Span, so a list in braces is good for one call.
class Sizes {
public:
  constexpr Sizes() = default;
  constexpr Sizes(std::initializer_list<std::int64_t> values) : span(values.begin(), values.size()) {}
  template <typename Range, typename = std::enable_if_t<std::is_convertible_v<const Range &, Span<const std::int64_t>>>>
  constexpr Sizes(const Range &range) : span(range) {}

  /// Returns the values for the C functions; null when there are none.
  constexpr const std::int64_t *data() const { return span.data(); }
  constexpr std::size_t size() const { return span.size(); }

private:
  Span<const std::int64_t> span;
};

/// Scratch memory for one run at a time. Test it after construction: false when there was no memory.
class Workspace {
public:
  Workspace() = default;
  Workspace(std::size_t bytes, std::size_t align) : count(bytes), alignment(align) {
    if (bytes > 0) {
      pointer = ::operator new(bytes, std::align_val_t(align), std::nothrow);
#ifdef __linux__
      ingot_prefer_large_pages(pointer, std::int64_t(bytes));
#endif
    }
  }
  Workspace(Workspace &&other) noexcept { swap(other); }
  Workspace &operator=(Workspace &&other) noexcept {
    Workspace(std::move(other)).swap(*this);
    return *this;
  }
  ~Workspace() {
    if (pointer) {
      ::operator delete(pointer, std::align_val_t(alignment));
    }
  }

  explicit operator bool() const { return pointer || count == 0; }
  void *data() const { return pointer; }
  std::size_t size() const { return count; }

private:
  void swap(Workspace &other) {
    std::swap(pointer, other.pointer);
    std::swap(count, other.count);
    std::swap(alignment, other.alignment);
  }
  void *pointer = nullptr;
  std::size_t count = 0, alignment = 1;
};

/// A compiled model: what NAME_model() returns, as a class. It is as cheap to copy as a pointer.
class Model {
public:
  Model(const ingot_model *model) : pointer(model) {}

  const ingot_model *get() const { return pointer; }
  /// Whether the model was compiled for the version of ingot.h that this program is built with. Functions that return a
  /// status check it; of a model that does not fit, nothing else may be asked.
  bool fits() const { return pointer->abi == INGOT_ABI; }
  const char *name() const { return pointer->name; }
  const char *target() const { return pointer->target; }
  Span<const ingot_tensor_info> inputs() const { return {pointer->inputs, std::size_t(pointer->input_count)}; }
  Span<const ingot_tensor_info> outputs() const { return {pointer->outputs, std::size_t(pointer->output_count)}; }
  Span<const ingot_symbol_info> symbols() const { return {pointer->symbols, std::size_t(pointer->symbol_count)}; }

  /// Finds the sizes of a run whose inputs have these shapes; `sizes` has room for all symbols.
  Status bind(Span<const ingot_shape> inputs, Span<std::int64_t> sizes) const {
    if (!fits()) {
      return {INGOT_ERROR_ABI, pointer};
    }
    if (sizes.size() != symbols().size()) {
      return {INGOT_ERROR_COUNT, pointer};
    }
    return {ingot_bind(pointer, inputs.data(), std::int32_t(inputs.size()), sizes.data()), pointer};
  }
  /// Computes what follows from the sizes; see ingot_plan.
  Status plan(Sizes sizes, std::int64_t *dims, std::int64_t *workspaceBytes) const {
    if (!fits()) {
      return {INGOT_ERROR_ABI, pointer};
    }
    if (sizes.size() != symbols().size()) {
      return {INGOT_ERROR_COUNT, pointer};
    }
    return {ingot_plan(pointer, sizes.data(), dims, workspaceBytes), pointer};
  }
  /// Returns the bytes that a run with these sizes needs; 0 when the model cannot run with them.
  std::size_t workspaceBytes(Sizes sizes = {}) const {
    std::int64_t bytes = 0;
    return plan(sizes, nullptr, &bytes).ok() ? std::size_t(bytes) : 0;
  }
  Workspace makeWorkspace(Sizes sizes = {}) const {
    return {workspaceBytes(sizes), std::size_t(pointer->workspace_align)};
  }

  /// Makes `workspace` as large as a run with these sizes needs, unless it is already.
  Status reserve(Workspace &workspace, Sizes sizes) const {
    std::int64_t bytes = 0;
    Status status = plan(sizes, nullptr, &bytes);
    if (status.ok() && (!workspace || std::size_t(bytes) > workspace.size())) {
      workspace = Workspace(std::size_t(bytes), std::size_t(pointer->workspace_align));
    }
    return status.ok() && !workspace ? Status(INGOT_ERROR_MEMORY, pointer) : status;
  }

  /// Runs on buffers, for whose element types the caller vouches.
  Status runBuffers(Span<const ingot_buffer> inputs, Span<const ingot_buffer> outputs, Sizes sizes,
                    const Workspace &workspace, const ingot_exec *exec = nullptr) const {
    if (!fits()) {
      return {INGOT_ERROR_ABI, pointer};
    }
    if (pointer->found_count > 0) {
      return {INGOT_ERROR_COUNT, pointer};
    }
    // A run only writes sizes that it finds, of which there are none.
    Span<std::int64_t> all(const_cast<std::int64_t *>(sizes.data()), sizes.size());
    return runFinding(inputs, outputs, all, workspace, exec);
  }
  /// Runs any model on buffers: `sizes` are the values of the symbols, then room for those that the run finds.
  Status runFinding(Span<const ingot_buffer> inputs, Span<const ingot_buffer> outputs, Span<std::int64_t> sizes,
                    const Workspace &workspace, const ingot_exec *exec = nullptr) const {
    if (!fits()) {
      return {INGOT_ERROR_ABI, pointer};
    }
    if (!workspace) {
      return {INGOT_ERROR_MEMORY, pointer};
    }
    if (sizes.size() != symbols().size() + std::size_t(pointer->found_count)) {
      return {INGOT_ERROR_COUNT, pointer};
    }
    return {ingot_run(pointer, inputs.data(), std::int32_t(inputs.size()), outputs.data(), std::int32_t(outputs.size()),
                      sizes.data(), workspace.data(), workspace.size(), exec),
            pointer};
  }

  /// Runs on typed views: model.run({image}, {scores}, workspace).
  template <std::size_t In, std::size_t Out>
  Status run(const Input (&inputs)[In], const Output (&outputs)[Out], const Workspace &workspace,
             const ingot_exec *exec = nullptr) const {
    return run(inputs, outputs, {}, workspace, exec);
  }
  /// Runs a model with symbols on typed views: model.run({ids}, {hidden}, {1, 17}, workspace).
  template <std::size_t In, std::size_t Out>
  Status run(const Input (&inputs)[In], const Output (&outputs)[Out], Sizes sizes, const Workspace &workspace,
             const ingot_exec *exec = nullptr) const {
    ingot_buffer in[In], out[Out];
    if (!fits()) {
      return {INGOT_ERROR_ABI, pointer};
    }
    if (int status = collect(inputs, this->inputs(), in, 0)) {
      return {status, pointer};
    }
    if (int status = collect(outputs, this->outputs(), out, In)) {
      return {status, pointer};
    }
    return runBuffers(in, out, sizes, workspace, exec);
  }

private:
  /// Copies the buffers of `tensors`. An error names the first whose type is not the model's; counts are checked by
  /// ingot_run.
  template <typename Tensor, std::size_t N>
  static int collect(const Tensor (&tensors)[N], Span<const ingot_tensor_info> infos, ingot_buffer (&buffers)[N],
                     std::size_t first) {
    for (std::size_t i = 0; i < N; ++i) {
      if (i < infos.size() && tensors[i].type != infos[i].type) {
        return INGOT_STATUS(INGOT_ERROR_TYPE, first + i);
      }
      buffers[i] = tensors[i].buffer;
    }
    return 0;
  }
  const ingot_model *pointer;
};

/// A model with a workspace of its own: what one thread needs. It is not for several threads at once; make one for
/// each.
class Runner {
public:
  /// Allocates the workspace of a model without symbols. If that fails, every run says so. `weights`, for a model that
  /// has them apart, must outlive the runner: WeightsFile::data(), or any place with the bytes of NAME.weights; for one
  /// that streams them it is an ingot_reader.
  explicit Runner(Model model, const ingot_exec *host = nullptr, const void *weights = nullptr)
      : what(model), workspace(model.makeWorkspace()), exec(host ? *host : ingot_exec{}) {
    exec.weights = weights ? weights : exec.weights;
  }

  const Model &model() const { return what; }

  /// Makes the workspace as large as a run with these sizes needs, unless it is already. A run that needs more than was
  /// ever reserved returns an error.
  Status reserve(Sizes sizes) { return what.reserve(workspace, sizes); }

  /// Runs the model: net.run({first, second}, {output}), with the values of the symbols behind it for a model that has
  /// some. It allocates nothing.
  template <std::size_t In, std::size_t Out>
  Status run(const Input (&inputs)[In], const Output (&outputs)[Out], Sizes sizes = {}) const {
    return what.run(inputs, outputs, sizes, workspace, &exec);
  }

private:
  Model what;
  Workspace workspace;
  ingot_exec exec;
};

/// Threads for runs: pass exec() to a run. Any number of runs may share them.
class ThreadPool {
public:
  /// Makes the pool. `threads` counts the calling thread; 0: all processors that this process may use.
  explicit ThreadPool(int threads = 0) : pool(ingot_pool_create(threads)) {}
  ThreadPool(ThreadPool &&other) noexcept : pool(std::exchange(other.pool, nullptr)) {}
  ThreadPool &operator=(ThreadPool &&other) noexcept {
    std::swap(pool, other.pool);
    return *this;
  }
  ~ThreadPool() { ingot_pool_destroy(pool); }

  /// Returns what to hand to a run; null when there was no memory for a pool, in which case runs use the calling thread
  /// only.
  const ingot_exec *exec() const { return ingot_pool_exec(pool); }
  int threads() const { return exec() ? exec()->threads(exec()->context) : 1; }

private:
  ingot_pool *pool;
};

/// A mapped weights file, checked by size and hash. `status` says whether there is one.
class WeightsFile {
public:
  WeightsFile(const char *path, std::int64_t bytes, std::uint64_t hash)
      : result(ingot_weights_map(path, bytes, hash, &weights)), given(weights.data) {}
  /// Maps the weights of a model that was compiled with --weights=file, extern or stream. For the latter data() is a
  /// reader that copies from the mapped file.
  WeightsFile(Model model, const char *path) : result(ingot_weights_load(model.get(), path, &weights), model.get()) {
    given = result.ok() ? ingot_weights_for(model.get(), &weights, &copies) : nullptr;
  }
  WeightsFile(const WeightsFile &) = delete;
  WeightsFile &operator=(const WeightsFile &) = delete;
  ~WeightsFile() { ingot_weights_unmap(&weights); }

  Status status() const { return result; }
  /// Returns what ingot_exec.weights has to be.
  const void *data() const { return given; }
  /// Returns the reader of streamed weights, which the model's own class takes.
  const ingot_reader &reader() const { return copies; }
  std::int64_t size() const { return weights.bytes; }

private:
  ingot_weights weights = {nullptr, 0};
  ingot_reader copies = {};
  Status result;
  const void *given = nullptr;
};

/// A device made ready for runs of a model: the memory of the device that these need, with a copy of the weights. Put
/// the uses of all devices, in the order of ingot_model.devices, into ingot_exec.devices.
class DeviceUse {
public:
  /// Makes a device ready for runs with `sizes`. `number` is that of the device in ingot_model.devices, and `weights`
  /// are as in ingot_exec. `device` has to live as long as this object.
  DeviceUse(Model model, std::int32_t number, const ingot_device &device, Sizes sizes = {},
            const void *weights = nullptr) {
    std::int64_t bytes = 0;
    result = {ingot_device_bytes(model.get(), sizes.data(), number, &bytes), model.get()};
    if (result.ok()) {
      result = {ingot_device_open(model.get(), number, bytes, weights, &device, &memory), model.get()};
    }
  }
  DeviceUse(const DeviceUse &) = delete;
  DeviceUse &operator=(const DeviceUse &) = delete;
  ~DeviceUse() { ingot_device_close(&memory); }

  Status status() const { return result; }
  const ingot_device_use &use() const { return memory; }

private:
  ingot_device_use memory = {};
  Status result;
};

} // namespace ingot

#endif
