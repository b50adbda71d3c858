#include "weyl/study/scaling/study_read.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/read_file.h"

namespace weyl {
namespace {

constexpr size_t largest_study = size_t{256} << 20;

const Json& member(const Json& json, std::string_view key) {
  static const Json nothing;
  const Json* found = json.find(key);
  return found != nullptr ? *found : nothing;
}

double number(const Json& json, std::string_view key) {
  return member(json, key).number_or(std::nan(""));
}

std::string word(const Json& json, std::string_view key) {
  return std::string(member(json, key).string_or(""));
}

// Counts of runs: what is none, or beyond a double's whole numbers, is 0.
int64_t count(const Json& json, std::string_view key) {
  const double value = number(json, key);
  return value >= 0 && value < 9e15 ? static_cast<int64_t>(value) : 0;
}

Estimate estimate(const Json& json, std::string_view key) {
  const Json& at = member(json, key);
  return {number(at, "value"), number(at, "low"), number(at, "high")};
}

template <class T, class Read>
std::vector<T> list(const Json& json, std::string_view key, const Read& read) {
  std::vector<T> items;
  for (const Json& item : member(json, key).items()) {
    items.push_back(read(item));
  }
  return items;
}

std::vector<LeftOut> left_out(const Json& json) {
  return list<LeftOut>(json, "left_out", [](const Json& item) {
    return LeftOut{word(item, "quantity"), word(item, "reason")};
  });
}

AtBudget at_budget(const Json& json) {
  return {number(json, "budget"), estimate(json, "N"), estimate(json, "D"), estimate(json, "L"),
          member(json, "outside").dump() == "true"};
}

IsoflopPoint isoflop_point(const Json& json) {
  return {number(json, "parameters"), number(json, "tokens"), number(json, "loss"), count(json, "runs"),
          number(json, "flops")};
}

MinimumKind kind_of(const std::string& name, const std::string& where) {
  for (const MinimumKind kind : {MinimumKind::inside, MinimumKind::smallest, MinimumKind::largest,
                                 MinimumKind::not_clear, MinimumKind::few_sizes}) {
    if (name == name_of(kind)) {
      return kind;
    }
  }
  throw DataError(where +
                  ": kind of an isoflop: must be inside, smallest, largest, not_clear or few_sizes, got " +
                  quote(name));
}

Isoflop isoflop(const Json& json, const std::string& where) {
  Isoflop read;
  read.budget = number(json, "budget");
  read.flops = number(json, "flops");
  read.points = list<IsoflopPoint>(json, "points", isoflop_point);
  read.kind = kind_of(word(json, "kind"), where);
  if (const Json& minimum = member(json, "minimum"); minimum.is_object()) {
    read.minimum = isoflop_point(minimum);
  }
  if (const auto& c = member(json, "parabola").items(); c.size() == 3) {
    read.parabola = {c[0].number_or(NAN), c[1].number_or(NAN), c[2].number_or(NAN)};
  }
  return read;
}

void read_optional_parts(SystemFit& fit, const Json& json) {
  if (const Json& law = member(json, "isoflop_law"); law.is_object()) {
    fit.isoflop_law = IsoflopLaw{number(law, "a"), number(law, "b"), count(law, "minima")};
  }
  if (const Json& law = member(json, "compute_law"); law.is_object()) {
    fit.compute_law = ComputeLaw{estimate(law, "F"),
                                 estimate(law, "gamma"),
                                 estimate(law, "E"),
                                 list<ComputeLaw::Point>(law, "frontier",
                                                         [](const Json& point) {
                                                           return ComputeLaw::Point{number(point, "flops"),
                                                                                    number(point, "loss")};
                                                         }),
                                 member(law, "envelope").dump() == "true",
                                 ""};
  }
  if (const Json& r = member(json, "repetition"); r.is_object()) {
    fit.repetition =
        RepetitionFit{estimate(r, "A"), estimate(r, "alpha"), estimate(r, "B"), estimate(r, "beta"),
                      estimate(r, "E"), estimate(r, "R"),     count(r, "runs"), number(r, "most_epochs")};
  }
  if (const Json& out = member(json, "hold_out"); out.is_object()) {
    fit.hold_out = HoldOut{number(out, "budget"),     count(out, "runs"),         count(out, "fitted_runs"),
                           number(out, "mean_error"), number(out, "worst_error"), number(out, "observed"),
                           number(out, "predicted")};
  }
  if (const Json& residual = member(json, "residual"); residual.is_object()) {
    PointFit point;
    point.form.free_E = member(json, "E_free").dump() == "true";
    point.form.delta = number(json, "delta");
    point.mean_residual = number(residual, "mean");
    point.worst_residual = number(residual, "worst");
    point.tried = list<TriedForm>(json, "choice", [](const Json& tried) {
      TriedForm read;
      read.form.free_E = member(tried, "E_free").dump() == "true";
      read.form.delta = number(tried, "delta");
      read.error = number(tried, "error");
      return read;
    });

    fit.fit = point;
  }
  if (const Json& check = member(json, "grid_check"); check.is_object()) {
    fit.grid_check = GridCheck{count(check, "resamples"), number(check, "worst")};
  }
}

SystemFit system_fit(const Json& json, const std::string& where) {
  SystemFit fit;
  fit.system = word(json, "system");
  require<DataError>(!fit.system.empty(), where, ": each of systems must have a name, system");
  fit.runs = count(json, "runs");
  fit.A = estimate(json, "A");
  fit.B = estimate(json, "B");
  fit.alpha = estimate(json, "alpha");
  fit.beta = estimate(json, "beta");
  fit.E = estimate(json, "E");
  fit.a = estimate(json, "a");
  fit.b = estimate(json, "b");
  fit.gamma = estimate(json, "gamma");
  fit.F = estimate(json, "F");
  fit.G = estimate(json, "G");
  fit.law = {fit.A.value, fit.alpha.value, fit.B.value, fit.beta.value, fit.E.value};
  fit.sizes_bracketed = !std::isnan(fit.a.value);
  if (const double xi = number(json, "xi"); xi > 0) {
    fit.xi = xi;
  }
  fit.xi_from = word(json, "xi_from");
  fit.budgets = list<AtBudget>(json, "budgets", at_budget);
  fit.curve = list<AtBudget>(json, "curve", at_budget);
  fit.isoflops = list<Isoflop>(json, "isoflops", [&](const Json& item) { return isoflop(item, where); });
  fit.left_out = left_out(json);
  fit.notes =
      list<std::string>(json, "notes", [](const Json& item) { return std::string(item.string_or("")); });
  read_optional_parts(fit, json);
  return fit;
}

SystemRatio ratio(const Json& json) {
  const auto point = [](const Json& item) {
    return SystemRatio::Point{number(item, "budget"), estimate(item, "loss"), estimate(item, "compute")};
  };
  return {word(json, "system"), word(json, "other"), list<SystemRatio::Point>(json, "budgets", point),
          list<SystemRatio::Point>(json, "curve", point), left_out(json)};
}

ScalingRequest request(const Json& json) {
  ScalingRequest asked;
  for (const Json& xi : member(json, "xi").items()) {
    asked.xi[word(xi, "system")] = number(xi, "value");
  }
  asked.budgets =
      list<double>(json, "budgets", [](const Json& item) { return item.number_or(std::nan("")); });
  if (const double epochs = number(json, "epochs"); epochs >= 1) {
    asked.epochs = epochs;
  }
  asked.hold_out = member(json, "hold_out").dump() == "true";
  return asked;
}

}  // namespace

ScalingStudy parse_study(std::string_view text, std::string_view where) {
  const Json json = Json::parse(text, where);
  const std::string file(where);
  require<DataError>(!member(json, "systems").items().empty(), file,
                     ": must be what `weyl scale fit --out` writes, with systems");
  ScalingStudy study;
  study.file = word(json, "file");
  study.bootstraps = count(json, "bootstraps");
  study.seed = static_cast<uint64_t>(count(json, "seed"));
  study.asked = request(member(json, "asked"));
  study.systems = list<SystemFit>(json, "systems", [&](const Json& item) { return system_fit(item, file); });
  study.ratios = list<SystemRatio>(json, "ratios", ratio);
  study.refused = list<RefusedLine>(json, "refused", [](const Json& item) {
    return RefusedLine{count(item, "line"), word(item, "reason")};
  });
  study.refused_systems = list<LeftOut>(json, "refused_systems", [](const Json& item) {
    return LeftOut{word(item, "system"), word(item, "reason")};
  });
  return study;
}

ScalingStudy read_study(const std::string& path) {
  const FileContents file = read_file(path, largest_study);
  if (file.error != 0) {
    throw_unread(path + ": " + file.fault, file.error);
  }
  require<DataError>(file.fault.empty(), path, ": ", file.fault);
  return parse_study(file.text, path);
}

}  // namespace weyl
