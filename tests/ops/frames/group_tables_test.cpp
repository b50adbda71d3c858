#include "weyl/ops/frames/group_tables.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/laws.h"
#include "weyl/core/check.h"

namespace weyl {
namespace group_tables_test {

// Functions on the group as vectors of G numbers; a translation is an index table, composed by gathering.
laws::Operations<Tensor> permutations(int64_t G) {
  return {[](const Tensor& a, const Tensor& b) {
            return b.index_select(0, a);
          },  // (A B f)[j] = (B f)[a[j]] = f[b[a[j]]]
          [](const Tensor& a) { return a.argsort(); }, at::arange(G),
          [](const Tensor& a, const Tensor& b) { return a.equal(b) ? 0.0 : 1.0; }};
}

TEST(GroupTables, TranslationIsTheLeftRegularRepresentation) {
  for (const char* name : {"tetrahedron", "octahedron_full", "dihedral_3", "octahedron_reflections"}) {
    const GroupTables tables(named_group(name));
    const auto& group = tables.group();
    const std::function<Tensor(const int64_t&)> rho = [&](const int64_t& g) {
      return tables.translation(g, at::kCPU);
    };
    const auto from = laws::operations(group);
    const auto to = permutations(group.order());
    EXPECT_EQ(laws::homomorphism_defect(rho, from, to, laws::indices(group)), 0) << name;
    // The control: in the reversed order, and for an action from the right, new[j] = old[j g^-1],
    // the law fails unless the group is abelian.
    const double broken = group.abelian() ? 0 : 1;
    EXPECT_EQ(laws::homomorphism_defect(rho, from, to, laws::indices(group), true), broken) << name;
    const std::function<Tensor(const int64_t&)> from_the_right = [&](const int64_t& g) {
      std::vector<int64_t> table;
      for (int64_t j = 0; j < group.order(); ++j) {
        table.push_back(group.product(j, group.inverse(g)));
      }
      return at::tensor(table);
    };
    EXPECT_EQ(laws::homomorphism_defect(from_the_right, from, to, laws::indices(group)), broken) << name;
  }
}

TEST(GroupTables, TranslationMovesTheFrameThatSeesAPoint) {
  // f(g) = R_g^-1 p; turning p by R_h must give f(h^-1 g).
  const GroupTables tables(named_group("icosahedron"));
  const auto elements = tables.elements(at::kCPU, at::kDouble);
  const auto p = at::tensor({0.3, -1.2, 0.7}, at::kDouble);
  const auto seen = [&](const Tensor& x) { return at::matmul(elements.transpose(1, 2), x); };
  for (const int64_t h : {0, 1, 17, 59}) {
    const auto turned = seen(at::matmul(elements[h], p));
    EXPECT_LT((turned - seen(p).index_select(0, tables.translation(h, at::kCPU))).abs().max().item<double>(),
              1e-14);
  }
  const auto wrong = seen(p).index_select(0, tables.translation(tables.group().inverse(1), at::kCPU));
  EXPECT_GT((seen(at::matmul(elements[1], p)) - wrong).abs().max().item<double>(), 0.1);
}

TEST(GroupTables, HoldTheGroupsNumbers) {
  const GroupTables tables(named_group("tetrahedron_full"));
  const auto& group = tables.group();
  const auto elements = tables.elements(at::kCPU, at::kFloat),
             determinants = tables.determinants(at::kCPU, at::kDouble);
  const auto quotients = tables.left_quotients(at::kCPU);
  EXPECT_EQ(elements.sizes(), (at::IntArrayRef{24, 3, 3}));
  EXPECT_EQ(elements.scalar_type(), at::kFloat);
  EXPECT_EQ(determinants.sum().item<double>(), 0);
  EXPECT_EQ(elements[12][0][1].item<float>(), 1);
  for (int64_t h = 0; h < 24; ++h) {
    for (int64_t g = 0; g < 24; ++g) {
      EXPECT_EQ(quotients[h][g].item<int64_t>(), group.product(group.inverse(g), h));
    }
  }
  EXPECT_THROW(tables.translation(24, at::kCPU), ShapeError);
  EXPECT_THROW(tables.translation(-1, at::kCPU), ShapeError);
}

TEST(GroupTables, AreMadeOnceAndShared) {
  const GroupTables tables(named_group("octahedron"));
  std::vector<Tensor> seen(8);
  std::vector<std::thread> threads;
  for (auto& slot : seen) {
    threads.emplace_back([&] { slot = tables.elements(at::kCPU, at::kFloat); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& slot : seen) {
    EXPECT_TRUE(slot.is_same(seen[0]));
  }
  EXPECT_FALSE(tables.elements(at::kCPU, at::kDouble).is_same(seen[0]));
}

}  // namespace group_tables_test
}  // namespace weyl
