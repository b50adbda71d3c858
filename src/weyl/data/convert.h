#pragma once

#include <string>
#include <vector>

#include "weyl/data/base/parts.h"
#include "weyl/data/formats.h"

namespace weyl {

/// Converts a file or folder from one format to another. The formats follow from the names or, for IN where its name
/// does not tell, from the content:
///
///   a folder of original N-body .npy files  ->  a folder of weyl.nbody files (train, valid, test)
///   X.npz                                   ->  Y.safetensors, array by array
///   X.safetensors                           ->  Y.npz (no bfloat16; metadata as the bytes of a JSON
///                                               object in the array `__metadata__`, read on the way back)
///   X.png, .jpg, .bmp, .amat, IDX, .bin     ->  Y.safetensors, a grid with its labels (images/files.h)
///   a trajectory of text (.txt, .csv, ...)  ->  X.safetensors, poses of SE(3) (poses/pose_sequences.h)
///   frames of atoms (xyz, SDF, .npz, .aselmdb, DeePMD, QM9)  ->  X.xyz, .extxyz (.gz), X.npz  (convert_frames.h)
///
/// `options` are key=value texts: PoseFileOptions for poses, FrameConvertOptions for frames. ConfigError: a file to be
/// written exists already (none is ever replaced); any other pair of formats; an option that the conversion does not
/// have. DataError: a broken file.
Converted convert(const std::string& in, const std::string& out, const OptionTexts& options = {});

/// Splits one data file of a format that can be split (formats.h) and writes the parts as
/// `<folder>/{train,valid,test}.safetensors`; empty parts are not written. The metadata is kept, and the seed and the
/// source's name are added. Frames of atoms, whatever their format, become `<folder>/{train,valid,test}.extxyz`, with
/// one frame in memory at a time; `texts` are key=value texts of their conversion (FrameConvertOptions). ConfigError: a
/// file to be written exists already (none is ever replaced); a text that the format does not have. DataError: a part cannot be written, and then none of the new files is left; or the path is of no such
/// format.
SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options,
                        const OptionTexts& texts = {});

}  // namespace weyl
