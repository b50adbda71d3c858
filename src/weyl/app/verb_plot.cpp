#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/pictures.h"
#include "weyl/app/verbs.h"
#include "weyl/core/json.h"
#include "weyl/train/run_folder.h"

namespace weyl {

int run(const PlotCommand& command) {
  const std::string plots = command.run + "/plots", out = command.out.empty() ? plots : command.out;
  if (command.out.empty()) {
    require_no_link(plots);
  }
  const auto files = draw_run(command.run, out);
  if (command.talk.json) {
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
