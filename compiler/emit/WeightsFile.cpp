// Writes NAME.weights. The file has nothing but the weights: no header that would move them, so that a program may map
// it, place it in flash or link it as it is. What it has to be stands in the model's descriptor, as a size and a hash:
// XXH64, computed piece by piece while the bytes go by. Equal weights in equal order are equal files, whatever the code
// beside them.
//
// XXH64 goes over stripes of 32 bytes with four states, one for each 8 bytes, and merges them; what is left at the end
// is mixed in as words of 8 and 4 bytes and single bytes. A stream does not come in stripes, so that what does not fill
// one is held back until there is more.
#include "compiler/emit/WeightsFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime4 = 0x85EBCA77C2B2AE63u;
constexpr size_t stripe = 32; ///< bytes

/// XXH64 of a stream; runtime_support/hosted/hash.c has the same for bytes in memory.
class StreamingHash {
public:
  void add(ArrayRef<char> bytes) {
    count += bytes.size();
    if (!held.empty()) {
      size_t more = std::min(stripe - held.size(), bytes.size());
      held.append(bytes.begin(), bytes.begin() + more);
      bytes = bytes.drop_front(more);
      if (held.size() == stripe) {
        mixStripe(held.data());
        held.clear();
      }
    }
    for (; bytes.size() >= stripe; bytes = bytes.drop_front(stripe)) {
      mixStripe(bytes.data());
    }
    held.append(bytes.begin(), bytes.end());
  }

  uint64_t finish() const {
    uint64_t hash = count >= stripe ? merged() : 0x27D4EB2F165667C5u;
    hash += count;
    ArrayRef<char> rest = held;
    for (; rest.size() >= 8; rest = rest.drop_front(8)) {
      hash = llvm::rotl(hash ^ lane(0, support::endian::read64le(rest.data())), 27) * prime1 + prime4;
    }
    if (rest.size() >= 4) {
      hash = llvm::rotl(hash ^ support::endian::read32le(rest.data()) * prime1, 23) * prime2 + 0x165667B19E3779F9u;
      rest = rest.drop_front(4);
    }
    for (char byte : rest) {
      hash = llvm::rotl(hash ^ uint8_t(byte) * 0x27D4EB2F165667C5u, 11) * prime1;
    }
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * 0x165667B19E3779F9u;
    return hash ^ hash >> 32;
  }

private:
  static uint64_t lane(uint64_t state, uint64_t input) { return llvm::rotl(state + input * prime2, 31) * prime1; }
  void mixStripe(const char *bytes) {
    for (unsigned i = 0; i < 4; ++i) {
      lanes[i] = lane(lanes[i], support::endian::read64le(bytes + 8 * i));
    }
  }
  uint64_t merged() const {
    uint64_t hash =
        llvm::rotl(lanes[0], 1) + llvm::rotl(lanes[1], 7) + llvm::rotl(lanes[2], 12) + llvm::rotl(lanes[3], 18);
    for (uint64_t state : lanes) {
      hash = (hash ^ lane(0, state)) * prime1 + prime4;
    }
    return hash;
  }

  uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
  uint64_t count = 0;
  SmallVector<char, stripe> held; ///< less than a stripe
};

} // namespace

Error ingot::emit::checkWritten(raw_fd_ostream &out, int64_t written, int64_t weightBytes) {
  if (written != weightBytes) {
    return createStringError("weights have " + Twine(written) + " bytes where " + Twine(weightBytes) +
                             " were announced");
  }
  out.flush();
  if (out.has_error()) {
    std::error_code code = out.error();
    out.clear_error();
    return createStringError(code, "cannot write: " + code.message());
  }
  return Error::success();
}

Expected<uint64_t> ingot::emit::writeWeightsFile(int64_t weightBytes, const WeightsSource &weights, int fd) {
  raw_fd_ostream out(fd, /*shouldClose=*/false);
  StreamingHash hash;
  int64_t written = 0;
  weights([&](ArrayRef<char> bytes) {
    out.write(bytes.data(), bytes.size());
    hash.add(bytes);
    written += bytes.size();
  });
  if (Error error = checkWritten(out, written, weightBytes)) {
    return error;
  }
  return hash.finish();
}
