#pragma once

#include "weyl/carriers/points.h"
#include "weyl/tasks/options.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// The weighted sum of the parts that the options ask for, of logits (B, K, spatial...) and target (B,
/// spatial...) int64, the same cells or more along an axis: the label of a coarser cell is that of the cell in its middle,
/// and it counts for as many cells as it covers. With p = softmax(logits), y the target, w the class weights:
///
///   cross_entropy  sum_i -w_y log p_y / sum_i w_y, over the pixels i of the batch
///   focal          sum_i -w_y alpha (1 - p_y)^gamma log p_y / sum_i w_y
///   dice           1 - mean over samples and classes k > 0 of
///                  (2 sum_i p_k [y = k] + 1) / (sum_i p_k + sum_i [y = k] + 1)
///
/// Cells that are unlabelled (carriers/unlabelled.h) are none of i; a batch of them alone has the loss 0.
///
/// With `graphs` logits are those of points (N, K) and target (N): the cells are the points of all graphs, a sample is a
/// graph, and Dice is the mean over all classes, of which none is a background.
///
/// ConfigError: no part has a weight.
Tensor segmentation_loss(const Tensor& logits, const Tensor& target, const SegmentationOptions& options,
                         const LossShares& shares = {}, const Segments* graphs = nullptr);

/// The class of every pixel or voxel of a grid, 0 the background, or of every point of a cloud, where 0 is a class as the
/// others are. Label `mask` (B, 1, spatial...) or (N, 1) int64, K its `categories`, -1 where a cell is unlabelled: it
/// then counts in neither loss nor metrics. The model gives `logits` (B, K,
/// spatial...) or (N, K).
///
///   loss      segmentation.h, on the whole grid given (crops: train.crop); of a model that does not
///             train, with log `probabilities` for the logits: those of windows and rotations. Where the model in training
///             gives coarser logits too (coarser_output, deep supervision) the mean of the losses of all, with weights 1,
///             1/2, 1/4, ...
///   predicts  `probabilities` (B, K, spatial...), softmax of the logits, put together from windows
///             (sliding_window.h), each window averaged over its mirror images, and averaged over the test-time rotations;
///             `mask` (B, 1, spatial...) int64, the likeliest class, of which largest_component keeps one part (components.h)
///   metrics   of every class k but 0 (up to 20 of them), and of every region, with TP, FP and FN its pixels:
///             dice_<name> = 2 TP / (2 TP + FP + FN) and iou_<name> = TP / (TP + FP + FN), of each sample,
///             averaged over the samples, 0/0 being 1; dice_pooled_<name> and iou_pooled_<name> of all pixels
///             of all samples at once. dice, the headline, and iou, dice_pooled, iou_pooled: their means over
///             the regions where there are some, else over the classes; accuracy and cross_entropy over all
///             pixels. Of their surfaces (mask_surfaces.h), by the grid's spacing, averaged over the samples where one of both
///             masks is not empty: hd95_<name>, the Hausdorff distance at the 95th percentile, over those where neither is (one
///             alone is infinitely far: their number is hd95_infinite_<name>); surface_dice_<name> at the options' tolerance;
///             volume_error_<name>, the difference of volumes, in ml of volumes in mm, of all samples. Without a name: means over the same parts
///             as dice, hd95_infinite their sum. What no sample has is left out.
///             A sample without a labelled cell is not measured. Masks without probabilities have no cross_entropy.
///             Of points every class counts, 0 too; a class is measured on the clouds alone that have it or are said to, so
///             that one that is nowhere raises no mean, and surfaces there are none
class Segmentation : public Task {
 public:
  explicit Segmentation(SegmentationOptions options) : options_(std::move(options)) {}

  std::string name() const override { return SegmentationOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  /// ConfigError unless a grid or points; see classes.h; for turns, a window or regions that do not fit the data; of points
  /// for options that have a meaning on grids alone.
  Interface interface(const Schema& data) const override;
  std::vector<Quantity> predictions(const Interface& model) const override;

  void fit(const Dataset&) override {}
  NamedTensors state() const override { return {}; }
  void load(const NamedTensors&) override {}

  void prepare(Batch& batch, const Interface& model) const override;
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch,
            const LossShares& shares = {}) const override;  // no predictions while the model trains
  /// With windows: grid and result then stay on the CPU, windows go to the model's device one by one.
  bool moves_inputs() const override { return !options_.window.size.empty(); }
  std::vector<int64_t> window() const override { return options_.window.size; }
  Named predict(Model& model, const Batch& batch) const override;
  Tensor likeliest(const Tensor& probabilities) const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return "dice"; }
  bool lower_is_better() const override { return false; }
  std::string loss_metric() const override { return "cross_entropy"; }

 private:
  SegmentationOptions options_;
};

}  // namespace weyl
