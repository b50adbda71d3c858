// What is written of a study and read again is said once: `members` of each part names its keys, for a StudyWriter, which
// takes their values, and for a StudyReader, which gives them.
#include "weyl/study/scaling/study_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr size_t largest_study = size_t{256} << 20;

/// T or const T: a part that is read or written.
template <class Part, class T>
concept PartOf = std::same_as<std::remove_const_t<Part>, T>;

class StudyWriter {
 public:
  static constexpr bool reads = false;
  Json json = Json::object();

  void operator()(const char* key, double x) { json.set(key, x); }
  void operator()(const char* key, bool flag) { json.set(key, flag); }
  void operator()(const char* key, int64_t count) { json.set(key, count); }
  void operator()(const char* key, const std::string& words) { json.set(key, words); }
  void operator()(const char* key, MinimumKind kind) { json.set(key, name_of(kind)); }
  /// Null where not even the value is known.
  void operator()(const char* key, const Estimate& estimate) {
    json.set(key, std::isnan(estimate.value) ? Json() : written(estimate));
  }
  void operator()(const char* key, const std::optional<std::array<double, 3>>& numbers) {
    json.set(key, numbers ? written(std::vector<double>(numbers->begin(), numbers->end())) : Json());
  }
  template <class T>
  void operator()(const char* key, const std::vector<T>& items) {
    json.set(key, written(items));
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& part) {
    json.set(key, part ? written(*part) : Json());
  }
  void number(const char* key, const std::optional<double>& x, double /*least*/) {
    json.set(key, x ? Json(*x) : Json());
  }
  void word_or_null(const char* key, const std::string& word) {
    json.set(key, word.empty() ? Json() : Json(word));
  }
  void constant(const char* key, double x) { json.set(key, x); }
  /// An object of which `of` has the members.
  void object(const char* key, const auto& of) {
    StudyWriter inner;
    of(inner);
    json.set(key, std::move(inner.json));
  }
  /// Whether the members of a part follow that is not there always.
  bool has(const char* /*key*/, bool known) const { return known; }

 private:
  template <class T>
  static Json written(const T& part) {
    StudyWriter inner;
    members(inner, part);
    return std::move(inner.json);
  }
  static Json written(double x) { return x; }
  static Json written(const std::string& words) { return words; }
  template <class T>
  static Json written(const std::vector<T>& items) {
    Json list = Json::array();
    for (const T& item : items) {
      list.add(written(item));
    }
    return list;
  }
};

/// What is not there is no number (a count: 0), false, empty.
class StudyReader {
 public:
  static constexpr bool reads = true;

  StudyReader(const Json& json, const std::string& where) : json_(json), where_(where) {}

  void operator()(const char* key, double& x) const { read(at(key), x); }
  void operator()(const char* key, bool& flag) const { flag = at(key).dump() == "true"; }
  /// What is none, or beyond a double's whole numbers, is 0.
  void operator()(const char* key, int64_t& count) const {
    const double value = at(key).number_or(NAN);
    count = value >= 0 && value < 9e15 ? static_cast<int64_t>(value) : 0;
  }
  void operator()(const char* key, std::string& words) const { read(at(key), words); }
  void operator()(const char* key, MinimumKind& kind) const {
    const std::string name = at(key).string_or("");
    for (const MinimumKind each : {MinimumKind::inside, MinimumKind::smallest, MinimumKind::largest,
                                   MinimumKind::not_clear, MinimumKind::few_sizes}) {
      if (name == name_of(each)) {
        kind = each;
        return;
      }
    }
    throw DataError(where_ +
                    ": kind of an isoflop: must be inside, smallest, largest, not_clear or few_sizes, got " +
                    quote(name));
  }
  void operator()(const char* key, Estimate& estimate) const { read(at(key), estimate); }
  void operator()(const char* key, std::optional<std::array<double, 3>>& numbers) const {
    if (const auto& c = at(key).items(); c.size() == 3) {
      numbers = {c[0].number_or(NAN), c[1].number_or(NAN), c[2].number_or(NAN)};
    }
  }
  template <class T>
  void operator()(const char* key, std::vector<T>& items) const {
    for (const Json& item : at(key).items()) {
      read(item, items.emplace_back());
    }
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& part) const {
    if (const Json& json = at(key); json.is_object()) {
      read(json, part.emplace());
    }
  }
  void number(const char* key, std::optional<double>& x, double least) const {
    if (const double value = at(key).number_or(NAN); value >= least) {
      x = value;
    }
  }
  void word_or_null(const char* key, std::string& word) const { read(at(key), word); }
  void constant(const char* /*key*/, double /*x*/) const {}
  void object(const char* key, const auto& of) const {
    StudyReader inner(at(key), where_);
    of(inner);
  }
  bool has(const char* key, bool /*known*/) const { return at(key).is_object(); }

  const std::string& where() const { return where_; }

 private:
  const Json& at(const char* key) const {
    static const Json nothing;
    const Json* found = json_.find(key);
    return found != nullptr ? *found : nothing;
  }
  template <class T>
  void read(const Json& json, T& part) const {
    StudyReader inner(json, where_);
    members(inner, part);
  }
  void read(const Json& json, double& x) const { x = json.number_or(NAN); }
  void read(const Json& json, std::string& words) const { words = json.string_or(""); }

  const Json& json_;
  const std::string& where_;
};

void members(auto& io, PartOf<Estimate> auto& estimate) {
  io("value", estimate.value);
  io("low", estimate.low);
  io("high", estimate.high);
}

void members(auto& io, PartOf<LeftOut> auto& left) {
  io("quantity", left.quantity);
  io("reason", left.reason);
}

void members(auto& io, PartOf<RefusedLine> auto& line) {
  io("line", line.line);
  io("reason", line.reason);
}

void members(auto& io, PartOf<AtBudget> auto& at) {
  io("budget", at.budget);
  io("N", at.N);
  io("D", at.D);
  io("L", at.L);
  io("outside", at.outside);
}

void members(auto& io, PartOf<IsoflopPoint> auto& point) {
  io("parameters", point.parameters);
  io("tokens", point.tokens);
  io("loss", point.loss);
  io("runs", point.runs);
  io("flops", point.flops);
}

/// A minimum, which is of no runs.
struct StudyMinimum {
  IsoflopPoint at;
};
void members(auto& io, PartOf<StudyMinimum> auto& minimum) {
  io("parameters", minimum.at.parameters);
  io("tokens", minimum.at.tokens);
  io("loss", minimum.at.loss);
}

void members(auto& io, PartOf<Isoflop> auto& isoflop) {
  io("budget", isoflop.budget);
  io("flops", isoflop.flops);
  io("kind", isoflop.kind);
  io("points", isoflop.points);
  std::optional<StudyMinimum> minimum;
  if (isoflop.minimum) {
    minimum = StudyMinimum{*isoflop.minimum};
  }
  io("minimum", minimum);
  io("parabola", isoflop.parabola);
  if constexpr (std::remove_reference_t<decltype(io)>::reads) {
    isoflop.minimum = minimum ? std::optional(minimum->at) : std::nullopt;
  }
}

void members(auto& io, PartOf<IsoflopLaw> auto& law) {
  io("a", law.a);
  io("b", law.b);
  io("minima", law.minima);
}

void members(auto& io, PartOf<ComputeLaw::Point> auto& point) {
  io("flops", point.flops);
  io("loss", point.loss);
}

void members(auto& io, PartOf<ComputeLaw> auto& law) {
  io("F", law.F);
  io("gamma", law.gamma);
  io("E", law.E);
  io("envelope", law.envelope);
  io("frontier", law.frontier);
}

void members(auto& io, PartOf<RepetitionFit> auto& fit) {
  io("A", fit.A);
  io("B", fit.B);
  io("alpha", fit.alpha);
  io("beta", fit.beta);
  io("E", fit.E);
  io("R", fit.R);
  io("runs", fit.runs);
  io("most_epochs", fit.most_epochs);
}

void members(auto& io, PartOf<HoldOut> auto& out) {
  io("budget", out.budget);
  io("runs", out.runs);
  io("fitted_runs", out.fitted_runs);
  io("mean_error", out.mean_error);
  io("worst_error", out.worst_error);
  io("observed", out.observed);
  io("predicted", out.predicted);
}

void members(auto& io, PartOf<TriedForm> auto& tried) {
  io("E_free", tried.form.free_E);
  io("delta", tried.form.delta);
  io("error", tried.error);
}

void members(auto& io, PartOf<GridCheck> auto& check) {
  io("resamples", check.resamples);
  io("worst", check.worst);
}

/// What a fit from runs knows of itself; of given coefficients nothing.
void fit_members(auto& io, PartOf<SystemFit> auto& fit) {
  if (!io.has("residual", fit.fit.has_value())) {
    return;
  }
  PointFit point = fit.fit.value_or(PointFit());
  io("E_free", point.form.free_E);
  io("delta", point.form.delta);
  io("choice", point.tried);
  io.object("residual", [&](auto& residual) {
    residual("mean", point.mean_residual);
    residual("worst", point.worst_residual);
  });
  io("grid_check", fit.grid_check);
  if constexpr (std::remove_reference_t<decltype(io)>::reads) {
    fit.fit = std::move(point);
  }
}

void members(auto& io, PartOf<SystemFit> auto& fit) {
  io("system", fit.system);
  io("runs", fit.runs);
  io("A", fit.A);
  io("B", fit.B);
  io("alpha", fit.alpha);
  io("beta", fit.beta);
  io("E", fit.E);
  io("a", fit.a);
  io("b", fit.b);
  io("gamma", fit.gamma);
  io("F", fit.F);
  io("G", fit.G);
  io.number("xi", fit.xi, std::numeric_limits<double>::denorm_min());
  io.word_or_null("xi_from", fit.xi_from);
  fit_members(io, fit);
  io("budgets", fit.budgets);
  io("curve", fit.curve);
  io("isoflops", fit.isoflops);
  io("isoflop_law", fit.isoflop_law);
  io("compute_law", fit.compute_law);
  io("repetition", fit.repetition);
  io("hold_out", fit.hold_out);
  io("left_out", fit.left_out);
  io("notes", fit.notes);
  if constexpr (std::remove_reference_t<decltype(io)>::reads) {
    require<DataError>(!fit.system.empty(), io.where(), ": each of systems must have a name, system");
    fit.law = {fit.A.value, fit.alpha.value, fit.B.value, fit.beta.value, fit.E.value};
    fit.sizes_bracketed = !std::isnan(fit.a.value);
  }
}

void members(auto& io, PartOf<SystemRatio::Point> auto& point) {
  io("budget", point.budget);
  io("loss", point.loss);
  io("compute", point.compute);
}

void members(auto& io, PartOf<SystemRatio> auto& ratio) {
  io("system", ratio.system);
  io("other", ratio.other);
  io("budgets", ratio.budgets);
  io("curve", ratio.curve);
  io("left_out", ratio.left_out);
}

/// A system and what is told of it: its xi, or why it has no fit.
template <class T>
struct OfSystem {
  std::string system;
  T value = {};
};
void members(auto& io, PartOf<OfSystem<double>> auto& xi) {
  io("system", xi.system);
  io("value", xi.value);
}
void members(auto& io, PartOf<OfSystem<std::string>> auto& refused) {
  io("system", refused.system);
  io("reason", refused.value);
}

void members(auto& io, PartOf<ScalingRequest> auto& asked) {
  std::vector<OfSystem<double>> xi;
  for (const auto& [system, value] : asked.xi) {
    xi.push_back({system, value});
  }
  io("xi", xi);
  io("budgets", asked.budgets);
  io.number("epochs", asked.epochs, 1);
  io("hold_out", asked.hold_out);
  if constexpr (std::remove_reference_t<decltype(io)>::reads) {
    for (const OfSystem<double>& each : xi) {
      asked.xi[each.system] = each.value;
    }
  }
}

/// Whether the runs of a system determine its law; a system that has none is undetermined too.
struct Verdict {
  std::string system;
  bool determined = false;
  std::string reason;
};
void members(auto& io, PartOf<Verdict> auto& verdict) {
  io("system", verdict.system);
  io("determined", verdict.determined);
  io.word_or_null("reason", verdict.reason);
}

constexpr const char* given_law = "its coefficients were given";

std::vector<Verdict> verdicts_of(const ScalingStudy& study) {
  std::vector<Verdict> verdicts;
  for (const SystemFit& fit : study.systems) {
    verdicts.push_back(fit.fit ? Verdict{fit.system, fit.undetermined.empty(), fit.undetermined}
                               : Verdict{fit.system, false, given_law});
  }
  for (const LeftOut& left : study.refused_systems) {
    verdicts.push_back({left.quantity, false, left.reason});
  }
  return verdicts;
}

/// Of a fit of an earlier version its notes say it.
void take_verdicts(ScalingStudy& study, const std::vector<Verdict>& verdicts) {
  for (SystemFit& fit : study.systems) {
    const auto found = std::ranges::find(verdicts, fit.system, &Verdict::system);
    if (found != verdicts.end() && !found->determined && fit.fit) {
      fit.undetermined = found->reason.empty() ? undetermined_law : found->reason;
    }
    for (const std::string& note : fit.notes) {
      if (verdicts.empty() && note.starts_with(undetermined_law)) {
        fit.undetermined = note;
      }
    }
  }
}

void members(auto& io, PartOf<ScalingStudy> auto& study) {
  std::vector<Verdict> verdicts = verdicts_of(study);
  io("determined", verdicts);
  auto seed = static_cast<int64_t>(study.seed);
  std::vector<OfSystem<std::string>> refused;
  for (const LeftOut& left : study.refused_systems) {
    refused.push_back({left.quantity, left.reason});
  }
  io("file", study.file);
  io("bootstraps", study.bootstraps);
  io.constant("confidence", 0.95);
  io("seed", seed);
  io.object("asked", [&](auto& asked) { members(asked, study.asked); });
  io("systems", study.systems);
  io("ratios", study.ratios);
  io("refused", study.refused);
  io("refused_systems", refused);
  if constexpr (std::remove_reference_t<decltype(io)>::reads) {
    take_verdicts(study, verdicts);
    study.seed = static_cast<uint64_t>(seed);
    for (const OfSystem<std::string>& each : refused) {
      study.refused_systems.push_back({each.system, each.value});
    }
  }
}

}  // namespace

Json determined_json(const ScalingStudy& study, const std::vector<std::string>& unfitted) {
  std::vector<Verdict> verdicts = verdicts_of(study);
  for (const std::string& system : unfitted) {
    if (std::ranges::find(verdicts, system, &Verdict::system) == verdicts.end()) {
      verdicts.push_back({system, false, "it has no fit"});
    }
  }
  StudyWriter writer;
  writer("determined", verdicts);
  return *writer.json.find("determined");
}

Json to_json(const ScalingStudy& study) {
  StudyWriter writer;
  members(writer, study);
  return std::move(writer.json);
}

ScalingStudy parse_study(std::string_view text, std::string_view where) {
  const Json json = Json::parse(text, where);
  const std::string file(where);
  const Json* systems = json.find("systems");
  require<DataError>(systems != nullptr && !systems->items().empty(), file,
                     ": must be what `weyl scale fit --out` writes, with systems");
  ScalingStudy study;
  StudyReader reader(json, file);
  members(reader, study);
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
