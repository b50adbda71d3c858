#include "weyl/data/atoms/split_lists.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/data/containers/pytorch_zip.h"

namespace weyl {
namespace {

/// The integers of a NumPy array as numpy's __reduce__ pickles it:
///
///   _reconstruct(ndarray, (0,), b"b"), with the state (1, (n,), dtype, False, the bytes)
///
/// Protocols below 3 have no bytes: there they are _codecs.encode(text, "latin1") of their values as characters, or bytes().
class PickledLists {
 public:
  PickledLists(const Pickle& pickle, size_t bytes, std::string where)
      : pickle_(pickle), where_(std::move(where)), left_(bytes) {}

  /// Those that are no tensors, and the names of all.
  SplitLists lists(std::vector<std::string>& names) const {
    const PickleValue& root = pickle_[pickle_.root];
    check(root.kind == PickleKind::dict, "must be a dict of splits");
    SplitLists found;
    for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
      const PickleValue &key = pickle_[root.items[i]], &value = pickle_[root.items[i + 1]];
      check(key.kind == PickleKind::text, "the names of splits must be texts");
      names.emplace_back(key.text);
      const std::string& name = names.back();
      if (is_tensor(value)) {
        continue;  // read with its storage
      }
      check(found.try_emplace(name, integers(value, name)).second, "the split ", quote(name),
            " is there twice");
    }
    return found;
  }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) {
      throw DataError(text(where_, ": ", parts...));
    }
  }

  bool calls(const PickleValue& value, std::string_view name) const {
    return value.kind == PickleKind::call && pickle_[value.items[0]].kind == PickleKind::global &&
           pickle_[value.items[0]].name == name;
  }
  bool is_tensor(const PickleValue& value) const {
    return value.kind == PickleKind::call && pickle_[value.items[0]].kind == PickleKind::global &&
           pickle_[value.items[0]].text == "torch._utils";
  }

  /// Takes `count` integers of `name` from those that all splits together may have: as many as the pickle has bytes, more
  /// than it can say once each.
  void take(size_t count, const std::string& name) const {
    check(count <= left_, "the split ", quote(name),
          " must not share its samples with another, they are more than the file has bytes");
    left_ -= count;
  }

  std::vector<int64_t> integers(const PickleValue& value, const std::string& name) const {
    if (value.kind == PickleKind::list || value.kind == PickleKind::tuple) {
      take(value.items.size(), name);
      std::vector<int64_t> all;
      for (const uint32_t item : value.items) {
        check(pickle_[item].kind == PickleKind::integer, "the split ", quote(name), " must be of integers");
        all.push_back(pickle_[item].integer);
      }
      return all;
    }
    check(calls(value, "_reconstruct") && value.integer > 0, "the split ", quote(name),
          " must be a NumPy array, a tensor or a list of integers");
    const PickleValue& state = pickle_[static_cast<uint32_t>(value.integer - 1)];
    check(state.kind == PickleKind::tuple && state.items.size() == 5, "the array ", quote(name),
          " must have the state of a NumPy array");
    const PickleValue& shape = pickle_[state.items[1]];
    check(shape.kind == PickleKind::tuple && shape.items.size() == 1 &&
              pickle_[shape.items[0]].kind == PickleKind::integer,
          "the array ", quote(name), " must have one dimension");
    const int64_t count = pickle_[shape.items[0]].integer;
    const std::string type = type_of(pickle_[state.items[2]]);
    check(type == "i8" || type == "i4", "the array ", quote(name), " must be of int64 or int32, is of ",
          quote(type, 20));
    const int64_t width = type == "i8" ? 8 : 4;
    check(count >= 0, "the array ", quote(name), " must not have ", count, " integers");
    take(static_cast<size_t>(count), name);
    const std::string bytes = bytes_of_array(pickle_[state.items[4]], name);
    check(bytes.size() % width == 0 && static_cast<int64_t>(bytes.size()) / width == count, "the array ",
          quote(name), " must have ", count, " integers of ", width, " bytes, has ", bytes.size(), " bytes");
    std::vector<int64_t> all(static_cast<size_t>(count));
    for (size_t i = 0; i < all.size(); ++i) {
      if (width == 8) {
        std::memcpy(&all[i], bytes.data() + 8 * i, 8);
      } else {
        int32_t x = 0;
        std::memcpy(&x, bytes.data() + 4 * i, 4);
        all[i] = x;
      }
    }
    return all;
  }

  /// "i8" of dtype("i8", False, True), whose state (3, "<", ...) must say little endian.
  std::string type_of(const PickleValue& dtype) const {
    static_assert(std::endian::native == std::endian::little);
    check(calls(dtype, "dtype") && dtype.integer > 0, "an array must have a dtype of NumPy");
    const PickleValue &arguments = pickle_[dtype.items[1]],
                      &state = pickle_[static_cast<uint32_t>(dtype.integer - 1)];
    check(arguments.kind == PickleKind::tuple && !arguments.items.empty() &&
              pickle_[arguments.items[0]].kind == PickleKind::text && state.kind == PickleKind::tuple &&
              state.items.size() > 1 && pickle_[state.items[1]].text == "<",
          "an array must have a little-endian dtype of NumPy");
    return std::string(pickle_[arguments.items[0]].text);
  }

  std::string bytes_of_array(const PickleValue& value, const std::string& name) const {
    if (value.kind == PickleKind::bytes) {
      return std::string(value.text);
    }
    if (calls(value, "bytes") && pickle_[value.items[1]].items.empty()) {
      return {};
    }
    check(calls(value, "encode") && pickle_[value.items[1]].kind == PickleKind::tuple &&
              !pickle_[value.items[1]].items.empty() &&
              pickle_[pickle_[value.items[1]].items[0]].kind == PickleKind::text,
          "the array ", quote(name), " must have its bytes");
    std::string bytes;
    const std::string_view said = pickle_[pickle_[value.items[1]].items[0]].text;
    for (size_t i = 0; i < said.size(); ++i) {  // UTF-8 of characters below 256
      const auto c = static_cast<uint8_t>(said[i]);
      if (c < 0x80) {
        bytes += said[i];
        continue;
      }
      check((c == 0xc2 || c == 0xc3) && i + 1 < said.size() &&
                (static_cast<uint8_t>(said[i + 1]) & 0xc0) == 0x80,
            "the array ", quote(name), " must be of bytes");
      bytes += static_cast<char>((c & 3) << 6 | (static_cast<uint8_t>(said[++i]) & 0x3f));
    }
    return bytes;
  }

  const Pickle& pickle_;
  std::string where_;
  mutable size_t left_;
};

}  // namespace

SplitLists parse_json_lists(std::string_view text, const std::string& where) {
  const std::string refusal = where + ": must be lists of samples as JSON: ";
  JsonReader reader(text, refusal);
  const auto check = [&](bool holds, const char* what) {
    if (!holds) {
      reader.refuse(reader.begin_byte(), what);
    }
  };
  SplitLists lists;
  check(reader.next() == JsonEvent::begin_object,
        "there must be an object of lists, {\"train\": [0, 1], ...}");
  for (JsonEvent event = reader.next(); event != JsonEvent::end_object; event = reader.next()) {
    const auto [list, added] = lists.try_emplace(reader.string());
    check(added, "a split must be there once");
    check(reader.next() == JsonEvent::begin_array, "a split must be a list of integers");
    while ((event = reader.next()) != JsonEvent::end_array) {
      check(event == JsonEvent::number && reader.integer(), "a split must be a list of integers");
      list->second.push_back(*reader.integer());
    }
  }
  check(reader.next() == JsonEvent::end, "the object must be all there is");
  return lists;
}

SplitLists parse_torch_lists(std::span<const std::byte> file, const std::string& where) {
  PytorchArchive archive(file, where);
  const std::vector<std::byte> program = archive.pickle();
  const Pickle pickle = parse_pickle(program, where);
  std::vector<std::string> names;
  SplitLists lists = PickledLists(pickle, program.size(), where).lists(names);
  for (NamedArray& tensor : archive.arrays(pickled_tensors(pickle, where))) {
    require<DataError>(tensor.array.type == ElementType::i64 && tensor.array.shape.size() == 1, where,
                       ": the tensor ", quote(tensor.name), " must be a list of int64");
    std::vector<int64_t> all(static_cast<size_t>(tensor.array.shape[0]));
    if (!all.empty()) {  // else null pointers
      std::memcpy(all.data(), tensor.array.bytes.data(), tensor.array.bytes.size());
    }
    require<DataError>(lists.try_emplace(tensor.name, std::move(all)).second, where, ": the split ",
                       quote(tensor.name), " is there twice");
  }
  for (const std::string& name : names) {
    require<DataError>(lists.contains(name), where, ": the split ", quote(name),
                       " must be a NumPy array, a tensor or a list of integers");
  }
  return lists;
}

SplitLists read_split_lists(const std::string& path, const std::vector<std::string>& known) {
  const std::string file = contents_of(path);
  SplitLists lists = path.ends_with(".pt") ? parse_torch_lists(std::as_bytes(std::span(file)), path)
                                           : parse_json_lists(file, path);
  for (const auto& [name, list] : lists) {
    if (std::ranges::find(known, name) == known.end()) {
      std::string all;
      std::ranges::for_each(known,
                            [&](const std::string& split) { all += (all.empty() ? "" : ", ") + split; });
      throw DataError(text(path, ": a split must be one of ", all, ", got ", quote(name, 40)));
    }
  }
  return lists;
}

std::vector<int64_t> split_list(const SplitLists& lists, const std::string& name, int64_t most, int64_t size,
                                const std::string& where) {
  const auto found = lists.find(name);
  if (found == lists.end()) {
    return {};
  }
  std::vector<int64_t> list = found->second;
  require<DataError>(most <= static_cast<int64_t>(list.size()), where, ": ", name, " must have ", most,
                     " samples, has ", list.size());
  if (most > 0) {
    list.resize(static_cast<size_t>(most));
  }
  std::ranges::sort(list);
  require<DataError>(list.empty() || (list.front() >= 0 && list.back() < size), where, ": ", name,
                     " must list samples of 0 .. ", size - 1, ", lists ",
                     list.empty()       ? 0
                     : list.front() < 0 ? list.front()
                                        : list.back());
  return list;
}

void require_disjoint(const std::vector<std::vector<int64_t>>& lists, int64_t size,
                      const std::string& where) {
  std::vector<bool> taken(static_cast<size_t>(size), false);
  for (const auto& list : lists) {
    for (const int64_t sample : list) {
      require<DataError>(!taken[static_cast<size_t>(sample)], where,
                         ": a sample must be in one split and once, ", sample, " is there twice");
      taken[static_cast<size_t>(sample)] = true;
    }
  }
}

}  // namespace weyl
