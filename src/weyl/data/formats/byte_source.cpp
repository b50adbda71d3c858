#include "weyl/data/formats/byte_source.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "weyl/core/mapped_file.h"
#include "weyl/data/formats/gzip.h"

namespace weyl {
namespace {

constexpr size_t kReleased = size_t{1} << 24;  // bytes at a time

/// Of a file in memory, or inflated from it.
class Memory : public ByteSource {
 public:
  Memory(std::span<const std::byte> file, std::string_view where) : file_(file) {
    if (is_gzip(file)) {
      inflated_.emplace(file, where);
    }
  }
  size_t read(std::span<std::byte> out) override {
    if (inflated_) {
      return inflated_->read(out);
    }
    const size_t size = std::min(out.size(), file_.size() - read_);
    if (size > 0) {
      std::memcpy(out.data(), file_.data() + read_, size);
    }
    read_ += size;
    return size;
  }
  /// Bytes of the file that are not needed again.
  size_t taken() const { return inflated_ ? inflated_->taken() : read_; }

 private:
  std::span<const std::byte> file_;
  std::optional<GzipReader> inflated_;
  size_t read_ = 0;
};

class File : public ByteSource {
 public:
  explicit File(const std::string& path) : file_(path), bytes_(file_.bytes(), path) {}
  size_t read(std::span<std::byte> out) override {
    const size_t size = bytes_.read(out);
    if (const size_t taken = bytes_.taken(); taken - released_ >= kReleased) {
      file_.release(released_, taken);
      released_ = taken;
    }
    return size;
  }

 private:
  MappedFile file_;
  Memory bytes_;
  size_t released_ = 0;
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

 private:
  std::vector<std::byte> first_;
  std::span<const std::byte> left_;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return std::make_unique<File>(path);
}

std::unique_ptr<ByteSource> bytes_of(std::span<const std::byte> file, std::string_view where) {
  return std::make_unique<Memory>(file, where);
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

}  // namespace weyl
