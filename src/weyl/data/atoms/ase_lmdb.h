#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/containers/lmdb.h"

namespace weyl {

/// The rows of a database of ASE in LMDB (`ase-db-backends`: .aselmdb; OMol25, OMat24), in the order of their ids,
/// one in memory: keys are 1 .. `nextid` - 1 without `deleted_ids`, values JSON packed by zlib (ase_row.h says what of
/// a row a frame has). Units are ASE's: Angstrom and eV. DataError with file, frame and id: see LmdbFile and
/// read_ase_row; values of another kind, by name those of pickled Python, which can run programs when it is read; a
/// row that is not there, or of more than 256 MiB.
class AseLmdbReader : public FrameReader {
 public:
  explicit AseLmdbReader(const std::string& path);

  bool next(AtomsFrame& frame) override;
  std::string where() const override;
  std::string_view unit_of(std::string_view name) const override;
  std::optional<FramePlace> place() override { return FramePlace{static_cast<uint64_t>(next_)}; }
  void go_to(const FramePlace& place) override { next_ = static_cast<int64_t>(place.at); }
  std::vector<FramePlace> cuts() override;

 private:
  std::string place(int64_t frame) const;
  int64_t id_of(int64_t frame) const;
  /// What a key has, unpacked into unpacked_; false: there is no such key.
  bool unpack(std::string_view key, std::string_view where);
  void refuse_other_tables() const;

  LmdbFile file_;
  std::vector<int64_t> deleted_;  // ids, ascending
  int64_t frames_ = 0, next_ = 0;
  std::string unpacked_;
};

}  // namespace weyl
