#include "weyl/models/gatr/bilinear.h"

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/ops/multivectors/products.h"

namespace weyl::gatr {

Bilinear::Bilinear(const EquiChannels& channels) {
  require<ConfigError>(channels.out % 2 == 0, "gatr: a bilinear layer needs an even number of channels, got ",
                       channels.out);
  const EquiChannels half{channels.in, channels.out / 2, channels.in_scalars, {}};
  const auto map = [&](const char* name, EquiInit init = EquiInit::normal) {
    return child(name, std::make_shared<EquiLinear>(half, init));
  };
  left_ = map("linear_left");
  right_ = map("linear_right", EquiInit::almost_unit_scalar);
  join_left_ = map("linear_join_left");
  join_right_ = map("linear_join_right");
  out_ = child("linear_out", std::make_shared<EquiLinear>(EquiChannels{
                                 channels.out, channels.out, channels.in_scalars, channels.out_scalars}));
}

Streams Bilinear::operator()(const Streams& x, const Tensor& reference) const {
  const Tensor four = joint_multivectors({left_.get(), right_.get(), join_left_.get(), join_right_.get()}, x);
  // Under autocast the maps give half precision, and the reference is of the input's.
  return (*out_)({product_and_join(four.to(reference.scalar_type()), reference), x.scalars});
}

double Bilinear::flops() const {
  const double half = static_cast<double>(left_->channels().out);
  return 4 * left_->flops() + out_->flops() +
         2 * half * (clifford::geometric_terms.size() + clifford::join_terms.size());
}

double Bilinear::nominal_flops() const {
  return 4 * left_->nominal_flops() + out_->nominal_flops();
}

}  // namespace weyl::gatr
