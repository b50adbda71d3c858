#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/atoms/frame_collector.h"
#include "weyl/data/atoms/options.h"

namespace weyl {

/// The frames of a file or folder as a data set that holds none of them: the file is read once to know its samples,
/// their sizes, their places and what they have in common, and then again as batches are asked for. Where the reader can go to
/// any frame (FrameReader::place), a batch reads its own samples alone, in whatever order. Elsewhere batches in the
/// order of the samples cost one further reading in all, and one that goes back begins the file again. Of each sample
/// twenty bytes are kept. Batches and schema are those of the same frames in memory (open_frames_file), to the bit.
class StreamedFrames : public Dataset {
 public:
  /// Opens the frames anew, from the first on.
  using Open = std::function<std::unique_ptr<FrameReader>()>;
  /// `path` is for messages. `wanted` says which frames are samples; null: all. DataError as FrameCollector and the reader.
  StreamedFrames(std::string path, Open open, const FrameLayout& layout, FrameCollector::Labels labels,
                 std::function<bool(const AtomsFrame&)> wanted = nullptr);
  int64_t size() const override { return static_cast<int64_t>(sizes_.size()); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  /// The channels of each state of the layout (frame_state.h), one for each sample, which it then no longer keeps.
  std::vector<std::vector<uint16_t>> take_states() { return std::move(states_); }
  /// The samples that are isolated atoms (is_isolated_atom), ascending.
  const std::vector<int64_t>& isolated() const { return isolated_; }
  /// DataError: the file has changed since it was opened.
  Batch batch(std::span<const int64_t> indices) const override;

 private:
  bool next() const;
  void go_to(int64_t sample) const;
  Batch one_by_one(std::span<const int64_t> indices) const;

  std::string path_;
  Open open_;
  std::function<bool(const AtomsFrame&)> wanted_;
  std::vector<uint32_t> sizes_;
  std::vector<FramePlace> places_;  // empty: of a reader that cannot go to them
  std::vector<std::vector<uint16_t>> states_;
  std::vector<int64_t> isolated_;
  Schema schema_;
  // The place in the file; several threads may ask.
  mutable std::mutex mutex_;
  mutable std::unique_ptr<FrameReader> reader_;
  mutable int64_t at_ = 0;  // the sample that is read next
  mutable AtomsFrame frame_;
  mutable FrameCollector collector_;
};

/// The file or folder of frames in a folder whose name without endings is `split`; empty: none. DataError:
/// two.
std::string frames_of_split(const std::string& folder, const std::string& split);

/// Exchanges isolated atoms (is_isolated_atom; ascending) of all other parts for the last other samples of the training
/// part, which is the first: they are what energies refer to, and say nothing of forces. The counts stay,
/// and so do parts of which the training part would have more isolated atoms than other samples.
void keep_for_training(std::vector<std::vector<int64_t>>& parts, const std::vector<int64_t>& isolated);

/// Names the key of the stress. Where it becomes a virial, or no longer is one, the unit falls away that was of the other,
/// and the sign, which a virial has not.
void name_stress(MoleculesDataOptions& options, const std::string& key);

/// Names the virial that the frames at `path` have (name_stress), where they have no stress under the name of the options
/// or a usual one. Frames that are not periodic along all three lattice vectors say nothing. What holds no frames changes
/// nothing, nor do options that say nothing of a stress, of which the usual names are looked for anyway.
void take_virial_of(const std::string& path, MoleculesDataOptions& options);

/// What is meant by a path of frames: of a folder with splits the test split, else valid, else train; else
/// the path.
std::string frames_path(const std::string& path);

/// One file or folder that open_frames reads, all the frames of its `frames_path`.
std::shared_ptr<const Dataset> open_frames_file(const std::string& path, const FrameLayout& layout,
                                                FrameCollector::Labels labels, Keep keep = Keep::in_memory);

}  // namespace weyl
