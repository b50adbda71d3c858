#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/formats/array_values.h"
#include "weyl/data/formats/molecule_npz.h"
#include "weyl/data/formats/npy.h"
#include "weyl/data/formats/zip_archive.h"

namespace weyl {
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
