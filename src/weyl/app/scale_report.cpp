#include "weyl/app/scale_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "weyl/app/html.h"
#include "weyl/app/scale_figures.h"
#include "weyl/app/scale_numbers.h"

namespace weyl {
namespace {

using HtmlRows = std::vector<std::vector<std::string>>;

std::string section(const std::string& title, const HtmlRows& rows, const std::string& words = {}) {
  return rows.size() < 2 ? ""
                         : "<h3>" + html_text(title) + "</h3>\n" +
                               (words.empty() ? "" : "<p>" + html_text(words) + "</p>\n") + html_table(rows);
}

// A column for each system, so that they can be compared.
std::string laws(const ScalingStudy& study) {
  using Of = std::function<std::string(const SystemFit&)>;
  const auto estimate = [](Estimate SystemFit::* which) -> Of {
    return [which](const SystemFit& fit) {
      const Estimate& e = fit.*which;
      return std::isnan(e.low)
                 ? number(e.value)
                 : number(e.value) + " (" + number(e.low, "%.3g") + ", " + number(e.high, "%.3g") + ")";
    };
  };
  const auto of_fit = [](const std::function<std::string(const PointFit&)>& what) -> Of {
    return [what](const SystemFit& fit) { return fit.fit ? what(*fit.fit) : "-"; };
  };
  const std::vector<std::pair<const char*, Of>> lines{
      {"runs", [](const SystemFit& fit) { return std::to_string(fit.runs); }},
      {"A", estimate(&SystemFit::A)},
      {"alpha", estimate(&SystemFit::alpha)},
      {"B", estimate(&SystemFit::B)},
      {"beta", estimate(&SystemFit::beta)},
      {"E", estimate(&SystemFit::E)},
      {"a (N* ~ C^a)", estimate(&SystemFit::a)},
      {"b (D* ~ C^b)", estimate(&SystemFit::b)},
      {"gamma (L* ~ C^-gamma)", estimate(&SystemFit::gamma)},
      {"G", estimate(&SystemFit::G)},
      {"F", estimate(&SystemFit::F)},
      {"xi / FLOPs per parameter and token",
       [](const SystemFit& fit) { return fit.xi ? number(*fit.xi) + " " + fit.xi_from : std::string("-"); }},
      {"a of the isoflops' minima",
       [](const SystemFit& fit) {
         return fit.isoflop_law ? number(fit.isoflop_law->a, "%.3g") : std::string("-");
       }},
      {"exponent of the lowest losses over compute",
       [](const SystemFit& fit) {
         return fit.compute_law ? with_interval(fit.compute_law->gamma) : std::string("-");
       }},
      {"mean error on the runs", of_fit([](const PointFit& fit) { return percent(fit.mean_residual); })},
      {"largest error", of_fit([](const PointFit& fit) { return percent(fit.worst_residual); })},
      {"E by leave-one-out", of_fit([](const PointFit& fit) { return fit.form.free_E ? "free" : "= 0"; })},
      {"delta of the Huber loss", of_fit([](const PointFit& fit) { return number(fit.form.delta, "%g"); })},
      {"R, passes over repeated data",
       [](const SystemFit& fit) {
         return fit.repetition ? with_interval(fit.repetition->R) : std::string("-");
       }},
  };
  HtmlRows rows{{""}};
  for (const SystemFit& fit : study.systems) {
    rows[0].push_back(fit.system);
  }
  for (const auto& [name, of] : lines) {
    rows.push_back({name});
    for (const SystemFit& fit : study.systems) {
      rows.back().push_back(of(fit));
    }
    if (std::all_of(rows.back().begin() + 1, rows.back().end(), [](const auto& c) { return c == "-"; })) {
      rows.pop_back();
    }
  }
  return section("Laws L = A N^-alpha + B D^-beta + E", rows,
                 "N parameters, D training tokens, C = xi N D nominal FLOPs; in brackets 95 % intervals of a "
                 "basic bootstrap.");
}

std::string best_at_budgets(const ScalingStudy& study) {
  HtmlRows rows{{"system", "FLOPs", "N* / parameters", "D* / tokens", "L*", ""}};
  for (const SystemFit& fit : study.systems) {
    for (const AtBudget& at : fit.budgets) {
      rows.push_back({fit.system, number(at.budget, "%.3g"), with_interval(at.N), with_interval(at.D),
                      with_interval(at.L), at.outside ? "beyond the runs" : ""});
    }
  }
  return section("Best size, tokens and loss of a budget", rows);
}

std::string isoflops(const ScalingStudy& study) {
  HtmlRows rows{{"system", "budget", "FLOPs", "sizes", "best size", "its tokens", "loss", ""}};
  for (const SystemFit& fit : study.systems) {
    for (const Isoflop& isoflop : fit.isoflops) {
      const IsoflopPoint least = isoflop.minimum.value_or(IsoflopPoint{NAN, NAN, NAN, 0});
      rows.push_back({fit.system, number(isoflop.budget, "%.3g"), number(isoflop.flops, "%.3g"),
                      std::to_string(isoflop.points.size()), number(least.parameters, "%.3g"),
                      number(least.tokens, "%.3g"), number(least.loss, "%.3g"), sentence_of(isoflop.kind)});
    }
  }
  return section("Minima of the isoflops", rows);
}

std::string hold_outs(const ScalingStudy& study) {
  HtmlRows rows{{"system", "largest budget", "its runs", "runs fitted", "mean error", "largest error",
                 "lowest loss", "foretold"}};
  for (const SystemFit& fit : study.systems) {
    if (fit.hold_out) {
      const HoldOut& out = *fit.hold_out;
      rows.push_back({fit.system, number(out.budget, "%.3g"), std::to_string(out.runs),
                      std::to_string(out.fitted_runs), percent(out.mean_error), percent(out.worst_error),
                      number(out.observed, "%.3g"), number(out.predicted, "%.3g")});
    }
  }
  return section("What the laws are worth: the largest budget held out", rows);
}

std::string ratios(const ScalingStudy& study) {
  HtmlRows rows{{"systems", "FLOPs", "loss at equal compute", "compute for equal loss"}};
  for (const SystemRatio& ratio : study.ratios) {
    for (const SystemRatio::Point& point : ratio.budgets) {
      rows.push_back({ratio.other + " over " + ratio.system, number(point.budget, "%.3g"),
                      with_interval(point.loss), with_interval(point.compute)});
    }
  }
  return section("Ratios", rows);
}

std::string left_out(const ScalingStudy& study) {
  HtmlRows rows{{"system", "what", "why"}};
  for (const SystemFit& fit : study.systems) {
    for (const LeftOut& left : fit.left_out) {
      rows.push_back({fit.system, left.quantity, left.reason});
    }
    for (const std::string& note : fit.notes) {
      rows.push_back({fit.system, "to be known", note});
    }
  }
  return section("Left out, and to be known", rows);
}

/// Runs of one system at one budget that differ by their seeds alone: of one size and, where they saw their data again,
/// of one amount of data.
struct LikeRuns {
  double budget = 0, parameters = 0, unique_tokens = 0;  // 0: each was seen once, or that is not known
  std::string system;
  double sum_of_logs = 0, least = HUGE_VAL, most = 0;
  int64_t runs = 0;

  double mean() const { return std::exp(sum_of_logs / static_cast<double>(runs)); }
};

/// Of each system at each budget those of the lowest mean loss.
std::vector<LikeRuns> lowest_losses(const std::vector<ScalingRun>& runs) {
  std::map<std::tuple<double, std::string, double, double>, LikeRuns> groups;
  for (const ScalingRun& run : runs) {
    if (run.budget) {
      const double unique = saw_more_than(run, 1) ? *run.unique_tokens : 0;
      LikeRuns& like = groups[{*run.budget, run.system, run.parameters, unique}];
      like.budget = *run.budget;
      like.system = run.system;
      like.parameters = run.parameters;
      like.unique_tokens = unique;
      like.sum_of_logs += std::log(run.loss);
      like.least = std::min(like.least, run.loss);
      like.most = std::max(like.most, run.loss);
      ++like.runs;
    }
  }
  std::vector<LikeRuns> lowest;
  for (const auto& [key, like] : groups) {
    const bool same =
        !lowest.empty() && lowest.back().budget == like.budget && lowest.back().system == like.system;
    if (!same) {
      lowest.push_back(like);
    } else if (like.mean() < lowest.back().mean()) {
      lowest.back() = like;
    }
  }
  return lowest;
}

}  // namespace

std::string html_losses(const std::vector<ScalingRun>& runs) {
  const std::vector<LikeRuns> lowest = lowest_losses(runs);
  const bool again = std::ranges::any_of(lowest, [](const LikeRuns& like) { return like.unique_tokens > 0; });
  HtmlRows rows{{"budget", "system", "parameters", "runs", "loss: mean", "least", "most"}};
  if (again) {
    rows[0].insert(rows[0].begin() + 3, "unique tokens");
  }
  for (const LikeRuns& like : lowest) {
    rows.push_back({number(like.budget, "%.3g"), like.system, number(like.parameters, "%.0f"),
                    std::to_string(like.runs), number(like.mean(), "%.4g"), number(like.least, "%.4g"),
                    number(like.most, "%.4g")});
    if (again) {
      rows.back().insert(rows.back().begin() + 3,
                         like.unique_tokens > 0 ? number(like.unique_tokens, "%.4g") : "-");
    }
  }
  return section("Lowest loss of each budget", rows,
                 "The size whose mean loss is lowest (of data that were seen again: size and amount of "
                 "data), geometric over its runs, and "
                 "the least and the most of them: a difference between systems that is smaller than these "
                 "differ by is none.");
}

std::string html_data_scaling(const std::vector<ScalingRun>& runs) {
  const auto systems = data_scaling(runs);
  std::map<double, std::vector<std::string>> by_tokens;
  HtmlRows rows{{"unique tokens"}};
  for (size_t i = 0; i < systems.size(); ++i) {
    rows[0].push_back(systems[i].first);
    for (const DataLoss& at : systems[i].second) {
      std::vector<std::string>& row = by_tokens[at.unique_tokens];
      row.resize(systems.size(), "-");
      const auto [least, most] = std::ranges::minmax(at.each);
      row[i] = number(at.mean, "%.4g") + " (" + number(least, "%.4g") + ", " + number(most, "%.4g") + ")";
    }
  }
  for (const auto& [tokens, cells] : by_tokens) {
    rows.push_back({number(tokens, "%.4g")});
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  }
  return section("Loss over the amount of training data", rows,
                 "Mean (least, most) of the runs of the size whose mean is lowest; the mean is geometric.");
}

std::string html_of(const ScalingStudy& study) {
  return laws(study) + best_at_budgets(study) + isoflops(study) + hold_outs(study) + ratios(study) +
         left_out(study);
}

}  // namespace weyl
