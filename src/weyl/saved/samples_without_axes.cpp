#include "weyl/saved/samples_without_axes.h"

#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/models/framed_model.h"

namespace weyl {

SamplesWithoutAxes::SamplesWithoutAxes(const Model& model, bool differentiated) {
  const auto* framed = dynamic_cast<const FramedModel*>(&model);
  counts_ = framed != nullptr;
  vectors_ = counts_ && (differentiated || framed->has_vectors());
}

void SamplesWithoutAxes::add(const Input& input, int64_t first,
                             const std::function<std::string(int64_t i)>& name) {
  const auto* points = std::get_if<Points>(&input);
  if (!counts_ || points == nullptr) {
    return;
  }
  const std::vector<double> gaps = FramedModel::axis_gaps(*points, vectors_);
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] < least_gap_of_axes && without_++ == 0) {
      first_at_ = first + static_cast<int64_t>(i);
      first_ = name(first_at_);
    }
  }
  seen_ += static_cast<int64_t>(gaps.size());
}

void SamplesWithoutAxes::merge(const SamplesWithoutAxes& other) {
  if (other.without_ > 0 && (without_ == 0 || other.first_at_ < first_at_)) {
    first_at_ = other.first_at_;
    first_ = other.first_;
  }
  seen_ += other.seen_;
  without_ += other.without_;
}

SamplesWithoutAxes SamplesWithoutAxes::empty() const {
  SamplesWithoutAxes none = *this;
  none.seen_ = none.without_ = 0;
  return none;
}

std::string SamplesWithoutAxes::warning() const {
  return without_ == 0
             ? ""
             : text("model.frames: ", without_, " of ", seen_, seen_ == 1 ? " sample has" : " samples have",
                    " no principal axes to rely on, the first is ", first_,
                    ": of these, what is predicted changes when they are turned");
}

void SampleDoubts::tell(Message& message) {
  message(said, said_of);
  axes.tell(message);
}

void SampleDoubts::collect(Ranks& ranks) {
  Message own;
  tell(own);
  SampleDoubts sum{.axes = axes.empty()};
  ranks.collect(own.bytes(), [&](std::string bytes) {
    Message told(std::move(bytes));
    SampleDoubts one{.axes = axes.empty()};
    one.tell(told);
    if (!one.said.empty() && (sum.said.empty() || one.said_of < sum.said_of)) {
      sum.said = one.said;
      sum.said_of = one.said_of;
    }
    sum.axes.merge(one.axes);
  });
  *this = sum;
}

}  // namespace weyl
