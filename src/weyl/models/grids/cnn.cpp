#include "weyl/models/grids/cnn.h"

#include "weyl/ops/autograd/full_precision.h"

namespace weyl::grids {

Cnn::Cnn(const Options& given, const Interface& of) : GridModel(of), options(given) {
  const int64_t outputs = channels_out("cnn", Level::graph), dimension = interface.dimension;
  check(options, dimension);
  encoder_ = child("encoder", std::make_shared<Encoder>(channels_in("cnn"), options.base, options.stages,
                                                        dimension, options.norm, /*residual=*/true));
  head_ = child("head", std::make_shared<Linear>(encoder_->channels(options.stages.size() - 1), outputs));
}

Named Cnn::forward(const Grid& grid) {
  const Tensor features = (*encoder_)(grid.values).back();
  return by_name(widened((*head_)(features.flatten(2).mean(2))));
}

Work Cnn::work(double nodes) const {
  const Cells input = encoder_->input_of(side_of(nodes));
  std::vector<Cells> cells;
  const Work work =
      encoder_->work_on(input, cells) + Work::product(static_cast<double>(head_->weight().numel()));
  return (1 / count_of(input)) * work;
}

}  // namespace weyl::grids
