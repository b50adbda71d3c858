#include <iostream>

#include "weyl/app/command_line_completion.h"
#include "weyl/app/exit_codes.h"
#include "weyl/app/verbs.h"

namespace weyl {

int run(const CompletionCommand& command) {
  std::cout << completion_script(command.shell);
  return exit_done;
}

}  // namespace weyl
