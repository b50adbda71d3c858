// The numbers of the tensors that a checkpoint's pickle describes.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/pickled_tensors.h"
#include "weyl/data/formats/pytorch_zip.h"

namespace weyl {
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
