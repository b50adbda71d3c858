#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/atoms/frame_collector.h"
#include "weyl/data/options.h"

namespace weyl {

/// Molecules and materials as points: frames of any file that open_frames reads, in Angstrom and eV
/// (data/atoms/frame_collector.h says what they become), float64; read once and kept in memory, or kept on disk
/// (data/atoms/streamed_frames.h).
///
///   molecules  a file (or folder without splits), whose frames are split at random as counts or fractions
///              say, or a folder with train.*, valid.* and test.*, of which counts take the first frames
///              (0: all)
///   md17       .npz of MD17 and rMD17
///   qm9        all fifteen properties as labels, under the names of qm9_properties: energies in eV, zpve,
///              U0, U, H, G, Cv and alpha extensive; of gdb9.sdf and its table also the energies of atomisation U0_atom,
///              U_atom, H_atom and G_atom, in eV and extensive; without the molecules that `exclude` lists
///
/// DataError: a missing or broken file; fewer frames than asked for; labels (FrameCollector::Labels::needed).
/// ConfigError: a unit or sign of forces or stress where the training frames have none.
Splits open_molecules(const MoleculesDataOptions& options, Keep keep = Keep::in_memory);
Splits open_md17(const Md17DataOptions& options, Keep keep = Keep::in_memory);
Splits open_qm9(const Qm9DataOptions& options, Keep keep = Keep::in_memory);

/// The file or folder of frames in a folder whose name without endings is `split`; empty: none. DataError:
/// two.
std::string frames_of_split(const std::string& folder, const std::string& split);

/// What is meant by a path of frames: of a folder with splits the test split, else valid, else train; else
/// the path.
std::string frames_path(const std::string& path);

/// One file or folder that open_frames reads, all the frames of its `frames_path`.
std::shared_ptr<const Dataset> open_frames_file(const std::string& path, const FrameLayout& layout,
                                                FrameCollector::Labels labels, Keep keep = Keep::in_memory);

}  // namespace weyl
