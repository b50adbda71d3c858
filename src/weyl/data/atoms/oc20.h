#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/atoms/slab.h"

namespace weyl {

/// Slabs as points without a cell, float64: atoms and, after them, the images within `image_radius` as tokens of their own.
///
///   features   tag (3): 1 in the column of the tag; real: 0 of images; free: 0 of images and fixed atoms
///   labels     energy (graph scalar, eV); relaxed (node point), of images that of their atom moved along; cell
///              (three vectors of the graph), by which differences of places are taken (tasks/relaxation.h)
///
/// Labels are those that all these slabs have. DataError: an element that is none of the interface's.
Batch slab_batch(std::span<const Slab> slabs, double image_radius, const Interface& interface);

/// DataError with `where`, the place of the slab: an element that is none of the interface's.
void require_elements(const Slab& slab, const Interface& interface, const std::string& where);

/// A file of slabs as a set of such points.
///
/// Files whose frames are read in any order (FrameReader::place) are read as batches ask for them, and 24 bytes of each sample
/// are kept; others are kept in memory. All frames are read once when the set is opened.
class SlabSet : public Dataset {
 public:
  /// `noisy`: whether `augmented` adds the noise of the options. DataError as slab_of; an element that is no type; a label that some
  /// frames have and others not; relaxed places that noise needs and the file lacks.
  SlabSet(const std::string& path, const Oc20DataOptions& options, bool noisy);
  int64_t size() const override { return static_cast<int64_t>(sizes_.size()); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices) const override { return made(indices, nullptr); }
  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                  const Draw& draw) const override;

 private:
  Slab slab(int64_t index) const;
  Batch made(std::span<const int64_t> indices, const Draw* draw) const;

  std::string path_;
  double image_radius_;
  std::optional<NoisyNodes> noise_;
  std::vector<int64_t> sizes_;      // tokens of each sample
  std::vector<FramePlace> places_;  // of a reader that can go to them; else
  std::vector<Slab> kept_;          // all of them, and the reader is gone
  Schema schema_;
  // The place in the file; several threads may ask.
  mutable std::mutex mutex_;
  std::unique_ptr<FrameReader> reader_;
  mutable AtomsFrame frame_;
};

/// One file of slabs.
std::shared_ptr<const Dataset> open_slabs(const std::string& path, const Oc20DataOptions& options);

}  // namespace weyl
