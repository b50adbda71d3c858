#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "weyl/models/system_options.h"

namespace weyl {

/// Frames in which a model of points is run, so that it becomes exact under all of SO(D) or O(D)
/// (models/framed_model.h):
///
///   none               no frames
///   pca                the principal axes of each graph, for systems that are exact under changes of their signs
///   average            the mean over all choices of the axes' signs
///   average_rotations  the mean over those choices that are rotations
enum class FrameMethod { none, pca, average, average_rotations };
constexpr auto names_of(FrameMethod) {
  return std::array<std::string_view, 4>{"none", "pca", "average", "average_rotations"};
}

/// The default options of each system that comes with weyl, in the order of messages; the first system is the default.
/// models/systems.h says how the systems are built.
std::vector<SystemOptions> built_in_options();

/// The model: the options of one of the systems `known`. A program with systems of its own adds these
/// (models/systems.h).
struct ModelOptions {
  SystemOptions system = built_in_options().front();
  std::vector<SystemOptions> known = built_in_options();
  FrameMethod frames = FrameMethod::none;
};
void fields(Fields& f, ModelOptions& o);

}  // namespace weyl
