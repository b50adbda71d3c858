#include "weyl/data/options.h"

namespace weyl {

void fields(Fields& f, NbodyDataOptions& o) {
  f("path", o.path,
    "folder with train, valid and test: made by `weyl data make nbody`, or the original .npy files");
  f("train", o.train, "samples used of the training split; 0: all", {0, 1e9});
  f("valid", o.valid, "samples used of the validation split; 0: all", {0, 1e9});
  f("test", o.test, "samples used of the test split; 0: all", {0, 1e9});
  f("input_frame", o.input_frame, "frame that the model sees; frame k is time 0.1 (k + 1)", {0, 1e9});
  f("target_frame", o.target_frame, "frame whose positions it predicts", {0, 1e9});
  f("speed", o.speed, "adds the norm of the velocity as a scalar feature");
}

void fields(Fields& f, TensorsDataOptions& o) {
  f("path", o.path,
    "folder with train.safetensors, valid.safetensors and test.safetensors (carrier tensor files)");
}

void fields(Fields& f, DataOptions& o) {
  f.variant("set", o.set, "the data set");
}

}  // namespace weyl
