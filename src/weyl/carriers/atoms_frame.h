#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weyl {

/// The values of a column: reals, integers, logicals (0 and 1) or texts.
using FrameValues =
    std::variant<std::vector<double>, std::vector<int64_t>, std::vector<uint8_t>, std::vector<std::string>>;

size_t count_of(const FrameValues& values);
/// The values as reals; integers are converted, since a file may say energy=-5. Nothing for logicals and texts.
std::optional<std::vector<double>> reals_of(const FrameValues& values);

/// A column with `width` values for each atom, row-major (N, width): forces, charges, labels.
struct AtomColumn {
  std::string name;
  int64_t width = 1;
  FrameValues values;

  bool operator==(const AtomColumn&) const = default;
};

/// A value of the whole frame, row-major, such as energy, stress or config_type. A scalar has an empty shape.
struct FrameValue {
  std::string name;
  std::vector<int64_t> shape;
  FrameValues values;

  bool operator==(const FrameValue&) const = default;
};

/// A bond between two atoms, counted from 0. Its order is 1, 2 or 3; 4 is aromatic, 0 another kind.
struct Bond {
  int64_t first = 0, second = 0;
  int order = 1;

  bool operator==(const Bond&) const = default;
};

/// Atoms at one moment, or one molecule, as a file has them. Whatever the format, they keep the file's units, names and
/// order.
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

  /// The column or value of that name; null when there is none.
  const AtomColumn* column(std::string_view name) const;
  const FrameValue* value(std::string_view name) const;
  /// Replaces the column or value of the same name, or adds it after the others.
  void set(AtomColumn column);
  void set(FrameValue value);
  void set(std::string name, double scalar);
};

/// The column of mass numbers (N), 0 where an atom is of no certain isotope.
constexpr std::string_view isotopes_column = "isotopes";

/// Moves the bonds into the value `bonds` (bonds, 3), for formats that have no other place for them. A row holds two
/// atoms, counted from 0, and the order. A frame without bonds stays as it is.
void bonds_to_value(AtomsFrame& frame);

/// Whether the lattice vectors along which a cell repeats are linearly independent, to 1e-9 of their lengths.
bool spans_its_periods(const std::array<double, 9>& cell, const std::array<bool, 3>& pbc);

/// The names of a frame's values and columns, for messages: "'energy', 'forces'".
std::string names_in(const AtomsFrame& frame);

/// ShapeError unless the sizes of positions, columns, values and bonds fit and no name is given twice. The message
/// begins with `where`.
void check_frame(const AtomsFrame& frame, std::string_view where);

}  // namespace weyl
