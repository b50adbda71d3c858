#include "weyl/data/formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr int kGzipWindow = 15 + 16;        // zlib: the largest window, a gzip header
constexpr size_t kMostAtOnce = 1UL << 30U;  // zlib counts in 32 bits
constexpr size_t kPiece = size_t{1} << 16;  // of a file that is read piece by piece

unsigned char* zlib_bytes(const std::byte* p) {
  return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(p));  // zlib does not write it
}

}  // namespace

bool is_gzip(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{0x1f} && file[1] == std::byte{0x8b};
}

struct GzipReader::State {
  std::span<const std::byte> file;     // in memory,
  std::unique_ptr<ByteSource> source;  // or null, and
  std::vector<std::byte> piece;        // what was read of it last
  std::string where, fault;
  z_stream stream{};
  size_t position = 0;
  bool drained = false, ended = false;

  explicit State(std::string_view place) : where(place) {
    require<DataError>(inflateInit2(&stream, kGzipWindow) == Z_OK, where,
                       ": there is no memory to inflate it");
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Sees to it that zlib has so many bytes of the file, if there are.
  void feed(size_t least) {
    while (stream.avail_in < least && !drained) {
      source != nullptr ? read_on() : step_on();
    }
  }

  void step_on() {
    if (stream.avail_in == 0) {
      stream.next_in = zlib_bytes(file.data() + position);
    }
    const size_t size = std::min(file.size() - position, kMostAtOnce);
    stream.avail_in += static_cast<uInt>(size);
    position += size;
    drained = position == file.size();
  }

  void read_on() {
    std::copy_n(stream.next_in, stream.avail_in, zlib_bytes(piece.data()));
    const size_t size = source->read(std::span(piece).subspan(stream.avail_in));
    stream.next_in = zlib_bytes(piece.data());
    stream.avail_in += static_cast<uInt>(size);
    drained = size == 0;
  }

  /// After a member: another one, or the end.
  void next_member() {
    constexpr size_t magic = 2;
    feed(magic);
    const std::span rest(reinterpret_cast<const std::byte*>(stream.next_in), stream.avail_in);
    ended = !is_gzip(rest);  // what follows and is no member is padding
    if (!ended) {
      inflateReset(&stream);
    }
  }
};

GzipReader::GzipReader(std::span<const std::byte> file, std::string_view where)
    : state_(std::make_unique<State>(where)) {
  state_->file = file;
}

GzipReader::GzipReader(std::unique_ptr<ByteSource> file, std::string_view where)
    : state_(std::make_unique<State>(where)) {
  state_->source = std::move(file);
  state_->piece.resize(kPiece);
}

GzipReader::~GzipReader() = default;

size_t GzipReader::read(std::span<std::byte> out) {
  const size_t size = read_sound(out);
  require<DataError>(state_->fault.empty(), state_->where, ": ", state_->fault);
  return size;
}

size_t GzipReader::read_sound(std::span<std::byte> out) {
  State& s = *state_;
  size_t done = 0;
  while (done < out.size() && !s.ended) {
    s.feed(1);
    const size_t size = std::min(out.size() - done, kMostAtOnce);
    s.stream.next_out = zlib_bytes(out.data() + done);
    s.stream.avail_out = static_cast<uInt>(size);
    const int code = inflate(&s.stream, Z_NO_FLUSH);
    done += size - s.stream.avail_out;
    if (code == Z_STREAM_END) {
      s.next_member();
      continue;
    }
    const bool more = s.stream.avail_out == 0 || !s.drained || s.stream.avail_in > 0;
    if (code == Z_BUF_ERROR || (code == Z_OK && !more)) {
      s.fault = s.source != nullptr ? s.source->fault() : "";
      s.fault = s.fault.empty() ? "the gzip stream is truncated" : s.fault;
    } else if (code != Z_OK) {
      s.fault = text("the gzip stream is corrupt (",
                     s.stream.msg != nullptr ? s.stream.msg : "no reason given", ")");
    }
    s.ended = !s.fault.empty();
  }
  return done;
}

const std::string& GzipReader::fault() const {
  return state_->fault;
}

void GzipReader::finish() {
  std::array<std::byte, 1U << 16U> scratch;
  while (read(scratch) > 0) {
  }
}

uint64_t GzipReader::most_bytes() const {
  return static_cast<uint64_t>(state_->file.size()) * most_gzip_ratio;
}

std::vector<std::byte> gzip(std::span<const std::byte> bytes, std::string_view where) {
  z_stream stream{};
  constexpr int kLevel = 6, kMemory = 8;
  require<DataError>(
      deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) == Z_OK, where,
      ": there is no memory to compress it");
  std::vector<std::byte> result(deflateBound(&stream, bytes.size()));
  size_t position = 0, done = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    if (stream.avail_in == 0 && position < bytes.size()) {
      const size_t size = std::min(bytes.size() - position, kMostAtOnce);
      stream.next_in = zlib_bytes(bytes.data() + position);
      stream.avail_in = static_cast<uInt>(size);
      position += size;
    }
    const size_t size = std::min(result.size() - done, kMostAtOnce);
    stream.next_out = zlib_bytes(result.data() + done);
    stream.avail_out = static_cast<uInt>(size);
    code = deflate(&stream, position == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    done += size - stream.avail_out;
  }
  deflateEnd(&stream);
  require<DataError>(code == Z_STREAM_END, where, ": cannot be compressed (zlib code ", code, ")");
  result.resize(done);
  return result;
}

}  // namespace weyl
