#include "weyl/data/volumes/intensities.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"

namespace weyl {
namespace {

/// What is subtracted from the values of a channel, and what they are then multiplied by.
struct Scaling {
  double mean = 0, factor = 1;
  bool zeros = true;  // whether voxels that are 0 change too; else they stay 0
};

/// Over all voxels, or those that are not 0, of which there is one.
Scaling scaling_over(std::span<const float> values, bool zeros) {
  double sum = 0, squares = 0;
  int64_t voxels = 0;
  for (const float x : values) {
    voxels += zeros || x != 0 ? 1 : 0;
    sum += x;
  }
  const double mean = sum / static_cast<double>(voxels);
  for (const float x : values) {
    squares += zeros || x != 0 ? (x - mean) * (x - mean) : 0;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(voxels));
  return {mean, deviation > 0 ? 1 / deviation : 1, zeros};
}

/// Whether all but the outermost hundredths of the values that are not 0, of which there is one, lie within a twentieth of
/// their median. A few hot voxels do not decide it. Of many values evenly spread ones are looked at, which costs less than
/// to read a volume.
bool are_alike(std::span<const float> values) {
  constexpr double kTail = 0.01, kAlike = 0.05;
  constexpr size_t kLookedAt = 1 << 16;
  std::vector<float> nonzero;
  std::ranges::copy_if(values, std::back_inserter(nonzero), [](float x) { return x != 0; });
  const size_t step = (nonzero.size() - 1) / kLookedAt + 1;
  for (size_t k = 0; k * step < nonzero.size(); ++k) {
    nonzero[k] = nonzero[k * step];
  }
  nonzero.resize((nonzero.size() - 1) / step + 1);
  const auto last = static_cast<double>(nonzero.size() - 1);
  auto rest = nonzero.begin();  // what is not below the quantile before
  const auto quantile = [&](double share) {
    const auto place = nonzero.begin() + std::lround(share * last);
    std::nth_element(rest, place, nonzero.end());
    rest = place;
    return static_cast<double>(*place);
  };
  const double low = quantile(kTail), median = quantile(0.5), high = quantile(1 - kTail);
  return high - low <= kAlike * std::abs(median);
}

/// Whether 0 is a value as others are, of values of which some are below it: not that of a background, which a tenth of a volume and more is.
/// Hounsfield's numbers pass through 0 in the middle of the body; a scan that is normalised already has below 0 what is dark, and 0 around the head.
bool has_few_zeros(std::span<const float> values) {
  constexpr int64_t kShare = 10;
  return kShare * std::ranges::count(values, 0.F) < std::ssize(values);
}

/// For mean 0 and deviation 1 over the voxels that count. Where those that are not 0 are (nearly) equal, as in a mask
/// given as a channel, they would become 0 or noise about it, as the background is: then all voxels count, as where 0 is no background.
Scaling scaling_of(std::span<const float> values, VoxelsCounted counted) {
  const auto [low, high] = std::ranges::minmax(values);
  if (low == high) {  // a constant channel becomes 0
    return {low, 1, true};
  }
  return scaling_over(
      values, counted == VoxelsCounted::all || (low < 0 && has_few_zeros(values)) || are_alike(values));
}

}  // namespace

std::vector<Normalised> counted_of_channels(VoxelsCounted counted, const std::vector<std::string>& names,
                                            int64_t channels,
                                            const std::vector<std::vector<double>>& intensities) {
  std::vector<Normalised> result(static_cast<size_t>(channels), counted);
  for (size_t c = 0; c < result.size() && counted == VoxelsCounted::modality; ++c) {
    std::string name = c < names.size() ? names[c] : "";
    std::ranges::transform(name, name.begin(), [](unsigned char x) { return std::toupper(x); });
    const bool of_ct = intensities.empty() ? name == "CT" : !intensities.at(c).empty();
    result[c] = of_ct                                     ? Normalised(VoxelsCounted::foreground)
                : intensities.empty() && name == "NONORM" ? Normalised()
                                                          : Normalised(VoxelsCounted::nonzero);
  }
  return result;
}

void normalise_by_itself(Tensor& image, std::span<const Normalised> counted) {
  const int64_t count = image.numel() / image.size(0);
  auto* begin = image.mutable_data_ptr<float>();
  for (const Normalised of : counted) {
    const std::span<float> values(begin, static_cast<size_t>(count));
    begin += count;
    if (!of || of == VoxelsCounted::foreground) {
      continue;
    }
    const Scaling by = scaling_of(values, *of);
    for (float& x : values) {
      x = by.zeros || x != 0 ? static_cast<float>((x - by.mean) * by.factor) : 0.F;
    }
  }
}

void see_foreground(const Tensor& image, const Tensor& mask, std::vector<std::vector<float>>& seen) {
  const Tensor in = mask.contiguous(), values = image.contiguous();
  const auto* label = in.const_data_ptr<uint8_t>();
  std::vector<int64_t> places;
  for (int64_t i = 0; i < in.numel(); ++i) {
    if (label[i] > 0) {
      places.push_back(i);
    }
  }
  seen.resize(static_cast<size_t>(image.size(0)));
  const int64_t taken = std::min<int64_t>(std::ssize(places), most_seen_of_case);
  for (int64_t c = 0; c < image.size(0); ++c) {
    const auto* channel = values.const_data_ptr<float>() + c * in.numel();
    for (int64_t k = 0; k < taken; ++k) {
      seen[static_cast<size_t>(c)].push_back(
          channel[places[static_cast<size_t>(k * std::ssize(places) / taken)]]);
    }
  }
}

std::vector<double> foreground_intensities(std::vector<float> seen) {
  require(!seen.empty(), "foreground_intensities: there must be a value");
  double sum = 0, squares = 0;
  for (const float x : seen) {
    sum += x;
  }
  const auto count = static_cast<double>(seen.size());
  const double mean = sum / count;
  for (const float x : seen) {
    squares += (x - mean) * (x - mean);
  }
  const std::vector<double> values(seen.begin(), seen.end());
  constexpr double kTail = 0.005;
  return {quantile(values, kTail), quantile(values, 1 - kTail), mean, std::sqrt(squares / count)};
}

std::vector<double> unchanging_intensities() {
  constexpr double most = std::numeric_limits<float>::max();
  return {-most, most, 0, 1};
}

void normalise_by_foreground(Tensor& image, const std::vector<std::vector<double>>& intensities) {
  for (size_t c = 0; c < intensities.size(); ++c) {
    if (const auto& of = intensities[c]; !of.empty()) {
      Tensor channel = image[static_cast<int64_t>(c)];
      channel.clamp_(of[0], of[1]).sub_(of[2]).div_(of[3] > 0 ? of[3] : 1);
    }
  }
}

}  // namespace weyl
