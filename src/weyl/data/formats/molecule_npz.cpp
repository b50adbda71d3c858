#include "weyl/data/formats/molecule_npz.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/array_values.h"
#include "weyl/data/formats/elements.h"
#include "weyl/data/formats/npy.h"
#include "weyl/data/formats/npz.h"
#include "weyl/data/formats/zip_archive.h"

namespace weyl {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::array<std::string_view, 2> kPlaces{"R", "coords"}, kNumbers{"z", "nuclear_charges"},
    kEnergies{"E", "energies"}, kForces{"F", "forces"};

bool is_one_of(std::string_view name, const std::array<std::string_view, 2>& names) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view stem(const ZipEntry& entry) {
  return std::string_view(entry.name)
      .substr(0, entry.name.size() - std::min(entry.name.size(), kSuffix.size()));
}

/// Whether an array over frames is of whole frames by its name and has the shape of such, whatever the number
/// of atoms: dipoles (T, 3) of three atoms look like charges, tensors (T, 3, 3) like forces.
bool is_of_frames(std::string_view name, const std::vector<int64_t>& shape) {
  std::string small(name);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<int64_t> one(shape.begin() + 1, shape.end());
  if (name == "D" || small.find("dipole") != std::string::npos) {
    return one == std::vector<int64_t>{3};
  }
  constexpr std::array<std::string_view, 6> tensors{"quadrupole", "polarizab", "stress",
                                                    "virial",     "cell",      "lattice"};
  const bool tensor = std::ranges::any_of(
      tensors, [&](std::string_view word) { return small.find(word) != std::string::npos; });
  return tensor && (one == std::vector<int64_t>{6} || one == std::vector<int64_t>{9} ||
                    one == std::vector<int64_t>{3, 3});
}

/// One text as numpy writes it, of bytes ('S') or of four bytes a character ('U', ASCII alone); nothing of
/// others.
std::optional<std::string> text_in(std::span<const std::byte> npy) {
  const std::string_view all(reinterpret_cast<const char*>(npy.data()), npy.size());
  constexpr size_t most = 4096;
  const size_t descr = all.substr(0, most).find("'descr': '"), header = all.substr(0, most).find('\n');
  const bool scalar = all.substr(0, most).find("'shape': ()") != std::string_view::npos;
  if (descr == std::string_view::npos || header == std::string_view::npos || !scalar) {
    return std::nullopt;
  }
  const auto type = all.substr(descr + 10, 2);
  const auto data = all.substr(header + 1, most);
  std::string result;
  if (type == "|S") {
    result = data;
  } else if (type == "<U") {
    for (size_t i = 0; i + 4 <= data.size(); i += 4) {
      result += data.substr(i + 1, 3) == std::string_view("\0\0\0", 3) ? data[i] : '?';
    }
  } else {
    return std::nullopt;
  }
  result.resize(std::min(result.find('\0'), result.size()));
  return result;
}

/// The .npy file of one text of ASCII.
std::vector<std::byte> text_bytes(std::string_view said) {
  std::string header = text("{'descr': '|S", said.size(), "', 'fortran_order': False, 'shape': (), }");
  constexpr size_t before = 10, block = 64;  // magic, version, length; numpy pads to blocks
  header.append(block - 1 - (before + header.size()) % block, ' ').append("\n");
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file.append(header).append(said);
  const auto bytes = std::as_bytes(std::span(file));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

bool is_molecule_npz(const std::string& path) {
  const MappedFile file(path);
  const ZipArchive archive(file.bytes(), path, npz_limit);
  const auto has = [&](const auto& names) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return archive.find(std::string(name).append(kSuffix)).has_value();
    });
  };
  return has(kPlaces) && has(kNumbers);
}

MoleculeNpzReader::MoleculeNpzReader(const std::string& path)
    : MoleculeNpzReader(MappedFile(path).bytes(), path, npz_limit) {}

MoleculeNpzReader::MoleculeNpzReader(std::span<const std::byte> file, std::string_view where, uint64_t limit)
    : where_(where) {
  ZipArchive archive(file, where, limit);
  std::optional<Array> numbers, places;
  std::vector<NamedArray> others;
  for (size_t i = 0; i < archive.entries().size(); ++i) {
    const auto& entry = archive.entries()[i];
    const std::string name(stem(entry));
    const auto bytes = entry.name.ends_with(kSuffix) ? archive.unpack(i) : std::vector<std::byte>{};
    if (auto said = text_in(bytes)) {
      if (name == "r_unit") {
        length_unit_ = *said;
        says_length_unit_ = true;
      } else if (name == "e_unit") {
        energy_unit_ = *said;
        says_energy_unit_ = true;
      } else if (name == "name" || name == "theory") {
        constants_.push_back({name, {}, std::vector{std::move(*said)}});
      }
      continue;
    }
    const bool needed = is_one_of(name, kPlaces) || is_one_of(name, kNumbers) || is_one_of(name, kEnergies) ||
                        is_one_of(name, kForces) || name.starts_with("old_");
    Array array;
    try {
      array = parse_npy(bytes, text(where, ": entry ", quote(entry.name)));
    } catch (const DataError&) {
      if (needed) {
        throw;
      }
      continue;  // notes of any kind lie beside the frames
    }
    if (is_one_of(name, kPlaces) || is_one_of(name, kNumbers)) {
      auto& to = is_one_of(name, kPlaces) ? places : numbers;
      require<DataError>(!to, where, ": there are two of ", quote(name), " and its other name");
      to = std::move(array);
    } else {
      others.push_back({name, std::move(array)});
    }
  }
  require<DataError>(places.has_value(), where, ": must have the places, R or coords");
  require<DataError>(numbers.has_value(), where, ": must have the atomic numbers, z or nuclear_charges");
  require<DataError>(places->shape.size() == 3 && places->shape[2] == 3 && holds_values(*places), where,
                     ": the places must be numbers of shape (frames, atoms, 3), got ", name_of(places->type),
                     " of ", shape_text(places->shape));
  places_ = std::move(*places);
  frames_ = places_.shape[0];
  const int64_t n = places_.shape[1];
  const bool repeated = numbers->shape == std::vector{frames_, n};
  require<DataError>(numbers->shape == std::vector{n} || repeated, where,
                     ": the atomic numbers must be of shape [", n, "], got ", shape_text(numbers->shape));
  const auto all = integers_of(*numbers, text(where, ": the atomic numbers"));
  for (size_t i = 0; i < all.size(); ++i) {
    require<DataError>(all[i] >= 1 && all[i] <= most_elements, where, ": an atomic number must be 1 .. ",
                       most_elements, ", got ", all[i]);
    require<DataError>(all[i] == all[i % static_cast<size_t>(n)], where,
                       ": the atoms must be the same in every frame, frame ", i / static_cast<size_t>(n) + 1,
                       " has others");
  }
  if (!all.empty()) {
    numbers_.assign(all.begin(), all.begin() + n);
  }
  for (auto& [name, array] : others) {
    const bool energies = is_one_of(name, kEnergies), forces = is_one_of(name, kForces);
    const auto& shape = array.shape;
    const bool series = !shape.empty() && shape[0] == frames_ && holds_values(array);
    const bool per_atom =
        series && shape.size() >= 2 && shape.size() <= 3 && shape[1] == n && !is_of_frames(name, shape);
    require<DataError>(!energies || (series && (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1))),
                       where, ": the energies must be numbers of shape [", frames_, "], got ",
                       name_of(array.type), " of ", shape_text(shape));
    require<DataError>(!forces || (series && shape == places_.shape), where,
                       ": the forces must be numbers of shape ", shape_text(places_.shape), ", got ",
                       name_of(array.type), " of ", shape_text(shape));
    if (!series || shape.size() > 3) {
      continue;
    }
    Series to{energies ? "energy" : forces ? "forces" : name, {}, 0, {}};
    if (per_atom && !energies) {
      to.width = shape.size() == 2 ? 1 : shape[2];
      if (to.width == 0) {
        continue;
      }
    } else if (!(shape.size() == 2 && shape[1] == 1)) {
      to.shape.assign(shape.begin() + 1, shape.end());
    }
    require<DataError>(std::ranges::find(series_, to.name, &Series::name) == series_.end(), where,
                       ": there are two of ", quote(to.name));
    to.array = std::move(array);
    series_.push_back(std::move(to));
  }
  force_unit_ = text(energy_unit_, "/", length_unit_);
}

std::string MoleculeNpzReader::where() const {
  return text(where_, ": frame ", next_);
}

std::string_view MoleculeNpzReader::unit_of(std::string_view name) const {
  if (name == "pos") {
    return length_unit_;
  }
  const bool energy = name == "energy" || name == "old_energies";
  return energy                                     ? energy_unit_
         : name == "forces" || name == "old_forces" ? std::string_view(force_unit_)
                                                    : "";
}

std::string_view MoleculeNpzReader::stated_unit_of(std::string_view name) const {
  return (name == "pos" ? says_length_unit_ : says_energy_unit_) ? unit_of(name) : std::string_view();
}

bool MoleculeNpzReader::next(AtomsFrame& frame) {
  require<DataError>(frames_ > 0, where_, ": must hold at least one frame, holds none");
  if (next_ == frames_) {
    return false;
  }
  const int64_t t = next_++, n = places_.shape[1];
  frame = {};
  frame.numbers = numbers_;
  frame.positions = reals_of(places_, 3 * n * t, 3 * n, where_);
  require<DataError>(std::ranges::all_of(frame.positions, [](double x) { return std::isfinite(x); }), where(),
                     ": the places must be finite");
  for (const auto& series : series_) {
    const auto count = static_cast<int64_t>(series.array.bytes.size()) / size_of(series.array.type) / frames_;
    if (series.width > 0) {
      frame.columns.push_back({series.name, series.width, slice(series.array, count * t, count)});
    } else {
      frame.values.push_back({series.name, series.shape, slice(series.array, count * t, count)});
    }
  }
  frame.values.insert(frame.values.end(), constants_.begin(), constants_.end());
  return true;
}

Rmd17Writer::Rmd17Writer(std::string path, Rmd17Content content)
    : path_(std::move(path)), content_(std::move(content)) {}

void Rmd17Writer::write(const AtomsFrame& frame) {
  check_frame(frame, path_);
  const auto where = text(path_, ": frame ", frames_ + 1);
  require<DataError>(frames_ == 0 || frame.numbers == numbers_, where,
                     ": an .npz of this kind holds one molecule, the atoms must be those of frame 1");
  require<DataError>(!frame.cell, where, ": an .npz of this kind cannot hold a cell");
  std::optional<std::vector<double>> energy, forces;
  if (!content_.energy.empty()) {
    const auto* value = frame.value(content_.energy);
    energy = value != nullptr && value->shape.empty() ? reals_of(value->values) : std::nullopt;
    require<DataError>(energy.has_value(), where, ": must have the number ", quote(content_.energy));
  }
  if (!content_.forces.empty()) {
    const auto* column = frame.column(content_.forces);
    forces = column != nullptr && column->width == 3 ? reals_of(column->values) : std::nullopt;
    require<DataError>(forces.has_value(), where, ": must have three columns of numbers ",
                       quote(content_.forces));
  }
  // Nothing is kept of a frame that is refused.
  const auto append = [](std::vector<double>& to, const std::vector<double>& values) {
    to.insert(to.end(), values.begin(), values.end());
  };
  numbers_ = frame.numbers;
  append(coords_, frame.positions);
  append(energies_, energy.value_or(std::vector<double>{}));
  append(forces_, forces.value_or(std::vector<double>{}));
  ++frames_;
}

void Rmd17Writer::commit() {
  require<DataError>(frames_ > 0, path_, ": there is no frame to write");
  const auto n = static_cast<int64_t>(numbers_.size());
  const std::vector<uint8_t> charges(numbers_.begin(), numbers_.end());
  std::vector<std::pair<std::string, std::vector<std::byte>>> files;
  const auto add = [&](const std::string& name, std::vector<std::byte> bytes) {
    files.emplace_back(text(name, kSuffix), std::move(bytes));
  };
  add("nuclear_charges", npy_bytes(array_of(charges, {n})));
  add("coords", npy_bytes(array_of(coords_, {frames_, n, 3})));
  if (!content_.energy.empty()) {
    add("energies", npy_bytes(array_of(energies_, {frames_})));
  }
  if (!content_.forces.empty()) {
    add("forces", npy_bytes(array_of(forces_, {frames_, n, 3})));
  }
  if (!content_.length_unit.empty()) {
    add("r_unit", text_bytes(content_.length_unit));
  }
  if (!content_.energy_unit.empty()) {
    add("e_unit", text_bytes(content_.energy_unit));
  }
  std::vector<ZipMember> members;
  for (const auto& [name, bytes] : files) {
    members.push_back({name, bytes});
  }
  AtomicFile file(path_);
  file.write(zip_bytes(members, false));
  file.commit();
}

}  // namespace weyl
