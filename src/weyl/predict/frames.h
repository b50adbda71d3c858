#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/atoms/frame_layout.h"
#include "weyl/predict/subject.h"

namespace weyl {

struct FrameCalls : PredictorCalls {
  std::function<void(const std::string&)> warn;  // a warning about the frames, of each kind at most once
  std::vector<std::string> overrides;            // data.molecules.KEY=VALUE, said of these frames
  /// With ranks: called by all of them when each has given the frames of one batch to its `use`, or none, in the order of the ranks.
  std::function<void()> round;
};

struct PredictedFrames {
  int64_t count = 0;     // frames that were used
  bool stopped = false;  // before the end
  FrameUnits units;      // of the energies and lengths written
};

/// Predicts for the frames of a reader, batch by batch, and gives each frame to `use` with the predictions added. The
/// frame keeps every column and value of the input. Each prediction has `weyl_` before its name (`weyl_energy`,
/// `weyl_forces`, `weyl_stress`), so labels stay what they are. With ranks all read the frames, and each predicts every so
/// many-th batch, of those of one process, and gives its frames to its own `use`.
///
/// Units are those of the input. The frame says them when they are not eV and Angstrom, or when forces or stress have a
/// unit of their own (`force_unit`, `stress_unit`: the file's, else that of the data that the model was trained on).
/// Signs are those of conventions.md, whatever the signs of the input's columns; where the training data had other
/// signs, `weyl_stress_sign` and `weyl_forces_sign` say so.
///
/// Where forces are gradients, the frame also has the stress (Asked::stress), unless it is not periodic along
/// all three lattice vectors. Where they are not, `weyl_forces_kind` says that they are direct.
///
/// ConfigError: the model has another carrier, types that are no elements, or a feature that frames do not hold.
/// DataError naming the frame: see FrameCollector; a prediction that is not finite; units that differ from those of
/// earlier frames.
PredictedFrames predict_frames(FilePredictor& predictor, FrameReader& reader,
                               const std::function<void(const AtomsFrame&)>& use,
                               const FrameCalls& calls = {});

}  // namespace weyl
