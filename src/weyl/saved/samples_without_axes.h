#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/models/model.h"

namespace weyl {

/// Counts the samples for which a model that is run in their principal axes (model.frames; models/framed_model.h) is not
/// exact, as they have none to rely on: symmetric molecules, a turned tetrahedron. Of other models it counts nothing.
class SamplesWithoutAxes {
 public:
  /// `differentiated`: outputs are differentiated by positions, so that the axes across a line count too.
  SamplesWithoutAxes(const Model& model, bool differentiated);

  bool counts() const { return counts_; }
  /// Samples in their order; `name` says what the i-th of this batch is called.
  void add(const Input& input, const std::function<std::string(int64_t i)>& name);
  /// One line with their number and the first of them; empty where there are none.
  std::string warning() const;

 private:
  bool counts_ = false, vectors_ = false;
  int64_t seen_ = 0, without_ = 0;
  std::string first_;
};

}  // namespace weyl
