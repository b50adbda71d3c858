#pragma once

#include "weyl/carriers/points.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// The weighted sum of the parts that the options ask for, of logits (B, K, spatial...) and target (B,
/// spatial...) int64. With p = softmax(logits), y the target, w the class weights:
///
///   cross_entropy  sum_i -w_y log p_y / sum_i w_y, over the pixels i of the batch
///   focal          sum_i -w_y alpha (1 - p_y)^gamma log p_y / sum_i w_y
///   dice           1 - mean over samples and classes k > 0 of
///                  (2 sum_i p_k [y = k] + 1) / (sum_i p_k + sum_i [y = k] + 1)
///
/// ConfigError: no part has a weight.
Tensor segmentation_loss(const Tensor& logits, const Tensor& target, const SegmentationOptions& options);

}  // namespace weyl
