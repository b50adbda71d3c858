#include "weyl/tasks/label_statistics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/tasks/error_law.h"

namespace weyl {
namespace references_test {

Tensor rows(std::vector<double> values, int64_t columns) {
  const auto count = static_cast<int64_t>(values.size());
  return at::tensor(values, at::kDouble).view({count / columns, columns});
}

TEST(Composition, CountsTheNodesOfEachType) {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 2});
  p.positions = at::zeros({5, 3}, at::kDouble);
  p.types = at::tensor(std::vector<int64_t>{2, 0, 2, 1, 1}, at::kLong);
  EXPECT_TRUE(at::equal(composition_of(p, 4), rows({1, 0, 2, 0, 0, 0, 0, 0, 0, 2, 0, 0}, 4)));
  p.types = Tensor();
  EXPECT_TRUE(at::equal(composition_of(p, 0), rows({3, 0, 2}, 1)));
  EXPECT_THROW(composition_of(p, 2), ShapeError);
  EXPECT_TRUE(at::equal(composition_of(Grid{at::zeros({2, 1, 3, 3})}, 0), rows({1, 1}, 1)));
}

TEST(References, AreExactWhereTheCompositionTellsAll) {
  const Tensor truth = at::tensor(std::vector<double>{-13.6, -1029.7, -2041.3}, at::kDouble);
  const Tensor c = rows({2, 1, 0, 4, 1, 0, 1, 0, 1, 2, 2, 2, 0, 3, 1}, 3);
  ReferenceFit fit(Reference::elements, 3);
  fit.add(c.slice(0, 0, 2), at::matmul(c.slice(0, 0, 2), truth));  // in pieces
  fit.add(c.slice(0, 2), at::matmul(c.slice(0, 2), truth));
  EXPECT_TRUE(at::allclose(fit.solution(), truth, 1e-10, 1e-8));
}

TEST(References, MinimiseTheSumOfSquares) {
  at::manual_seed(1);
  const Tensor c = at::randint(0, 7, {40, 3}, at::kDouble), y = at::randn({40}, at::kDouble) - 5;
  ReferenceFit fit(Reference::elements, 3);
  fit.add(c, y);
  const Tensor e = fit.solution();
  const auto loss = [&](const Tensor& x) { return (y - at::matmul(c, x)).square().sum().item<double>(); };
  for (int64_t t = 0; t < 3; ++t) {
    for (const double by : {-1e-3, 1e-3}) {
      Tensor other = e.clone();
      other[t] += by;
      EXPECT_LT(loss(e), loss(other));
    }
  }
}

TEST(References, OfOneMoleculeAreTheSmallestThatGiveItsMean) {
  ReferenceFit fit(Reference::elements, 4);
  fit.add(rows({2, 6, 1, 0, 2, 6, 1, 0}, 4), at::tensor(std::vector<double>{-4190, -4192}, at::kDouble));
  const Tensor e = fit.solution(), c = at::tensor(std::vector<double>{2, 6, 1, 0}, at::kDouble);
  EXPECT_NEAR(at::dot(c, e).item<double>(), -4191, 1e-8);
  EXPECT_TRUE(at::allclose(e, c * (-4191.0 / 41), 1e-10, 1e-9));  // along the composition
}

TEST(References, LeaveOutWhatIsMissing) {
  ReferenceFit fit(Reference::elements, 2), whole(Reference::elements, 2);
  const Tensor c = rows({1, 2, 3, 1, 5, 5}, 2);
  const Tensor y = at::tensor(std::vector<double>{-5, -7, NAN}, at::kDouble);
  fit.add(c, y);
  whole.add(c.slice(0, 0, 2), y.slice(0, 0, 2));
  EXPECT_TRUE(at::equal(fit.solution(), whole.solution()));
}

TEST(References, ThatAreHeldStay) {
  const Tensor truth = at::tensor(std::vector<double>{-13, -1000, -2000}, at::kDouble);
  const Tensor c = rows({2, 1, 0, 4, 1, 0, 1, 0, 1, 2, 2, 2, 0, 3, 1}, 3);
  ReferenceFit fit(Reference::elements, 3);
  fit.add(c, at::matmul(c, truth));
  fit.hold({{0, -12.5}});
  // The others by least squares of what the held one leaves: numpy.linalg.lstsq(c[:, 1:], y + 12.5 c[:, 0]).
  const Tensor e = fit.solution();
  EXPECT_EQ(e[0].item<double>(), -12.5);
  const Tensor left = at::matmul(c, truth) + 12.5 * c.select(1, 0), others = c.slice(1, 1);
  EXPECT_LT(at::matmul(others.t(), left - at::matmul(others, e.slice(0, 1))).abs().max().item<double>(),
            1e-8);
  EXPECT_GT((e - truth).slice(0, 1).abs().min().item<double>(), 1e-3);
  fit.hold({{0, -1}, {1, -2}, {2, -3}});
  EXPECT_TRUE(at::equal(fit.solution(), at::tensor(std::vector<double>{-1, -2, -3}, at::kDouble)));
  EXPECT_THROW(fit.hold({{3, -1}}), ShapeError);
  EXPECT_THROW(ReferenceFit(Reference::mean, 3).hold({{0, -1}}), ShapeError);
}

TEST(References, OfTheMeanAreOneNumberANode) {
  ReferenceFit fit(Reference::mean, 3);
  fit.add(rows({1, 1, 0, 0, 0, 4}, 3), at::tensor(std::vector<double>{-3, -9}, at::kDouble));
  const double e = (2 * -3.0 + 4 * -9.0) / (2 * 2 + 4 * 4);  // least squares on the number of nodes
  EXPECT_TRUE(at::allclose(fit.solution(), at::full({3}, e, at::kDouble)));
}

TEST(ErrorLaw, FollowsItsFormula) {
  const Tensor x = at::tensor(std::vector<double>{-3, 0.5, 0, 2}, at::kDouble);
  EXPECT_NEAR(mean_error(ErrorLaw::l1, 1, x).item<double>(), 5.5 / 4, 1e-15);
  EXPECT_NEAR(mean_error(ErrorLaw::l2, 1, x).item<double>(), 13.25 / 4, 1e-15);
  EXPECT_NEAR(mean_error(ErrorLaw::huber, 1, x).item<double>(), (2.5 + 0.125 + 0 + 1.5) / 4, 1e-15);
  EXPECT_NEAR(mean_error(ErrorLaw::huber, 2, x).item<double>(), (2 * (3 - 1) + 0.125 + 0 + 2) / 4, 1e-15);
}

TEST(ErrorLaw, OfLengthsIsTheMeanOverRows) {
  const Tensor x = rows({3, 4, 0, 0, 0, 0, 1, 2, 2}, 3).clone().requires_grad_();
  Tensor known = at::ones({3, 3}, at::kBool);
  Tensor mean = mean_length(x, known);
  EXPECT_NEAR(mean.item<double>(), (5.0 + 0 + 3) / 3, 1e-15);
  mean.backward();
  EXPECT_TRUE(at::allclose(x.grad(), rows({0.6, 0.8, 0, 0, 0, 0, 1. / 3, 2. / 3, 2. / 3}, 3) / 3));
  known[2][1].fill_(false);  // the whole row is not known then
  const Tensor holed = x.detach().clone();
  holed[2][1].fill_(NAN);
  const Tensor leaf = holed.requires_grad_();
  mean = mean_length(leaf, known);
  EXPECT_NEAR(mean.item<double>(), 2.5, 1e-15);
  mean.backward();
  EXPECT_TRUE(at::isfinite(leaf.grad()).all().item<bool>());
  EXPECT_EQ(mean_length(x.detach(), at::zeros({3, 3}, at::kBool)).item<double>(), 0);
}

TEST(ErrorLaw, LeavesOutWhatIsUnknownAlsoInItsSlope) {
  for (const auto law : {ErrorLaw::l1, ErrorLaw::l2, ErrorLaw::huber}) {
    const Tensor x = at::tensor(std::vector<double>{-3, 2}, at::kDouble).requires_grad_();
    const Tensor target = at::tensor(std::vector<double>{0, NAN}, at::kDouble);
    const Tensor known = at::isnan(target).logical_not();
    const Tensor loss = mean_error(law, 1, x - target, known);
    EXPECT_NEAR(loss.item<double>(), mean_error(law, 1, x.slice(0, 0, 1)).item<double>(), 1e-15);
    loss.backward();
    EXPECT_TRUE(at::isfinite(x.grad()).all().item<bool>());
    EXPECT_EQ(x.grad()[1].item<double>(), 0);
    EXPECT_EQ(mean_error(law, 1, x, at::zeros_like(known)).item<double>(), 0);
  }
}

}  // namespace references_test
}  // namespace weyl
