#include "weyl/app/command_line_scale.h"

#include <cmath>

#include "weyl/app/command_line_draft.h"
#include "weyl/app/command_line_scale_figures.h"
#include "weyl/app/command_line_sweep.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

double positive(const std::string& flag, const std::string& word) {
  const auto number = parse_real(word);
  require<ConfigError>(number && std::isfinite(*number) && *number > 0, flag,
                       ": must be a positive number, got ", quote(word));
  return *number;
}

// "gatr=61.2", the last equals sign parting the two.
void take_xi(const std::vector<std::string>& words, std::map<std::string, double>& xi) {
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    require<ConfigError>(equals != std::string::npos && equals > 0, "--xi: is written SYSTEM=VALUE, got ",
                         quote(word));
    const std::string system = word.substr(0, equals);
    const bool fresh = xi.emplace(system, positive("--xi " + system, word.substr(equals + 1))).second;
    require<ConfigError>(fresh, "--xi: ", quote(system), " is given twice");
  }
}

void take_budgets(const std::string& words, std::vector<double>& budgets) {
  for (size_t begin = 0; !words.empty() && begin <= words.size();) {
    const size_t end = std::min(words.find(',', begin), words.size());
    budgets.push_back(positive("--budgets", words.substr(begin, end - begin)));
    begin = end + 1;
  }
  require<ConfigError>(budgets.size() <= 1000, "--budgets: must be at most 1000, got ", budgets.size());
}

void settle(ScaleFitCommand& c) {
  require<ConfigError>(c.runs.empty() != c.coefficients.empty(),
                       "give either RUNS.csv or --coefficients FILE");
  require_enough_bootstraps(c.bootstraps);
  if (!c.coefficients.empty()) {
    require<ConfigError>(
        !c.hold_out && !c.bootstraps && !c.seed && !c.threads && !c.epochs,
        "--coefficients has no runs to fit: no --hold-out, --bootstraps, --seed, --threads or --epochs");
    require<ConfigError>(!c.budgets.empty(), "--coefficients needs --budgets C,C,...");
  }
}

Verb add_scale_fit(CLI::App& scale) {
  const auto draft = begin<ScaleFitCommand>(
      scale, "fit",
      "fit L = A N^-alpha + B D^-beta + E to runs, and what follows: best sizes, losses, ratios",
      examples(
          {"scale fit runs.csv", "scale fit runs.csv --hold-out --budgets 1e13,1e14 --out fit.json",
           "scale fit elsewhere.csv --xi gatr=61.2 --xi transformer=6 --json",
           "scale fit --coefficients configs/scaling/paper-coefficients.csv --budgets 1e16,1e17,1e18,1e19"},
          "RUNS.csv has columns system, parameters, tokens, loss and, where they are known, flops, "
          "budget, unique_tokens.\nRows that are none are reported with their lines, the rest is fitted."));
  auto& [app, c] = draft;
  const auto xi = std::make_shared<std::vector<std::string>>();
  const auto budgets = std::make_shared<std::string>(), epochs = std::make_shared<std::string>();
  add_path_if_any(app, "RUNS.csv", c->runs, "table of runs");
  add_word_of_own(app, "--budgets", *budgets, "C,C,...",
                  "training FLOPs at which best size, tokens and loss are wanted, default those of the runs");
  add_each(app, "--xi", *xi, "SYSTEM=VALUE",
           "FLOPs of a training per parameter and token, of a system whose runs have no flops; may be given "
           "again");
  add_switch(app, "--hold-out", c->hold_out,
             "also fit without the largest budget, and report the error on it");
  add_word_of_own(app, "--epochs", *epochs, "X",
                  "leave runs that saw their data more often than X times to the repetition form");
  add_bootstraps(app, c->bootstraps, "resamples for intervals, default 10000; 0: none");
  add_seed(app, c->seed, "of the resamples, default 0");
  add_threads(app, c->threads, "threads, default all cores; the result does not depend on them");
  add_word_of_own(
      app, "--coefficients", c->coefficients, "FILE",
      "derive all from given laws in place of runs: a CSV file with columns system, A, alpha, B, beta and, "
      "where they are, E, xi");
  add_out(app, c->out, "FILE", "also write the result of --json to this file", false);
  add_force(app, c->force);
  return draft.done([xi, budgets, epochs](ScaleFitCommand& fit) {
    take_xi(*xi, fit.xi);
    take_budgets(*budgets, fit.budgets);
    if (!epochs->empty()) {
      fit.epochs = positive("--epochs", *epochs);
      require<ConfigError>(*fit.epochs >= 1, "--epochs: must be at least 1, got ", *fit.epochs);
    }
    settle(fit);
  });
}

}  // namespace

std::vector<Verb> add_scale_verbs(CLI::App& root) {
  CLI::App& scale = add_group(
      root, "scale", "scaling laws: which system, at which size, for a given budget",
      examples({"scale plan configs/scaling/rigid.toml --jobs 2",
                "scale run configs/scaling/rigid.toml --out runs/rigid-sweep --jobs 2",
                "scale fit runs/rigid-sweep/runs.csv --out fit.json", "scale plot fit.json --out plots"}));
  std::vector<Verb> verbs = add_sweep_verbs(scale);
  verbs.push_back(add_scale_fit(scale));
  for (const Verb& verb : add_scale_figure_verbs(scale)) {
    verbs.push_back(verb);
  }
  return verbs;
}

}  // namespace weyl
