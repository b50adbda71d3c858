#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>

#include "weyl/algebra/lattice/cell.h"
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
    require_same_data(first.saved().trained_on, command.models.front(), added.saved().trained_on, path);
  }
  return members;
}

/// What the virial is made of: of atoms that fill space the stress, of slabs and wires virials of atoms, of molecules
/// positions and forces. Nothing where forces are no derivatives, or of a slab nobody knows the virials.
std::optional<Asked> asked_for(const Predictor& predictor, const AtomsFrame& frame) {
  const auto periods = std::ranges::count(frame.pbc, true);
  const Asked asked{.stress = periods == 3, .virials = periods == 1 || periods == 2};
  const bool known = predictor.gradient_forces() && (!asked.virials || predictor.reach());
  return known ? std::optional(asked) : std::nullopt;
}

std::array<double, 9> virial_of(const EnergyAndForces& found, const AtomsFrame& frame, const Asked& asked) {
  std::array<double, 9> virial{};
  if (asked.stress) {
    const double volume = std::abs(volume_of(rows_of(frame.cell->data())));
    std::ranges::transform(found.stress.value(), virial.begin(), [&](double x) { return -volume * x; });
  } else if (asked.virials) {
    for (size_t i = 0; i < found.virials.size(); ++i) {
      virial[i % 9] += found.virials[i];
    }
  } else {
    for (size_t i = 0; i < frame.positions.size(); ++i) {
      for (size_t j = 0; j < 3; ++j) {
        virial[3 * (i % 3) + j] += frame.positions[i] * found.forces[i - i % 3 + j];
      }
    }
  }
  return virial;
}

std::vector<std::vector<IpiForces>> evaluated(const std::vector<Predictor>& members,
                                              const std::vector<AtomsFrame>& frames,
                                              const std::optional<Asked>& asked) {
  std::vector<std::vector<IpiForces>> answers(frames.size());
  for (const Predictor& member : members) {
    const std::vector<EnergyAndForces> found = energies_and_forces(member, frames, asked.value_or(Asked()));
    for (size_t i = 0; i < frames.size(); ++i) {
      IpiForces& answer = answers[i].emplace_back(IpiForces{found[i].energy, found[i].forces, {}});
      if (asked) {
        answer.virial = virial_of(found[i], frames[i], *asked);
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
  const AtomsFrame frame = template_of(command.frame);
  const std::optional<Asked> asked = asked_for(members.front(), frame);
  if (!asked) {
    warn(
        "the model gives no virial of such atoms (its forces are no derivatives of its energy, say): it is not a number");
  }
  say_notes(members.front().notes());
  require_known(members.front(), frame);  // said before anybody waits for an answer
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
