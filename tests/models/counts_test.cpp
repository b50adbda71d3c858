// Parameter counts of the fact sheets, from hand-written interfaces, as shapes only.
#include "weyl/core/check.h"
#include "weyl/models/platonic/platonic.h"
#include "weyl/models/transformer/transformer.h"

#include <gtest/gtest.h>

namespace weyl {
namespace counts_test {

Interface interface(int64_t dimension, int64_t scalars, int64_t vectors, std::vector<Quantity> outputs) {
  Interface i;
  i.dimension = dimension;
  if (scalars > 0) {
    i.features.push_back({"s", Level::node, Kind::scalar, scalars});
  }
  if (vectors > 0) {
    i.features.push_back({"v", Level::node, Kind::vector, vectors});
  }
  i.outputs = std::move(outputs);
  return i;
}

std::vector<Quantity> graph_scalars(int64_t n) {
  return {{"y", Level::graph, Kind::scalar, n}};
}

platonic::Options options(const char* group, int64_t width, int64_t blocks, int64_t heads) {
  platonic::Options o;
  o.group = group;
  o.width = width;
  o.blocks = blocks;
  o.heads = heads;
  o.both_readouts = true;
  return o;
}

int64_t count(const platonic::Options& o, const Interface& i) {
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  return platonic::Platonic(o, i).parameter_count();
}

TEST(PlatonicCounts, Cifar10WithLearnedAndConstantKeys) {
  const auto i = interface(2, 48, 2, graph_scalars(10));
  const auto cifar = [&](const char* group, bool use_key) {
    auto o = options(group, 768, 12, 12);
    o.ape = platonic::ApeOptions{};
    o.ffn_readout = false;
    o.use_key = use_key;
    return count(o, i);
  };
  EXPECT_EQ(cifar("trivial_2", true), 85112074);
  EXPECT_EQ(cifar("trivial_2", false), 78024970);
  EXPECT_EQ(cifar("flop_2d_2", true), 42579850);
  EXPECT_EQ(cifar("flop_2d_2", false), 39036298);
  EXPECT_EQ(cifar("cyclic_4", true), 21313738);
  EXPECT_EQ(cifar("cyclic_4", false), 19541962);
  EXPECT_EQ(cifar("cyclic_6", true), 14225034);
  EXPECT_EQ(cifar("cyclic_6", false), 13043850);
  EXPECT_EQ(cifar("dihedral_2", true), 21313738);
  EXPECT_EQ(cifar("dihedral_2", false), 19541962);
  EXPECT_EQ(cifar("dihedral_3", true), 14225034);
  EXPECT_EQ(cifar("dihedral_3", false), 13043850);
  EXPECT_EQ(cifar("dihedral_6", true), 7136330);
  EXPECT_EQ(cifar("dihedral_6", false), 6545738);
  EXPECT_THROW(cifar("dihedral_4", true), ConfigError);  // 12 heads are no multiple of 8
}

TEST(PlatonicCounts, Qm9Regression) {
  const auto i = interface(3, 97, 0, graph_scalars(1));
  const auto qm9 = [&](const char* group) {
    auto o = options(group, 1152, 14, 72);
    o.ape = platonic::ApeOptions{};
    return count(o, i);
  };
  EXPECT_EQ(qm9("trivial_3"), 207362881);
  EXPECT_EQ(qm9("octahedron_reflections"), 26019145);
  EXPECT_EQ(qm9("tetrahedron"), 17383729);
  EXPECT_EQ(qm9("octahedron"), 8748313);
}

TEST(PlatonicCounts, WithoutTheDeadReadout) {
  const auto i = interface(3, 97, 0, graph_scalars(1));
  auto o = options("octahedron", 1152, 14, 72);
  o.ape = platonic::ApeOptions{};
  o.both_readouts = false;
  EXPECT_EQ(count(o, i), 8748313 - 55344);
}

TEST(PlatonicCounts, Omol25) {
  auto outputs = graph_scalars(1);
  outputs.push_back({"forces", Level::node, Kind::vector, 1});
  const auto i = interface(3, 92, 0, outputs);
  EXPECT_EQ(count(options("trivial_3", 1152, 14, 72), i), 207358852);
  EXPECT_EQ(count(options("tetrahedron", 1152, 14, 72), i), 17381284);
  EXPECT_EQ(count(options("octahedron", 1152, 14, 72), i), 8745940);
}

TEST(PlatonicCounts, Qm9Generation) {
  const auto i =
      interface(3, 7, 0, {{"x", Level::node, Kind::scalar, 6}, {"p", Level::node, Kind::vector, 1}});
  EXPECT_EQ(count(options("tetrahedron", 1152, 14, 72), i), 17289129);
  EXPECT_EQ(count(options("octahedron", 1152, 14, 72), i), 8653785);
}

TEST(PlatonicCounts, ImageNet) {
  const auto i = interface(2, 768, 2, graph_scalars(1000));
  const auto imagenet = [&](const char* group, int64_t width, int64_t heads) {
    auto o = options(group, width, 12, heads);
    o.ape = platonic::ApeOptions{};
    o.ffn_readout = false;
    return count(o, i);
  };
  EXPECT_EQ(imagenet("trivial_2", 384, 8), 20205928);
  EXPECT_EQ(imagenet("flop_2d_2", 384, 8), 10443688);
  EXPECT_EQ(imagenet("cyclic_4", 384, 8), 5562568);
  EXPECT_EQ(imagenet("trivial_2", 768, 12), 79339240);
  EXPECT_EQ(imagenet("flop_2d_2", 768, 12), 40350568);
  EXPECT_EQ(imagenet("cyclic_4", 768, 12), 20856232);
}

TEST(PlatonicCounts, ScanObjectNN) {
  const auto i = interface(3, 0, 33, graph_scalars(15));
  const auto scan = [&](const char* group) {
    auto o = options(group, 576, 12, 12);
    o.ape = platonic::ApeOptions{};
    return count(o, i);
  };
  EXPECT_EQ(scan("trivial_3"), 44618991);
  EXPECT_EQ(scan("flop_3d_1"), 22342335);
  EXPECT_EQ(scan("tetrahedron"), 3778455);
}

TEST(PlatonicCounts, ABlockFollowsTheClosedFormOfTheSheet) {
  // 11 d^2/G (12 with learned keys), biases 8 C (9 C), norms 4 C, frequencies H F D.
  const auto i = interface(3, 7, 0, graph_scalars(1));
  for (const char* group : {"trivial_3", "octahedron_reflections", "tetrahedron", "octahedron"}) {
    for (const bool use_key : {false, true}) {
      auto o = options(group, 1152, 3, 72);
      o.use_key = use_key;
      const int64_t three = count(o, i), order = named_group(group)->order(), channels = 1152 / order;
      o.blocks = 2;
      EXPECT_EQ(three - count(o, i), (use_key ? 12 : 11) * 1152 * channels + (use_key ? 9 : 8) * channels +
                                         4 * channels + 72 / order * 8 * 3)
          << group;
    }
  }
}

TEST(PlatonicCounts, FixedFrequenciesAreStoredAndNotCounted) {
  const auto i = interface(3, 7, 0, graph_scalars(1));
  auto o = options("tetrahedron", 48, 2, 12);
  const int64_t learned = count(o, i);
  o.rope->learned = false;
  EXPECT_EQ(count(o, i), learned - 2 * 1 * 2 * 3);  // blocks, heads of a frame, pairs, axes
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  EXPECT_EQ(platonic::Platonic(o, i).parameters().size(),
            platonic::Platonic(options("tetrahedron", 48, 2, 12), i).parameters().size());
}

TEST(PlatonicCounts, PartsAddUp) {
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  const platonic::Platonic model(options("tetrahedron", 48, 2, 12), interface(3, 7, 1, graph_scalars(1)));
  int64_t sum = 0;
  std::vector<std::string> names;
  for (const auto& [name, n] : model.parts()) {
    names.push_back(name);
    sum += n;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"x_embedder", "layers", "scalar_readout", "vector_readout"}));
  EXPECT_EQ(sum, model.parameter_count());
}

TEST(PlatonicFlops, FollowTheClosedFormOfTheSheet) {
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  auto i = interface(3, 97, 0, graph_scalars(1));
  i.typical_nodes = 18;
  auto o = options("octahedron", 1152, 14, 72);
  o.linear = platonic::LinearForm::dense;
  const double blocks = 14 * (22.0 * 1152 * 1152 + 4.0 * 18 * 1152), embedding = 2.0 * 97 * 24 * 1152;
  const double readout = (2.0 * 1152 * 1152 + 2.0 * 1152 * 24) / 18;
  const double angles = 14 * 3.0 * 1152;  // which the sheet leaves out: positions times frequencies
  EXPECT_DOUBLE_EQ(platonic::Platonic(o, i).work_of_token().forward, blocks + embedding + readout + angles);
  o.use_key = true;
  EXPECT_DOUBLE_EQ(platonic::Platonic(o, i).work_of_token().forward,
                   blocks + embedding + readout + angles + 14 * 2.0 * 1152 * 1152);
}

/// The scaling study's baseline of size n: 36 coordinates as 256 Fourier features in, 8 numbers out.
int64_t baseline(int64_t n, bool blocks_only) {
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  const auto i = interface(3, 0, 11,
                           {{"s", Level::node, Kind::scalar, 1},
                            {"p", Level::node, Kind::pseudoscalar, 1},
                            {"v", Level::node, Kind::vector, 1},
                            {"a", Level::node, Kind::axial_vector, 1}});
  transformer::Options o;
  o.width = 64 * n;
  o.heads = 2 * n;
  o.blocks = 2 * n;
  o.head_width = 64;
  o.multi_query = true;
  o.fourier = transformer::FourierOptions{};
  const transformer::Transformer model(o, i);
  if (!blocks_only) {
    return model.parameter_count();
  }
  for (const auto& [name, numbers] : model.parts()) {
    if (name == "blocks") {
      return numbers;
    }
  }
  return 0;
}

TEST(TransformerCounts, AreThoseOfTheScalingStudysBaseline) {
  const std::vector<int64_t> blocks{82944, 593408, 1924608, 4469760, 8622080, 14774784, 23321088, 34654208};
  const std::vector<int64_t> totals{99912, 627336, 1975496, 4537608, 8706888, 14876552, 23439816, 34789896};
  for (int64_t n = 1; n <= 8; ++n) {
    EXPECT_EQ(baseline(n, true), blocks[n - 1]) << n;
    EXPECT_EQ(baseline(n, false), totals[n - 1]) << n;
  }
}

}  // namespace counts_test
}  // namespace weyl
