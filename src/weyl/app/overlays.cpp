#include "weyl/app/overlays.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>

#include <cstdio>
#include <filesystem>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// (C, H, W) to (H, W, 3) of 0 .. 255: three channels are red, green and blue, else the first is grey; the
/// darkest and the brightest of them are black and white.
Tensor picture(const Tensor& values) {
  Tensor x = values.size(0) == 3 ? values : values.slice(0, 0, 1).expand({3, values.size(1), values.size(2)});
  x = x.detach().to(at::kCPU, at::kDouble);
  const double low = x.min().item<double>(), high = x.max().item<double>();
  const Tensor bright = high > low ? (x - low) * (255 / (high - low)) : x * 0 + 127;
  return bright.round().to(at::kByte).permute({1, 2, 0}).contiguous();
}

/// The slice of (.., X, Y, Z), as it is looked at: x to the right, y upwards.
Tensor slice_of(const Tensor& x, int64_t z) {
  return x.select(-1, z).transpose(-1, -2).flip(-2);
}

}  // namespace

void write_overlays(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    int64_t count) {
  const Quantity* mask = find_quantity(predictor.outputs(), "mask");
  if (mask == nullptr || mask->kind != Kind::category || !predictor.interface().grid) {
    return;
  }
  count = std::min(count, test.size());
  std::filesystem::create_directories(folder);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sample = i * test.size() / count;
    const Batch batch = test.batch({&sample, 1});
    const Named predictions = predictor(batch.input);
    const auto meter = predictor.task()->meter(predictor.interface());
    meter->add(batch, predictions);
    const auto confusion = meter->confusion();
    std::string classes;
    for (const std::string& name : confusion.value().classes) {
      classes += name + "\n";
    }
    char title[64];
    std::snprintf(title, sizeof title, "predicted (sample %lld, Dice %.3f)", static_cast<long long>(sample),
                  meter->values().at("dice").value);
    Tensor image = std::get<Grid>(batch.input).values[0], truth = batch.labels.at("mask")[0][0],
           said = predictions.at("mask")[0][0];
    if (truth.dim() == 3) {
      const int64_t z = at::argmax(truth.ne(0).sum(at::IntArrayRef({0, 1}))).item<int64_t>();
      image = slice_of(image, z);
      truth = slice_of(truth, z);
      said = slice_of(said, z);
    }
    const auto bytes = [](const Tensor& mask) { return mask.to(at::kCPU, at::kByte).contiguous(); };
    save_tensors(text(folder, "/overlay_", i, ".safetensors"),
                 {{"image", picture(image)}, {"truth", bytes(truth)}, {"prediction", bytes(said)}},
                 {{"format", "weyl.overlay"}, {"classes", classes}, {"title", title}},
                 Existing::replace_link);
  }
}

}  // namespace weyl
