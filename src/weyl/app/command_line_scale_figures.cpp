#include "weyl/app/command_line_scale_figures.h"

#include "weyl/app/command_line_draft.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr const char* bootstraps_help =
    "resamples for intervals where a table is fitted here, default 10000; 0: none";

Verb add_scale_plot(CLI::App& scale) {
  const auto draft = begin<ScalePlotCommand>(
      scale, "plot", "draw isoflops, losses and best sizes over compute, ratios, data scaling: PNG and SVG",
      examples({"scale plot fit.json --out plots", "scale plot runs.csv data.csv --out plots",
                "scale plot fit.json data.csv --out plots"},
               "FIT.json is what `scale fit --out` wrote. Where none is given each table is fitted first.\n"
               "What cannot be drawn is left out with a line; pictures that are there are replaced."));
  auto& [app, c] = draft;
  add_paths(app, "INPUT", c->inputs, "RUNS.csv, FIT.json or a folder with runs.csv, one or more");
  add_bootstraps(app, c->bootstraps, bootstraps_help);
  add_out(app, c->out, "DIR", "folder for the pictures", true);
  return draft.done([](ScalePlotCommand& command) { require_enough_bootstraps(command.bootstraps); });
}

Verb add_scale_report(CLI::App& scale) {
  const auto draft = begin<ScaleReportCommand>(
      scale, "report", "one HTML file: tables, pictures, settings, machine, and the commands behind them",
      examples({"scale report runs/rigid-sweep --out report.html",
                "scale report runs.csv --fit fit.json --out report.html"},
               "The file needs no other and loads none."));
  auto& [app, c] = draft;
  add_path(app, "RUNS", c->runs, "table of runs (RUNS.csv), or the folder of a sweep, which has runs.csv");
  add_word_of_own(app, "--fit", c->fit, "FIT.json",
                  "what `scale fit --out` wrote; without it the table is fitted, the largest budget held out "
                  "too");
  add_bootstraps(app, c->bootstraps, bootstraps_help);
  add_out(app, c->out, "FILE", "file to write", true);
  add_force(app, c->force);
  return draft.done([](ScaleReportCommand& command) {
    require_enough_bootstraps(command.bootstraps);
    require<ConfigError>(command.fit.empty() || command.fit.ends_with(".json"),
                         "--fit: must be a .json file of `weyl scale fit --out`, got ", command.fit);
    require<ConfigError>(!command.runs.ends_with(".json"),
                         "RUNS: must be a table of runs; a fit is given with --fit ", command.runs);
  });
}

}  // namespace

std::vector<Verb> add_scale_figure_verbs(CLI::App& scale) {
  return {add_scale_plot(scale), add_scale_report(scale)};
}

}  // namespace weyl
