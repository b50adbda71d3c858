#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/stated_units.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {

/// Frames of (extended) xyz files as libAtoms and ASE define them, plain or gzip, streamed: one frame is in
/// memory.
///
///   2
///   Lattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3:forces:R:3 energy=-1.5 pbc="T T T"
///   O 0.0 0.0 0.1 0.0 0.0 -0.2
///   H 0.0 0.0 1.1 0.0 0.0 0.2
///
/// `species` (or `symbols`; a symbol or an atomic number), else the integers `Z` (or `numbers`), says the
/// elements, `pos` (or `positions`) the places; D and T are hydrogen, with the column `isotopes` of mass numbers. All
/// other columns (S texts, I integers, R reals, L logicals)
/// and keys are kept under their names. `Lattice` are the three lattice vectors one after the other; with it
/// alone, pbc is T T T. Without `Properties` the columns are species and place. The three keys may be written
/// in any case (`lattice=`). A comment line without any `=`, or one without Properties and Lattice that is no list of pairs, is kept as `comment`, a text or a
/// number. Blank lines may stand before a count and at the end. The values `energy_unit` and `length_unit`,
/// texts, say the units of energies, forces, stresses and virials under their usual names
/// (potential_keys.h), and of places and cells; `force_unit` and `stress_unit` those of forces and stresses
/// that are not energies by lengths. They are kept as values too. Other spellings (`energy-unit`, `forces_units`;
/// stated_units.h) become these keys; what is said of units otherwise is among unread_units. The comment of i-PI
/// (ipi_comment.h) says the cell and the unit of places.
///
/// DataError: a count that is none, a frame that ends early, a wrong number of columns, an element that is
/// none, what is no number of its type, places or lattice vectors that are not finite, periodic lattice
/// vectors that are not independent, units that are none or not those of the file's first frame. Other reals
/// may be nan or inf: what is a label is not known here.
class ExtendedXyzReader : public FrameReader {
 public:
  explicit ExtendedXyzReader(const std::string& path);
  ExtendedXyzReader(std::unique_ptr<ByteSource> source, std::string_view where);

  bool next(AtomsFrame& frame) override;
  std::string where() const override;
  std::string_view unit_of(std::string_view name) const override;
  std::string_view stated_unit_of(std::string_view name) const override;
  std::span<const UnreadUnit> unread_units() const override { return unread_units_; }
  std::optional<FramePlace> place() override { return place_of(lines_); }
  void go_to(const FramePlace& place) override;

 private:
  enum class Target { species, atomic_number, positions, column };
  struct Column {
    std::string name;
    char type;
    int64_t width;
    Target target;
  };

  static constexpr std::string_view plain_columns = "species:S:1:pos:R:3";  // without Properties

  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    lines_.check(holds, parts...);
  }
  [[noreturn]] void refuse_columns(size_t seen, std::string_view more) const;
  [[noreturn]] void refuse_word(const Column& column, size_t at, const char* must,
                                std::string_view word) const;
  int64_t read_count();
  void read_comment(AtomsFrame& frame);
  void read_ipi(AtomsFrame& frame, std::string_view line);
  void read_units(AtomsFrame& frame);
  bool rename_unit(const AtomsFrame& frame, FrameValue& given, UnitOf what);
  void leave_unread(UnitOf of, std::string_view key, std::string_view said);
  void read_properties(std::string_view properties);
  void prepare_columns(AtomsFrame& frame) const;
  void read_row(AtomsFrame& frame);
  void read_column(const Column& column, FrameValues& values);
  int read_species(const AtomsFrame& frame, std::string_view word);
  void add_isotopes(AtomsFrame& frame) const;
  void add_atomic_number(AtomsFrame& frame, int64_t z) const;
  std::string_view next_word();
  double next_real(const Column& column);

  TextLines lines_;
  int64_t first_line_ = 0;
  std::string energy_unit_, length_unit_;  // empty: not said
  std::string force_said_, stress_said_;
  std::string force_unit_, stress_unit_;  // as said, else of energies and lengths; empty: not known
  std::vector<UnreadUnit> unread_units_;
  std::string properties_;  // of which columns_ are
  std::vector<Column> columns_;
  std::string_view row_;                              // what is left of the atom at hand
  size_t words_ = 0;                                  // of it that were read
  std::vector<std::pair<size_t, int64_t>> isotopes_;  // the atoms of the frame that are D or T
};

/// Appends one frame: columns species and pos, then the others; keys Lattice, Properties, the others, pbc.
/// Numbers are the shortest that read as the same. Stresses and virials of six numbers, in Voigt's order, are
/// written as nine: other readers take no six. ShapeError when the frame's sizes do not fit; DataError
/// for names that the format cannot hold (of columns: blanks, quotes, colons), arrays of three dimensions,
/// bonds.
void append_extended_xyz(std::string& to, const AtomsFrame& frame);

/// Writes a file atomically (core/atomic_file.h), frame by frame; gzip when the path ends with .gz.
class ExtendedXyzWriter {
 public:
  explicit ExtendedXyzWriter(const std::string& path, Existing existing = Existing::replace);
  void write(const AtomsFrame& frame);
  void write(std::string_view frame);  // one that append_extended_xyz has made
  /// Without it no file appears.
  void commit();

 private:
  void flush();

  AtomicFile file_;
  std::string path_, buffer_;
};

}  // namespace weyl
