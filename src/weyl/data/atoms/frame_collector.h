#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "weyl/data/atoms/frame_label.h"
#include "weyl/data/atoms/frame_layout.h"
#include "weyl/data/atoms/frame_names.h"

namespace weyl {

/// Gathers the frames of one reader: all of them, to be taken as one batch, or those of a batch at a time, once it has
/// seen all (and forgotten them) to know what they have in common.
class FrameCollector {
 public:
  /// `needed`: labels must be finite, those whose key is given in some frame. Those that only some frames
  /// have (unless mask_missing; stress: some periodic ones), or that stand there under two usual names, are
  /// no labels: the reason is among Schema::unread, for whoever needs them. `found`: as the files have them,
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

 private:
  void take_units();
  std::string no_frame_has(const FrameLabel& label) const;
  bool has_config_types() const;
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
  std::vector<double> inputs_;                 // of atoms, where the layout has them
  std::vector<uint8_t> pbc_;
  bool periodic_ = false;
};

}  // namespace weyl
