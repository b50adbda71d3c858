#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/atoms/frame_index.h"
#include "weyl/data/atoms/frame_layout.h"

namespace weyl {

/// Whether a frame is one atom alone, of which a data set has the energy to refer to: one atom without a period, or one
/// in a box whose kind (the value `config_type`, or that of this key) is an isolated atom: "IsolatedAtom",
/// "isolated_atom", ...
bool is_isolated_atom(const AtomsFrame& frame, const std::string& config_type);

/// One label of frames, gathered frame by frame: which key it has, its values, and of which frames they are missing.
struct FrameLabel {
  Quantity quantity;
  std::vector<std::string> keys;  // the first that a frame has is the key of all
  bool given = false, of_atoms = false;
  bool norm = false;  // the files have a vector, the label is its length
  int64_t width = 1;
  double factor = 1;
  bool six = false;            // whether a frame has six numbers of a stress
  std::string key;             // once it is found
  std::vector<double> values;  // NaN of frames that lack them
  int64_t known = 0, expected = 0;
  int64_t ordinary = 0,
          excused = 0;    // frames that are no isolated atoms and have it; isolated atoms that lack it
  std::string missing;    // where the first frame without it is
  std::string ambiguous;  // the two usual names it has

  /// Whether what the frames have is minus stress times volume.
  bool is_virial() const;
  /// Adds what is known of the label in frames that come after these. False, and nothing changes: they have it under
  /// another key, as which these must be read, too.
  bool follow(const FrameLabel& later);
  /// Adds those of the frame that a reader gave last, times `factor` or of a virial `virial_factor`. `finite`: they must be. DataError: the wrong
  /// shape, no numbers; ConfigError: an option of stress, and the frames have a virial.
  void add(const AtomsFrame& frame, const FrameReader& reader, const FrameLayout& layout,
           double virial_factor, bool finite);
  /// Why it cannot be a label, which is a fault only of who needs it; empty: it can.
  std::string reason_to_leave_out(const FrameLayout& layout) const;
};

/// The names of values and columns that frames have, and how many have each: of the first 1000, for messages.
class FrameNames {
 public:
  void count(const AtomsFrame& frame);
  /// Adds what was counted in later frames.
  void add(const FrameNames& later);

  /// What to say where no frame has `key` as a value, or a column of the atoms: " as a value of the frame, it is ..." where it
  /// is the other; empty else.
  std::string is_other(const std::string& key, bool of_atoms) const;
  /// The names of the kind, the one nearest to `key` first, then the most frequent: "values: of 9 frames 8 have 'Etot', 1 'x'".
  std::string list(const std::string& key, bool of_atoms) const;

 private:
  struct Present {
    std::string name;
    bool of_atoms = false;
    int64_t frames = 0;
  };
  std::vector<Present> present_;
  int64_t frames_ = 0;  // that were counted
};

/// Gathers the frames of one reader: all of them, to be taken as one batch, or those of a batch at a time, once it has
/// seen all (and forgotten them) to know what they have in common.
class FrameCollector {
 public:
  /// `needed`: labels must be finite, those whose key is given in some frame. Those that only some frames
  /// have (unless mask_missing; stress: some periodic ones; forces and stress: isolated atoms apart), or that stand there under two usual names, are
  /// no labels: the reason is in Schema::left_out, for whoever needs them. `found`: as the files have them,
  /// NaN where they lack them. `none`: not read.
  enum class Labels { needed, found, none };
  FrameCollector(FrameLayout layout, const FrameReader& reader, Labels labels);

  /// Adds the frame that the reader gave last. DataError with file, frame and atom: an element that is no
  /// type, a feature that is missing, labels of the wrong shape.
  void add(const AtomsFrame& frame);
  int64_t size() const { return static_cast<int64_t>(sizes_.size()); }

  /// All frames since the last call as one batch of float64: `cell` and `pbc` when one of them is periodic.
  struct Frames {
    Batch batch;
    Schema schema;
  };
  Frames take();

  /// What the frames so far have in common, those forgotten and taken among them. DataError as `take`.
  Schema schema() const;
  /// The frames kept, as a batch of the labels of `schema`: `cell` and `pbc` when a frame so far was periodic.
  Batch take_batch(const Schema& schema);
  /// Drops the frames kept, but not what is known of them.
  void forget();
  /// Of the frame added last: the channel of each of the layout's states (frame_state.h), in their order.
  std::vector<uint16_t> states_of_last() const;
  /// Goes on with the frames of another reader of the same file.
  void follow(const FrameReader& reader) { reader_ = &reader; }
  /// Adds what another collector of the same layout knows of the frames that come next in the same file, as if they had been
  /// added here and forgotten. False: that cannot be known without reading them again from here on.
  bool follow(const FrameCollector& later);

  /// What must be known of all frames before any can be taken; `know` takes it from a collector of the same layout that has
  /// seen them, and returns their schema. DataError: a label that the layout has not.
  FramesInCommon common() const;
  Schema know(const FramesInCommon& common);

 private:
  void take_units();
  void warn_of(const AtomsFrame& frame);
  std::string no_frame_has(const FrameLabel& label) const;
  bool has_config_types() const;
  void add_config_types(Schema& schema) const;
  void add_features(const AtomsFrame& frame);
  void add_atoms(const AtomsFrame& frame);
  double factor_of(const std::string& key, const std::string& from, const std::string& to) const;
  std::string where() const { return reader_->where(); }

  FrameLayout layout_;
  const FrameReader* reader_;
  Labels rule_;
  Schema schema_;
  FrameUnits units_;                             // of the frame that came last
  double length_ = 1, energy_ = 1, virial_ = 1;  // from its units
  std::vector<int64_t> type_of_;                 // of each atomic number, -1: none
  std::vector<FrameLabel> labels_;
  FrameNames names_;
  std::vector<int64_t> sizes_, types_, config_types_;
  std::vector<std::string> config_names_;  // by the order in which they came
  std::unordered_map<std::string, int64_t> config_numbers_;
  int64_t frames_ = 0, atoms_ = 0;  // seen, kept or not
  std::vector<double> positions_, cells_;
  std::vector<std::vector<double>> features_;
  std::vector<std::vector<uint16_t>> states_;  // the channels of the frames kept, of each state
  std::vector<double> inputs_, pairs_;         // of atoms and of pairs, where the layout has them
  std::vector<uint8_t> pbc_;
  bool periodic_ = false;
  bool overlap_said_ = false;       // in the warnings of the schema
  std::vector<UnreadUnit> unread_;  // of the first frame of whose units not all are read,
  std::string unread_where_;        // its place,
  FrameUnits unread_taken_;         // and what they are taken to be
};

}  // namespace weyl
