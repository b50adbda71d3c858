#include "weyl/data/atoms/deepmd.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// The paths in a folder whose names begin and end so, by name.
std::vector<std::string> paths_in(const std::string& folder, std::string_view begin, std::string_view end) {
  std::vector<std::string> result;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && name.ends_with(end)) {
      result.push_back(entry.path().string());
    }
  }
  require<DataError>(!error, folder, ": cannot read the folder: ", error.message());
  std::ranges::sort(result);
  return result;
}

/// Calls f(word, line) for the words of a text file.
template <class F>
void each_word(const std::string& path, F f) {
  TextLines lines(open_bytes(path), path);
  while (lines.next()) {
    std::string_view rest = lines.line();
    for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) {
      f(word, lines);
    }
  }
}

}  // namespace

bool is_deepmd(const std::string& folder) {
  std::error_code error;
  return fs::is_regular_file(fs::path(folder) / "type.raw", error);
}

DeepmdReader::DeepmdReader(const std::string& folder) : folder_(folder) {
  read_types();
  periodic_ = !fs::exists(fs::path(folder) / "nopbc");
  sets_ = paths_in(folder, "set.", "");
  require<DataError>(!sets_.empty(), folder, ": must have a set of frames, set.000 or another");
}

void DeepmdReader::read_types() {
  const std::string map_path = (fs::path(folder_) / "type_map.raw").string();
  mapped_ = fs::exists(map_path);
  if (mapped_) {
    each_word(map_path, [&](std::string_view word, const TextLines& lines) {
      isotopes_.push_back(hydrogen_isotope(word));
      const int z = isotopes_.back() > 0 ? 1 : atomic_number(word);
      if (z <= 0) {
        lines.check(false, unknown_element(word));
      }
      elements_.push_back(z);
    });
  }
  each_word((fs::path(folder_) / "type.raw").string(), [&](std::string_view word, const TextLines& lines) {
    const auto type = parse_integer(word);
    if (!type || *type < 0 || (mapped_ && *type >= std::ssize(elements_))) {
      lines.check(
          false, "a type must be ",
          mapped_ ? text("one of the ", elements_.size(), " of type_map.raw, from 0") : "a number from 0",
          ", got ", quote(word, 40));
    }
    types_.push_back(*type);
  });
}

void DeepmdReader::name_types(const std::vector<std::string>& symbols) {
  const bool named = std::ranges::all_of(symbols, [](const std::string& s) { return atomic_number(s) > 0; });
  if (mapped_ || !named) {
    return;
  }
  elements_.clear();
  for (const std::string& symbol : symbols) {
    elements_.push_back(atomic_number(symbol));
  }
}

/// The elements of types. DataError: nobody says which one a type is.
std::vector<int> DeepmdReader::numbers_of(std::span<const int64_t> types, const std::string& where) const {
  require<DataError>(
      !elements_.empty(), (fs::path(folder_) / "type_map.raw").string(),
      ": is missing, it says which element a type is; write it, a symbol a line, or name the types in "
      "their order by data.molecules.elements of a config");
  std::vector<int> numbers;
  for (const int64_t type : types) {
    const bool named = type >= 0 && type < std::ssize(elements_);
    require<DataError>(named, where, ": a type must be one of the ", elements_.size(), " of ",
                       mapped_ ? "type_map.raw" : "data.molecules.elements", ", from 0, got ", type,
                       type == -1 ? " (a virtual atom, which is not read)" : "");
    numbers.push_back(elements_[static_cast<size_t>(type)]);
  }
  return numbers;
}

void DeepmdReader::add_isotopes(AtomsFrame& frame, std::span<const int64_t> types) const {
  std::vector<int64_t> column;
  for (const int64_t type : types) {
    column.push_back(mapped_ ? isotopes_[static_cast<size_t>(type)] : 0);
  }
  if (std::ranges::any_of(column, [](int64_t isotope) { return isotope > 0; })) {
    frame.columns.push_back({std::string(isotopes_column), 1, std::move(column)});
  }
}

void DeepmdReader::read_mixed_types(const std::string& path) {
  mixed_.clear();
  if (!fs::exists(path)) {
    return;
  }
  const Array array = read_npy(path);
  const std::vector<int64_t> shape{frames_, std::ssize(types_)};
  require<DataError>(array.shape == shape, path, ": must be numbers of shape ", shape_text(shape), ", got ",
                     name_of(array.type), " of ", shape_text(array.shape));
  mixed_ = integers_of(array, path);
}

/// As its name and shape say.
DeepmdReader::Series DeepmdReader::series_of(const std::string& path, Array array) const {
  const std::string name = fs::path(path).stem().string();
  const auto n = std::ssize(types_);
  const int64_t row = static_cast<int64_t>(array.bytes.size()) / size_of(array.type) / frames_;
  Series to{name, path, std::move(array), 0, row};
  const auto expect = [&](int64_t expected) {
    require<DataError>(row == expected && holds_values(to.array.type), path, ": must be numbers of shape [",
                       frames_, ", ", expected, "], got ", name_of(to.array.type), " of ",
                       shape_text(to.array.shape));
  };
  if (name == "coord") {
    expect(3 * n);
  } else if (name == "force") {
    expect(3 * n);
    to.name = "forces";
    to.width = 3;
  } else if (name == "box" || name == "virial") {
    expect(9);
  } else if (name == "energy") {
    expect(1);
  } else if (name.starts_with("atom") && n > 0 && row > 0 && row % n == 0) {
    to.width = row / n;
  }
  return to;
}

void DeepmdReader::open_set(const std::string& set) {
  const std::string coordinates = (fs::path(set) / "coord.npy").string();
  require<DataError>(fs::exists(coordinates), coordinates, ": is missing");
  const std::string mixed = (fs::path(set) / "real_atom_types.npy").string();
  series_.clear();
  next_ = 0;
  bool box = false;
  Array first = read_npy(coordinates);
  frames_ = first.shape.empty() ? 0 : first.shape[0];
  require<DataError>(frames_ > 0, coordinates, ": must have a row for each frame, got ",
                     shape_text(first.shape));
  series_.push_back(series_of(coordinates, std::move(first)));
  read_mixed_types(mixed);
  for (const auto& path : paths_in(set, "", ".npy")) {
    if (path == coordinates || path == mixed) {
      continue;
    }
    Array array = read_npy(path);
    const std::string name = fs::path(path).stem().string();
    const bool known = name == "box" || name == "energy" || name == "force" || name == "virial";
    const bool rows = !array.shape.empty() && array.shape[0] == frames_;
    require<DataError>(rows || !known, path, ": must have ", frames_, " rows as coord.npy, got ",
                       shape_text(array.shape));
    if (rows && (known || holds_values(array.type)) && (name != "box" || periodic_)) {
      series_.push_back(series_of(path, std::move(array)));
      box = box || name == "box";
    }
  }
  require<DataError>(box || !periodic_, set, ": must have box.npy, or the system a file nopbc");
}

bool DeepmdReader::next(AtomsFrame& frame) {
  while (next_ == frames_) {
    if (set_ == sets_.size()) {
      return false;
    }
    open_set(sets_[set_++]);
  }
  const int64_t t = next_++;
  frame = {};
  const size_t atoms = types_.size();
  const auto types = mixed_.empty()
                         ? std::span<const int64_t>(types_)
                         : std::span<const int64_t>(mixed_).subspan(static_cast<size_t>(t) * atoms, atoms);
  frame.numbers = numbers_of(
      types, mixed_.empty()
                 ? (fs::path(folder_) / "type.raw").string()
                 : text((fs::path(sets_[set_ - 1]) / "real_atom_types.npy").string(), ": row ", next_));
  for (const auto& series : series_) {
    const int64_t begin = series.row * t;
    const auto finite = [&] {
      auto reals = reals_of(series.array, begin, series.row, series.path);
      require<DataError>(std::ranges::all_of(reals, [](double x) { return std::isfinite(x); }), series.path,
                         ": row ", next_, ": must be finite");
      return reals;
    };
    if (series.name == "coord") {
      frame.positions = finite();
    } else if (series.name == "box") {
      std::ranges::copy(finite(), frame.cell.emplace().begin());
      frame.pbc = {true, true, true};
      require<DataError>(spans_its_periods(*frame.cell, frame.pbc), series.path, ": row ", next_,
                         ": the lattice vectors must be linearly independent");
    } else if (series.width > 0) {
      frame.columns.push_back({series.name, series.width, slice(series.array, begin, series.row)});
    } else {
      const bool scalar = series.row == 1;
      frame.values.push_back({series.name, scalar ? std::vector<int64_t>{} : std::vector{series.row},
                              slice(series.array, begin, series.row)});
    }
  }
  add_isotopes(frame, types);
  return true;
}

std::string DeepmdReader::where() const {
  return text(set_ > 0 ? sets_[set_ - 1] : folder_, ": frame ", next_);
}

std::string_view DeepmdReader::unit_of(std::string_view name) const {
  if (name == "pos") {
    return "Angstrom";
  }
  return name == "energy" || name == "virial" || name == "atom_ener" ? "eV"
         : name == "forces"                                          ? "eV/Angstrom"
                                                                     : "";
}

}  // namespace weyl
