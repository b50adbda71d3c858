// Parameters and FLOPs of the scaling study ("Does equivariance matter at scale?"), as the fact sheet has them, by an
// interface like that of rigid bodies: twelve three-vectors in, the motor of an object out.
#include <gtest/gtest.h>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/models/gatr/gatr.h"

namespace weyl::gatr {
namespace counts_test {

/// Four points, three planes and one, four ideal lines: twelve multivectors; no scalar, so one that is zero.
Interface triangles() {
  Interface i;
  i.typical_nodes = 5470;
  const auto vectors = [&](const char* name, int64_t channels, Role role) {
    i.features.push_back({.name = name, .kind = Kind::vector, .channels = channels, .role = role});
  };
  vectors("vertices", 3, Role::offset);
  vectors("arms", 3, Role::normal);
  vectors("normal", 1, Role::normal);
  vectors("vertex_velocities", 3, Role::free);
  vectors("velocity", 1, Role::free);
  i.outputs = {{.name = "motor_scalar", .level = Level::object},
               {.name = "motor_pseudoscalar", .level = Level::object, .kind = Kind::pseudoscalar},
               {.name = "motor_ideal", .level = Level::object, .kind = Kind::vector},
               {.name = "motor_bivector", .level = Level::object, .kind = Kind::axial_vector}};
  return i;
}

struct Counted {
  int64_t total = 0, blocks = 0;
  Work flops;
};

Counted count(const Options& options, const Interface& interface) {
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  const Gatr model(options, interface);
  Counted counted{model.parameter_count(), 0, model.work_of_token()};
  for (const auto& [name, numbers] : model.parts()) {
    counted.blocks += name == "blocks" ? numbers : 0;
  }
  return counted;
}

TEST(GatrCounts, AreThoseOfTheScalingStudy) {
  const std::vector<int64_t> blocks{1348, 9104, 28956, 66592, 127700, 217968, 343084, 508736},
      totals{1534, 9474, 29510, 67330, 128622, 219074, 344374, 510210},
      nominal{92820, 566760, 1776060, 4074960, 7817700, 13358520, 21051660, 31251360};
  for (int64_t n = 1; n <= 8; ++n) {
    Options o = options_of_size(n);
    for (const auto scope : {AttentionScope::global, AttentionScope::hierarchical}) {
      o.attention = scope;
      const Counted counted = count(o, triangles());
      EXPECT_EQ(counted.total, totals[n - 1]) << n;
      EXPECT_EQ(counted.blocks, blocks[n - 1]) << n;
      EXPECT_EQ(counted.blocks, 948 * n * n * n + 360 * n * n + 40 * n);
      EXPECT_EQ(counted.flops.nominal, static_cast<double>(nominal[n - 1])) << n;
    }
  }
}

TEST(GatrCounts, AreThoseOfTheAuthorsOwnSizes) {
  // 10 blocks, 16 multivector and 32 scalar channels, 8 heads, one of each in and out.
  Options o;
  o.blocks = 10;
  o.positions = false;
  Interface i;
  i.typical_nodes = 256;
  i.features = {{.name = "shape", .kind = Kind::multivector}, {.name = "number"}};
  i.outputs = {{.name = "moved", .kind = Kind::multivector}, {.name = "counted"}};
  const Counted counted = count(o, i);
  EXPECT_EQ(counted.total, 543458);
  EXPECT_NEAR(counted.flops.nominal, 58.3e6, 0.05e6);  // of a token of training
}

TEST(GatrCounts, RealFlopsAreOfTwentyFourTermsAPair) {
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  const EquiLinear linear({16, 32, 8, 4});
  EXPECT_EQ(linear.flops(), 2.0 * (24 * 16 * 32 + 8 * 32 + 16 * 4 + 8 * 4));
  EXPECT_EQ(linear.nominal_flops(), 6.0 * (256 * 16 * 32 + 8 * 32 + 16 * 4 + 8 * 4));
  const Bilinear bilinear({16, 32, 8, {}});
  const EquiLinear quarter({16, 16, 8, {}}), out({32, 32, 8, {}});
  EXPECT_EQ(bilinear.flops(), 4 * quarter.flops() + out.flops() + 2.0 * 16 * (192 + 81));
  // Attention grows with the nodes of a graph: 12 C + S products of a score, 16 C + S of a value.
  Options o = options_of_size(2);
  const SelfAttention attention(o);
  EXPECT_EQ(attention.flops(100) - attention.flops(0), 2.0 * 100 * 4 * (28 * 2 + 2 * 8));
  o.attention = AttentionScope::hierarchical;
  EXPECT_EQ(SelfAttention(o).flops(100) - SelfAttention(o).flops(0), 2.0 * 100 * 2 * (28 * 2 + 2 * 8));
}

Options read(const std::string& toml) {
  Options o;
  read_toml_text(toml, "m.toml", {}, [&](Fields& f) { fields(f, o); });
  require_effects(o, nullptr);
  return o;
}

TEST(GatrSize, StandsInPlaceOfTheWidths) {
  const Options o = read("size = 3\nattention = 'hierarchical'");
  EXPECT_EQ(o.width, 3);
  EXPECT_EQ(o.scalars, 12);
  EXPECT_EQ(o.heads, 6);
  EXPECT_EQ(o.blocks, 6);
  EXPECT_EQ(head_channels(o).multivectors, 2);
  EXPECT_EQ(head_channels(o).scalars, 8);
  Options written = o;
  EXPECT_EQ(read(write_toml([&](Fields& f) { fields(f, written); })).width, 3);  // as a run's config has it
  for (const char* other :
       {"width = 4", "width = 3", "scalars = 12", "heads = 6", "blocks = 6", "hidden_factor = 4"}) {
    try {
      read(std::string("size = 3\n") + other);
      FAIL() << other;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("must be left out beside model.gatr.size"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(read("size = 0"), ConfigError);
  EXPECT_THROW(read("size = 1.5"), ConfigError);
}

TEST(GatrSize, OfHeadsIsAtLeastTheAuthors) {
  Options o;
  o.width = 4;
  o.scalars = 6;
  o.heads = 16;
  EXPECT_EQ(head_channels(o).multivectors, 1);
  EXPECT_EQ(head_channels(o).scalars, 4);
  o.rotary = 4096;
  EXPECT_EQ(head_channels(o).scalars, 8);
  o.heads = 1;
  o.scalars = 5;
  o.hidden_factor = 3;
  EXPECT_EQ(head_channels(o).scalars, 16);  // 15, rounded up to even
}

TEST(GatrOptions, RefuseWhatContradicts) {
  EXPECT_THROW(read("heads = 3\nattention = 'hierarchical'"), ConfigError);
  EXPECT_THROW(read("axial = true\nattention = 'hierarchical'"), ConfigError);
  EXPECT_THROW(read("reinsert_scalars = [1, 1]"), ConfigError);
  EXPECT_THROW(read("blocks = 0\nepsilon = 0.1"), ConfigError);
  EXPECT_NO_THROW(read("rotary = 4096.0\naxial = true\nreinsert_multivectors = [0, 1]"));
}

}  // namespace counts_test
}  // namespace weyl::gatr
