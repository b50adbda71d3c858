// Lie groups and Lie-algebra attention by themselves, without a model or a config: cameras along a helix
// attend to each other by the logarithms of their relative poses; another origin changes nothing, and the
// poses have a gradient. Exit code 1 when the result depends on the origin.
#include <ATen/ATen.h>
#include <weyl/algebra/lie/group.h>
#include <weyl/ops/lie/attention.h>
#include <weyl/ops/lie/elements.h>
#include <weyl/ops/lie/log.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

int main() try {
  const auto se3 = weyl::LieGroup::se3;
  const auto float64 = at::TensorOptions(at::kDouble);

  // One element at a time: a step of the helix, and back.
  const weyl::Lie<double> lie(se3);
  const std::vector<double> twist{1, 0, 0.2, 0, 0, 0.3};  // translation, then rotation, physical coordinates
  std::vector<double> step(weyl::compact_size(se3)), back(6);
  lie.exp(twist, step);
  const double margin = lie.log(step, back);
  std::printf("exp, then log: (%.2f, %.2f, %.2f, %.2f, %.2f, %.2f), %.2f rad inside the chart\n", back[0],
              back[1], back[2], back[3], back[4], back[5], margin);

  // Many at once: two helices of 100 cameras each, g_k = exp(k w).
  const int64_t n = 100;
  const at::Tensor w = at::tensor(twist, float64);
  const at::Tensor k = at::arange(n, float64).unsqueeze(1).repeat({2, 1});
  const auto graphs = weyl::Segments::of_sizes(std::vector<int64_t>{n, n});
  at::Tensor poses = weyl::lie::exp(k * w, se3).requires_grad_();  // (N, 7): translation, quaternion x y z w
  const weyl::lie::Logs pairs = weyl::lie::pair_logs(poses.detach(), graphs, se3);
  std::printf("%ld relative poses; the smallest margin is %.3f rad\n", static_cast<long>(pairs.w.size(0)),
              pairs.margin.min().item<double>());

  // Attention of four heads: the first sees near positions, the last near orientations.
  const at::Tensor values = (k * 0.1).sin().unsqueeze(2).repeat({1, 4, 8});  // (N, H, C)
  const at::Tensor weights = at::tensor({1., 0.1, 0.3, 0.3, 0.1, 1., 0., 3.}, float64).view({4, 2});
  const auto attend = [&](const at::Tensor& g) {
    return weyl::lie::attention(g, values, weights, graphs, se3, weyl::ChartPolicy::mask);
  };
  const weyl::lie::Attention here = attend(poses);

  // The same cameras, seen from elsewhere: g -> a g.
  const at::Tensor a = weyl::lie::exp(at::tensor({5., -3., 2., 0.4, 1.1, -0.7}, float64).view({1, 6}), se3);
  const weyl::lie::Attention there = attend(weyl::lie::compose(a.repeat({2 * n, 1}), poses, se3));
  const double moved = (there.mixed - here.mixed).abs().max().item<double>(),
               turned = (there.coordinates - here.coordinates).abs().max().item<double>();
  std::printf("another origin changes the mixed values by %.1e, the mean logarithms by %.1e\n", moved,
              turned);

  // Gradients by the poses themselves.
  (here.mixed * here.mixed).sum().backward();
  std::printf("the gradient by the poses has norm %.4f\n", poses.grad().norm().item<double>());
  return moved < 1e-10 && turned < 1e-10 && std::isfinite(poses.grad().sum().item<double>()) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "pose_attention: %s\n", error.what());
  return 2;
}
