#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/pictures.h"
#include "weyl/app/verbs.h"
#include "weyl/core/json.h"

namespace weyl {

int run(const PlotCommand& command) {
  const std::string out = command.out.empty() ? command.run + "/plots" : command.out;
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
