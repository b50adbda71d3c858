#include "weyl/train/frame_checks.h"

#include <algorithm>
#include <cstdint>

#include "weyl/core/check.h"
#include "weyl/models/framed_model.h"

namespace weyl {
namespace {

constexpr int64_t most_samples = 20000, chunk = 256;

/// Calls `see(sample, gap)` for samples evenly spread over the set; returns how many.
template <class See>
int64_t each_gap(const Dataset& data, bool vectors, const See& see) {
  const int64_t looked_at = std::min(data.size(), most_samples);
  for (int64_t begin = 0; begin < looked_at; begin += chunk) {
    std::vector<int64_t> samples;
    for (int64_t i = begin; i < std::min(begin + chunk, looked_at); ++i) {
      samples.push_back(i * data.size() / looked_at);
    }
    const Batch batch = data.batch(samples);
    const std::vector<double> gaps = FramedModel::axis_gaps(std::get<Points>(batch.input), vectors);
    for (size_t b = 0; b < gaps.size(); ++b) {
      see(samples[b], gaps[b]);
    }
  }
  return looked_at;
}

}  // namespace

std::string check_axes(const SavedModel& saved, const Splits& data) {
  const auto* framed = dynamic_cast<const FramedModel*>(saved.model.get());
  if (framed == nullptr) {
    return "";
  }
  const std::string by = saved.task->differentiated_by();
  const bool vectors = framed->has_vectors() || !by.empty();
  int64_t without = 0, looked_at = 0;
  struct Split {
    const Dataset* data;
    const char* name;
    bool training;  // splits may be the same set
  };
  for (const auto& [split, name, training] : {Split{data.train.get(), "training", true},
                                              {data.valid.get(), "validation", false},
                                              {data.test.get(), "test", false}}) {
    if (split == nullptr || (by.empty() && !training)) {
      continue;
    }
    const int64_t seen = each_gap(*split, vectors, [&](int64_t sample, double gap) {
      require<DataError>(by.empty() || gap >= least_gap_of_derivatives, name, " data: sample ", sample,
                         ": must have principal axes, for model.frames with ", by,
                         ": two eigenvalues of its covariance are only ", gap,
                         " of the largest apart (at least ", least_gap_of_derivatives, ")");
      without += training && gap < least_gap_of_axes ? 1 : 0;
    });
    looked_at += training ? seen : 0;
  }
  return without == 0
             ? ""
             : text("model.frames: ", without, " of ", looked_at,
                    " training samples have no principal axes to rely on; of these the model is not exact");
}

}  // namespace weyl
