#include <filesystem>
#include <iostream>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/new_config.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/predict/subject.h"

namespace weyl {

int run(const ConfigCheckCommand& command, const Systems& systems) {
  return run(command, options_of(systems),
             [&](const Recipe& recipe) { return check_model(recipe, systems); });
}

int run(const ConfigNewCommand& command, const Systems& systems) {
  if (!command.out.empty()) {
    require<ConfigError>(!std::filesystem::exists(command.out), command.out,
                         ": exists already; give another name");  // before the data are read
  }
  const NewConfig made = new_config({command.data, command.task, command.system}, systems);
  warn_each(made.warnings);
  if (!command.out.empty()) {
    write_file_atomically(command.out, made.text, Existing::keep);
    log(LogLevel::info, text("wrote ", command.out, ": ", made.task, " by ", made.system));
  }
  if (command.output.json) {
    Json json = Json::object();
    json.set("config", made.text).set("system", made.system).set("task", made.task);
    if (!command.out.empty()) {
      json.set("out", command.out);
    }
    std::cout << json.dump() << "\n";
  } else if (command.out.empty()) {
    std::cout << made.text;
  }
  return exit_done;
}

}  // namespace weyl
