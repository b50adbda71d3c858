#pragma once

#include "weyl/app/command_line.h"

namespace weyl {

/// Whether `weyl predict --out` names a file of frames: .xyz, .extxyz, also with .gz.
bool is_frames_out(const std::string& path);

/// `weyl predict` of frames of atoms into extended xyz, batch by batch: every column and value of the input,
/// and each prediction under its name with `weyl_` before it (`weyl_energy`, `weyl_forces`, `weyl_stress`),
/// so that labels stay what they are; in the units of the input, which the file says when they are not eV and
/// Angstrom. Of a folder with splits the test split (else valid, else train). Models whose forces are a
/// gradient give stress, left out of frames that are not periodic along all three lattice vectors; of other
/// forces `weyl_forces_kind` says that they are direct. A stop asked for (signals.h) leaves no file.
/// ConfigError: a model of another carrier, or whose types are no
/// elements; DataError naming the frame: see FrameCollector, predictions that
/// are not finite, and frames in other units than those before them.
int predict_frames(const PredictCommand& command);

}  // namespace weyl
