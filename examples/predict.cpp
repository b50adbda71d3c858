// Loads a checkpoint, predicts and differentiates, from two threads at once: predict MODEL DATA.safetensors
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdio>
#include <thread>
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/saved/saved_model.h"

int main(int argc, char** argv) try {
  weyl::require<weyl::ConfigError>(argc == 3, "usage: predict MODEL DATA.safetensors");
  const weyl::SavedModel saved = weyl::load_model(argv[1]);  // ready for any number of threads
  const weyl::TensorFile data = weyl::read_tensor_file(argv[2], {saved.interface});
  const auto work = [&] {
    weyl::Points points = std::get<weyl::Points>(weyl::to(data.batch.input, at::kCPU, saved.model->dtype()));
    points.positions = points.positions.clone().requires_grad_();
    for (const auto& [name, value] : (*saved.model)(points)) {  // vectors are (N, c, D)
      const auto gradient =
          torch::autograd::grad({value.pow(2).sum()}, {points.positions}).front();  // (N, D)
      std::printf("%s: norm %.6f, of its gradient %.6f\n", name.c_str(), value.norm().item<double>(),
                  gradient.norm().item<double>());
    }
  };
  std::thread one(work), two(work);
  one.join(), two.join();
} catch (const std::exception& error) {
  return std::fprintf(stderr, "predict: %s\n", error.what()), 1;
}
