#include "weyl/app/draw/scale_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <tuple>

#include "weyl/app/draw/scale_figures.h"
#include "weyl/app/terminal/text_table.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

using ScaleRows = std::vector<std::vector<std::string>>;

/// A column of a table: its headings on the terminal, null where it is not there, and in a report, and what stands in it.
template <class T>
struct ScaleColumn {
  const char *as_text, *as_heading;
  std::string (*cell)(const T&);
};

std::string short_number_of(double value) {
  return number(value, "%.3g");
}

constexpr ScaleColumn<AtBudget> budget_columns[]{
    {"FLOPs", "FLOPs", [](const AtBudget& at) { return short_number_of(at.budget); }},
    {"N*", "N* / parameters", [](const AtBudget& at) { return with_interval(at.N); }},
    {"D*", "D* / tokens", [](const AtBudget& at) { return with_interval(at.D); }},
    {"L*", "L*", [](const AtBudget& at) { return with_interval(at.L); }},
    {"", "", [](const AtBudget& at) { return std::string(at.outside ? "beyond the runs" : ""); }}};

std::string of_minimum(const Isoflop& isoflop, double IsoflopPoint::* which) {
  return isoflop.minimum ? short_number_of(*isoflop.minimum.*which) : "-";
}

constexpr ScaleColumn<Isoflop> isoflop_columns[]{
    {"budget", "budget", [](const Isoflop& isoflop) { return short_number_of(isoflop.budget); }},
    {nullptr, "FLOPs", [](const Isoflop& isoflop) { return short_number_of(isoflop.flops); }},
    {"sizes", "sizes", [](const Isoflop& isoflop) { return std::to_string(isoflop.points.size()); }},
    {"best size", "best size",
     [](const Isoflop& isoflop) { return of_minimum(isoflop, &IsoflopPoint::parameters); }},
    {nullptr, "its tokens",
     [](const Isoflop& isoflop) { return of_minimum(isoflop, &IsoflopPoint::tokens); }},
    {"loss", "loss", [](const Isoflop& isoflop) { return of_minimum(isoflop, &IsoflopPoint::loss); }},
    {"", "", [](const Isoflop& isoflop) { return std::string(sentence_of(isoflop.kind)); }}};

constexpr ScaleColumn<SystemRatio::Point> ratio_columns[]{
    {"FLOPs", "FLOPs", [](const SystemRatio::Point& at) { return short_number_of(at.budget); }},
    {"loss", "loss at equal compute", [](const SystemRatio::Point& at) { return with_interval(at.loss); }},
    {"FLOPs for equal loss", "compute for equal loss",
     [](const SystemRatio::Point& at) { return with_interval(at.compute); }}};

struct Coefficient {
  const char *as_text, *as_heading;
  Estimate SystemFit::* value;
};
constexpr Coefficient coefficient_rows[] = {{"A", "A", &SystemFit::A},
                                            {"alpha", "alpha", &SystemFit::alpha},
                                            {"B", "B", &SystemFit::B},
                                            {"beta", "beta", &SystemFit::beta},
                                            {"E", "E", &SystemFit::E},
                                            {"a", "a (N* ~ C^a)", &SystemFit::a},
                                            {"b", "b (D* ~ C^b)", &SystemFit::b},
                                            {"gamma", "gamma (L* ~ C^-gamma)", &SystemFit::gamma},
                                            {"G", "G", &SystemFit::G},
                                            {"F", "F", &SystemFit::F}};

// Each line two blanks to the right, and without blanks at its end.
std::string indented(const std::string& lines) {
  std::string out;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = lines.find('\n', begin);
    const std::string line = lines.substr(begin, end - begin);
    out += "  " + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string heading(const SystemFit& fit) {
  std::string line = visible(fit.system);
  if (fit.fit && std::isnan(fit.law.A)) {
    line += text(": ", fit.runs, " runs, no law");
  } else if (fit.fit) {
    const PointFit& point = *fit.fit;
    line += text(": ", fit.runs, " runs, E ", point.form.free_E ? "free" : "= 0",
                 ", delta = ", number(point.form.delta, "%g"), ", off by ", percent(point.mean_residual),
                 " in the mean, ", percent(point.worst_residual), " at most");
  }
  return line + "\n";
}

std::string coefficient_lines(const SystemFit& fit) {
  const bool intervals = fit.fit && !std::isnan(fit.alpha.low);
  ScaleRows rows;
  rows.push_back(intervals ? std::vector<std::string>{"", "value", "low", "high"}
                           : std::vector<std::string>{"", "value"});
  for (const Coefficient& row : coefficient_rows) {
    const Estimate& estimate = fit.*row.value;
    rows.push_back({row.as_text, number(estimate.value)});
    if (intervals) {
      rows.back().push_back(number(estimate.low));
      rows.back().push_back(number(estimate.high));
    }
  }
  if (fit.xi) {
    rows.push_back({"xi", number(*fit.xi)});
    rows.back().resize(rows.front().size());
  }
  return indented(aligned(rows));
}

template <class Columns, class T>
std::string table_lines(const Columns& columns, const std::vector<T>& items) {
  ScaleRows rows(1);
  for (const auto& column : columns) {
    if (column.as_text != nullptr) {
      rows[0].emplace_back(column.as_text);
    }
  }
  for (const T& item : items) {
    rows.emplace_back();
    for (const auto& column : columns) {
      if (column.as_text != nullptr) {
        rows.back().push_back(column.cell(item));
      }
    }
  }
  return indented(aligned(rows));
}

std::string budget_lines(const SystemFit& fit) {
  return fit.budgets.empty() ? "" : "\n" + table_lines(budget_columns, fit.budgets);
}

std::string isoflop_lines(const SystemFit& fit) {
  if (fit.isoflops.empty()) {
    return "";
  }
  std::string lines = "\n" + table_lines(isoflop_columns, fit.isoflops);
  if (fit.isoflop_law) {
    lines += text("  through these minima: a = ", short_number_of(fit.isoflop_law->a),
                  ", b = ", short_number_of(fit.isoflop_law->b), "\n");
  }
  return lines;
}

std::string left_out_lines(const std::vector<LeftOut>& all) {
  std::string lines;
  for (const LeftOut& left : all) {
    lines += "  left out: " + left.quantity + ": " + visible(left.reason) + "\n";
  }
  return lines;
}

std::string further(const SystemFit& fit) {
  std::string lines;
  if (fit.compute_law) {
    const ComputeLaw& law = *fit.compute_law;
    lines += text("  lowest losses over compute alone", law.envelope ? " (of all runs)" : "",
                  ": L = ", number(law.F.value, "%.3g"), " C^", number(-law.gamma.value, "%.3g"),
                  law.E.value > 0 ? " + " + number(law.E.value, "%.3g") : "", ", exponent ",
                  with_interval(law.gamma), "\n");
  }
  if (fit.repetition) {
    lines += text("  repeated data (to ", number(fit.repetition->most_epochs, "%.3g"),
                  " epochs): R = ", with_interval(fit.repetition->R), " passes beyond the first, alpha ",
                  with_interval(fit.repetition->alpha), ", beta ", with_interval(fit.repetition->beta), "\n");
  }
  if (fit.hold_out) {
    const HoldOut& out = *fit.hold_out;
    lines +=
        text("  held out, budget ", number(out.budget, "%.3g"), ": off by ", percent(out.mean_error),
             " in the mean of ", out.runs, " runs, ", percent(out.worst_error), " at most; the best came to ",
             number(out.observed, "%.3g"), ", foretold ", number(out.predicted, "%.3g"), "\n");
  }
  if (fit.grid_check) {
    lines += text("  ", fit.grid_check->resamples, " resamples from the whole grid: exponents differ by ",
                  number(100 * fit.grid_check->worst, "%.2g"), " % at most\n");
  }
  lines += left_out_lines(fit.left_out);
  return lines.empty() ? "" : text("\n", lines);
}

std::string ratio_lines(const SystemRatio& ratio) {
  return visible(ratio.other) + " over " + visible(ratio.system) + "\n" +
         table_lines(ratio_columns, ratio.budgets) + left_out_lines(ratio.left_out);
}

/// Takes a table that has a row.
void add_table(std::vector<Table>& tables, const std::string& title, ScaleRows rows,
               const std::string& words = {}) {
  if (rows.size() > 1) {
    tables.push_back({title, words, std::move(rows)});
  }
}

/// A table of all systems: `groups` are the name that begins their rows, and the rows.
template <class Columns, class T>
ScaleRows rows_of(const char* heading, const Columns& columns,
                  const std::vector<std::pair<std::string, const std::vector<T>*>>& groups) {
  ScaleRows rows{{heading}};
  for (const auto& column : columns) {
    rows[0].emplace_back(column.as_heading);
  }
  for (const auto& [name, items] : groups) {
    for (const T& item : *items) {
      rows.push_back({name});
      for (const auto& column : columns) {
        rows.back().push_back(column.cell(item));
      }
    }
  }
  return rows;
}

/// The same of what each system has a list of.
template <class Columns, class T>
ScaleRows system_rows(const ScalingStudy& study, const Columns& columns, std::vector<T> SystemFit::* which) {
  std::vector<std::pair<std::string, const std::vector<T>*>> groups;
  for (const SystemFit& fit : study.systems) {
    groups.emplace_back(fit.system, &(fit.*which));
  }
  return rows_of("system", columns, groups);
}

ScaleRows ratio_rows(const ScalingStudy& study) {
  std::vector<std::pair<std::string, const std::vector<SystemRatio::Point>*>> groups;
  for (const SystemRatio& ratio : study.ratios) {
    groups.emplace_back(ratio.other + " over " + ratio.system, &ratio.budgets);
  }
  return rows_of("systems", ratio_columns, groups);
}

// A column for each system, so that they can be compared.
void add_laws(std::vector<Table>& tables, const ScalingStudy& study) {
  using Of = std::function<std::string(const SystemFit&)>;
  const auto of_fit = [](const std::function<std::string(const PointFit&)>& what) -> Of {
    return [what](const SystemFit& fit) { return fit.fit ? what(*fit.fit) : "-"; };
  };
  std::vector<std::pair<const char*, Of>> lines{
      {"runs", [](const SystemFit& fit) { return std::to_string(fit.runs); }}};
  for (const Coefficient& row : coefficient_rows) {
    lines.emplace_back(row.as_heading,
                       [&row](const SystemFit& fit) { return with_interval(fit.*row.value, "%.5g"); });
  }
  const std::vector<std::pair<const char*, Of>> others{
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
  lines.insert(lines.end(), others.begin(), others.end());
  ScaleRows rows{{""}};
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
  add_table(tables, "Laws L = A N^-alpha + B D^-beta + E", std::move(rows),
            "N parameters, D training tokens, C = xi N D nominal FLOPs; in brackets 95 % intervals of a "
            "basic bootstrap.");
}

void add_hold_outs(std::vector<Table>& tables, const ScalingStudy& study) {
  ScaleRows rows{{"system", "largest budget", "its runs", "runs fitted", "mean error", "largest error",
                  "lowest loss", "foretold"}};
  for (const SystemFit& fit : study.systems) {
    if (fit.hold_out) {
      const HoldOut& out = *fit.hold_out;
      rows.push_back({fit.system, number(out.budget, "%.3g"), std::to_string(out.runs),
                      std::to_string(out.fitted_runs), percent(out.mean_error), percent(out.worst_error),
                      number(out.observed, "%.3g"), number(out.predicted, "%.3g")});
    }
  }
  add_table(tables, "What the laws are worth: the largest budget held out", std::move(rows));
}

void add_left_out(std::vector<Table>& tables, const ScalingStudy& study) {
  ScaleRows rows{{"system", "what", "why"}};
  for (const SystemFit& fit : study.systems) {
    for (const LeftOut& left : fit.left_out) {
      rows.push_back({fit.system, left.quantity, left.reason});
    }
    for (const std::string& note : fit.notes) {
      rows.push_back({fit.system, "to be known", note});
    }
  }
  add_table(tables, "Left out, and to be known", std::move(rows));
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

std::string number(double value, const char* format) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return std::isnan(value) ? "-" : buffer;
}

std::string percent(double log_error) {
  return number(100 * std::expm1(log_error), "%.2g") + " %";
}

std::string with_interval(const Estimate& estimate, const char* format) {
  const std::string value = number(estimate.value, format);
  return std::isnan(estimate.low)
             ? value
             : value + " (" + number(estimate.low, "%.3g") + ", " + number(estimate.high, "%.3g") + ")";
}

const char* sentence_of(MinimumKind kind) {
  return kind == MinimumKind::inside      ? "inside the sizes tried"
         : kind == MinimumKind::smallest  ? "a bound: the best size is this or smaller"
         : kind == MinimumKind::largest   ? "a bound: the best size is this or larger"
         : kind == MinimumKind::not_clear ? "not clear: the losses form no valley"
                                          : "fewer than three sizes";
}

namespace {

constexpr size_t most_of_names = 60;  // characters, of each kind, that the width of a picture holds

}  // namespace

std::string verdict_of(const ScalingStudy& study, const std::vector<std::string>& unfitted) {
  std::vector<std::string> given, determined, undetermined;
  for (const SystemFit& fit : study.systems) {
    (!fit.fit ? given : fit.undetermined.empty() ? determined : undetermined).push_back(fit.system);
  }
  std::string line;
  const auto add = [&](const char* words, const std::vector<std::string>& systems) {
    if (!systems.empty()) {
      const std::string names = joined(systems);
      line += (line.empty() ? "" : "; ") + std::string(words) +
              (names.size() <= most_of_names ? names : text(systems.size(), " systems"));
    }
  };
  add("law not determined: ", undetermined);
  add("no law: ", unfitted);
  add("law determined: ", determined);
  add("law given: ", given);
  return line;
}

std::vector<Table> verdict_tables(const ScalingStudy& study, const std::vector<std::string>& unfitted) {
  ScaleRows rows{{"system", "law", "why"}};
  for (const SystemFit& fit : study.systems) {
    rows.push_back({fit.system,
                    !fit.fit                   ? "given"
                    : fit.undetermined.empty() ? "determined"
                                               : "not determined",
                    fit.undetermined});
  }
  for (const std::string& system : unfitted) {
    const auto refused = std::ranges::find(study.refused_systems, system, &LeftOut::quantity);
    rows.push_back({system, "none", refused == study.refused_systems.end() ? "" : refused->reason});
  }
  std::vector<Table> tables;
  add_table(tables, "Whether the runs determine the law", std::move(rows));
  return tables;
}

std::string text_of(const ScalingStudy& study) {
  std::string lines;
  std::vector<std::string> refused;
  for (const LeftOut& left : study.refused_systems) {
    refused.push_back(left.quantity);
  }
  lines += visible(verdict_of(study, refused)) + "\n";
  for (const SystemFit& fit : study.systems) {
    lines +=
        "\n" + heading(fit) + coefficient_lines(fit) + budget_lines(fit) + isoflop_lines(fit) + further(fit);
  }
  for (const SystemRatio& each : study.ratios) {
    lines += "\n" + ratio_lines(each);
  }
  return lines;
}

std::vector<Table> loss_tables(const std::vector<ScalingRun>& runs) {
  const std::vector<LikeRuns> lowest = lowest_losses(runs);
  const bool again = std::ranges::any_of(lowest, [](const LikeRuns& like) { return like.unique_tokens > 0; });
  ScaleRows rows{{"budget", "system", "parameters", "runs", "loss: mean", "least", "most"}};
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
  std::vector<Table> tables;
  add_table(tables, "Lowest loss of each budget", std::move(rows),
            "The size whose mean loss is lowest (of data that were seen again: size and amount of "
            "data), geometric over its runs, and "
            "the least and the most of them: a difference between systems that is smaller than these "
            "differ by is none.");
  return tables;
}

std::vector<Table> data_scaling_tables(const std::vector<ScalingRun>& runs) {
  const std::vector<DataScaling> systems = data_scaling(runs);
  std::map<double, std::vector<std::string>> by_tokens;
  ScaleRows rows{{"unique tokens"}};
  for (size_t i = 0; i < systems.size(); ++i) {
    rows[0].push_back(name_of(systems[i], systems));
    for (const DataLoss& at : systems[i].losses) {
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
  std::vector<Table> tables;
  add_table(tables, "Loss over the amount of training data", std::move(rows),
            "Mean (least, most) of the runs of the size whose mean is lowest; the mean is geometric.");
  return tables;
}

std::vector<Table> study_tables(const ScalingStudy& study) {
  std::vector<Table> tables;
  if (!study.systems.empty()) {
    add_laws(tables, study);
    add_table(tables, "Best size, tokens and loss of a budget",
              system_rows(study, budget_columns, &SystemFit::budgets));
    add_table(tables, "Minima of the isoflops", system_rows(study, isoflop_columns, &SystemFit::isoflops));
    add_hold_outs(tables, study);
    add_table(tables, "Ratios", ratio_rows(study));
    add_left_out(tables, study);
  }
  return tables;
}

}  // namespace weyl
