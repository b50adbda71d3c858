#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/predict/ipi.h"
#include "weyl/saved/atoms.h"
#include "weyl/saved/ensemble.h"

namespace weyl {
namespace {

AtomsFrame template_of(const std::string& path) {
  const auto reader = open_frames(path);
  AtomsFrame frame, next;
  require<DataError>(reader->next(frame), path, ": must have a frame, has none");
  if (reader->next(next)) {
    warn(text(path, ": has several frames, of which the first is the template"));
  }
  return frame;
}

std::vector<Predictor> committee_of(const ServeCommand& command, const Systems& systems) {
  std::vector<Predictor> members;
  for (const std::string& path : command.models) {
    Predictor& added = members.emplace_back(path, predictor_options(command.machine), systems);
    const Predictor& first = members.front();
    require_same_inputs_and_outputs(first.saved(), first.outputs(), command.models.front(), added.saved(),
                                    added.outputs(), path);
  }
  return members;
}

/// The sum of the virials of atoms, which also atoms without a volume have.
std::array<double, 9> virial_of(const EnergyAndForces& found) {
  std::array<double, 9> sum{};
  for (size_t i = 0; i < found.virials.size(); ++i) {
    sum[i % 9] += found.virials[i];
  }
  return sum;
}

std::vector<std::vector<IpiForces>> evaluated(const std::vector<Predictor>& members,
                                              const std::vector<AtomsFrame>& frames, const Asked& asked) {
  std::vector<std::vector<IpiForces>> answers(frames.size());
  for (const Predictor& member : members) {
    const std::vector<EnergyAndForces> found = energies_and_forces(member, frames, asked);
    for (size_t i = 0; i < frames.size(); ++i) {
      IpiForces& answer = answers[i].emplace_back(IpiForces{found[i].energy, found[i].forces, {}});
      if (asked.virials) {
        answer.virial = virial_of(found[i]);
      } else {
        answer.virial.fill(std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  return answers;
}

}  // namespace

int run(const ServeCommand& command, const Systems& systems) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Predictor> members = committee_of(command, systems);
  take_threads_for(command.machine, members.front(), 1);
  AtomsFrame frame = template_of(command.frame);
  Asked asked{.virials = true};
  asked.virials = find_quantity(members.front().outputs(asked), "virials") != nullptr;
  if (!asked.virials) {
    warn("forces are no derivatives of the energy, which is not conserved; the virial is not a number");
  }
  say_notes(members.front().notes());
  evaluated(members, {frame},
            asked);  // what is wrong with the template is said before anybody waits for an answer
  catch_signals("nobody is answered any more");
  int64_t structures = 0;
  bool stopped = false;
  try {
    Socket socket(command.ipi, stop_requested);
    say(text("answering ", command.ipi));
    structures = answer_ipi(socket, frame.size(), [&](std::span<const IpiStructure> asked_about) {
      std::vector<AtomsFrame> frames(asked_about.size(), frame);
      for (size_t i = 0; i < frames.size(); ++i) {
        frames[i].cell = asked_about[i].cell;
        frames[i].positions = asked_about[i].positions;
      }
      return evaluated(members, frames, asked);
    });
  } catch (const Interrupted&) {
    stopped = true;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (stopped) {
    say("interrupted");
    return exit_interrupted;
  }
  if (command.output.json) {
    std::cout << Json::object().set("structures", structures).set("seconds", seconds).dump() << "\n";
  } else {
    say(text(structures, " structures in ", clock_text(seconds)));
  }
  return exit_done;
}

}  // namespace weyl
