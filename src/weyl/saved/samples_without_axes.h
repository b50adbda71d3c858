#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/models/model.h"
#include "weyl/parallel/message.h"
#include "weyl/parallel/ranks.h"

namespace weyl {

/// Counts the samples for which a model that is run in their principal axes (model.frames; models/framed_model.h) is not
/// exact, as they have none to rely on: symmetric molecules, a turned tetrahedron. Of other models it counts nothing.
class SamplesWithoutAxes {
 public:
  /// `differentiated`: outputs are differentiated by positions, so that the axes across a line count too.
  SamplesWithoutAxes(const Model& model, bool differentiated);

  bool counts() const { return counts_; }
  /// The samples [first, first + count) of all; `name` says what the i-th of all is called.
  void add(const Input& input, int64_t first, const std::function<std::string(int64_t i)>& name);
  /// Adds what another rank has counted of the same samples.
  void merge(const SamplesWithoutAxes& other);
  /// One like this that has seen nothing.
  SamplesWithoutAxes empty() const;
  void tell(Message& message) { message(seen_, without_, first_at_, first_); }
  /// One line with their number and the first of them; empty where there are none.
  std::string warning() const;

 private:
  bool counts_ = false, vectors_ = false;
  int64_t seen_ = 0, without_ = 0, first_at_ = 0;
  std::string first_;
};

/// What is to be said of the samples of a set when all are seen.
struct SampleDoubts {
  std::string said;     // of the first that there is a warning of (Predictor::data_warning)
  int64_t said_of = 0;  // its number
  SamplesWithoutAxes axes;

  /// On the first rank what all have to say, as if it had seen all samples.
  void collect(Ranks& ranks);

 private:
  void tell(Message& message);
};

}  // namespace weyl
