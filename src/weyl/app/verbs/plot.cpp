#include <filesystem>
#include <iostream>

#include "weyl/app/draw/picture_data.h"
#include "weyl/app/draw/pictures.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/own_folder.h"
#include "weyl/predict/subject.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

/// Films of --rollout N into `out`, rollout_0.safetensors, ...
void write_rollouts(const PlotCommand& command, const std::string& out, const Systems& systems) {
  FilePredictor predictor(command.run, predictor_options(command.machine), systems);
  predictor.roll_out(command.rollout, "--rollout");
  take_threads_for(command.machine, predictor, 1);
  const auto test = open_data(with_rollout(predictor.subject().recipe, command.rollout, "--rollout"), "",
                              "test", Keep::on_disk);
  const int64_t films = write_films(predictor, *test, out, "rollout");
  require<DataError>(films > 0, "the test split: must have triangles with 'vertices' to draw, got none");
}

/// How the tokens of sample --attention N attend, into `out`: attention_<N>.safetensors.
void write_attention_of(const PlotCommand& command, const std::string& out, const Systems& systems) {
  const FilePredictor predictor(command.run, predictor_options(command.machine), systems);
  take_threads_for(command.machine, predictor, 1);
  const auto test = open_data(predictor.subject().recipe, "", "test", Keep::on_disk);
  write_attention(predictor, *test, out, *command.attention);
}

}  // namespace

int run(const PlotCommand& command, const Systems& systems) {
  require<DataError>(std::filesystem::is_directory(command.run), command.run, ": must be a run folder");
  const std::string plots = command.run + "/plots", out = command.out.empty() ? plots : command.out;
  if (command.out.empty()) {
    require_plain(plots, Plain::folder, "a run");
  }
  if (command.rollout > 0) {
    write_rollouts(command, out, systems);
  }
  if (command.attention) {
    write_attention_of(command, out, systems);
  }
  const auto files = draw_run(command.run, out, command.rollout > 0 ? out : "", command.attention ? out : "");
  if (command.output.json) {
    Json list = Json::array();
    for (const std::string& file : files) {
      list.add(file);
    }
    std::cout << Json::object().set("files", list).dump() << "\n";
  } else {
    for (const std::string& file : files) {
      std::cout << file << "\n";
    }
  }
  return exit_done;
}

}  // namespace weyl
