#include "weyl/data/particles/options.h"

namespace weyl {

void fields(Fields& f, NbodyDataOptions& o) {
  f("path", o.path,
    "folder with train, valid and test: made by `weyl data make nbody`, or the original .npy files");
  f("train", o.train, "the first so many samples of the training split, which must have them; 0: all",
    {0, 1e9});
  f("valid", o.valid, "the first so many samples of the validation split, which must have them; 0: all",
    {0, 1e9});
  f("test", o.test, "the first so many samples of the test split, which must have them; 0: all", {0, 1e9});
  f("input_frame", o.input_frame, "frame that the model sees; frame k is time 0.1 (k + 1)", {0, 1e9});
  f("target_frame", o.target_frame, "frame whose positions it predicts", {0, 1e9});
  f("speed", o.speed, "adds the norm of the velocity as a scalar feature");
  f("charge_types", o.charge_types,
    "the sign of the charge is the type of a particle too (two types, for systems that learn by type)");
  f("flip_charges", o.flip_charges,
    "gives training samples the opposite charges half of the time, all particles of a system at once, which changes "
    "nothing of how they move: forces go by products of charges");
}

void fields(Fields& f, PlanetsDataOptions& o) {
  f("path", o.path, "folder with train, valid and test: made by `weyl data make planets`");
  f("train", o.train, "systems used of the training split; 0: all", {0, 1e9});
  f("valid", o.valid, "systems used of the validation split; 0: all", {0, 1e9});
  f("test", o.test, "systems used of the test split; 0: all", {0, 1e9});
}

}  // namespace weyl
