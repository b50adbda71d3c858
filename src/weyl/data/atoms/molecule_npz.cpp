#include "weyl/data/atoms/molecule_npz.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "weyl/core/atomic_file.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/small_letters.h"
#include "weyl/data/containers/archives.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/npy.h"

namespace weyl {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::array<std::string_view, 2> kPlaces{"R", "coords"}, kNumbers{"z", "nuclear_charges"},
    kEnergies{"E", "energies"}, kForces{"F", "forces"};

bool is_named(std::string_view name, const std::array<std::string_view, 2>& names) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view stem(const ZipEntry& entry) {
  return std::string_view(entry.name)
      .substr(0, entry.name.size() - std::min(entry.name.size(), kSuffix.size()));
}

/// Whether an array over frames is of whole frames by its name and has the shape of such, whatever the number
/// of atoms: dipoles (T, 3) of three atoms look like charges, tensors (T, 3, 3) like forces.
bool is_of_frames(std::string_view name, const std::vector<int64_t>& shape) {
  const std::string small = in_small_letters(name);
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

/// An array as its header states it.
struct Stated {
  std::string name;
  size_t entry = 0;
  NpyHeader header;
};

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
  std::optional<Stated> numbers, places;
  std::vector<Stated> others;
  for (size_t i = 0; i < archive.entries().size(); ++i) {
    const auto& entry = archive.entries()[i];
    const std::string name(stem(entry));
    const auto begin =
        entry.name.ends_with(kSuffix) ? archive.first(i, npy_header_limit) : std::vector<std::byte>{};
    if (auto said = begin.size() == entry.size ? text_in(begin) : std::nullopt) {
      add_text(name, std::move(*said));
      continue;
    }
    const bool needed = is_named(name, kPlaces) || is_named(name, kNumbers) || is_named(name, kEnergies) ||
                        is_named(name, kForces) || name.starts_with("old_");
    Stated stated{name, i, {}};
    try {
      stated.header = parse_npy_header(begin, entry.size, text(where, ": entry ", quote(entry.name)));
    } catch (const DataError&) {
      if (needed) {
        throw;
      }
      continue;  // notes of any kind lie beside the frames
    }
    if (is_named(name, kPlaces) || is_named(name, kNumbers)) {
      auto& to = is_named(name, kPlaces) ? places : numbers;
      require<DataError>(!to, where, ": there are two of ", quote(name), " and its other name");
      to = std::move(stated);
    } else {
      others.push_back(std::move(stated));
    }
  }
  require<DataError>(places.has_value(), where, ": must have the places, R or coords");
  require<DataError>(numbers.has_value(), where, ": must have the atomic numbers, z or nuclear_charges");
  const auto& shape = places->header.shape;
  require<DataError>(shape.size() == 3 && shape[2] == 3 && holds_values(places->header.type), where,
                     ": the places must be numbers of shape (frames, atoms, 3), got ",
                     name_of(places->header.type), " of ", shape_text(shape));
  frames_ = shape[0];
  const int64_t n = shape[1];
  const bool repeated = numbers->header.shape == std::vector{frames_, n};
  require<DataError>(numbers->header.shape == std::vector{n} || repeated, where,
                     ": the atomic numbers must be of shape [", n, "], got ",
                     shape_text(numbers->header.shape));
  std::vector<size_t> entries;  // of series_
  uint64_t bytes = places->header.bytes + numbers->header.bytes;
  std::set<std::string> names;
  for (const Stated& other : others) {
    if (auto series = series_of(other.name, other.header, shape)) {
      require<DataError>(names.insert(series->name).second, where, ": there are two of ",
                         quote(series->name));
      bytes += std::min(other.header.bytes, limit);
      series_.push_back(std::move(*series));
      entries.push_back(static_cast<size_t>(&other - others.data()));
    }
  }
  require_memory(std::min(bytes, limit), where);
  const auto unpacked = [&](Stated& stated) {
    const uint64_t begin = stated.header.begin;
    return npy_array(std::move(stated.header), archive.unpack(stated.entry, begin));
  };
  places_ = unpacked(*places);
  take_numbers(unpacked(*numbers), n);
  for (size_t i = 0; i < entries.size(); ++i) {
    series_[i].array = unpacked(others[entries[i]]);
  }
  force_unit_ = text(energy_unit_, "/", length_unit_);
}

void MoleculeNpzReader::add_text(const std::string& name, std::string said) {
  if (name == "r_unit") {
    length_unit_ = std::move(said);
    says_length_unit_ = true;
  } else if (name == "e_unit") {
    energy_unit_ = std::move(said);
    says_energy_unit_ = true;
  } else if (name == "name" || name == "theory") {
    constants_.push_back({name, {}, std::vector{std::move(said)}});
  }
}

void MoleculeNpzReader::take_numbers(const Array& array, int64_t atoms) {
  const auto all = integers_of(array, text(where_, ": the atomic numbers"));
  for (size_t i = 0; i < all.size(); ++i) {
    require<DataError>(all[i] >= 1 && all[i] <= most_elements, where_, ": an atomic number must be 1 .. ",
                       most_elements, ", got ", all[i]);
    require<DataError>(all[i] == all[i % static_cast<size_t>(atoms)], where_,
                       ": the atoms must be the same in every frame, frame ",
                       i / static_cast<size_t>(atoms) + 1, " has others");
  }
  if (!all.empty()) {
    numbers_.assign(all.begin(), all.begin() + atoms);
  }
}

std::optional<MoleculeNpzReader::Series> MoleculeNpzReader::series_of(
    const std::string& name, const NpyHeader& header, const std::vector<int64_t>& places) const {
  const int64_t n = places[1];
  const bool energies = is_named(name, kEnergies), forces = is_named(name, kForces);
  const auto& shape = header.shape;
  const bool series = !shape.empty() && shape[0] == frames_ && holds_values(header.type);
  const bool per_atom =
      series && shape.size() >= 2 && shape.size() <= 3 && shape[1] == n && !is_of_frames(name, shape);
  require<DataError>(!energies || (series && (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1))),
                     where_, ": the energies must be numbers of shape [", frames_, "], got ",
                     name_of(header.type), " of ", shape_text(shape));
  require<DataError>(!forces || (series && shape == places), where_, ": the forces must be numbers of shape ",
                     shape_text(places), ", got ", name_of(header.type), " of ", shape_text(shape));
  if (!series || shape.size() > 3) {
    return std::nullopt;
  }
  Series to{energies ? "energy" : forces ? "forces" : name, {}, 0, {}};
  if (per_atom && !energies) {
    to.width = shape.size() == 2 ? 1 : shape[2];
    if (to.width == 0) {
      return std::nullopt;
    }
  } else if (!(shape.size() == 2 && shape[1] == 1)) {
    to.shape.assign(shape.begin() + 1, shape.end());
  }
  return to;
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
  const bool length = name == "forces" || name == "pos", energy = name != "pos";
  const bool said = (!length || says_length_unit_) && (!energy || says_energy_unit_);
  return said ? unit_of(name) : std::string_view();
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

namespace {

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

Rmd17Writer::Rmd17Writer(std::string path, Rmd17Content content, Existing existing)
    : path_(std::move(path)), content_(std::move(content)), existing_(existing) {}

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
    files.emplace_back(text(name, ".npy"), std::move(bytes));
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
  AtomicFile file(path_, existing_);
  file.write(zip_bytes(members, false));
  file.commit();
}

}  // namespace weyl
