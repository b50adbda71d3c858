#include "weyl/data/containers/byte_source.h"

#include <zlib.h>
#include <algorithm>
#include <array>
#include <cstring>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace {

class Plain : public ByteSource {
 public:
  explicit Plain(std::span<const std::byte> file) : rest_(file) {}
  size_t read(std::span<std::byte> out) override {
    const size_t size = std::min(out.size(), rest_.size());
    if (size > 0) {
      std::memcpy(out.data(), rest_.data(), size);
    }
    rest_ = rest_.subspan(size);
    return size;
  }

 private:
  std::span<const std::byte> rest_;
};

class Inflated : public ByteSource {
 public:
  template <class Packed>
  Inflated(Packed packed, std::string_view where) : reader_(std::move(packed), where) {}
  size_t read(std::span<std::byte> out) override { return reader_.read_sound(out); }
  std::string fault() const override { return reader_.fault(); }

 private:
  GzipReader reader_;
};

/// A file from its beginning to where it ended when it was opened: what grows meanwhile is not waited for.
class File : public ByteSource {
 public:
  explicit File(const std::string& path) : file_(path) {}
  size_t read(std::span<std::byte> out) override {
    const auto size = static_cast<size_t>(std::min<uint64_t>(out.size(), file_.size() - position_));
    const size_t got = file_.read(position_, out.first(size));
    position_ += got;
    shortened_ = shortened_ || got < size;
    return got;
  }
  std::string fault() const override {
    return shortened_ ? "the file must stay as it is while it is read, but was shortened" : "";
  }
  bool can_go() const override { return true; }
  void go_to(uint64_t byte) override {
    position_ = std::min(byte, file_.size());
    shortened_ = false;
  }

 private:
  InputFile file_;
  uint64_t position_ = 0;
  bool shortened_ = false;
};

/// Bytes that were read before the others.
class Prefixed : public ByteSource {
 public:
  Prefixed(std::vector<std::byte> first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), left_(first_), rest_(std::move(rest)) {}
  size_t read(std::span<std::byte> out) override {
    if (left_.empty()) {
      return rest_->read(out);
    }
    const size_t size = std::min(out.size(), left_.size());
    std::memcpy(out.data(), left_.data(), size);
    left_ = left_.subspan(size);
    return size;
  }
  std::string fault() const override { return rest_->fault(); }
  bool can_go() const override { return rest_->can_go(); }
  void go_to(uint64_t byte) override {
    left_ = {};
    rest_->go_to(byte);
  }

 private:
  std::vector<std::byte> first_;
  std::span<const std::byte> left_;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  std::unique_ptr<ByteSource> file = std::make_unique<File>(path);
  if (is_gzip(peek(file, 2))) {
    return std::make_unique<Inflated>(std::move(file), path);
  }
  return file;
}

std::unique_ptr<ByteSource> bytes_of(std::span<const std::byte> file, std::string_view where) {
  if (is_gzip(file)) {
    return std::make_unique<Inflated>(file, where);
  }
  return std::make_unique<Plain>(file);
}

std::vector<std::byte> peek(std::unique_ptr<ByteSource>& source, size_t most) {
  std::vector<std::byte> begin(most);
  size_t size = 0;
  for (size_t got = 1; got > 0 && size < most; size += got) {
    got = source->read(std::span(begin).subspan(size));
  }
  begin.resize(size);
  source = std::make_unique<Prefixed>(begin, std::move(source));
  return begin;
}

namespace {

constexpr int kGzipWindow = 15 + 16;        // zlib: the largest window, a gzip header;
constexpr int kEitherWindow = 15 + 32;      // or one of zlib, by the first byte
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
    require<DataError>(inflateInit2(&stream, kEitherWindow) == Z_OK, where,
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
