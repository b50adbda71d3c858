#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/data/atoms/convert_frames.h"
#include "weyl/data/options.h"

namespace weyl {

/// From one format to another, chosen by the names; returns the files written.
///
///   a folder of original N-body .npy files  ->  a folder of weyl.nbody files (train, valid, test)
///   X.npz                                   ->  Y.safetensors, array by array
///   X.safetensors                           ->  Y.npz (no bfloat16; metadata as the bytes of a JSON
///                                               object in the array `__metadata__`, read on the way back)
///   X.png, .jpg, .bmp, .amat, IDX, .bin     ->  Y.safetensors, a grid with its labels (sets/image_files.h)
///   a trajectory of text (.txt, .csv, ...)  ->  X.safetensors, poses of SE(3) (sets/pose_files.h); `poses`
///                                               says how it is read and cut
///   frames of atoms (xyz, SDF, .npz, DeePMD, QM9)  ->  X.xyz, .extxyz (.gz), X.npz  (convert_frames.h)
///
/// Files that are there already are never replaced (ConfigError). ConfigError for any other pair, DataError
/// for a broken file.
std::vector<std::string> convert(const std::string& in, const std::string& out,
                                 const std::optional<PoseFileOptions>& poses = {});

}  // namespace weyl
