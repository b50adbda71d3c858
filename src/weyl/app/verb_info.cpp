#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/info_json.h"
#include "weyl/app/subject.h"
#include "weyl/app/verbs.h"

namespace weyl {

int run(const InfoCommand& command) {
  const ConfigArguments& subject = command.subject;
  if (!is_config(subject.path)) {
    // A file of our own or of others: `weyl` has answered it already, unless the engine was started by hand.
    return run_from_metadata(command).value_or(exit_data);
  }
  Subject built = build_subject(subject, at::kMeta, {});
  SavedModel saved;
  saved.recipe = built.recipe;
  saved.interface = built.model->interface;
  saved.model = built.model;
  saved.task = std::move(built.task);
  const Json json = info_json(summarise(saved), built.recipe);
  std::cout << (command.talk.json ? json.dump() + "\n" : info_text(json));
  return exit_done;
}

}  // namespace weyl
