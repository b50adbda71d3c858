#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/containers/array.h"
#include "weyl/data/containers/npy.h"

namespace weyl {

/// The frames of one molecule in an .npz as MD17, rMD17 and sGDML have it, T frames of N atoms:
///
///   numbers      z, nuclear_charges   (N), or (T, N) the same in every frame
///   places       R, coords            (T, N, 3)
///   `energy`     E, energies          (T) or (T, 1)
///   `forces`     F, forces            (T, N, 3)
///
/// Under their own names: every array of numbers with T frames, (T, N) and (T, N, k) as columns, the others
/// as values (rMD17's old_energies, old_forces, old_indices), and the texts name and theory. What a shape
/// leaves open in molecules of few atoms the name decides: an array with `dipole` in its name (or D) and the
/// shape (T, 3), with `quadrupole`, `polarizab`, `stress`, `virial`, `cell` or `lattice` and (T, 6), (T, 9)
/// or (T, 3, 3) is of frames, whatever N is; others of (T, N) are columns, as charges are. Units are those
/// the file says (r_unit, e_unit), else MD17's own: Angstrom and kcal/mol. All is in memory. DataError: no
/// places or numbers, another shape than these, places that are not finite, a number that is no element, more
/// than `limit` bytes unpacked. All is judged by the headers, and what is not used is not unpacked;
/// MemoryError: there is less than what is used.
class MoleculeNpzReader : public FrameReader {
 public:
  explicit MoleculeNpzReader(const std::string& path);
  /// A file in memory.
  MoleculeNpzReader(std::span<const std::byte> file, std::string_view where, uint64_t limit);

  bool next(AtomsFrame& frame) override;
  std::string where() const override;
  std::string_view unit_of(std::string_view name) const override;
  std::string_view stated_unit_of(std::string_view name) const override;
  int64_t frames() const { return frames_; }  // T

 private:
  /// An array over frames: a column of that width, or a value.
  struct Series {
    std::string name;
    Array array;
    int64_t width = 0;           // of a column; 0: a value
    std::vector<int64_t> shape;  // of a value
  };

  void add_text(const std::string& name, std::string said);
  void take_numbers(const Array& array, int64_t atoms);
  /// What an array beside the places (T, N, 3) is, by its name and header; nothing: none of the frames.
  std::optional<Series> series_of(const std::string& name, const NpyHeader& header,
                                  const std::vector<int64_t>& places) const;

  std::string where_, length_unit_ = "Angstrom", energy_unit_ = "kcal/mol", force_unit_;
  bool says_length_unit_ = false, says_energy_unit_ = false;
  std::vector<int> numbers_;
  Array places_;
  std::vector<Series> series_;
  std::vector<FrameValue> constants_;
  int64_t frames_ = 0, next_ = 0;
};

/// Whether an archive has places and numbers under such names.
bool is_molecule_npz(const std::string& path);

/// What of the frames an .npz holds; an empty name: none.
struct Rmd17Content {
  std::string energy = "energy", forces = "forces";
  std::string length_unit,
      energy_unit;  // of the frames, kept in the file as r_unit and e_unit; empty: not said
};

/// Gathers frames of one molecule and writes them as rMD17's .npz, float64: nuclear_charges, coords,
/// energies, forces.
class Rmd17Writer {
 public:
  explicit Rmd17Writer(std::string path, Rmd17Content content = {}, Existing existing = Existing::replace);
  /// DataError: other atoms than the first frame's, a cell, a value or a column that is not there or not of
  /// numbers.
  void write(const AtomsFrame& frame);
  /// Writes the file, atomically.
  void commit();

 private:
  std::string path_;
  Rmd17Content content_;
  Existing existing_;
  std::vector<int> numbers_;
  std::vector<double> coords_, energies_, forces_;
  int64_t frames_ = 0;
};

}  // namespace weyl
