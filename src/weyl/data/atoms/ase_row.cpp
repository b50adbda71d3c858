#include "weyl/data/atoms/ase_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr int64_t kValue = 8;  // what one counts that is no number of an array

/// A list of one kind as values of that kind; other lists stay.
template <class T>
bool flatten(PythonJson& list) {
  auto& items = std::get<PythonJson::List>(list.value);
  if (!std::ranges::all_of(items, [](const PythonJson& v) { return std::holds_alternative<T>(v.value); })) {
    return false;
  }
  std::vector<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>> flat;
  flat.reserve(items.size());
  for (PythonJson& item : items) {
    flat.push_back(std::move(std::get<T>(item.value)));
  }
  list.value = FrameValues(std::move(flat));
  return true;
}

/// Builds a value from the events of a text.
class PythonBuilder {
 public:
  PythonBuilder(std::string_view text, std::string_view where)
      : reader_(text, std::string(where) + ": must be valid JSON, ", JsonDialect::python), where_(where) {}

  PythonJson build() {
    PythonJson result = value(reader_.next(), 0);
    reader_.next();  // the end
    return result;
  }

 private:
  void count(int64_t more) {
    counted_ += more;
    require<DataError>(counted_ <= python_json_limit, where_, ": JSON must hold at most ", python_json_limit,
                       " numbers, or ", python_json_limit / kValue, " other values");
  }

  PythonJson value(JsonEvent event, int depth) {
    count(kValue);
    switch (event) {
      case JsonEvent::begin_array:
      case JsonEvent::begin_object:
        if (depth >= python_json_depth) {
          reader_.refuse(reader_.begin_byte(), "lists and objects must nest at most 64 deep");
        }
        return event == JsonEvent::begin_array ? list(depth) : object(depth);
      case JsonEvent::string:
        return {std::move(reader_.string())};
      case JsonEvent::number:
        return reader_.integer() ? PythonJson{*reader_.integer()} : PythonJson{reader_.real()};
      case JsonEvent::boolean:
        return {reader_.boolean()};
      default:
        return {};
    }
  }

  PythonJson list(int depth) {
    PythonJson result{PythonJson::List{}};
    auto& items = std::get<PythonJson::List>(result.value);
    JsonEvent event = reader_.next();
    if (event == JsonEvent::end_array) {
      return result;
    }
    if (event == JsonEvent::number) {
      FrameValues flat = numbers(event);
      if (event == JsonEvent::end_array) {
        return {std::move(flat)};
      }
      std::visit([&](const auto& all) { spread(all, items); }, flat);
    }
    for (; event != JsonEvent::end_array; event = reader_.next()) {
      items.push_back(value(event, depth + 1));
    }
    flatten<bool>(result) || flatten<std::string>(result);
    return result;
  }

  template <class T>
  void spread(const std::vector<T>& numbers, PythonJson::List& to) {
    if constexpr (std::is_arithmetic_v<T>) {
      count((kValue - 1) * static_cast<int64_t>(numbers.size()));
      std::ranges::for_each(numbers, [&](T x) { to.push_back({x}); });
    }
  }

  /// The number at hand and those that follow, to the first event that is none.
  FrameValues numbers(JsonEvent& event) {
    std::vector<int64_t> integers;
    std::vector<double> reals;
    bool is_real = false;
    for (; event == JsonEvent::number; event = reader_.next()) {
      count(1);
      if (!is_real && !reader_.integer()) {
        is_real = true;
        reals.assign(integers.begin(), integers.end());
        integers = {};
      }
      if (is_real) {
        reals.push_back(reader_.real());
      } else {
        integers.push_back(*reader_.integer());
      }
    }
    return is_real ? FrameValues(std::move(reals)) : FrameValues(std::move(integers));
  }

  PythonJson object(int depth) {
    PythonJson::Members members;
    while (reader_.next() == JsonEvent::key) {
      std::string key = std::move(reader_.string());
      members.push_back({std::move(key), value(reader_.next(), depth + 1)});
    }
    std::vector<std::string_view> keys;
    std::ranges::transform(members, std::back_inserter(keys),
                           [](const auto& member) { return std::string_view(member.key); });
    std::ranges::sort(keys);
    if (std::ranges::adjacent_find(keys) != keys.end()) {
      reader_.refuse(reader_.end_byte(), "the object before it has a key twice");
    }
    return {std::move(members)};
  }

  JsonReader reader_;
  std::string_view where_;
  int64_t counted_ = 0;
};

constexpr std::array<std::string_view, 11> kOfAtoms{"forces",
                                                    "charges",
                                                    "magmoms",
                                                    "energies",
                                                    "stresses",
                                                    "momenta",
                                                    "masses",
                                                    "tags",
                                                    "initial_charges",
                                                    "initial_magmoms",
                                                    "born_effective_charges"};
constexpr std::array<std::string_view, 14> kLeftOut{"id",
                                                    "numbers",
                                                    "positions",
                                                    "cell",
                                                    "pbc",
                                                    "unique_id",
                                                    "ctime",
                                                    "mtime",
                                                    "user",
                                                    "calculator",
                                                    "calculator_parameters",
                                                    "constraints",
                                                    "key_value_pairs",
                                                    "data"};
constexpr std::array<std::string_view, 4> kWordsOfAtoms{"charges", "spins", "magmoms", "forces"};

/// Whether there is exactly one value for each element of the shape.
bool fits(const std::vector<int64_t>& shape, size_t count) {
  uint64_t product = 1;
  for (const int64_t n : shape) {
    if (n < 0 || n > (int64_t{1} << 31)) {
      return false;
    }
    product *= static_cast<uint64_t>(n);
    if (product > (uint64_t{1} << 31U)) {
      return false;
    }
  }
  return product == count;
}

/// Values of a type of numpy; nothing of types that frames do not have. `sound` is whether they are of it.
std::optional<FrameValues> typed(const std::string& type, const FrameValues& values, bool& sound) {
  const bool none = count_of(values) == 0;
  const auto* integers = std::get_if<std::vector<int64_t>>(&values);
  if (type.starts_with("float")) {
    auto reals = reals_of(values);
    sound = none || reals.has_value();
    return reals.value_or(std::vector<double>{});
  }
  if (type.starts_with("int") || type.starts_with("uint")) {
    sound = none || integers != nullptr;
    return integers != nullptr ? *integers : std::vector<int64_t>{};
  }
  if (type == "bool") {
    const auto* logicals = std::get_if<std::vector<uint8_t>>(&values);
    sound = none || logicals != nullptr;
    return logicals != nullptr ? *logicals : std::vector<uint8_t>{};
  }
  if (type.starts_with("<U")) {
    const auto* texts = std::get_if<std::vector<std::string>>(&values);
    sound = none || texts != nullptr;
    return texts != nullptr ? *texts : std::vector<std::string>{};
  }
  return std::nullopt;
}

/// {"__ndarray__": [shape, type, values]}
std::optional<AseArray> encoded_array(const PythonJson& said, std::string_view where, std::string_view name) {
  const auto check = [&](bool holds, const auto&... parts) {
    if (!holds) {
      throw DataError(text(where, ": ", quote(name, 40), ": ", parts...));
    }
  };
  const auto* parts = std::get_if<PythonJson::List>(&said.value);
  const auto* type =
      parts != nullptr && parts->size() == 3 ? std::get_if<std::string>(&(*parts)[1].value) : nullptr;
  check(type != nullptr, "an array must be [shape, type, values]");
  static const FrameValues empty = std::vector<int64_t>{};
  const auto flat = [](const PythonJson& list) -> const FrameValues* {
    const auto* items = std::get_if<PythonJson::List>(&list.value);
    return items != nullptr && items->empty() ? &empty : std::get_if<FrameValues>(&list.value);
  };
  const FrameValues* lengths = flat((*parts)[0]);
  const auto* shape = lengths != nullptr ? std::get_if<std::vector<int64_t>>(lengths) : nullptr;
  check(shape != nullptr, "the shape of an array must be integers");
  const FrameValues* values = flat((*parts)[2]);
  bool sound = values != nullptr;
  auto result = typed(*type, sound ? *values : empty, sound);
  if (!result) {
    return std::nullopt;
  }
  if (!sound || values == nullptr) {
    check(false, "the values of an array must be of its type, ", quote(*type, 20));
  }
  if (!fits(*shape, count_of(*result))) {
    check(false, "an array of shape ", shape_text(*shape), " must have as many values, has ",
          count_of(*result));
  }
  return AseArray{*shape, std::move(*result)};
}

/// Puts the values of one list behind those of another of the same shape; false: they are of other kinds.
bool append(FrameValues& to, FrameValues&& more) {
  if (to.index() != more.index()) {
    auto all = reals_of(to), rest = reals_of(more);
    if (!all || !rest) {
      return false;
    }
    to = std::move(*all);
    more = std::move(*rest);
  }
  std::visit(
      [&]<class T>(std::vector<T>& all) {
        auto& rest = std::get<std::vector<T>>(more);
        all.insert(all.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
      },
      to);
  return true;
}

std::optional<AseArray> stacked(const PythonJson::List& rows, std::string_view where, std::string_view name) {
  if (rows.empty()) {
    return AseArray{{0}, std::vector<double>{}};
  }
  auto all = ase_array(rows[0], where, name);
  if (!all) {
    return std::nullopt;
  }
  for (size_t i = 1; i < rows.size(); ++i) {
    auto row = ase_array(rows[i], where, name);
    if (!row || row->shape != all->shape || !append(all->values, std::move(row->values))) {
      return std::nullopt;
    }
  }
  all->shape.insert(all->shape.begin(), static_cast<int64_t>(rows.size()));
  return all;
}

/// Fills one frame.
class Row {
 public:
  Row(AtomsFrame& frame, std::string_view where) : frame_(frame), where_(where) {}

  void read(const PythonJson& row) {
    check(std::holds_alternative<PythonJson::Members>(row.value), "a row must be an object of JSON");
    read_atoms(row);
    read_cell(row);
    for (const auto& [name, value] : std::get<PythonJson::Members>(row.value)) {
      if (std::ranges::find(kLeftOut, name) == kLeftOut.end()) {
        const bool of_atoms = std::ranges::find(kOfAtoms, name) != kOfAtoms.end();
        add(name, "", value, of_atoms ? Rows::must : Rows::no);
      }
    }
    for (const char* group : {"key_value_pairs", "data"}) {
      if (const PythonJson* members = row.find(group)) {
        read_group(*members, group, "");
      }
    }
  }

 private:
  enum class Rows { no, may, must };  // one for each atom

  /// DataError unless `holds`.
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      throw DataError(text(where_, ": ", parts...));
    }
  }

  std::optional<AseArray> array(const PythonJson* json, std::string_view name) const {
    return json == nullptr ? std::nullopt : ase_array(*json, where_, name);
  }

  static std::string shape_of(const std::optional<AseArray>& array) {
    return array ? ", has " + shape_text(array->shape) : "";
  }

  void read_atoms(const PythonJson& row) {
    const auto numbers = array(row.find("numbers"), "numbers"),
               places = array(row.find("positions"), "positions");
    const auto n = numbers && numbers->shape.size() == 1 ? numbers->shape[0] : 0;
    const auto* all = numbers ? std::get_if<std::vector<int64_t>>(&numbers->values) : nullptr;
    check(numbers && numbers->shape.size() == 1 && (all != nullptr || n == 0),
          "a row must have the atomic numbers of its atoms, \"numbers\"");
    auto reals = places ? reals_of(places->values) : std::nullopt;
    const bool none = n == 0 && places && count_of(places->values) == 0;
    if (!none && !(reals && places->shape == std::vector<int64_t>{n, 3})) {
      check(false, "a row of ", n, " atoms must have \"positions\" of shape [", n, ", 3]", shape_of(places));
    }
    frame_.numbers.clear();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t z = (*all)[static_cast<size_t>(i)];
      check(z >= 0 && z <= most_elements, "an atomic number must be 0 .. ", most_elements, ", got ", z);
      frame_.numbers.push_back(static_cast<int>(z));
    }
    frame_.positions = none ? std::vector<double>{} : std::move(*reals);
    check(std::ranges::all_of(frame_.positions, [](double x) { return std::isfinite(x); }),
          "\"positions\" must be finite");
  }

  void read_cell(const PythonJson& row) {
    const PythonJson* said = row.find("cell");
    if (const PythonJson* inside = said != nullptr ? said->find("array") : nullptr) {
      said = inside;  // an object of ASE's class Cell
    }
    const auto cell = array(said, "cell");
    const auto vectors = cell ? reals_of(cell->values) : std::nullopt;
    if (said != nullptr && !(vectors && cell->shape == std::vector<int64_t>{3, 3})) {
      check(false, "\"cell\" must be three lattice vectors of shape [3, 3]", shape_of(cell));
    }
    if (vectors && std::ranges::any_of(*vectors, [](double x) { return x != 0; })) {
      check(std::ranges::all_of(*vectors, [](double x) { return std::isfinite(x); }),
            "\"cell\" must be finite");
      std::ranges::copy(*vectors, frame_.cell.emplace().begin());
    }
    const auto pbc = array(row.find("pbc"), "pbc");
    const auto* along = pbc ? std::get_if<std::vector<uint8_t>>(&pbc->values) : nullptr;
    check(row.find("pbc") == nullptr || (along != nullptr && pbc->shape == std::vector<int64_t>{3}),
          "\"pbc\" must be three of true and false");
    for (size_t i = 0; along != nullptr && i < 3; ++i) {
      frame_.pbc[i] = (*along)[i] != 0;
    }
    const bool periodic = std::ranges::any_of(frame_.pbc, [](bool yes) { return yes; });
    check(!periodic || frame_.cell, "\"pbc\" is given without a cell");
    check(!periodic || spans_its_periods(*frame_.cell, frame_.pbc),
          "the lattice vectors of periodic directions must be linearly independent");
  }

  void read_group(const PythonJson& group, const std::string& of, const std::string& before) {
    const auto* members = std::get_if<PythonJson::Members>(&group.value);
    check(members != nullptr, "\"", of, "\" must be an object of JSON");
    for (const auto& [key, value] : *members) {
      const bool plain =
          std::holds_alternative<PythonJson::Members>(value.value) && value.find("__ndarray__") == nullptr;
      if (plain) {
        read_group(value, of, text(before, key, "."));
        continue;
      }
      const bool of_atoms = std::ranges::any_of(
          kWordsOfAtoms, [&](std::string_view word) { return key.find(word) != std::string::npos; });
      add(before + key, of, value, of_atoms ? Rows::may : Rows::no);
    }
  }

  void add(const std::string& name, const std::string& of, const PythonJson& json, Rows rows) {
    auto found = array(&json, name);
    if (!found || (count_of(found->values) == 0 && rows != Rows::must)) {
      return;
    }
    const std::string free = names_.contains(name) ? text(of, ".", name) : name;
    if (!names_.insert(free).second) {
      return;
    }
    const auto& shape = found->shape;
    const bool has_rows = !shape.empty() && shape[0] == frame_.size();
    if (rows == Rows::must && !has_rows) {
      check(false, quote(name, 40), " must have a row for each of ", frame_.size(), " atoms, has shape ",
            shape_text(shape));
    }
    int64_t width = 1;
    for (size_t d = 1; d < shape.size(); ++d) {
      width *= shape[d];
    }
    if (has_rows && rows != Rows::no && width > 0) {
      frame_.columns.push_back({free, width, std::move(found->values)});
    } else {
      frame_.values.push_back({free, shape, std::move(found->values)});
    }
  }

  AtomsFrame& frame_;
  std::string_view where_;
  std::set<std::string> names_;
};

}  // namespace

const PythonJson* PythonJson::find(std::string_view key) const {
  const auto* members = std::get_if<Members>(&value);
  if (members == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find(*members, key, &PythonMember::key);
  return found == members->end() ? nullptr : &found->value;
}

PythonJson parse_python_json(std::string_view text, std::string_view where) {
  return PythonBuilder(text, where).build();
}

std::optional<AseArray> ase_array(const PythonJson& json, std::string_view where, std::string_view name) {
  if (const auto* flag = std::get_if<bool>(&json.value)) {
    return AseArray{{}, std::vector<uint8_t>{static_cast<uint8_t>(*flag)}};
  }
  if (const auto* integer = std::get_if<int64_t>(&json.value)) {
    return AseArray{{}, std::vector{*integer}};
  }
  if (const auto* real = std::get_if<double>(&json.value)) {
    return AseArray{{}, std::vector{*real}};
  }
  if (const auto* words = std::get_if<std::string>(&json.value)) {
    return AseArray{{}, std::vector{*words}};
  }
  if (const auto* flat = std::get_if<FrameValues>(&json.value)) {
    return AseArray{{static_cast<int64_t>(count_of(*flat))}, *flat};
  }
  if (const auto* rows = std::get_if<PythonJson::List>(&json.value)) {
    return stacked(*rows, where, name);
  }
  const PythonJson* encoded = json.find("__ndarray__");
  return encoded == nullptr ? std::nullopt : encoded_array(*encoded, where, name);
}

void read_ase_row(const PythonJson& row, AtomsFrame& frame, std::string_view where) {
  frame = {};
  Row(frame, where).read(row);
}

}  // namespace weyl
