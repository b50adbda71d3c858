#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/containers/array.h"

namespace weyl {

/// The frames of one system in a folder as DeePMD-kit has it: type.raw, an index into type_map.raw for each
/// of N atoms (without it, into the symbols that name_types gives); set.*/coord.npy (T, 3N), box.npy (T, 9; none with a file `nopbc`), and where there are such
/// energy.npy (T), force.npy (T, 3N), virial.npy (T, 9), as values `energy`, `virial` and the column
/// `forces`. Every other array with T rows keeps its name: atom* of T rows and N (times k) columns as a
/// column, the rest as values. Angstrom and eV. The sets follow one another by name, one at a time is in
/// memory. DataError naming the file: what is missing or of another shape, a type that type_map.raw does not
/// name or that is no element, no name for a type, places that are not finite, a periodic cell without volume. In a
/// system of mixed types real_atom_types.npy (T, N) has the types of each frame in place of type.raw.
class DeepmdReader : public FrameReader {
 public:
  explicit DeepmdReader(const std::string& folder);

  bool next(AtomsFrame& frame) override;
  std::string where() const override;
  std::string_view unit_of(std::string_view name) const override;
  void name_types(const std::vector<std::string>& symbols) override;

 private:
  /// An array of a set: a column of that width, or a value.
  struct Series {
    std::string name, path;
    Array array;
    int64_t width = 0, row = 0;  // of a column, 0: a value; elements of a frame
  };

  void read_types();
  void read_mixed_types(const std::string& path);
  std::vector<int> numbers_of(std::span<const int64_t> types, const std::string& where) const;
  void add_isotopes(AtomsFrame& frame, std::span<const int64_t> types) const;
  void open_set(const std::string& set);
  Series series_of(const std::string& path, Array array) const;

  std::string folder_;
  std::vector<int> elements_;      // of the types; none: nobody says
  std::vector<int64_t> isotopes_;  // of the types in type_map.raw: D and T are hydrogen; else 0
  bool mapped_ = false;            // whether type_map.raw does
  std::vector<int64_t> types_;     // of the atoms
  std::vector<int64_t> mixed_;     // of those of each frame of the set, where it says them
  std::vector<std::string> sets_;
  bool periodic_ = true;
  size_t set_ = 0;  // those opened
  std::vector<Series> series_;
  int64_t frames_ = 0, next_ = 0;
};

/// Whether a folder has type.raw and a set.
bool is_deepmd(const std::string& folder);

}  // namespace weyl
