#pragma once

#include <string>

#include "weyl/data/files/formats.h"

namespace weyl {

/// From one format to another, chosen by the names, and for IN where they do not tell by the content:
///
///   a folder of original N-body .npy files  ->  a folder of weyl.nbody files (train, valid, test)
///   X.npz                                   ->  Y.safetensors, array by array
///   X.safetensors                           ->  Y.npz (no bfloat16; metadata as the bytes of a JSON
///                                               object in the array `__metadata__`, read on the way back)
///   X.png, .jpg, .bmp, .amat, IDX, .bin     ->  Y.safetensors, a grid with its labels (sets/image_files.h)
///   a trajectory of text (.txt, .csv, ...)  ->  X.safetensors, poses of SE(3) (sets/pose_files.h)
///   frames of atoms (xyz, SDF, .npz, .aselmdb, DeePMD, QM9)  ->  X.xyz, .extxyz (.gz), X.npz  (convert_frames.h)
///
/// `options` are key=value texts of the conversion's own options: of poses PoseFileOptions, of frames
/// FrameConvertOptions. Files that are there already are never replaced (ConfigError). ConfigError for any
/// other pair, for options that the conversion has not; DataError for a broken file.
Converted convert(const std::string& in, const std::string& out, const OptionTexts& options = {});

/// For the formats: ConfigError when a path is there already, before any work; it is then written with Existing::keep.
void require_new(const std::string& path);

}  // namespace weyl
