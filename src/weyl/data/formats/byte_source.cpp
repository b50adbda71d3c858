#include "weyl/data/formats/byte_source.h"

#include <algorithm>
#include <cstring>

#include "weyl/core/input_file.h"
#include "weyl/data/formats/gzip.h"

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

}  // namespace weyl
