#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/grid_augmentation.h"
#include "weyl/carriers/origin.h"
#include "weyl/core/permutation.h"

namespace weyl {

struct LoaderOptions {
  int64_t batch = 32;                   // samples in a batch, at most
  std::optional<int64_t> batch_tokens;  // tokens in a batch, at most; a larger sample stands alone
  bool shuffle = true;                  // false: the data set's own order
  bool rotate = false;                  // one random rotation of space per sample; a grid is turned by
                                        // quarter turns that keep its shape (motion.h)
  bool reflect = false;                 // rotations and reflections
  bool move = false;                    // poses: multiplied from the left by one random element per sample,
                                        // with translations as spread as those of the data
  std::vector<int64_t> crop;            // grids: size of a random part of each sample, taken before it is
                                        // turned; one number is for all axes
  double crop_foreground = 0;           // share of the crops around a cell that is not background (crop.h)
  GridAugmentation grids;               // random changes of each grid (augmented_grid.h), about its crop
  bool augment = false;                 // samples as the set changes them at random (Dataset::augmented)
  Centre centre = Centre::none;         // how each sample is brought near the origin, in float64
  int64_t ahead = 2;                    // batches made in advance by threads; 0: made when asked for
  int64_t threads = 1;                  // that make batches
  at::ScalarType dtype = at::kFloat;    // of floating-point inputs; labels stay float64
  at::Device device = at::kCPU;
  /// Which samples of a planned batch are made here, where several processes have a part each (a pure function); unset: all.
  std::function<std::vector<int64_t>(int64_t batch, std::span<const int64_t> samples)> part;
  /// Called with each batch in float64 on the CPU, before the batch is brought to dtype and device. The threads that
  /// make the batches call it.
  std::function<void(Batch&)> prepare;
};

/// ConfigError: crops of data that are not grids, or for another number of axes.
void require_crop(std::span<const int64_t> crop, const Schema& schema);

/// The samples of every batch of an epoch, in order, each batch's found when it is asked for. Of a shuffled set of up to
/// most_listed samples their order is kept, of a larger one it is computed (core/permutation.h); where batches are not all of
/// one number of samples, where each begins is kept.
class EpochPlan {
 public:
  static constexpr int64_t most_listed = int64_t{1} << 22;

  int64_t size() const;                                  // the number of batches
  std::vector<int64_t> operator[](int64_t batch) const;  // ShapeError: there is no such batch
  std::vector<std::vector<int64_t>> all() const;

 private:
  friend class Loader;
  int64_t sample(int64_t place) const;

  int64_t samples_ = 0, batch_ = 1;
  std::vector<int64_t> listed_;
  std::optional<Permutation> computed_;  // neither: the set's own order
  std::vector<int64_t> begins_;          // of each batch, and the end of the last; empty: all are of `batch_`
};

/// Batches of a data set, epoch by epoch.
///
/// The samples of a batch, their order and their augmentation are a pure function of (seed, epoch, batch). They do not
/// depend on what was asked before or how many batches are made ahead, so a resumed run needs no state but the
/// position. The last, incomplete batch of an epoch is kept: every sample is seen once an epoch. Grids of different
/// spacing never share a batch, and those with different numbers of cells only when they are cropped; so a batch may be
/// smaller than asked for.
///
/// Each thread that makes batches computes with as many threads as at::set_num_threads has set for all: LibTorch has no
/// setting for one thread alone. The bits of a batch do not depend on that number: row gathers, and products of D x D
/// matrices, divide no sum, and random changes of grids are computed value by value (augmented_grid.cpp). Not so what a set of
/// images changes by itself (Dataset::augmented): of large images resized, blurred or coloured ones may differ in the last bit.
class Loader {
 public:
  /// ConfigError: batch, batch_tokens or threads < 1; see require_crop and require_grid_augmentation.
  /// ShapeError: `move` for data that are not poses; `reflect` for poses; rotations in other than 1 to 3 dimensions.
  Loader(std::shared_ptr<const Dataset> data, LoaderOptions options, uint64_t seed);
  ~Loader();  // stops the threads, also in the middle of an epoch
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  /// Begins an epoch at one of its batches, 0 .. batches (else ShapeError), and drops what was made ahead.
  void start(int64_t epoch, int64_t first_batch = 0);

  /// The next batch. Nothing at the end of the epoch, and before the first `start`. An exception of the data set (a
  /// broken record) is thrown by the call that would have returned that batch. Where no sample of it is made here, a batch
  /// of none.
  std::optional<Batch> next();

  int64_t epoch() const;  // the epoch of the next batch
  int64_t position()
      const;  // the index of the next batch in its epoch: resuming needs (epoch, position) alone
  int64_t batches() const;  // in this epoch; with batch_tokens it may differ between epochs
  std::vector<int64_t> samples(int64_t batch) const;  // of one of them

  EpochPlan plan(int64_t epoch) const;

  /// One sample as that epoch has it: augmented, cropped, moved and prepared.
  Batch alone(int64_t epoch, int64_t sample) const;

  const Dataset& data() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls f with all samples of a set in their order, `most` at a time, as they are read (floating-point inputs in float64), without
/// gradients. Those of a set that streams are read ahead, by as many threads as LibTorch has, 8 at most, and by one where
/// it does not read anywhere (Dataset::reads_anywhere).
void for_each_chunk(const Dataset& data, int64_t most, const std::function<void(const Batch&)>& f);

}  // namespace weyl
