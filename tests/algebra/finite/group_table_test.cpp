#include "weyl/algebra/finite/group_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/algebra/finite/spectra.h"
#include "weyl/core/check.h"

namespace weyl {
namespace group_table_test {

std::vector<int64_t> products_of(const GroupTable& group) {
  std::vector<int64_t> products;
  for (int64_t i = 0; i < group.order() * group.order(); ++i) {
    products.push_back(group.product(i / group.order(), i % group.order()));
  }
  return products;
}

std::string message_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

TEST(GroupTable, IsThatOfTheMatrices) {
  const auto group = named_group("octahedron_reflections");
  const GroupTable table(*group);
  EXPECT_EQ(table.order(), 8);
  EXPECT_EQ(table.identity(), 7);
  for (int64_t g = 0; g < 8; ++g) {
    EXPECT_EQ(table.inverse(g), group->inverse(g));
    for (int64_t h = 0; h < 8; ++h) {
      EXPECT_EQ(table.product(g, h), group->product(g, h));
      EXPECT_EQ(table.left_quotient(g, h), group->left_quotient(g, h));
    }
  }
}

TEST(GroupTable, RefusesTablesThatAreNoGroup) {
  const auto message = [](std::vector<int64_t> products) {
    return message_of([&] { GroupTable("mine", std::move(products)); });
  };
  EXPECT_EQ(message({}), "group 'mine': a table of products must have G x G entries, got 0");
  EXPECT_EQ(message({0, 1, 1}), "group 'mine': a table of products must have G x G entries, got 3");
  EXPECT_EQ(message({0, 1, 1, 2}),
            "group 'mine': products must be from 0 to 1, got element 1 times element 1 = 2");
  EXPECT_EQ(message({0, 0, 0, 0}), "group 'mine': its table must have an identity, got none");
  EXPECT_EQ(message({0, 1, 1, 1}), "group 'mine': every element must have an inverse, element 1 has none");
  // Two entries of a row exchanged: identity and inverses may stay, the associative law does not.
  auto wrong = products_of(GroupTable(*named_group("tetrahedron")));
  std::swap(wrong[5 * 12 + 6], wrong[5 * 12 + 7]);
  const auto line = message(wrong);
  EXPECT_TRUE(line.starts_with("group 'mine': products must be associative, got (")) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(GroupTable, RefusesLargeGroups) {
  std::vector<std::vector<double>> generators{spectra::rotation(1, 241)};
  const auto large = FiniteGroup::from_generators("C241", 2, generators, 300);
  EXPECT_EQ(message_of([&] { GroupTable{large}; }),
            "group 'C241': irreps want at most 240 elements, got 241");
  EXPECT_EQ(message_of([] { GroupTable("mine", std::vector<int64_t>(241 * 241)); }),
            "group 'mine': irreps want at most 240 elements, got 241");
}

TEST(GroupTable, SubgroupsAndCosets) {
  const GroupTable group(*named_group("octahedron"));
  const std::vector<int64_t> seeds{1, 2};  // two half-turns
  const auto subgroup = group.generated(seeds);
  EXPECT_EQ(subgroup, (std::vector<int64_t>{0, 1, 2, 3}));
  const auto inside = group.subgroup(subgroup);
  EXPECT_EQ(inside.order(), 4);
  EXPECT_EQ(inside.product(1, 2), 3);
  const auto cosets = group.left_cosets(subgroup);
  EXPECT_EQ(cosets.size(), 6U);
  EXPECT_EQ(cosets[0], group.identity());
  std::vector<int64_t> covered;
  for (const int64_t t : cosets) {
    for (const int64_t h : subgroup) {
      covered.push_back(group.product(t, h));
    }
  }
  std::ranges::sort(covered);
  for (int64_t g = 0; g < 24; ++g) {
    EXPECT_EQ(covered[g], g);
  }
}

TEST(ConjugacyClasses, OfTheIcosahedron) {
  const GroupTable group(*named_group("icosahedron"));
  const ConjugacyClasses classes(group);
  EXPECT_EQ(classes.count(), 5);
  EXPECT_EQ(classes.first[0], group.identity());
  auto sizes = classes.sizes;
  EXPECT_EQ(sizes[0], 1);
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<int64_t>{1, 12, 12, 15, 20}));
}

TEST(SubgroupChain, ChainsAreOfSubgroupsAndLong) {
  const auto orders = [](const FiniteGroup& group) {
    std::vector<size_t> orders;
    for (const auto& subgroup : subgroup_chain(GroupTable(group))) {
      orders.push_back(subgroup.size());
    }
    return orders;
  };
  EXPECT_EQ(orders(*named_group("trivial")), (std::vector<size_t>{1}));
  EXPECT_EQ(orders(*named_group("cyclic_7")), (std::vector<size_t>{1, 7}));
  EXPECT_EQ(orders(*named_group("octahedron_full")), (std::vector<size_t>{1, 2, 4, 12, 24, 48}));
  EXPECT_EQ(orders(*named_group("icosahedron_full")), (std::vector<size_t>{1, 2, 4, 12, 60, 120}));
  for (const auto& group : spectra::groups()) {
    const GroupTable table(*group);
    const auto chain = subgroup_chain(table);
    EXPECT_EQ(chain.front(), std::vector<int64_t>{table.identity()});
    EXPECT_EQ(static_cast<int64_t>(chain.back().size()), table.order());
    for (size_t i = 0; i < chain.size(); ++i) {
      EXPECT_EQ(table.generated(chain[i]), chain[i]) << group->name();
      EXPECT_TRUE(i == 0 || (std::ranges::includes(chain[i], chain[i - 1]) && chain[i] != chain[i - 1]));
    }
  }
}

}  // namespace group_table_test
}  // namespace weyl
