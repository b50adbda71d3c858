#pragma once

#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/images/image_input.h"

namespace weyl {

/// Images of which each was mixed with another, its partner.
struct Mixing {
  Tensor images;  // (B, C, H, W), mixed
  Tensor shares;  // (B) float64, what is left of each image's own class
};

/// Images (B, C, H, W) float32 in [0, 1] as training sees them in that epoch, all but the mixing, each by draws of its
/// own: `samples` are their indices. In this order: a random part, the mirror image, one of grey, solarised and blurred,
/// colours. ShapeError: options of colour for other than three channels.
Tensor augmented_images(const Tensor& images, std::span<const int64_t> samples, const ImageAugmentation& how,
                        const Draw& draw);

/// Each image x_b mixed with its partner p_b (both augmented before), by mixup or cutmix, either as likely where both are
/// on; share s from a Beta distribution (alpha, alpha):
///   mixup (Zhang et al., 2018)   s x_b + (1 - s) p_b
///   cutmix (Yun et al., 2019)    x_b with a rectangle of p_b, sides sqrt(1 - s) of the image's, cut off at its edges;
///                                its share is then what is left of x_b
/// ShapeError: partners of another shape.
Mixing mixed_images(const Tensor& images, const Tensor& partners, std::span<const int64_t> samples,
                    const ImageAugmentation& how, const Draw& draw);

/// Images of one size as they were read, and what is asked of them; labels that are absent are undefined.
struct ImageSamples {
  Tensor values;                   // (n, C, H, W) uint8, 0 .. 255, or float32 in [0, 1]
  Tensor classes;                  // (n) int64
  Tensor masks;                    // (n, H, W) uint8
  std::vector<std::string> files;  // (n) that each alone is from, or none
  bool grey = false;               // all files were, whatever the channels that they were brought to

  int64_t size() const { return values.size(0); }
  /// The samples [begin, end), sharing memory.
  ImageSamples slice(int64_t begin, int64_t end) const;
};

/// What a kind of images is: mean and deviation of each channel in [0, 1], and the number of classes of an
/// image (label `class`) or of a pixel (label `mask`); 0: none such.
struct ImageKind {
  std::vector<double> mean, deviation;
  int64_t classes = 0, mask_classes = 0;
  std::vector<std::string> class_names;  // of the classes of an image, where known

  int64_t channels() const { return static_cast<int64_t>(mean.size()); }
};

/// Feature `intensity` (one channel), `rgb` (three) or `channels`, of node level; as points one scalar a
/// pixel of the patch or a channel. Labels `class` {graph, category} and `mask` {node, category}.
/// `typical_nodes` from the pixels that images of the kind have, 0: not known.
Schema image_schema(const ImageKind& kind, const ImageInput& input, int64_t pixels = 0);

/// Images in memory. As a grid: values (B, C, H, W) float32, labels class (B, 1) and mask (B, 1, H, W),
/// int64; their channels are called grey, where all files were, or red, green and blue. As points, a patch at (row i, column j) of h x w patches: positions (N, 2) at (j - (w-1)/2, i -
/// (h-1)/2) / max(h-1, w-1, 1), so x to the right and y down within [-1/2, 1/2]; scalars (N, C patch patch)
/// or (N, C); with `frame` vectors (N, 2, 2), the two axes; mask (N, 1) the class of most of its pixels, the lowest of
/// equals. Only labels that the samples have are in the schema.
class ImageSet : public Dataset {
 public:
  /// DataError beginning with `where`: images whose sides the patch does not divide, another number of
  /// channels than the kind's, a label outside its classes.
  ImageSet(ImageSamples samples, ImageKind kind, ImageInput input, const std::string& where);
  /// The samples of both, those of `first` first. DataError: images of different sizes.
  static std::shared_ptr<const ImageSet> joined(const ImageSet& first, const ImageSet& second);
  int64_t size() const override { return samples_.size(); }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override;
  std::string source(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices) const override;
  /// Where images are mixed, the label class is (B, K) float64, the shares of the classes. ShapeError: images without
  /// classes, with masks, or whose patches are counted by a threshold.
  Batch augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                  const Draw& draw) const override;

 private:
  Tensor rows(std::span<const int64_t> indices) const;
  Batch given(const Tensor& images, const Tensor& masks) const;  // without classes
  Tensor patches(const Tensor& images) const;                    // (B, h w, C, patch patch) of (B, C, H, W)
  Tensor kept(const Tensor& patches) const;                      // (B, h w) bool
  Tensor normalised(const Tensor& values) const;                 // axis 1 are the channels
  Batch points(const Tensor& images, Tensor masks) const;

  ImageSamples samples_;
  ImageKind kind_;
  ImageInput input_;
  Schema schema_;
  Tensor mean_, deviation_;      // (C); undefined unless normalised
  Tensor positions_;             // (h w, 2); of points
  std::vector<int64_t> tokens_;  // of each sample; empty when all have the same
};

/// The splits of a set of images as a fold has them (draw_fold): its training and validation images together are cut into
/// folds; the test split stays. DataError: images of different sizes. ConfigError: see draw_fold.
Splits folded_images(const Splits& splits, const Folds& folds, int64_t seed);

}  // namespace weyl
