#include "weyl/tasks/segmentation_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/one_hot.h>

#include "weyl/core/check.h"
#include "weyl/tasks/classes.h"

namespace weyl {

Tensor segmentation_loss(const Tensor& logits, const Tensor& target, const SegmentationOptions& o) {
  require<ConfigError>(o.cross_entropy > 0 || o.focal > 0 || o.dice > 0,
                       "task.segmentation: cross_entropy, focal or dice must have a weight, got none");
  const int64_t B = logits.size(0), K = logits.size(1);
  const Tensor logp = at::log_softmax(logits.reshape({B, K, -1}), 1);
  const Tensor y = target.reshape({B, 1, -1});
  const Tensor right = logp.gather(1, y).squeeze(1);  // log p_y, (B, P)
  Tensor loss;
  const auto add = [&](double weight, const Tensor& part) {
    loss = loss.defined() ? loss + weight * part : weight * part;
  };
  if (o.cross_entropy > 0 || o.focal > 0) {
    const Tensor by_class = class_weights(o.class_weights, logits, SegmentationOptions::name_in_config);
    // A batch without a class that has a weight says nothing: 0, not 0 / 0.
    const auto mean = [&, w = by_class.defined() ? by_class.index_select(0, y.reshape({-1}))
                                                 : Tensor()](const Tensor& x) {
      return w.defined() ? (x.reshape({-1}) * w).sum() / weight_of(w) : x.mean();
    };
    if (o.cross_entropy > 0) {
      add(o.cross_entropy, mean(-right));
    }
    if (o.focal > 0) {
      // (1 - p)^gamma has no finite slope at p = 1 for gamma < 1
      const Tensor wrong = (1 - right.exp()).clamp_min(1e-7);
      add(o.focal, mean(-o.focal_alpha * wrong.pow(o.focal_gamma) * right));
    }
  }
  if (o.dice > 0) {
    const Tensor p = logp.slice(1, 1).exp();  // without class 0
    const Tensor g = at::one_hot(y.squeeze(1), K).transpose(1, 2).slice(1, 1).to(p.scalar_type());
    const Tensor both = (p * g).sum(2), sum = p.sum(2) + g.sum(2);
    add(o.dice, 1 - ((2 * both + 1) / (sum + 1)).mean());
  }
  return loss;
}

}  // namespace weyl
