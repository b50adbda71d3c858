#include <filesystem>
#include <iomanip>
#include <iostream>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/open.h"
#include "weyl/study/audit/audit.h"
#include "weyl/study/audit/audit_samples.h"
#include "weyl/study/audit/audit_summary.h"
#include "weyl/study/audit/pose_equivariance.h"

namespace weyl {
namespace {

// The data set of the recipe or of --data; null when none was asked for and the recipe's files are not there.
std::shared_ptr<const Dataset> data_for(const Subject& subject, const std::string& path) {
  if (!path.empty() && holds_frames(path)) {  // no label is needed
    return open_file(path, subject.recipe.data,
                     subject.recipe.interface ? &*subject.recipe.interface : nullptr, Values::any);
  }
  if (!path.empty()) {
    return open_data(subject.recipe, path, "");
  }
  const std::string own = path_of(subject.recipe.data);
  const bool declared = subject.task != nullptr || !subject.recipe.interface;
  return declared && std::filesystem::exists(own) ? open_data(subject.recipe, "", any_split) : nullptr;
}

std::string scientific(double value) {
  std::ostringstream out;
  out << std::scientific << std::setprecision(1) << value;
  return out.str();
}

void print_audit(const AuditReport& report, const std::vector<std::string>& summary) {
  for (const std::string& sentence : summary) {
    std::cout << sentence << "\n";
  }
  std::cout << "\n";
  const auto line = [](const std::string& kind, const std::string& group, const std::string& output,
                       const std::string& dtype, const std::string& error, const std::string& verdict) {
    std::cout << std::left << std::setw(9) << kind << std::setw(24) << group << std::setw(26) << output
              << std::setw(9) << dtype << std::setw(9) << error << verdict << "\n";
  };
  for (const AuditClaim& c : report.claims) {
    line("claim", c.group, c.output, c.dtype, c.constant ? "constant" : scientific(c.error),
         c.constant ? "FAIL  (the same for all samples: nothing to divide an error by)"
                    : (c.passed ? "PASS  (limit " : "FAIL  (limit ") + scientific(c.tolerance) +
                          (c.rounding ? ": rounding of float32; exact in float64)" : ")"));
  }
  for (const AuditControl& c : report.controls) {
    line("control", c.transformation, "", "", scientific(c.error),
         (c.passed ? "PASS  (not claimed, must exceed " : "FAIL  (not claimed, must exceed ") +
             scientific(c.at_least) + ")");
  }
  for (const SkippedControl& c : report.skipped) {
    line("control", c.transformation, "", "", scientific(c.error),
         "skipped  (every sample is its own image)");
  }
  for (const AuditMeasure& m : report.measures) {
    line("measure", m.group, m.output, m.dtype, m.constant ? "constant" : scientific(m.error),
         "(how far it is off; not judged)");
  }
  if (report.controls.empty()) {
    std::cout << "no control could be judged: the samples say nothing of what the model does not claim\n";
  }
  std::cout << (report.passed ? "audit passed\n" : "audit FAILED\n");
}

}  // namespace

Json to_json(const PoseEquivariance& e) {
  return Json::object()
      .set("dtype", e.dtype)
      .set("count", e.count)
      .set("flips", e.flips)
      .set("mean_square", e.mean_square)
      .set("root_mean_square", e.root_mean_square)
      .set("median_square", e.median_square)
      .set("largest", e.largest);
}

Json to_json(const AuditReport& report) {
  Json claims = Json::array(), controls = Json::array(), skipped = Json::array(), measures = Json::array();
  for (const AuditClaim& c : report.claims) {
    claims.add(Json::object()
                   .set("group", c.group)
                   .set("output", c.output)
                   .set("dtype", c.dtype)
                   .set("error", c.error)
                   .set("tolerance", c.tolerance)
                   .set("passed", c.passed)
                   .set("constant", c.constant));
  }
  for (const AuditControl& c : report.controls) {
    controls.add(Json::object()
                     .set("transformation", c.transformation)
                     .set("error", c.error)
                     .set("at_least", c.at_least)
                     .set("passed", c.passed));
  }
  for (const SkippedControl& c : report.skipped) {
    skipped.add(Json::object()
                    .set("transformation", c.transformation)
                    .set("error", c.error)
                    .set("reason", "every sample is its own image"));
  }
  for (const AuditMeasure& m : report.measures) {
    measures.add(Json::object()
                     .set("group", m.group)
                     .set("output", m.output)
                     .set("dtype", m.dtype)
                     .set("error", m.error)
                     .set("constant", m.constant));
  }
  return Json::object()
      .set("passed", report.passed)
      .set("claims", claims)
      .set("controls", controls)
      .set("skipped", skipped)
      .set("measures", measures);
}

namespace {

int check(const AuditCommand& command, const Systems& systems, const std::shared_ptr<Ranks>& ranks) {
  const at::Device device = device_of(command.machine, ranks);
  const std::string& path = command.subject.path;
  require<ConfigError>(is_config(path) || command.subject.overrides.empty(),
                       "weyl audit: overrides go with a CONFIG, but ", path, " is none");
  FilePredictor predictor(
      is_config(path) ? build_subject(read_recipe(path, command.subject.overrides, options_of(systems)),
                                      device, {}, systems)
                      : load_subject(path, device, {}, systems));
  const Subject& subject = predictor.subject();
  warn_each(subject.recipe.warnings);
  take_threads_for(command.machine, predictor, command.samples);
  const auto data = data_for(subject, command.data);
  const auto seed = static_cast<uint64_t>(command.seed);
  AuditSamples drawn;
  if (data != nullptr) {
    drawn = audit_samples(predictor, command.data.empty() ? "the data set" : command.data, *data,
                          command.samples, seed);
    if (!subject.trained && subject.task != nullptr) {
      subject.task->fit(*data);  // untrained weights still need the units of what they predict
    }
  } else {
    drawn.batch = random_audit_samples(subject, command.samples, seed);
    say(text("no data: ", command.samples, " samples of random tokens"));
  }
  AuditOptions options;
  options.seed = seed;
  options.ranks = ranks;
  const auto dtype = dtype_of(command.machine.dtype);
  if (dtype == at::kDouble) {  // what is said of float32 needs float64 beside it
    options.dtypes = {at::kDouble};
  }
  // Without data an untrained task has nothing to fit its statistics to: the raw outputs alone.
  const Task* task = data != nullptr || subject.trained ? subject.task.get() : nullptr;
  const Schema& schema = data != nullptr ? data->schema() : subject.schema;
  std::string note;
  const Batch samples = exact_part(*subject.model, drawn.batch, schema, note);
  if (data != nullptr) {
    options.measured = measured_anew(*subject.model, data, {samples, drawn.rows});
  }
  if (ranks != nullptr) {
    Schema drawn_schema = schema;  // random samples have no labels
    std::erase_if(drawn_schema.labels, [&](const Quantity& q) { return !samples.labels.contains(q.name); });
    require_alike(ranks, predictor, std::make_shared<InMemory>(samples, drawn_schema), "the samples");
  }
  const AuditReport report = audit(*subject.model, task, samples, schema, options);
  if (!is_first(ranks)) {
    return exit_done;
  }
  for (const std::string& output : report.absent) {
    note += (note.empty() ? "" : "; ") + output + " is not audited: no sample has a volume";
  }
  std::optional<PoseEquivariance> of_prediction;
  if (task != nullptr && predicts_poses(*task, *subject.model)) {
    subject.model->to(dtype.value_or(subject.model->dtype()));
    of_prediction = pose_equivariance(*subject.model, *task, samples, subject.schema, seed);
  }
  say_notes(subject.task != nullptr ? subject.task->notes() : std::vector<std::string>{});
  const Model& model = *subject.model;
  const std::vector<std::string> summary =
      summary_of(report, model.symmetry_for(samples.input),
                 task != nullptr ? task->predictions(model.interface) : model.interface.outputs,
                 subject.recipe.train.augment != Augmentation::none);
  if (command.output.json) {
    Json sentences = Json::array();
    for (const std::string& sentence : summary) {
      sentences.add(sentence);
    }
    Json json = to_json(report).set("summary", sentences);
    if (of_prediction) {
      json.set("prediction_equivariance", to_json(*of_prediction));
    }
    if (!note.empty()) {
      json.set("note", note);
    }
    std::cout << json.dump() << "\n";
  } else {
    print_audit(report, summary);
    if (!note.empty()) {
      std::cout << "note: " << note << "\n";
    }
    if (of_prediction) {
      std::cout << "prediction (" << of_prediction->dtype << "): |log((a f(S))^-1 f(a S))|^2 mean "
                << scientific(of_prediction->mean_square) << ", median "
                << scientific(of_prediction->median_square) << ", largest "
                << scientific(of_prediction->largest) << "; root mean square "
                << scientific(of_prediction->root_mean_square) << "; " << of_prediction->flips << " flips in "
                << of_prediction->count << "\n";
    }
  }
  return report.passed ? exit_done : exit_failed;
}

}  // namespace

int run(const AuditCommand& command, const Systems& systems) {
  RankProcesses processes(command.ranks, command.machine);
  return processes.run([&] { return check(command, systems, processes.ranks()); });
}

}  // namespace weyl
