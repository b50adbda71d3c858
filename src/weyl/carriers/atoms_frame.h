#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weyl {

/// Reals, integers, logicals (0 and 1) or texts.
using FrameValues =
    std::variant<std::vector<double>, std::vector<int64_t>, std::vector<uint8_t>, std::vector<std::string>>;

size_t count_of(const FrameValues& values);
/// Reals, or integers as reals (a file may say energy=-5); nothing of logicals and texts.
std::optional<std::vector<double>> reals_of(const FrameValues& values);

/// `width` values of each atom, row-major (N, width): forces, charges, labels.
struct AtomColumn {
  std::string name;
  int64_t width = 1;
  FrameValues values;

  bool operator==(const AtomColumn&) const = default;
};

/// A value of the whole frame, row-major; a scalar has an empty shape: energy, stress, config_type.
struct FrameValue {
  std::string name;
  std::vector<int64_t> shape;
  FrameValues values;

  bool operator==(const FrameValue&) const = default;
};

/// Between two atoms, counted from 0. Order 1, 2, 3, or 4: aromatic; 0: another kind.
struct Bond {
  int64_t first = 0, second = 0;
  int order = 1;

  bool operator==(const Bond&) const = default;
};

/// Atoms at one moment, or one molecule, as a file has them: whatever the format, in the file's units, under
/// the file's names and in its order.
struct AtomsFrame {
  std::vector<int> numbers;                   // (N) atomic numbers; 0: no element ("X")
  std::vector<double> positions;              // (N, 3)
  std::optional<std::array<double, 9>> cell;  // (3, 3) rows are lattice vectors
  std::array<bool, 3> pbc{};                  // whether the frame repeats along each of them
  std::vector<AtomColumn> columns;
  std::vector<FrameValue> values;
  std::vector<Bond> bonds;

  bool operator==(const AtomsFrame&) const = default;
  int64_t size() const { return static_cast<int64_t>(numbers.size()); }  // N

  /// By name; null when there is none.
  const AtomColumn* column(std::string_view name) const;
  const FrameValue* value(std::string_view name) const;
  /// Sets the one of that name, or adds it after the others.
  void set(AtomColumn column);
  void set(FrameValue value);
  void set(std::string name, double scalar);
};

/// Bonds become the value `bonds` (bonds, 3), rows of two atoms from 0 and the order, for formats that have
/// no other place for them; a frame without bonds stays as it is.
void bonds_to_value(AtomsFrame& frame);

/// Whether the lattice vectors along which a cell repeats are linearly independent, to 1e-9 of their lengths.
bool spans_its_periods(const std::array<double, 9>& cell, const std::array<bool, 3>& pbc);

/// The names of what a frame has, for messages: "'energy', 'forces'".
std::string names_in(const AtomsFrame& frame);

/// ShapeError naming `where` unless the sizes of positions, columns, values and bonds fit, and names are
/// given once.
void check_frame(const AtomsFrame& frame, std::string_view where);

}  // namespace weyl
