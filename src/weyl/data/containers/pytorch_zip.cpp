// The archive: NAME/data.pkl, NAME/data/<key> (one file a storage, stored), NAME/byteorder ("little" or
// "big").
#include "weyl/data/containers/pytorch_zip.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/pickled_tensors.h"

namespace weyl {
namespace {

constexpr std::string_view pickle_name = "data.pkl";

std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The same bytes, unless they are known to be something else: DataError that says what.
std::span<const std::byte> not_of_another_format(std::span<const std::byte> bytes, std::string_view where) {
  const std::string_view file = text_of_bytes(bytes);
  // Protocol 2, then the legacy format's magic number as a LONG1; before 0.1.10 it was a tar archive.
  const bool legacy = file.starts_with("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") ||
                      (file.size() > 262 && file.substr(257, 5) == "ustar");
  require<DataError>(!legacy, where,
                     ": is of PyTorch's legacy format; convert it with python -c \"import torch; "
                     "torch.save(torch.load('OLD', map_location='cpu', weights_only=True), 'NEW')\"");
  require<DataError>(!file.starts_with('\x80'), where,
                     ": is a plain pickle; a PyTorch checkpoint is a zip archive");
  return bytes;
}

/// "NAME/" of the one entry NAME/data.pkl.
std::string root_of(const ZipArchive& archive, std::string_view where) {
  const std::string* root = nullptr;
  for (const auto& entry : archive.entries()) {
    const auto slash = entry.name.find('/');
    if (slash != std::string::npos && std::string_view(entry.name).substr(slash + 1) == pickle_name) {
      require<DataError>(root == nullptr, where, ": must hold one data.pkl, got ",
                         quote(root == nullptr ? "" : *root), " and ", quote(entry.name));
      root = &entry.name;
    }
  }
  require<DataError>(root != nullptr, where, ": is a zip archive without data.pkl, not a PyTorch checkpoint");
  return root->substr(0, root->size() - pickle_name.size());
}

}  // namespace

PytorchArchive::PytorchArchive(std::span<const std::byte> file, std::string_view where)
    : where_(where),
      limit_((uint64_t{64} << 20) + 16 * file.size()),
      archive_(not_of_another_format(file, where), where, limit_),
      root_(root_of(archive_, where)) {
  require<DataError>(!archive_.find(root_ + "constants.pkl"), where_,
                     ": is a TorchScript archive; save the module's state_dict() instead");
  if (const auto entry = archive_.find(root_ + "byteorder")) {
    const auto bytes = archive_.unpack(*entry);
    big_endian_ = text_of_bytes(bytes) == "big";
    require<DataError>(big_endian_ || text_of_bytes(bytes) == "little", where_,
                       ": byteorder must be little or big, got ", quote(text_of_bytes(bytes), 20));
  }
}

std::vector<std::byte> PytorchArchive::pickle() {
  return archive_.unpack(archive_.find(root_ + std::string(pickle_name)).value());
}

std::vector<NamedArray> PytorchArchive::arrays(const std::vector<PickledTensor>& views) {
  const auto storage = [&](std::string_view key) {
    const auto entry = archive_.find(text(root_, "data/", key));
    require<DataError>(entry.has_value(), where_, ": no storage ", quote(key));
    return archive_.unpack(*entry);
  };
  return arrays_of(views, storage, big_endian_, limit_, where_);
}

std::vector<NamedArray> parse_pytorch_zip(std::span<const std::byte> file, std::string_view where) {
  PytorchArchive archive(file, where);
  const std::vector<std::byte> bytes = archive.pickle();
  const Pickle pickle = parse_pickle(bytes, where);
  std::vector<PickledTensor> views = pickled_tensors(pickle, where);
  require<DataError>(!views.empty(), where, ": holds no tensor");
  return archive.arrays(views);
}

std::vector<NamedArray> read_pytorch_zip(const std::string& path) {
  return parse_pytorch_zip(MappedFile(path).bytes(), path);
}

// The numbers of the tensors that a checkpoint's pickle describes.

namespace {

/// The elements of a view, row-major, little endian.
std::vector<std::byte> gather(const PickledTensor& view, std::span<const std::byte> storage, bool big_endian,
                              const std::string& here) {
  const auto element = static_cast<size_t>(size_of(view.type));
  std::vector<std::byte> out(byte_count(view.type, view.shape).value());
  if (out.empty()) {
    return out;
  }
  int64_t last = view.offset;  // the last element that is read
  bool overflow = false;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    int64_t reach = 0;
    overflow = overflow || __builtin_mul_overflow(view.shape[d] - 1, view.strides[d], &reach) ||
               __builtin_add_overflow(last, reach, &last);
  }
  require<DataError>(!overflow && static_cast<uint64_t>(last) < storage.size() / element, here, "shape ",
                     shape_text(view.shape), ", strides ", shape_text(view.strides), " and offset ",
                     view.offset, " reach beyond its storage of ", storage.size() / element, " elements");
  int64_t row_major = 1;
  bool contiguous = true;
  for (size_t d = view.shape.size(); d-- > 0; row_major *= view.shape[d]) {
    contiguous = contiguous && (view.strides[d] == row_major || view.shape[d] == 1);
  }
  if (contiguous && !big_endian) {
    std::memcpy(out.data(), storage.data() + static_cast<size_t>(view.offset) * element, out.size());
    return out;
  }
  std::vector<int64_t> index(view.shape.size(), 0);
  int64_t from = view.offset;
  for (size_t to = 0; to < out.size(); to += element) {
    std::memcpy(out.data() + to, storage.data() + static_cast<size_t>(from) * element, element);
    if (big_endian) {
      std::reverse(out.begin() + static_cast<ptrdiff_t>(to),
                   out.begin() + static_cast<ptrdiff_t>(to + element));
    }
    for (size_t d = index.size(); d-- > 0;) {
      from += view.strides[d];
      if (++index[d] < view.shape[d]) {
        break;
      }
      from -= view.strides[d] * view.shape[d];
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

std::vector<NamedArray> parse_pytorch_pickle(std::span<const std::byte> bytes, const StorageReader& storage,
                                             bool big_endian, uint64_t limit, std::string_view where) {
  const auto pickle = parse_pickle(bytes, where);
  const auto views = pickled_tensors(pickle, where);
  require<DataError>(!views.empty(), where, ": holds no tensor");
  return arrays_of(views, storage, big_endian, limit, where);
}

std::vector<NamedArray> arrays_of(const std::vector<PickledTensor>& views, const StorageReader& storage,
                                  bool big_endian, uint64_t limit, std::string_view where) {
  // A storage is unpacked once, and kept while a later tensor shares it.
  struct Shared {
    size_t users = 0;
    std::vector<std::byte> bytes;
    bool loaded = false;
  };
  std::map<std::string_view, Shared> shared;
  std::set<std::string_view> names;
  uint64_t left = limit;
  for (const auto& view : views) {
    require<DataError>(names.insert(view.name).second, where, ": tensor ", quote(view.name),
                       " is there twice");
    const auto size = byte_count(view.type, view.shape);
    require<DataError>(size.has_value(), where, ": tensor ", quote(view.name), ": shape ",
                       shape_text(view.shape), " overflows");
    require<DataError>(*size <= left, where, ": tensor ", quote(view.name), " of shape ",
                       shape_text(view.shape), " would take more than ", limit,
                       " bytes, the limit for this file");
    left -= *size;
    ++shared[view.key].users;
  }
  std::vector<NamedArray> arrays;
  for (auto& view : views) {
    auto& source = shared[view.key];
    if (!source.loaded) {
      source.bytes = storage(view.key);
      source.loaded = true;
    }
    const auto here = text(where, ": tensor ", quote(view.name), ": ");
    Array array{view.type, view.shape, gather(view, source.bytes, big_endian, here)};
    if (--source.users == 0) {
      source.bytes = {};
    }
    arrays.push_back({view.name, std::move(array)});
  }
  return arrays;
}

}  // namespace weyl
