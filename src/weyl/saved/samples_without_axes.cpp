#include "weyl/saved/samples_without_axes.h"

#include <vector>

#include "weyl/core/check.h"
#include "weyl/models/framed_model.h"

namespace weyl {

SamplesWithoutAxes::SamplesWithoutAxes(const Model& model, bool differentiated) {
  const auto* framed = dynamic_cast<const FramedModel*>(&model);
  counts_ = framed != nullptr;
  vectors_ = counts_ && (differentiated || framed->has_vectors());
}

void SamplesWithoutAxes::add(const Input& input, const std::function<std::string(int64_t i)>& name) {
  const auto* points = std::get_if<Points>(&input);
  if (!counts_ || points == nullptr) {
    return;
  }
  const std::vector<double> gaps = FramedModel::axis_gaps(*points, vectors_);
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] < least_gap_of_axes && without_++ == 0) {
      first_ = name(static_cast<int64_t>(i));
    }
  }
  seen_ += static_cast<int64_t>(gaps.size());
}

std::string SamplesWithoutAxes::warning() const {
  return without_ == 0
             ? ""
             : text("model.frames: ", without_, " of ", seen_, seen_ == 1 ? " sample has" : " samples have",
                    " no principal axes to rely on, the first is ", first_,
                    ": of these, what is predicted changes when they are turned");
}

}  // namespace weyl
