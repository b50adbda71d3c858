#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "weyl/models/system_options.h"

namespace weyl {

/// Frames that a model of points is run in, so that it becomes exact under all of SO(D) or O(D) (models/framed_model.h):
/// none; the principal axes of each graph, for systems that are exact under changes of their signs; the mean over all
/// choices of their signs, or over those that are rotations.
enum class FrameMethod { none, pca, average, average_rotations };
constexpr auto names_of(FrameMethod) {
  return std::array<std::string_view, 4>{"none", "pca", "average", "average_rotations"};
}

/// The systems that come with weyl, each with its defaults, in the order of messages; the first is the default.
/// models/systems.h has how they are built.
std::vector<SystemOptions> built_in_options();

/// What learns: one of the systems known, by its options. A program with systems of its own knows those too
/// (models/systems.h).
struct ModelOptions {
  SystemOptions system = built_in_options().front();
  std::vector<SystemOptions> known = built_in_options();
  FrameMethod frames = FrameMethod::none;
};
void fields(Fields& f, ModelOptions& o);

}  // namespace weyl
