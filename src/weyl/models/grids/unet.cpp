#include "weyl/models/grids/unet.h"

#include <ATen/ops/cat.h>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl::grids {
namespace {

/// The first cells along each axis.
Tensor cut(Tensor x, at::IntArrayRef cells) {
  for (size_t a = 0; a < cells.size(); ++a) {
    x = x.narrow(static_cast<int64_t>(a) + 2, 0, cells[a]);
  }
  return x;
}

}  // namespace

Unet::Unet(const Options& given, const Interface& of) : GridModel(of), options(given) {
  const int64_t outputs = channels_out("unet", Level::node), dimension = interface.dimension;
  check(options, dimension);
  const std::vector<int64_t> one(static_cast<size_t>(dimension), 1);
  encoder_ = child("encoder", std::make_shared<Encoder>(channels_in("unet"), options.base, options.stages,
                                                        dimension, NormLaw::instance, options.residual));
  const size_t steps = options.stages.size() - 1;
  for (size_t s = 0; s < steps; ++s) {
    const auto stride = along_axes(options.stages[s + 1].stride, dimension);
    up_.push_back(child(text("up.", s), std::make_shared<Upsample>(encoder_->channels(s + 1),
                                                                   encoder_->channels(s), stride)));
  }
  for (size_t s = 0; s < steps; ++s) {
    const int64_t channels = encoder_->channels(s);
    const auto kernel = along_axes(options.stages[s].kernel, dimension);
    decoder_.push_back(child(text("decoder.", s),
                             std::make_shared<Block>(2 * channels, channels, kernel, one, NormLaw::instance,
                                                     /*residual=*/false)));
  }
  const size_t heads = options.deep_supervision && steps > 1 ? steps - 1 : 1;
  for (size_t s = 0; s < heads; ++s) {
    heads_.push_back(child(s == 0 ? "head" : text("coarser.", s),
                           std::make_shared<Conv>(encoder_->channels(s), outputs, one, one, /*bias=*/true)));
  }
}

Named Unet::forward(const Grid& grid) {
  std::vector<Tensor> stages = (*encoder_)(grid.values);
  Named outputs;
  Tensor y = stages.back();
  for (size_t s = decoder_.size(); s-- > 0;) {
    const Tensor up = cut((*up_[s])(y), stages[s].sizes().slice(2));
    y = (*decoder_[s])(at::cat({up, stages[s].to(up.scalar_type())}, 1));
    if (s == 0) {
      outputs.merge(by_name(widened((*heads_[0])(y))));
    } else if (training() && s < heads_.size()) {
      for (const auto& [name, value] : by_name(widened((*heads_[s])(y)))) {
        outputs[coarser_output(name, static_cast<int64_t>(s))] = value;
      }
    }
  }
  return outputs;
}

Work Unet::work(double nodes) const {
  const Cells input = encoder_->input_of(side_of(nodes));
  std::vector<Cells> cells;
  Work work = encoder_->work_on(input, cells);
  for (size_t s = 0; s < decoder_.size(); ++s) {
    work += up_[s]->work_on(cells[s + 1]) + decoder_[s]->work_on(cells[s]);
    work += s < heads_.size() ? heads_[s]->work_on(cells[s]) : Work();
  }
  return (1 / count_of(input)) * work;
}

}  // namespace weyl::grids
