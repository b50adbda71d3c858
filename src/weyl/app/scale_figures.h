#pragma once

#include <string>
#include <vector>

#include "weyl/app/chart.h"
#include "weyl/app/scale_inputs.h"

namespace weyl {

/// A picture of a scaling study: the name of its file, and what stands above it.
struct ScaleFigure {
  std::string name, title;
  std::vector<Chart> charts;
};

struct ScaleFigures {
  std::vector<ScaleFigure> figures;
  std::vector<std::string> left_out;  // what cannot be drawn, and why
};

/// The figures of Brehmer et al. 2024 that fits and runs have: isoflops, loss_over_compute (of systems without a fit their
/// runs alone), best_sizes, ratios, data_scaling. ConfigError: more than twelve systems.
ScaleFigures scale_figures(const ScaleInputs& inputs);

/// How system `index` is drawn in all of them.
Look look_of_system(size_t index);

/// Loss over different training tokens of systems that saw theirs more than once, geometric means over seeds of the size
/// that does best; NAME-augmented has NAME's colour. No charts where no system has such runs at two numbers of tokens.
ScaleFigure data_scaling_figure(const std::vector<ScalingRun>& runs);

}  // namespace weyl
