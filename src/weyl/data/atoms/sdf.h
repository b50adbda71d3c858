#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {

/// The molecules of SDF and mol files, V2000 and V3000, each ended by `$$$$` or the end of the file: places,
/// bonds, the column `formal_charges`, and `isotopes` and `radicals` where an atom has one (D and T are
/// hydrogen of masses 2 and 3). Values: `name`, the first line if it says anything, `dimensions` (2 or 3) if
/// the second does, and the data fields `> <NAME>`, a number or a logical where the text is one, else the
/// text with its lines. A field given twice is kept once, if it says the same. DataError with file, frame and
/// line: a truncated molecule, counts that are none, an element that is none (query atoms), coordinates that
/// are no finite numbers, bonds to atoms that are not there or between two that have one already, data fields of more than
/// longest_text_line characters in all.
class SdfReader : public FrameReader {
 public:
  SdfReader(std::unique_ptr<ByteSource> source, std::string_view where);

  bool next(AtomsFrame& frame) override;
  std::string where() const override;
  std::string_view unit_of(std::string_view name) const override;
  std::optional<FramePlace> place() override { return place_of(lines_); }
  void go_to(const FramePlace& place) override { lines_.go_to(place.at); }

 private:
  /// What is said of atoms beside their places.
  struct Marks {
    std::vector<int64_t> charges, isotopes, radicals;
  };

  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    lines_.check(holds, parts...);
  }
  void next_line(const char* what);
  double coordinate(std::string_view text) const;
  int64_t integer(std::string_view text, const char* what) const;
  void add_atom(AtomsFrame& frame, Marks& marks, std::string_view symbol) const;
  void add_bond(AtomsFrame& frame, int64_t first, int64_t second, int64_t type) const;
  void check_bonds(const AtomsFrame& frame) const;

  void read_v2000(AtomsFrame& frame, Marks& marks);
  void read_properties(Marks& marks);
  void read_v3000(AtomsFrame& frame, Marks& marks);
  std::string v30_line();
  void read_v30_atoms(AtomsFrame& frame, Marks& marks, std::map<int64_t, int64_t>& places);
  void read_v30_bonds(AtomsFrame& frame, const std::map<int64_t, int64_t>& places);
  void read_fields(AtomsFrame& frame);

  TextLines lines_;
  int64_t first_line_ = 0;
};

/// Appends one molecule as V2000, places with four decimals: the values `name` and `dimensions` (3 where there is none), the columns
/// `formal_charges` and `isotopes`, bonds, and the other values of one number or text as data fields. What else a frame has is left out.
/// DataError: more than 999 atoms or bonds, a place beyond the 10 characters of its column.
void append_sdf(std::string& to, const AtomsFrame& frame);

}  // namespace weyl
