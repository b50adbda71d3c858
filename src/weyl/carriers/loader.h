#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "weyl/carriers/dataset.h"

namespace weyl {

struct LoaderOptions {
  int64_t batch = 32;                   // samples a batch, at most
  std::optional<int64_t> batch_tokens;  // tokens a batch, at most; a larger sample stands alone
  bool shuffle = true;                  // false: the data set's own order
  bool rotate = false;                  // one random rotation of space per sample; of a grid: quarter turns
                                        // that keep its shape (motion.h)
  bool reflect = false;                 // rotations and reflections
  bool move = false;                    // of poses: one random element of their group per sample, from the
                                        // left, translations as spread as those of the data
  std::vector<int64_t> crop;            // of grids: a random part of so many cells along each axis (one
                                        // number: along all) of each sample, before it is turned
  double crop_foreground = 0;           // share of the crops around a cell that is not background (crop.h)
  bool augment = false;                 // samples as the set changes them at random (Dataset::augmented)
  bool centre = false;                  // each sample is brought near the origin, in float64 (origin.h)
  int64_t ahead = 2;                    // batches made in advance by a thread; 0: made when asked for
  at::ScalarType dtype = at::kFloat;    // of floating-point inputs; labels stay float64
  at::Device device = at::kCPU;
  /// What each batch goes through on the CPU, in float64, before it is brought to dtype and device; by the thread that
  /// makes batches.
  std::function<void(Batch&)> prepare;
};

/// Batches of a data set, epoch by epoch. Which samples a batch holds, their order and their augmentation are
/// a pure function of (seed, epoch, batch), whatever was asked before and however many batches are made
/// ahead: so a resumed run needs no state but the position. The last, incomplete batch of an epoch is kept:
/// every sample is seen once an epoch. Grids of different numbers of cells, unless cropped, never stand in
/// one batch, which may so be smaller than asked for.
///
/// The thread that makes batches computes with as many threads as at::set_num_threads has set for all:
/// LibTorch has no setting for one thread alone. The bits of a batch do not depend on that number: row
/// gathers, and products of D x D matrices, divide no sum.
class Loader {
 public:
  /// ConfigError: batch < 1, batch_tokens < 1; crops of a data set that is not Grid; ShapeError: motions of
  /// one that is not Poses, reflections of one that is.
  Loader(std::shared_ptr<const Dataset> data, LoaderOptions options, uint64_t seed);
  ~Loader();  // stops the thread, also in the middle of an epoch
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  /// Begins an epoch at one of its batches (0 .. batches). Whatever was made ahead is dropped.
  void start(int64_t epoch, int64_t first_batch = 0);

  /// The next batch, or nothing at the end of the epoch (and before the first `start`). An exception of the
  /// data set (a broken record) is thrown here, by the call that would have returned that batch.
  std::optional<Batch> next();

  int64_t epoch() const;  // of the next batch
  int64_t position()
      const;  // index in the epoch of the next batch: (epoch, position) is all that resuming needs
  int64_t batches() const;  // of the epoch begun; by token budget it may differ between epochs

  /// The samples of every batch of an epoch, in order.
  std::vector<std::vector<int64_t>> plan(int64_t epoch) const;

  /// One sample as it is in that epoch: cropped and moved.
  Batch alone(int64_t epoch, int64_t sample) const;

  const Dataset& data() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weyl
