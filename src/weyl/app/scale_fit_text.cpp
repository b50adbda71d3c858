#include "weyl/app/scale_fit_text.h"

#include <cmath>

#include "weyl/app/scale_numbers.h"
#include "weyl/app/text_table.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

using Rows = std::vector<std::vector<std::string>>;

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
  if (fit.fit) {
    const PointFit& point = *fit.fit;
    line += text(": ", fit.runs, " runs, E ", point.form.free_E ? "free" : "= 0",
                 ", delta = ", number(point.form.delta, "%g"), ", off by ", percent(point.mean_residual),
                 " in the mean, ", percent(point.worst_residual), " at most");
  }
  return line + "\n";
}

std::string coefficients(const SystemFit& fit) {
  const bool intervals = fit.fit && !std::isnan(fit.alpha.low);
  Rows rows;
  rows.push_back(intervals ? std::vector<std::string>{"", "value", "low", "high"}
                           : std::vector<std::string>{"", "value"});
  for (const auto& [name, estimate] :
       std::initializer_list<std::pair<const char*, const Estimate&>>{{"A", fit.A},
                                                                      {"alpha", fit.alpha},
                                                                      {"B", fit.B},
                                                                      {"beta", fit.beta},
                                                                      {"E", fit.E},
                                                                      {"a", fit.a},
                                                                      {"b", fit.b},
                                                                      {"gamma", fit.gamma},
                                                                      {"G", fit.G},
                                                                      {"F", fit.F}}) {
    rows.push_back({name, number(estimate.value)});
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

std::string budgets(const SystemFit& fit) {
  if (fit.budgets.empty()) {
    return "";
  }
  Rows rows{{"FLOPs", "N*", "D*", "L*", ""}};
  for (const AtBudget& at : fit.budgets) {
    rows.push_back({number(at.budget, "%.3g"), with_interval(at.N), with_interval(at.D), with_interval(at.L),
                    at.outside ? "beyond the runs" : ""});
  }
  return text("\n", indented(aligned(rows)));
}

std::string isoflop_lines(const SystemFit& fit) {
  if (fit.isoflops.empty()) {
    return "";
  }
  Rows rows{{"budget", "sizes", "best size", "loss", ""}};
  for (const Isoflop& isoflop : fit.isoflops) {
    const bool known = isoflop.minimum.has_value();
    rows.push_back({number(isoflop.budget, "%.3g"), std::to_string(isoflop.points.size()),
                    known ? number(isoflop.minimum->parameters, "%.3g") : "-",
                    known ? number(isoflop.minimum->loss, "%.3g") : "-", sentence_of(isoflop.kind)});
  }
  std::string lines = text("\n", indented(aligned(rows)));
  if (fit.isoflop_law) {
    lines += text("  through these minima: a = ", number(fit.isoflop_law->a, "%.3g"),
                  ", b = ", number(fit.isoflop_law->b, "%.3g"), "\n");
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

std::string ratio(const SystemRatio& ratio) {
  Rows rows{{"FLOPs", "loss", "FLOPs for equal loss"}};
  for (const SystemRatio::Point& point : ratio.budgets) {
    rows.push_back({number(point.budget, "%.3g"), with_interval(point.loss), with_interval(point.compute)});
  }
  return visible(ratio.other) + " over " + visible(ratio.system) + "\n" + indented(aligned(rows)) +
         left_out_lines(ratio.left_out);
}

}  // namespace

std::string text_of(const ScalingStudy& study) {
  std::string lines;
  for (const SystemFit& fit : study.systems) {
    lines += text(lines.empty() ? "" : "\n", heading(fit)) + coefficients(fit) + budgets(fit) +
             isoflop_lines(fit) + further(fit);
  }
  for (const SystemRatio& each : study.ratios) {
    lines += text("\n", ratio(each));
  }
  return lines;
}

}  // namespace weyl
