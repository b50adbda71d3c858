#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/frame_collector.h"
#include "weyl/data/atoms/frame_index.h"
#include "weyl/data/atoms/options.h"

namespace weyl {

/// The frames of a file or folder as a data set that holds none of them: the file is read once to know its samples,
/// their sizes, their places and what they have in common, and then again as batches are asked for. Where the reader can go to
/// any frame (FrameReader::place), a batch reads its own samples alone, in whatever order. Elsewhere batches in the
/// order of the samples cost one further reading for each thread that asks, and one that goes back begins the file again. Of each sample
/// twenty bytes are kept. Batches and schema are those of the same frames in memory (open_frames_file), to the bit.
///
/// Several threads may ask for batches, each of which then reads by a reader of its own. What the first reading finds may be
/// kept in an index (frame_index.h, PreparedFile::beside), of files of `least_bytes_indexed` together; it stands for that reading
/// as long as the files are what they were. Where the reader knows where to begin (FrameReader::cuts), the first reading is done by
/// as many threads as LibTorch has.
class StreamedFrames : public Dataset {
 public:
  /// Opens the frames anew, from the first on.
  using Open = std::function<std::unique_ptr<FrameReader>()>;
  static constexpr uint64_t least_bytes_indexed = uint64_t{1} << 20;
  /// To be raised by whoever changes what readers or FrameCollector find in the same files: what was kept is then made anew.
  static constexpr int reading_version = 1;
  /// `path` is where the files are. `wanted` says which frames are samples; null: all. `how` is all that samples depend on beside
  /// the files, by which an index is known; empty: none is looked for or kept. DataError as FrameCollector and the reader.
  StreamedFrames(std::string path, Open open, const FrameLayout& layout, FrameCollector::Labels labels,
                 std::function<bool(const AtomsFrame&)> wanted = nullptr, const std::string& how = "");
  int64_t size() const override { return std::ssize(index_.sizes); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  /// The channels of each state of the layout (frame_state.h), one for each sample, which it then no longer keeps.
  std::vector<std::vector<uint16_t>> take_states() { return std::move(index_.states); }
  /// The samples that are isolated atoms (is_isolated_atom), ascending.
  const std::vector<int64_t>& isolated() const { return index_.isolated; }
  /// DataError: the file has changed since it was opened.
  Batch batch(std::span<const int64_t> indices) const override;
  bool streams() const override { return true; }
  bool reads_anywhere() const override { return !index_.places.empty(); }
  PreparedFile prepared(const std::string& what) const override;
  std::vector<std::string> notes() const override { return notes_; }

 private:
  /// A reader with what it reads into.
  struct Reading {
    std::unique_ptr<FrameReader> reader;
    FrameCollector collector;
    int64_t at = 0;  // the sample that is read next
    AtomsFrame frame{};
  };
  std::unique_ptr<Reading> begin(const FrameCollector& collector) const;
  std::unique_ptr<Reading> lend(int64_t first) const;
  bool take_index(const PreparedFile& file, const FrameLayout& layout, FrameCollector& collector);
  std::unique_ptr<Reading> read_all(FrameCollector& collector);
  void add(Reading& reading, FrameIndex& to, const std::optional<FramePlace>& end) const;
  bool next(Reading& reading) const;
  void go_to(Reading& reading, int64_t sample) const;
  Batch one_by_one(Reading& reading, std::span<const int64_t> indices) const;

  std::string path_;
  Open open_;
  std::string config_type_;
  std::function<bool(const AtomsFrame&)> wanted_;
  std::string how_, state_;  // that what is kept depends on; empty: nothing is kept
  FrameIndex index_;
  Schema schema_;
  std::vector<std::string> notes_;
  std::optional<FrameCollector> collector_;  // that knows what frames have in common, and holds none
  mutable std::mutex mutex_;                 // of the readings that no thread uses
  mutable std::vector<std::unique_ptr<Reading>> idle_;
};

/// All that the frames of a set depend on beside its files, for an index: its options without those of its splits.
template <class Options>
std::string how_read(Options o) {
  o.path.clear();
  o.train = o.valid = o.test = 0;
  if constexpr (requires { o.fractions; }) {
    o.fractions = Options().fractions;
    o.seed = Options().seed;
    o.order = Options().order;
  }
  if constexpr (requires { o.split; }) {
    o.split = Options().split;
  }
  if constexpr (requires { o.mixture; }) {
    o.mixture = Options().mixture;
  }
  return text(Options::name_in_config, "\n", write_toml([&](Fields& f) { fields(f, o); }));
}

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
