#include <iostream>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/verbs/info_metadata.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/predict/subject.h"

namespace weyl {

int run(const InfoCommand& command, const Systems& systems) {
  const ConfigArguments& subject = command.subject;
  if (command.verify || !is_config(subject.path)) {
    // A file of our own or of others: `weyl` has answered it already, unless the engine was started by hand.
    return run_from_metadata(command, options_of(systems)).value_or(exit_data);
  }
  Subject built = build_subject(read_recipe(subject.path, subject.overrides, options_of(systems)), at::kMeta,
                                {}, systems);
  warn_each(built.recipe.warnings);
  SavedModel saved;
  saved.recipe = saved_recipe(built.recipe);
  saved.interface = built.model->interface;
  saved.model = built.model;
  saved.task = std::move(built.task);
  Json json = info_json(summarise(saved), built.recipe);
  if (const auto facts = saved.model->facts(); !facts.empty()) {
    json.set("facts", Json::array(facts));
  }
  warn_each(saved.model->warnings(saved.task ? saved.task->differentiated_by() : ""));
  std::cout << (command.output.json ? json.dump() + "\n" : info_text(json));
  return exit_done;
}

}  // namespace weyl
