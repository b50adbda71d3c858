#pragma once

#include <functional>
#include <string>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/atoms/frame_layout.h"
#include "weyl/predict/subject.h"

namespace weyl {

struct FrameCalls : PredictorCalls {
  std::function<void(const std::string&)> warn;  // a doubt about the frames, at most once
};

struct PredictedFrames {
  int64_t count = 0;     // frames that were used
  bool stopped = false;  // before the end
  FrameUnits units;      // of the energies and lengths written
};

/// Goes over the frames of a reader and gives each to `use` with the predictions added, batch by batch: every column
/// and value of the input, and each prediction under its name with `weyl_` before it (`weyl_energy`, `weyl_forces`,
/// `weyl_stress`), so that labels stay what they are; in the units of the input, which the frame says when they are
/// not eV and Angstrom, or when forces or stress have a unit of their own (`force_unit`, `stress_unit`: of the file,
/// else of the data that the model was trained on). Signs are those of conventions.md, whatever the input's columns
/// have; where the training data had others, `weyl_stress_sign` and `weyl_forces_sign` say so. Where forces are
/// gradients it also has the stress (Predictor::give_stress), left out of frames that are not periodic along all three
/// lattice vectors; of other forces `weyl_forces_kind` says that they are direct.
///
/// ConfigError: a model of another carrier, whose types are no elements, or with a feature that frames cannot tell.
/// DataError naming the frame: see FrameCollector; predictions that are not finite; frames in other units than those
/// before them.
PredictedFrames predict_frames(FilePredictor& predictor, FrameReader& reader,
                               const std::function<void(const AtomsFrame&)>& use,
                               const FrameCalls& calls = {});

}  // namespace weyl
