#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/molecular_graph.h"
#include "weyl/data/atoms/split_lists.h"

namespace weyl {

/// Names of the columns of atoms that Pcqm4mv2Reader gives: the places of all conformers, and those of DFT.
constexpr const char* conformers_column = "conformers";
constexpr const char* relaxed_column = "relaxed";
/// The data field of a conformer with the numbers of its aromatic bonds, from 1: SDF files have a Kekule structure, which others can read.
constexpr const char* aromatic_bonds_value = "aromatic_bonds";

/// Takes hydrogens out of a frame as RDKit does by default: those of no isotope and no charge whose only bond is to a heavier atom.
void remove_hydrogens(AtomsFrame& frame);

/// The gaps between HOMO and LUMO of data.csv or data.csv.gz, in eV, NaN where the table has none (those of the tests are not
/// published):
///
///   idx,smiles,homolumogap
///   0,O=C1[N]c2ccccc2...,3.047675...
///
/// DataError with the table and its line: other columns, an idx that is not the number of its row, what is no finite number.
std::vector<double> read_pcqm4mv2_gaps(std::unique_ptr<ByteSource> source, const std::string& where);

/// The molecules of PCQM4Mv2 (Hu et al., OGB-LSC, arXiv:2103.09430) without hydrogens, as their conformers file has them.
///
/// `conformers`: SDF molecules whose data field `idx` says the row of the table, and `aromatic_bonds` of the first one, where it is there,
/// which bonds of the frame have the order 4. Those of one molecule follow one another,
/// and molecules too, from 0 on. `relaxed`: the published geometries of the training molecules, in the order of the training
/// split; null: none. A frame has the places of the first conformer, its bonds, the value `idx`, the value `gap` where
/// the table has one, the column `conformers` (N, 3 C), of C conformers, in turn again where a molecule has fewer and the
/// first C where it has more, and the column `relaxed` (N, 3) of training molecules. Atoms of other conformers and of the
/// geometry are those of the first conformer whose elements and bonds match (matching_atoms); of a training molecule, of all such
/// matches that which brings the geometry nearest to the first conformer, and the others nearest to the geometry (AtomMatcher). DataError with file, frame and
/// line: no or a wrong idx; conformers of one molecule, or the two files, that do not match; a molecule of the training split
/// that the second file lacks, or one too many there.
class Pcqm4mv2Reader : public FrameReader {
 public:
  struct Sources {
    std::unique_ptr<FrameReader> conformers, relaxed;
    std::shared_ptr<const std::vector<double>> gaps;
    std::shared_ptr<const std::vector<int64_t>> train;  // ascending
    int64_t count = 8;                                  // C
  };
  explicit Pcqm4mv2Reader(Sources sources);

  bool next(AtomsFrame& frame) override;
  std::string where() const override { return where_; }
  std::string_view unit_of(std::string_view name) const override;
  std::optional<FramePlace> place() override;
  void go_to(const FramePlace& place) override;

 private:
  bool fill();
  std::vector<bool> aromatic_bonds(const AtomsFrame& frame) const;
  std::optional<int64_t> rank(int64_t idx) const;
  void align();
  std::vector<double> relaxed_places(const AtomsFrame& frame, AtomMatcher& atoms);
  void next_relaxed(AtomsFrame& relaxed);
  [[noreturn]] void refuse(const FrameReader& reader, const std::string& what) const;

  Sources s_;
  std::string where_;                     // of the first conformer of the molecule given last
  std::optional<AtomsFrame> pending_;     // that of the molecule that comes next
  std::vector<bool> pending_aromatic_;    // which of its bonds are said to be
  int64_t idx_ = -1;                      // of it
  std::optional<int64_t> last_idx_ = -1;  // of the molecule before; nothing: anyone
  std::optional<FramePlace> pending_place_;
  std::optional<int64_t> relaxed_at_ =
      0;  // the training molecule whose geometry comes next; nothing: that of the next molecule
};

/// Whether a folder has the table and the lists of the set, of which the conformers may be missing.
bool is_pcqm4mv2(const std::string& folder);

/// What a folder of the data set holds: data.csv.gz or data.csv; split_dict.pt or split_dict.json; pcqm4m-v2-train.sdf, where
/// it is; and conformers.sdf, or several conformers*.sdf, in the order of their names. DataError: one of them is missing, or is
/// packed, so that no molecule can be read by itself.
class Pcqm4mv2Files {
 public:
  Pcqm4mv2Files(std::string folder, int64_t conformers);
  std::unique_ptr<FrameReader> open() const;
  bool has_geometries() const { return !relaxed_.empty(); }
  const SplitLists& splits() const { return splits_; }
  const std::string& splits_path() const { return splits_path_; }
  const std::vector<double>& gaps() const { return *gaps_; }

 private:
  std::vector<std::string> conformers_;
  std::string relaxed_, splits_path_;
  SplitLists splits_;
  std::shared_ptr<const std::vector<double>> gaps_;
  std::shared_ptr<const std::vector<int64_t>> train_;
  int64_t count_;
};

}  // namespace weyl
