#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weyl/core/segments.h"
#include "weyl/data/volumes/options.h"

namespace weyl {

/// How a channel is normalised; nothing: its values are left as they are.
using Normalised = std::optional<VoxelsCounted>;

/// How each channel is normalised: what VoxelsCounted::modality stands for is decided by its name, "CT" in any letters, or
/// nnU-Net's "noNorm". Without names none is of CT. `intensities` that are given decide in place of names, which data elsewhere may lack:
/// channels that have some are normalised by them. `channels` of them.
std::vector<Normalised> counted_of_channels(VoxelsCounted counted, const std::vector<std::string>& names,
                                            int64_t channels,
                                            const std::vector<std::vector<double>>& intensities = {});

/// Normalises each channel of an image (C, X, Y, Z) float32 by its own voxels, in place, to mean 0 and deviation 1 over
/// those that count; a constant channel becomes 0. Channels of VoxelsCounted::foreground and those that are not normalised are left as they are.
void normalise_by_itself(Tensor& image, std::span<const Normalised> counted);

/// What is seen of a training case's foreground: evenly spread voxels of each channel, at most this many.
constexpr int64_t most_seen_of_case = 10'000;
/// Adds the foreground (mask above 0) of a case to `seen`, one list for each channel.
void see_foreground(const Tensor& image, const Tensor& mask, std::vector<std::vector<float>>& seen);
/// [lowest, highest, mean, deviation] of what was seen of a channel: its percentiles 0.5 and 99.5 (linear between values),
/// mean and deviation over all. `seen` has at least one value.
std::vector<double> foreground_intensities(std::vector<float> seen);

/// Those that leave float32 values as they are: a model keeps them of channels that are not normalised, which nobody may name
/// where it predicts.
std::vector<double> unchanging_intensities();

/// Cuts the channels that have `intensities` off at lowest and highest, and shifts and scales them by mean and deviation
/// (1, where it is 0), in place.
void normalise_by_foreground(Tensor& image, const std::vector<std::vector<double>>& intensities);

}  // namespace weyl
