#include <filesystem>
#include <iostream>
#include <string>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/scale_figures.h"
#include "weyl/app/scale_inputs.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/joined.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"

namespace weyl {

int run(const ScalePlotCommand& command) {
  const ScaleInputs inputs = read_scale_inputs(command.inputs, command.bootstraps);
  for (const std::string& note : inputs.notes) {
    warn(note);
  }
  const ScaleFigures made = scale_figures(inputs);
  require<DataError>(!made.figures.empty(), joined(command.inputs),
                     ": nothing can be drawn: ", joined(made.left_out, "; "));
  std::error_code error;
  std::filesystem::create_directories(command.out, error);
  require<DataError>(!error, command.out, ": must be a folder that can be written, but ", error.message());
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
  std::cout << (command.talk.json ? Json::object().set("files", files).set("left_out", left_out).dump() + "\n"
                                  : lines);
  return exit_done;
}

}  // namespace weyl
