#include "weyl/carriers/faulty_sample.h"

namespace weyl {

void blame_sample(const std::string& where, const ShapeError& error, std::span<const int64_t> samples,
                  const std::function<void(int64_t sample)>& attempt) {
  for (const int64_t sample : samples) {
    try {
      attempt(sample);
    } catch (const ShapeError& alone) {
      throw DataError(text(where, ": sample ", sample, ": ", alone.what()));
    }
  }
  throw error;
}

}  // namespace weyl
