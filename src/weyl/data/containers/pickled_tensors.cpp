// What the symbols of a checkpoint's pickle mean: which of them are tensors.
#include "weyl/data/containers/pickled_tensors.h"

#include <optional>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr int deepest = 64;                      // dicts and lists in one another
constexpr size_t most_visits = size_t{1} << 20;  // dicts, lists and calls, each time they are met
constexpr size_t most_items = size_t{1} << 24;   // of the dicts and lists visited
constexpr size_t most_tensors = size_t{1} << 18, longest_name = 1024;

struct NamedType {
  std::string_view name;
  ElementType type;
};
constexpr NamedType storages[] = {
    {"BoolStorage", ElementType::boolean}, {"ByteStorage", ElementType::u8},
    {"CharStorage", ElementType::i8},      {"ShortStorage", ElementType::i16},
    {"IntStorage", ElementType::i32},      {"LongStorage", ElementType::i64},
    {"HalfStorage", ElementType::f16},     {"BFloat16Storage", ElementType::bf16},
    {"FloatStorage", ElementType::f32},    {"DoubleStorage", ElementType::f64}};
constexpr NamedType dtypes[] = {
    {"bool", ElementType::boolean}, {"uint8", ElementType::u8},      {"int8", ElementType::i8},
    {"int16", ElementType::i16},    {"uint16", ElementType::u16},    {"int32", ElementType::i32},
    {"uint32", ElementType::u32},   {"int64", ElementType::i64},     {"uint64", ElementType::u64},
    {"float16", ElementType::f16},  {"bfloat16", ElementType::bf16}, {"float32", ElementType::f32},
    {"float64", ElementType::f64}};

std::optional<ElementType> type_in(std::span<const NamedType> types, std::string_view name) {
  for (const auto& type : types) {
    if (type.name == name) {
      return type.type;
    }
  }
  return {};
}

std::string full_name(const PickleValue& global) {
  return printable(text(global.text, ".", global.name));
}

class PickledTensorReader {
 public:
  PickledTensorReader(const Pickle& pickle, std::string_view where) : pickle_(pickle), where_(where) {}

  /// The tensors of the checkpoint, in its order.
  std::vector<PickledTensor> read() {
    uint32_t root = pickle_.root;
    require<DataError>(pickle_[root].kind == PickleKind::dict, where_,
                       ": must hold a state dict (a dict of tensors), got ", describe(root),
                       "; save the state_dict()");
    std::vector<PickledTensor> views;
    for (int level = 0; level < deepest; ++level) {
      const auto inner = inner_state_dict(root);
      auto found = inner ? tensors_of(*inner) : std::vector<PickledTensor>();
      if (found.empty()) {
        break;
      }
      root = *inner;
      views = std::move(found);
    }
    return views.empty() ? tensors_of(root) : views;
  }

  /// Those under an entry of the checkpoint.
  std::vector<PickledTensor> read(std::string_view entry) {
    const auto& root = pickle_[pickle_.root];
    for (size_t i = 0; root.kind == PickleKind::dict && i + 1 < root.items.size(); i += 2) {
      if (pickle_[root.items[i]].kind == PickleKind::text && pickle_[root.items[i]].text == entry) {
        return tensors_of(root.items[i + 1]);
      }
    }
    return {};
  }

 private:
  /// What the entry that holds the weights is called.
  std::optional<uint32_t> inner_state_dict(uint32_t root) const {
    const auto& items = pickle_[root].items;
    for (const std::string_view key : {"state_dict", "model_state_dict", "model"}) {
      for (size_t i = 0; i < items.size(); i += 2) {
        if (pickle_[items[i]].kind == PickleKind::text && pickle_[items[i]].text == key &&
            pickle_[items[i + 1]].kind == PickleKind::dict) {
          return items[i + 1];
        }
      }
    }
    return {};
  }

  std::vector<PickledTensor> tensors_of(uint32_t root) {
    views_.clear();
    visits_ = items_ = 0;
    path_.clear();
    walk(root, 0);
    return std::move(views_);
  }

  /// Collects the tensors under a value that `path_` names.
  void walk(uint32_t index, int depth) {
    if (depth > deepest || path_.size() > longest_name) {
      throw DataError(text(where_, ": ", quote(path_),
                           depth > deepest ? " nests deeper than " : " has a name longer than ",
                           depth > deepest ? deepest : static_cast<int>(longest_name)));
    }
    require<DataError>(++visits_ <= most_visits, where_, ": more than ", most_visits, " values");
    const auto& value = pickle_[index];
    items_ += value.items.size();
    require<DataError>(items_ <= most_items, where_, ": more than ", most_items, " items");
    switch (value.kind) {
      case PickleKind::dict:
        for (size_t i = 0; i < value.items.size(); i += 2) {
          if (may_hold_tensors(value.items[i + 1])) {
            walk_entry(value.items[i], value.items[i + 1], depth);
          }
        }
        break;
      case PickleKind::list:
      case PickleKind::tuple:
        for (size_t i = 0; i < value.items.size(); ++i) {
          if (may_hold_tensors(value.items[i])) {
            descend(value.items[i], std::to_string(i), depth);
          }
        }
        break;
      case PickleKind::call:
        if (auto view = tensor(index)) {
          require<DataError>(views_.size() < most_tensors, where_, ": more than ", most_tensors, " tensors");
          view->name = path_;
          views_.push_back(std::move(*view));
        }
        break;
      default:
        break;
    }
  }

  void walk_entry(uint32_t key_index, uint32_t value, int depth) {
    const auto& key = pickle_[key_index];
    if (key.kind == PickleKind::text) {
      if (key.text.size() > longest_name) {
        throw DataError(text(where_, ": name ", quote(key.text), " is longer than ", longest_name, " bytes"));
      }
      descend(value, key.text, depth);
    } else if (key.kind == PickleKind::integer) {
      descend(value, std::to_string(key.integer), depth);
    } else {
      const size_t before = views_.size();
      descend(value, "?", depth);
      if (views_.size() != before) {
        throw DataError(text(where_, ": a dict with tensors at ", quote(path_),
                             " must have keys that are strings or integers, got ", describe(key_index)));
      }
    }
  }

  void descend(uint32_t value, std::string_view key, int depth) {
    const size_t before = path_.size();
    if (before > 0) {
      path_ += '.';
    }
    path_ += key;
    walk(value, depth + 1);
    path_.resize(before);
  }

  bool may_hold_tensors(uint32_t index) const {
    const auto kind = pickle_[index].kind;
    return kind == PickleKind::dict || kind == PickleKind::list || kind == PickleKind::tuple ||
           kind == PickleKind::call;
  }

  /// Refuses the tensor at `path_`. Called behind an `if`, so that messages are made only when they are
  /// needed: a hostile pickle has many values.
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError(text(where_, ": tensor ", quote(path_), ": ", parts...));
  }

  static bool is(const PickleValue& value, std::string_view module, std::string_view name) {
    return value.kind == PickleKind::global && value.text == module && value.name == name;
  }

  /// The tensor that a call makes; nothing when the call makes something else. A tensor is wrapped once or
  /// twice.
  std::optional<PickledTensor> tensor(uint32_t index, int wrapped = 0) const {
    const auto& call = pickle_[index];
    if (call.kind != PickleKind::call || pickle_[call.items[0]].kind != PickleKind::global) {
      return {};
    }
    return call_of(pickle_[call.items[0]], call.items[1], wrapped);
  }

  std::optional<PickledTensor> call_of(const PickleValue& function, uint32_t arguments, int wrapped) const {
    constexpr std::string_view utils = "torch._utils";
    const bool of_torch = function.text == "torch" || function.text.starts_with("torch.");
    if (!of_torch || !function.name.starts_with("_rebuild")) {
      return {};
    }
    constexpr int most_wrapped = 4;
    if (wrapped > most_wrapped) {
      fail("is wrapped more than ", most_wrapped, " times");
    }
    const auto& args = tuple(arguments);
    const auto has = [&](size_t least) {
      if (args.size() < least) {
        fail(full_name(function), " must have at least ", least, " arguments, got ", args.size());
      }
    };
    if (is(function, utils, "_rebuild_parameter") || is(function, utils, "_rebuild_parameter_with_state")) {
      has(1);
      auto view = tensor(args[0], wrapped + 1);
      if (!view) {
        fail("a parameter must be of a tensor, got ", describe(args[0]));
      }
      return view;
    }
    if (is(function, "torch._tensor", "_rebuild_from_type_v2")) {
      has(3);
      const auto &inner = pickle_[args[0]], &type = pickle_[args[1]];
      if (!is(type, "torch", "Tensor") && !is(type, "torch.nn.parameter", "Parameter") &&
          !is(type, "torch.nn.parameter", "Buffer")) {
        fail("is of the subclass ", describe(args[1]), ", which is not read");
      }
      if (inner.kind != PickleKind::global) {
        fail("must be made by a function, got ", describe(args[0]));
      }
      return call_of(inner, args[2], wrapped + 1);
    }
    if (is(function, utils, "_rebuild_tensor") || is(function, utils, "_rebuild_tensor_v2")) {
      has(4);
      return view_of(args, {});
    }
    if (is(function, utils, "_rebuild_tensor_v3")) {
      has(7);
      const auto& dtype = pickle_[args[6]];
      const auto type =
          type_in(dtypes, dtype.kind == PickleKind::global && dtype.text == "torch" ? dtype.name : "");
      if (!type) {
        fail("element type ", describe(args[6]), " is not read");
      }
      return view_of(args, type);
    }
    fail("is made by ", full_name(function), ", which is not read");
  }

  /// (storage, offset, shape, strides, ...); `type` unless the storage has one.
  PickledTensor view_of(const std::vector<uint32_t>& args, std::optional<ElementType> type) const {
    const auto& persistent = pickle_[args[0]];
    if (persistent.kind != PickleKind::persistent) {
      fail("must have a storage, got ", describe(args[0]));
    }
    const auto& id = tuple(persistent.items[0]);
    if (id.size() < 5 || pickle_[id[0]].kind != PickleKind::text || pickle_[id[0]].text != "storage" ||
        pickle_[id[1]].kind != PickleKind::global || pickle_[id[2]].kind != PickleKind::text ||
        pickle_[id[2]].text.size() > longest_name) {
      fail("its storage must be ('storage', type, key, device, size)");
    }
    const auto& storage = pickle_[id[1]];
    PickledTensor view;
    view.key = pickle_[id[2]].text;
    if (!type) {
      type = type_in(storages, storage.text == "torch" ? storage.name : "");
    }
    if (!type) {
      fail("storage ", full_name(storage), " is not read");
    }
    view.type = *type;
    view.offset = number(args[1], "offset");
    view.shape = numbers(args[2], "shape");
    view.strides = numbers(args[3], "strides");
    if (view.shape.size() != view.strides.size()) {
      fail("must have as many strides as dimensions, got ", view.strides.size(), " and ", view.shape.size());
    }
    return view;
  }

  const std::vector<uint32_t>& tuple(uint32_t index) const {
    if (pickle_[index].kind != PickleKind::tuple) {
      fail("arguments must be a tuple, got ", describe(index));
    }
    return pickle_[index].items;
  }

  int64_t number(uint32_t index, std::string_view what) const {
    const auto& value = pickle_[index];
    if (value.kind != PickleKind::integer || value.integer < 0) {
      fail(what, " must be of integers that are not negative, got ", describe(index));
    }
    return value.integer;
  }

  /// A tuple, or torch.Size(tuple).
  std::vector<int64_t> numbers(uint32_t index, std::string_view what) const {
    const auto& value = pickle_[index];
    if (value.kind == PickleKind::call && is(pickle_[value.items[0]], "torch", "Size")) {
      const auto& args = tuple(value.items[1]);
      if (args.size() != 1) {
        fail("torch.Size must have one argument, got ", args.size());
      }
      index = args[0];
    }
    const auto& items = tuple(index);
    if (items.size() > most_dimensions) {
      fail(what, " must have at most ", most_dimensions, " numbers, got ", items.size());
    }
    std::vector<int64_t> result;
    for (const auto item : items) {
      result.push_back(number(item, what));
    }
    return result;
  }

  std::string describe(uint32_t index) const {
    const auto& value = pickle_[index];
    static constexpr std::string_view names[] = {"None",
                                                 "a boolean",
                                                 "the integer ",
                                                 "a float",
                                                 "the string ",
                                                 "bytes",
                                                 "a tuple",
                                                 "a list",
                                                 "a dict",
                                                 "a set",
                                                 "",
                                                 "",
                                                 "a storage",
                                                 "an integer beyond 64 bits"};
    static_assert(std::size(names) == static_cast<size_t>(PickleKind::other) + 1);
    std::string name(names[static_cast<size_t>(value.kind)]);
    switch (value.kind) {
      case PickleKind::integer:
        return name + std::to_string(value.integer);
      case PickleKind::text:
        return name + quote(value.text, 40);
      case PickleKind::global:
        return full_name(value);
      case PickleKind::call: {
        // An ordinary object is copyreg._reconstructor(class, object, None).
        const PickleValue* made_by = &pickle_[value.items[0]];
        const auto& args = pickle_[value.items[1]];
        if (made_by->kind == PickleKind::global && made_by->name == "_reconstructor" &&
            args.kind == PickleKind::tuple && !args.items.empty()) {
          made_by = &pickle_[args.items[0]];
        }
        return made_by->kind == PickleKind::global ? text("an object made by ", full_name(*made_by))
                                                   : "an object";
      }
      default:
        return name;
    }
  }

  const Pickle& pickle_;
  const std::string_view where_;
  std::vector<PickledTensor> views_;
  std::string path_;
  size_t visits_ = 0, items_ = 0;
};

}  // namespace

std::vector<PickledTensor> pickled_tensors(const Pickle& pickle, std::string_view where) {
  return PickledTensorReader(pickle, where).read();
}

std::vector<PickledTensor> pickled_tensors_of(const Pickle& pickle, std::string_view entry,
                                              std::string_view where) {
  return PickledTensorReader(pickle, where).read(entry);
}

}  // namespace weyl
