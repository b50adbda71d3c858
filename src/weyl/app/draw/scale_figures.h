#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weyl/app/draw/plot.h"
#include "weyl/app/draw/scale_inputs.h"

namespace weyl {

/// A picture of a scaling study: the name of its file, and what stands above it.
struct ScaleFigure {
  std::string name;
  Panels panels;
};

struct ScaleFigures {
  std::vector<ScaleFigure> figures;
  std::vector<std::string> left_out;  // what cannot be drawn, and why
};

/// The figures of Brehmer et al. 2024 that fits and runs have: isoflops, loss_over_compute (of systems without a fit their
/// runs alone), best_sizes, ratios (of laws that the runs determine), data_scaling; each says below its title which laws the
/// runs determine (verdict_of). ConfigError: more than twelve systems.
ScaleFigures scale_figures(const ScaleInputs& inputs);

/// How system `index` is drawn in all of them.
Look look_of_system(size_t index);

/// What the runs of a system came to with an amount of data, of the size that did best there.
struct DataLoss {
  double unique_tokens = 0, parameters = 0;
  double mean = 0;           // geometric, over seeds
  std::vector<double> each;  // in the order of the runs
};

/// What runs were allowed: a budget of the table, or, where it says none, the least tokens of runs that saw about as many.
struct DataBudget {
  double value = 0;
  bool stated = false;

  bool operator==(const DataBudget&) const = default;
};

/// A system at one budget: runs of different budgets come to different losses with the same data.
struct DataScaling {
  std::string system;
  DataBudget budget;
  std::vector<DataLoss> losses;
};

/// Systems and budgets that saw their data more than once, and two amounts of it or more, in the order of their first runs;
/// of each, amounts rising.
std::vector<DataScaling> data_scaling(const std::vector<ScalingRun>& runs);

/// The system, and its budget where there is more than one.
std::string name_of(const DataScaling& one, const std::vector<DataScaling>& all);

/// These, loss over different training tokens; NAME-augmented has NAME's colour. No panels where there are none.
ScaleFigure data_scaling_figure(const std::vector<ScalingRun>& runs);

}  // namespace weyl
