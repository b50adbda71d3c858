#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>

#include "weyl/app/draw/html.h"
#include "weyl/app/draw/scale_figures.h"
#include "weyl/app/draw/scale_inputs.h"
#include "weyl/app/draw/scale_tables.h"
#include "weyl/app/draw/table.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/output_files.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/core/version.h"
#include "weyl/study/scaling/study_json.h"
#include "weyl/study/sweep/record.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

ScalingStudy derived(const ScaleFitCommand& command) {
  std::vector<GivenLaw> laws = read_coefficients(command.coefficients);
  for (const auto& [system, xi] : command.xi) {
    const auto found = std::ranges::find(laws, system, &GivenLaw::system);
    require<ConfigError>(found != laws.end(), "--xi ", quote(system), ": must be a system of ",
                         command.coefficients);
    require<ConfigError>(!found->xi, "--xi ", quote(system), ": ", command.coefficients, " says its xi");
    found->xi = xi;
  }
  ScalingStudy study = derived_study(command.coefficients, laws, command.budgets);
  study.asked.xi = command.xi;
  return study;
}

ScalingStudy fitted(const ScaleFitCommand& command) {
  ScalingOptions options;
  options.xi = command.xi;
  options.budgets = command.budgets;
  options.bootstraps = command.bootstraps.value_or(options.bootstraps);
  options.threads = command.threads.value_or(0);
  options.seed = static_cast<uint64_t>(command.seed.value_or(0));
  options.hold_out = command.hold_out;
  options.most_epochs = command.epochs;
  options.report = [](const std::string& what) { say(what); };
  return fit_study(read_runs(command.runs), options);
}

void warn_of(const ScalingStudy& study) {
  for (const RefusedLine& refused : study.refused) {
    warn(text(study.file, ":", refused.line, ": ", refused.reason));
  }
  for (const LeftOut& system : study.refused_systems) {
    warn(text(printable(system.quantity), ": is not fitted: ", system.reason));
  }
  for (const SystemFit& fit : study.systems) {
    for (const std::string& note : fit.notes) {
      warn(printable(fit.system) + ": " + note);
    }
  }
}

}  // namespace

int run(const ScaleFitCommand& command) {
  const Overwrite overwrite(command.force, {command.runs, command.coefficients});
  const Existing existing = command.out.empty() ? Existing::keep : overwrite.at(command.out);
  const ScalingStudy study = command.coefficients.empty() ? fitted(command) : derived(command);
  warn_of(study);
  const std::string json = to_json(study).dump() + "\n";
  if (!command.out.empty()) {
    write_file_atomically(command.out, json, existing);
  }
  std::cout << (command.output.json ? json : text_of(study));
  return exit_done;
}

int run(const ScalePlotCommand& command) {
  const ScaleInputs inputs = read_scale_inputs(command.inputs, command.bootstraps, command.output.threads);
  for (const std::string& note : inputs.notes) {
    warn(note);
  }
  const ScaleFigures made = scale_figures(inputs);
  require<DataError>(!made.figures.empty(), joined(command.inputs),
                     ": nothing can be drawn: ", joined(made.left_out, "; "));
  make_folder(command.out);
  Json files = Json::array(), left_out = Json::array();
  std::string lines;
  for (const ScaleFigure& figure : made.figures) {
    const std::string path = command.out + "/" + figure.name;
    draw(figure.panels, path);
    for (const char* ending : {".png", ".svg"}) {
      files.add(path + ending);
      lines += path + ending + "\n";
    }
  }
  for (const std::string& what : made.left_out) {
    warn("left out: " + visible(what));
    left_out.add(what);
  }
  std::cout << (command.output.json
                    ? Json::object().set("files", files).set("left_out", left_out).dump() + "\n"
                    : lines);
  return exit_done;
}

namespace {

std::string html_list(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += "<li>" + html_text(line) + "</li>\n";
  }
  return out.empty() ? "" : "<ul>\n" + out + "</ul>\n";
}

std::string pictures(const ScaleFigures& made) {
  const TemporaryFolder folder("report");
  std::string out;
  for (const ScaleFigure& figure : made.figures) {
    draw(figure.panels, folder / figure.name);
    out += html_picture(contents_of(folder / (figure.name + ".svg")), figure.panels.title);
  }
  return out + (made.left_out.empty() ? "" : "<p>Left out:</p>\n" + html_list(made.left_out));
}

/// The commands that make all this again, in the folder in which this one was given.
struct Commands {
  std::string run, fit, plot;
};

std::string fit_command(const ScalingStudy& study) {
  const ScalingRequest& asked = study.asked;
  std::string line =
      "weyl scale fit " + std::string(is_derived(study) ? "--coefficients " : "") + shell_word(study.file);
  for (const auto& [system, xi] : asked.xi) {
    line += " --xi " + shell_word(system + "=" + Json(xi).dump());
  }
  for (size_t i = 0; i < asked.budgets.size(); ++i) {
    line += (i == 0 ? " --budgets " : ",") + Json(asked.budgets[i]).dump();
  }
  line += asked.epochs ? " --epochs " + Json(*asked.epochs).dump() : "";
  line += asked.hold_out ? " --hold-out" : "";
  return is_derived(study) ? line
                           : line + " --bootstraps " + std::to_string(study.bootstraps) + " --seed " +
                                 std::to_string(study.seed);
}

Commands report_commands(const ScaleReportCommand& command, const ScaleInputs& inputs, bool has_sweep) {
  const std::string csv = runs_file(command.runs);
  const std::string folder = std::filesystem::path(csv).parent_path().string();
  Commands c;
  if (has_sweep) {
    c.run = "weyl scale run " + shell_word((std::filesystem::path(folder) / "sweep.toml").string()) +
            " --out " + shell_word(folder.empty() ? "." : folder);
  }
  const std::string fit_file = command.fit.empty() ? "fit.json" : command.fit;
  c.fit = fit_command(inputs.study) + " --out " + shell_word(fit_file);
  c.plot = "weyl scale plot " + (inputs.study.systems.empty() ? "" : shell_word(fit_file) + " ") +
           shell_word(csv) + " --out plots";
  return c;
}

/// What made each run, without the configs that the sweep file names.
std::string recipes(const SweepRecord& record) {
  std::string out;
  for (const KeptRecipe& recipe : record.recipes) {
    const std::string title = recipe.trainings.front().substr(0, recipe.trainings.front().find(": "));
    std::string commands;
    for (const std::string& training : recipe.trainings) {
      commands += training + "\n";
    }
    const size_t others = recipe.trainings.size() - 1;
    out += "<details><summary>" + html_text(title) +
           (others > 0 ? ", and " + std::to_string(others) + " more of its config" : "") + "</summary>\n" +
           html_lines(commands) + html_lines(recipe.config) + "</details>\n";
  }
  return out.empty() ? "" : "<p>The trainings, and the config of each in full:</p>\n" + out;
}

std::string machine(const SweepRecord& record) {
  return "<h2>Machine</h2>\n" +
         (record.machines.empty()
              ? std::string("<p>Beside the table nothing says which machine trained.</p>\n")
              : "<p>Of the runs:</p>\n" + html_table(record.machines)) +
         "<p>Of this report: " + html_text(cpu_name()) + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " threads, weyl " + version() + "</p>\n";
}

/// What the files with a page's tables begin with: the page's name without its ending, and "-tables" where that would be
/// the table of runs itself.
std::string beside_page(const std::string& page, const std::string& runs) {
  const std::string name = std::filesystem::path(page).replace_extension().string();
  std::error_code error;
  return std::filesystem::equivalent(name + ".csv", runs, error) ? name + "-tables" : name;
}

std::string body_of(const ScaleReportCommand& command, const ScaleInputs& inputs) {
  const SweepRecord record = read_sweep_record(runs_file(command.runs));
  const Commands commands = report_commands(command, inputs, !record.sweep.empty());
  const ScaleFigures made = scale_figures(inputs);
  std::string body = html_of(verdict_tables(inputs.study, inputs.unfitted));
  if (!inputs.notes.empty()) {
    body += "<p>To be known of the table:</p>\n" + html_list(inputs.notes);
  }
  body += "<h2>Pictures</h2>\n" + html_lines(commands.plot) + pictures(made) +
          html_of(loss_tables(inputs.runs())) + html_of(data_scaling_tables(inputs.runs()));
  if (!inputs.study.systems.empty()) {
    body += "<h2>Fits</h2>\n" +
            (inputs.fitted ? "" : "<p>As " + html_text(command.fit) + " has them; made by</p>\n") +
            html_lines(commands.fit) + html_of(study_tables(inputs.study));
  }
  const std::string count = std::to_string(record.rows.empty() ? 0 : record.rows.size() - 1);
  body += "<h2>Runs</h2>\n" + (commands.run.empty() ? "" : html_lines(commands.run)) + "<details" +
          (record.rows.size() <= 60 ? " open" : "") + "><summary>" + count + " rows of " +
          html_text(runs_file(command.runs)) + "</summary>\n" + html_table(record.rows) + "</details>\n";
  if (!record.sweep.empty()) {
    body += "<h2>Settings</h2>\n<p>sweep.toml:</p>\n" + html_lines(record.sweep) + recipes(record);
  }
  return body + machine(record);
}

}  // namespace

int run(const ScaleReportCommand& command) {
  const std::string csv = runs_file(command.runs), beside = beside_page(command.out, csv);
  const Overwrite overwrite(command.force, {csv, command.fit});
  const Existing existing = overwrite.at(command.out);
  std::vector<std::string> files = table_files(beside);
  for (const std::string& file : files) {
    require<ConfigError>(file != command.out, "--out ", command.out,
                         ": must be the name of the page, but its tables come to that name");
    overwrite.at(file);
  }
  files.insert(files.begin(), command.out);
  std::vector<std::string> paths{csv};
  if (!command.fit.empty()) {
    paths.push_back(command.fit);
  }
  const ScaleInputs inputs = read_scale_inputs(paths, command.bootstraps, command.output.threads);
  for (const std::string& note : inputs.notes) {
    warn(note);
  }
  std::vector<Table> tables;
  for (std::vector<Table> some : {verdict_tables(inputs.study, inputs.unfitted), loss_tables(inputs.runs()),
                                  data_scaling_tables(inputs.runs()), study_tables(inputs.study)}) {
    std::ranges::move(some, std::back_inserter(tables));
  }
  const std::string page = html_page("Scaling study: " + csv, body_of(command, inputs));
  write_file_atomically(command.out, page, existing);
  write_tables(tables, beside, existing);
  say(visible(verdict_of(inputs.study, inputs.unfitted) + "; tables: " + beside + ".md, .csv, .tex"));
  Json list = Json::array();
  for (const std::string& file : files) {
    list.add(file);
  }
  std::cout << (command.output.json ? Json::object()
                                          .set("determined", determined_json(inputs.study, inputs.unfitted))
                                          .set("out", command.out)
                                          .set("files", list)
                                          .dump()
                                    : visible(command.out))
            << "\n";
  return exit_done;
}

}  // namespace weyl
