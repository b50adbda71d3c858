#include "weyl/app/draw/scale_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>

#include "weyl/app/draw/scale_tables.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr size_t most_systems = 12;
constexpr size_t most_keys = 14;
constexpr std::string_view augmented = "-augmented";
constexpr double repeated = 1.5;      // passes over the data, from which they count as seen more than once
constexpr double near_tokens = 1.25;  // of numbers of tokens next to one another in one budget
constexpr const char* compute_label = "training compute / FLOPs (nominal)";
constexpr const char* loss_label = "test loss / unit of the runs";

// "1e16", which takes less room than 1e+16.
std::string short_of(double value) {
  std::string words = number(value, "%.3g");
  std::erase(words, '+');
  return words;
}

/// Without marks, on logarithmic axes with a key beneath them.
Figure scale_panel(std::string title, std::string x_label, std::string y_label) {
  Figure figure;
  figure.title = std::move(title);
  figure.x_label = std::move(x_label);
  figure.y_label = std::move(y_label);
  figure.log_x = figure.log_y = true;
  figure.key_place = Figure::Key::below;
  return figure;
}

Mark mark(Mark::Kind kind, Look look, double size = 1) {
  Mark mark;
  mark.kind = kind;
  mark.look = std::move(look);
  mark.size = size;
  return mark;
}

void add_point(Mark& to, double x, double y) {
  to.x.push_back(x);
  to.y.push_back(y);
}

Look hollow(Look look) {
  --look.shape;
  return look;
}

/// Dark blue to ochre, darker in grey too: share is 0 to 1.
std::string colour_of_budget(double share) {
  constexpr double stops[][3] = {{0x0b, 0x1d, 0x51}, {0x1f, 0x78, 0x8c}, {0xe0, 0xa0, 0x20}};
  const auto at = std::min<size_t>(static_cast<size_t>(share * 2), 1);
  const double part = share * 2 - static_cast<double>(at);
  char colour[8];
  const auto mixed = [&](int i) {
    return static_cast<int>(std::lround(stops[at][i] + part * (stops[at + 1][i] - stops[at][i])));
  };
  std::snprintf(colour, sizeof colour, "#%02x%02x%02x", mixed(0), mixed(1), mixed(2));
  return colour;
}

/// An arrow to where the best size must be, a third of a decade long.
void add_arrow(Mark& arrows, double x, double y, double x_factor, double y_factor) {
  add_point(arrows, x, y);
  arrows.x2.push_back(x * x_factor);
  arrows.y2.push_back(y * y_factor);
}

/// Whether a budget was counted in something else, seconds: its number is not near its FLOPs.
bool is_of_other_unit(const Isoflop& isoflop) {
  return std::abs(std::log(isoflop.flops / isoflop.budget)) > std::log(100.0);
}

/// The parabola of an isoflop from its smallest to its largest size, or, where it has none, straight lines.
Mark curve_of(const Isoflop& isoflop, const Look& look) {
  Mark line = mark(Mark::Kind::line, look, 0.7);
  constexpr int pieces = 60;
  if (!isoflop.parabola) {
    for (const IsoflopPoint& point : isoflop.points) {
      add_point(line, point.parameters, point.loss);
    }
    return line;
  }
  const auto& [c0, c1, c2] = *isoflop.parabola;
  const double first = std::log(isoflop.points.front().parameters),
               last = std::log(isoflop.points.back().parameters);
  for (int i = 0; i <= pieces; ++i) {
    const double x = first + (last - first) * i / pieces;
    add_point(line, std::exp(x), std::exp(c0 + c1 * x + c2 * x * x));
  }
  return line;
}

Figure isoflop_chart(const SystemFit& fit) {
  static constexpr int shapes[] = {7, 5, 9, 13, 11, 15};
  Figure chart = scale_panel(fit.system, "parameters (stored real numbers)", loss_label);
  chart.key_place = Figure::Key::right;
  const Look minimum{"#000000", 1, 2}, bound{"#000000", 1, 1};
  Mark minima = mark(Mark::Kind::points, minimum, 1.7), arrows = mark(Mark::Kind::arrows, bound);
  const size_t n = fit.isoflops.size(), every = (n + most_keys - 1) / most_keys;
  for (size_t i = n; i-- > 0;) {  // the largest budget lies lowest, and the key goes upwards
    const Isoflop& isoflop = fit.isoflops[n - 1 - i];
    const double share = n > 1 ? static_cast<double>(n - 1 - i) / static_cast<double>(n - 1) : 0;
    const Look look{colour_of_budget(share), 1, shapes[(n - 1 - i) % std::size(shapes)]};
    if (isoflop.points.empty()) {
      continue;
    }
    chart.marks.push_back(curve_of(isoflop, look));
    chart.marks.push_back(mark(Mark::Kind::points, look));
    for (const IsoflopPoint& point : isoflop.points) {
      add_point(chart.marks.back(), point.parameters, point.loss);
    }
    if (i % every == 0) {
      const bool flops = std::isfinite(isoflop.flops) && !is_of_other_unit(isoflop);
      chart.key.push_back({flops ? short_of(isoflop.flops) + " FLOPs" : "budget " + short_of(isoflop.budget),
                           look, false, true});
    }
    if (isoflop.minimum && isoflop.kind == MinimumKind::inside) {
      add_point(minima, isoflop.minimum->parameters, isoflop.minimum->loss);
    } else if (isoflop.minimum) {
      const double out = isoflop.kind == MinimumKind::smallest ? 0.5 : 2;
      add_arrow(arrows, isoflop.minimum->parameters, isoflop.minimum->loss, out, 1);
    }
  }
  if (!minima.x.empty()) {
    chart.key.push_back({"best size", minimum, false, true});
  }
  chart.marks.push_back(std::move(minima));
  chart.marks.push_back(std::move(arrows));
  return chart;
}

/// A line through values over compute with its interval shaded.
void add_curve(Figure& chart, const Look& look, const std::vector<double>& budgets,
               const std::vector<Estimate>& values) {
  Mark band = mark(Mark::Kind::band, look), line = mark(Mark::Kind::line, look);
  for (size_t i = 0; i < budgets.size(); ++i) {
    add_point(band, budgets[i], values[i].low);
    band.y2.push_back(values[i].high);
    add_point(line, budgets[i], values[i].value);
  }
  chart.marks.push_back(std::move(band));
  chart.marks.push_back(std::move(line));
}

template <class Points, class Of>
void add_curve_of(Figure& chart, const Look& look, const Points& points, const Of& of) {
  std::vector<double> budgets;
  std::vector<Estimate> values;
  for (const auto& point : points) {
    budgets.push_back(point.budget);
    values.push_back(of(point));
  }
  add_curve(chart, look, budgets, values);
}

/// Over the compute of all runs, or, of given laws, at the budgets asked for.
const std::vector<AtBudget>& curve_of(const SystemFit& fit) {
  return fit.curve.empty() ? fit.budgets : fit.curve;
}

/// Words on marks: "points: what; shaded: 95 % intervals", those whose marks are drawn in one of the charts.
struct DrawnWords {
  Mark::Kind kind;
  const char* words;
};
std::string words_on_marks(const std::vector<Figure>& charts, std::initializer_list<DrawnWords> all) {
  std::vector<std::string> drawn;
  for (const auto& [kind, words] : all) {
    if (std::ranges::any_of(charts, [&](const Figure& chart) { return has_points(chart, kind); })) {
      drawn.emplace_back(words);
    }
  }
  return joined(drawn, "; ");
}

/// A title with such words in brackets.
std::string caption(const std::string& title, const std::vector<Figure>& charts,
                    std::initializer_list<DrawnWords> all) {
  const std::string words = words_on_marks(charts, all);
  return words.empty() ? title : title + " (" + words + ")";
}
constexpr DrawnWords shaded{Mark::Kind::band, "shaded: 95 % intervals"};

/// The runs of an isoflop, by size, and the lowest loss of each large, where they stand: budgets in seconds are of as many
/// FLOPs as each size could do in them.
void add_losses(Figure& chart, const Look& look, const std::vector<Isoflop>& isoflops) {
  Mark runs = mark(Mark::Kind::points, hollow(look), 0.55), best = mark(Mark::Kind::points, look, 1.4);
  for (const Isoflop& isoflop : isoflops) {
    const IsoflopPoint* lowest = nullptr;
    for (const IsoflopPoint& point : isoflop.points) {
      add_point(runs, point.flops, point.loss);
      lowest = lowest == nullptr || point.loss < lowest->loss ? &point : lowest;
    }
    if (lowest != nullptr) {
      add_point(best, lowest->flops, lowest->loss);
    }
  }
  chart.marks.push_back(std::move(runs));
  chart.marks.push_back(std::move(best));
}

/// Of a system without a fit: what its runs came to at each budget that they say. Nothing of fewer than two budgets, as
/// those of a data scaling are.
std::vector<Isoflop> losses_of(const std::string& system, const std::vector<ScalingRun>& all) {
  std::vector<ScalingRun> runs;
  std::ranges::copy_if(all, std::back_inserter(runs), [&](const ScalingRun& run) {
    return run.system == system && run.budget && run.flops;
  });
  std::vector<Isoflop> isoflops = isoflops_of(runs, {});
  return isoflops.size() < 2 ? std::vector<Isoflop>{} : isoflops;
}

ScaleFigure loss_figure(const ScalingStudy& study, const std::vector<std::string>& unfitted,
                        const std::vector<ScalingRun>& all) {
  Figure chart = scale_panel("", compute_label, loss_label);
  for (size_t i = 0; i < study.systems.size(); ++i) {
    const SystemFit& fit = study.systems[i];
    const Look look = look_of_system(i);
    add_curve_of(chart, look, curve_of(fit), [](const AtBudget& at) { return at.L; });
    add_losses(chart, look, fit.isoflops);
    chart.key.push_back({fit.system, look});
  }
  for (size_t i = 0; i < unfitted.size(); ++i) {
    if (const std::vector<Isoflop> losses = losses_of(unfitted[i], all); !losses.empty()) {
      const Look look = look_of_system(study.systems.size() + i);
      add_losses(chart, look, losses);
      chart.key.push_back({unfitted[i], look, false, true});
    }
  }
  std::vector<Figure> charts{std::move(chart)};
  const std::string title = caption("Loss over compute", charts, {shaded});
  charts[0].title =
      words_on_marks(charts, {{Mark::Kind::points, "points: all sizes, large: the lowest of a budget"},
                              {Mark::Kind::line, "lines: the fitted L*(C)"}});
  return {"loss_over_compute", {title, std::move(charts)}};
}

/// One of N* and D*: laws, and what the isoflops say without them.
Figure best_chart(const ScalingStudy& study, bool sizes) {
  Figure chart = scale_panel(sizes ? "best size N*" : "best number of tokens D*", compute_label,
                             sizes ? "parameters (stored real numbers)" : "training tokens");
  for (size_t i = 0; i < study.systems.size(); ++i) {
    const SystemFit& fit = study.systems[i];
    const Look look = look_of_system(i);
    Figure of_system;
    add_curve_of(of_system, look, curve_of(fit), [&](const AtBudget& at) { return sizes ? at.N : at.D; });
    Mark minima = mark(Mark::Kind::points, look, 1.2), bounds = mark(Mark::Kind::points, hollow(look), 1.2),
         arrows = mark(Mark::Kind::arrows, look);
    for (const Isoflop& isoflop : fit.isoflops) {
      if (!isoflop.minimum) {
        continue;
      }
      const double value = sizes ? isoflop.minimum->parameters : isoflop.minimum->tokens;
      const bool inside = isoflop.kind == MinimumKind::inside;
      add_point(inside ? minima : bounds, isoflop.flops, value);
      if (!inside) {
        const bool up = (isoflop.kind == MinimumKind::largest) == sizes;
        add_arrow(arrows, isoflop.flops, value, 1, up ? 2 : 0.5);
      }
    }
    of_system.marks.insert(of_system.marks.end(), {std::move(minima), std::move(bounds), std::move(arrows)});
    if (has_points(of_system)) {
      chart.key.push_back({fit.system, look});
    }
    std::ranges::move(of_system.marks, std::back_inserter(chart.marks));
  }
  return chart;
}

/// The system of a ratio whose runs do not determine its law; null where both are determined. A ratio of such a law is a
/// number that the runs say nothing of.
const SystemFit* undetermined_side(const ScalingStudy& study, const SystemRatio& ratio) {
  const auto found = std::ranges::find_if(study.systems, [&](const SystemFit& fit) {
    return !fit.undetermined.empty() && (fit.system == ratio.system || fit.system == ratio.other);
  });
  return found == study.systems.end() ? nullptr : &*found;
}

/// The ratios of laws that the runs determine; of more than can be told apart those of the system that is ahead of most.
std::vector<const SystemRatio*> drawn_ratios(const ScalingStudy& study, std::vector<std::string>& left_out) {
  std::vector<const SystemRatio*> drawn;
  std::map<std::string, int> ahead;
  for (const SystemRatio& ratio : study.ratios) {
    if (const SystemFit* fit = undetermined_side(study, ratio)) {
      left_out.push_back("ratios: " + ratio.other + " over " + ratio.system +
                         ": the runs do not determine the law of " + fit->system);
      continue;
    }
    drawn.push_back(&ratio);
    ++ahead[ratio.system];
  }
  if (const size_t all = drawn.size(); all > most_keys) {
    const std::string first =
        std::ranges::max_element(ahead, {}, [](const auto& entry) { return entry.second; })->first;
    std::erase_if(drawn,
                  [&](const SystemRatio* ratio) { return ratio->system != first && ratio->other != first; });
    left_out.push_back(text("ratios: of ", all, " pairs those without ", first, ", which is ahead of most"));
  }
  return drawn;
}

ScaleFigure ratio_figure(const ScalingStudy& study, std::vector<std::string>& left_out) {
  Figure loss = scale_panel("loss at equal compute", compute_label, "ratio of losses"),
         compute = scale_panel("compute for equal loss", "training compute of the better / FLOPs (nominal)",
                               "ratio of compute");
  const std::vector<const SystemRatio*> ratios = drawn_ratios(study, left_out);
  for (size_t i = 0; i < ratios.size(); ++i) {
    const SystemRatio& ratio = *ratios[i];
    const Look look = look_of_system(i);
    const auto& points = ratio.curve.empty() ? ratio.budgets : ratio.curve;
    add_curve_of(loss, look, points, [](const SystemRatio::Point& at) { return at.loss; });
    add_curve_of(compute, look, points, [](const SystemRatio::Point& at) { return at.compute; });
    for (Figure* chart : {&loss, &compute}) {
      chart->key.push_back({ratio.other + " over " + ratio.system, look, true, false});
    }
  }
  for (Figure* chart : {&loss, &compute}) {
    if (!study.ratios.empty() && has_points(*chart)) {
      Mark equal = mark(Mark::Kind::line, {"#777777", 3}, 0.5);
      for (const SystemRatio::Point& at :
           study.ratios[0].curve.empty() ? study.ratios[0].budgets : study.ratios[0].curve) {
        add_point(equal, at.budget, 1);
      }
      chart->marks.insert(chart->marks.begin(), std::move(equal));
    }
  }
  std::vector<Figure> charts{std::move(loss), std::move(compute)};
  const std::string title = caption("How far ahead", charts, {shaded});
  return {"ratios", {title, std::move(charts)}};
}

void tell_of(const SystemFit& fit, std::vector<std::string>& left_out) {
  const auto leave_out = [&](const std::string& what, const std::string& why) {
    left_out.push_back(fit.system + ": " + what + ": " + why);
  };
  if (fit.isoflops.empty()) {
    leave_out("isoflops",
              fit.fit ? "its runs have neither budget nor flops" : "a law that is given has no runs");
  }
  const std::vector<AtBudget>& curve = curve_of(fit);
  if (curve.empty()) {
    leave_out("L*, N*, D* over compute",
              fit.xi ? "the loss of its runs does not fall with both size and tokens"
                     : "FLOPs are not known (column flops, or --xi of weyl scale fit)");
    return;
  }
  if (std::isnan(curve.front().N.value)) {
    leave_out("lines of N* and D*", "fewer than three budgets have their best size inside the sizes tried");
  }
  if (std::isnan(curve.front().L.low)) {
    leave_out("intervals", "the fit has none: it was made without --bootstraps, or says why");
  }
}

/// Losses of one system by unique tokens, then by size.
using BySize = std::map<double, std::vector<double>>;
using ByTokens = std::map<double, BySize>;

double mean_of(const std::vector<double>& losses) {
  double logs = 0;
  for (const double loss : losses) {
    logs += std::log(loss);
  }
  return std::exp(logs / static_cast<double>(losses.size()));
}

DataLoss best_of(double unique_tokens, const BySize& sizes) {
  DataLoss best;
  for (const auto& [parameters, losses] : sizes) {
    if (const double mean = mean_of(losses); best.each.empty() || mean < best.mean) {
      best = {unique_tokens, parameters, mean, losses};
    }
  }
  return best;
}

/// "transformer-augmented" beside "transformer" of the same budget: its colour, hollow points of its shape, and a dash that no
/// other has of the first five.
Look look_of(const std::vector<DataScaling>& all, size_t index) {
  const std::string& name = all[index].system;
  if (name.ends_with(augmented)) {
    const auto plain = std::ranges::find_if(all, [&](const DataScaling& other) {
      return other.system == name.substr(0, name.size() - augmented.size()) &&
             other.budget == all[index].budget;
    });
    if (plain != all.end()) {
      Look look = look_of_system(static_cast<size_t>(plain - all.begin()));
      look.dash = look_of_system(index).dash;
      --look.shape;
      return look;
    }
  }
  return look_of_system(index);
}

/// What each run was allowed: its budget, or, where the table says none, about how many tokens it saw. Numbers of tokens with
/// less than a quarter between one and the next are one budget, of which the least is told.
std::vector<DataBudget> budgets_of(const std::vector<ScalingRun>& runs) {
  std::map<std::string, std::vector<double>> tokens;
  for (const ScalingRun& run : runs) {
    tokens[run.system].push_back(run.tokens);
  }
  std::map<std::string, std::map<double, double>> least;  // of each number of tokens that of its budget
  for (auto& [system, all] : tokens) {
    std::ranges::sort(all);
    for (size_t i = 0; i < all.size(); ++i) {
      const bool begins = i == 0 || all[i] > near_tokens * all[i - 1];
      least[system].emplace(all[i], begins ? all[i] : least[system][all[i - 1]]);
    }
  }
  std::vector<DataBudget> budgets;
  for (const ScalingRun& run : runs) {
    budgets.push_back(run.budget ? DataBudget{*run.budget, true}
                                 : DataBudget{least[run.system][run.tokens], false});
  }
  return budgets;
}

}  // namespace

Look look_of_system(size_t index) {
  static constexpr const char* colours[] = {"#08306b", "#d95f02", "#1b9e77", "#984ea3",
                                            "#6b6b6b", "#a6761d", "#c51b7d", "#4d9221"};
  static constexpr int shapes[] = {7, 5, 9, 13, 11, 15};
  return {colours[index % std::size(colours)], static_cast<int>(index % 5) + 1,
          shapes[index % std::size(shapes)]};
}

ScaleFigures scale_figures(const ScaleInputs& inputs) {
  const ScalingStudy& study = inputs.study;
  const std::vector<ScalingRun> runs = inputs.runs();
  const size_t systems = study.systems.size() + inputs.unfitted.size();
  require<ConfigError>(systems <= most_systems, "at most ", most_systems,
                       " systems can be told apart in a picture, got ", systems);
  ScaleFigures made;
  const auto take = [&](ScaleFigure figure, const std::string& otherwise) {
    std::erase_if(figure.panels.figures, [](const Figure& chart) { return !has_points(chart); });
    if (!figure.panels.figures.empty()) {
      made.figures.push_back(std::move(figure));
    } else if (!otherwise.empty()) {
      made.left_out.push_back(figure.name + ": " + otherwise);
    }
  };
  ScaleFigure isoflops{"isoflops", {}};
  std::vector<Figure>& charts = isoflops.panels.figures;
  for (const SystemFit& fit : study.systems) {
    charts.push_back(isoflop_chart(fit));
    tell_of(fit, made.left_out);
  }
  isoflops.panels.title = caption("Isoflops: loss over size at equal budgets", charts,
                                  {{Mark::Kind::arrows, "arrows: the best size lies beyond"}});
  if (!study.systems.empty()) {
    take(std::move(isoflops), "");
  }
  if (!study.systems.empty() || !inputs.unfitted.empty()) {
    take(loss_figure(study, inputs.unfitted, runs),
         "needs FLOPs, and of what has no fit two budgets (column budget)");
  }
  if (!study.systems.empty()) {
    const std::vector<Figure> best{best_chart(study, true), best_chart(study, false)};
    take(
        {"best_sizes",
         {caption("Best size and tokens over compute", best,
                  {{Mark::Kind::points, "points: isoflops"}, {Mark::Kind::arrows, "hollow: bounds"}, shaded}),
          best}},
        "neither isoflops nor laws have a best size");
    take(ratio_figure(study, made.left_out),
         study.ratios.empty() ? "two systems with losses over compute are needed" : "");
  }
  take(data_scaling_figure(runs),
       "no table has two amounts of data that were seen more than once (unique_tokens)");
  for (ScaleFigure& figure : made.figures) {
    figure.panels.subtitle = verdict_of(study, inputs.unfitted);
  }
  return made;
}

std::vector<DataScaling> data_scaling(const std::vector<ScalingRun>& all) {
  std::vector<ScalingRun> runs;
  std::ranges::copy_if(all, std::back_inserter(runs),
                       [](const ScalingRun& run) { return run.unique_tokens.has_value(); });
  const std::vector<DataBudget> budgets = budgets_of(runs);
  std::vector<DataScaling> found;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::ranges::none_of(found, [&](const DataScaling& one) {
          return one.system == runs[i].system && one.budget == budgets[i];
        })) {
      found.push_back({runs[i].system, budgets[i], {}});
    }
  }
  for (DataScaling& one : found) {
    ByTokens amounts;
    bool repeats = false;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].system == one.system && budgets[i] == one.budget) {
        amounts[*runs[i].unique_tokens][runs[i].parameters].push_back(runs[i].loss);
        repeats = repeats || runs[i].tokens >= repeated * *runs[i].unique_tokens;
      }
    }
    for (const auto& [tokens, sizes] : amounts) {
      if (repeats && amounts.size() > 1) {
        one.losses.push_back(best_of(tokens, sizes));
      }
    }
  }
  std::erase_if(found, [](const DataScaling& one) { return one.losses.empty(); });
  return found;
}

std::string name_of(const DataScaling& one, const std::vector<DataScaling>& all) {
  const bool several =
      std::ranges::any_of(all, [&](const DataScaling& other) { return other.budget != one.budget; });
  if (!several) {
    return one.system;
  }
  const std::string budget = short_of(one.budget.value);
  return one.system + (one.budget.stated ? ", budget " + budget : ", from " + budget + " tokens");
}

ScaleFigure data_scaling_figure(const std::vector<ScalingRun>& runs) {
  const std::vector<DataScaling> systems = data_scaling(runs);
  ScaleFigure figure{"data_scaling", {"Loss over the amount of training data", {}}};
  if (systems.empty()) {
    return figure;
  }
  Figure chart = scale_panel("lines: geometric means over seeds of one budget; points: runs",
                             "different training tokens", loss_label);
  for (size_t i = 0; i < systems.size(); ++i) {
    const Look look = look_of(systems, i);
    Mark line = mark(Mark::Kind::line, look), points = mark(Mark::Kind::points, look, 0.9);
    for (const DataLoss& at : systems[i].losses) {
      add_point(line, at.unique_tokens, at.mean);
      for (const double loss : at.each) {
        add_point(points, at.unique_tokens, loss);
      }
    }
    chart.marks.push_back(std::move(line));
    chart.marks.push_back(std::move(points));
    chart.key.push_back({name_of(systems[i], systems), look});
  }
  figure.panels.figures.push_back(std::move(chart));
  return figure;
}

}  // namespace weyl
