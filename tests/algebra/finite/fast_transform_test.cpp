#include "weyl/algebra/finite/group_spectrum.h"

#include <gtest/gtest.h>

#include "tests/algebra/finite/spectra.h"
#include "weyl/core/check.h"

namespace weyl {
namespace fast_transform_test {

using spectra::spectrum;

TEST(FastTransform, IsTheTransform) {
  for (const auto& group : spectra::groups()) {
    SCOPED_TRACE(group->name());
    const auto& of = spectrum(*group);
    const int64_t channels = 3;
    const auto x = spectra::some_numbers(of.order() * channels, 0.4);
    std::vector<double> y(x.size()), back(x.size());
    of.fast().forward(x, y, channels);
    EXPECT_LT(spectra::largest_difference(y, spectra::analysed(of, x, channels)), 1e-13);
    of.fast().inverse(x, back, channels);
    EXPECT_LT(spectra::largest_difference(back, spectra::synthesised(of, x, channels)), 1e-13);
    of.fast().inverse(y, back, channels);
    EXPECT_LT(spectra::largest_difference(back, x), 1e-13);
  }
}

TEST(FastTransform, ControlOneWrongCoefficientIsSeen) {
  const auto& of = spectrum(*named_group("icosahedron"));
  auto wrong = of.fast();
  wrong.stages[1].coefficients[3] += 1e-3;
  const auto x = spectra::some_numbers(60, 0.4);
  std::vector<double> y(60);
  wrong.forward(x, y, 1);
  EXPECT_GT(spectra::largest_difference(y, spectra::analysed(of, x, 1)), 1e-6);
}

TEST(FastTransform, TakesFewerMultiplyAdds) {
  const std::map<std::string, std::pair<int64_t, int64_t>> expected{
      // multiply-adds, multiplications among them
      {"octahedron_reflections", {56, 8}}, {"tetrahedron", {77, 16}},      {"tetrahedron_full", {202, 32}},
      {"octahedron", {202, 32}},           {"octahedron_full", {500, 64}}, {"icosahedron", {1011, 660}},
      {"icosahedron_full", {2262, 1320}},  {"cyclic_8", {54, 16}},         {"cyclic_64", {966, 456}},
      {"dihedral_6", {100, 44}},           {"dihedral_64", {2188, 912}}};
  for (const auto& [name, counts] : expected) {
    const auto& fast = spectrum(*named_group(name)).fast();
    EXPECT_EQ(fast.multiply_adds(), counts.first) << name;
    EXPECT_EQ(fast.multiplications(), counts.second) << name;
    const auto G = static_cast<int64_t>(fast.gather.size());
    EXPECT_LT(fast.multiply_adds(), G * G) << name;
  }
}

TEST(FastTransform, RefusesOtherSizes) {
  const auto& fast = spectrum(*named_group("tetrahedron")).fast();
  std::vector<double> x(24), y(23);
  EXPECT_THROW(fast.forward(x, y, 2), ShapeError);
  EXPECT_THROW(fast.inverse(x, y, 2), ShapeError);
}

}  // namespace fast_transform_test
}  // namespace weyl
