// Laws of the products on random multivectors, and numbers of the package clifford (tools/goldens/clifford_products.py).
#include "weyl/algebra/clifford/multivector.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/algebra/clifford/multivectors.h"

namespace weyl::clifford {
namespace multivector_test {

using Row = std::vector<double>;

/// Rows (inputs, then outputs) by operation.
const std::map<std::string, std::vector<Row>>& goldens() {
  static const std::map<std::string, std::vector<Row>> all = [] {
    std::map<std::string, std::vector<Row>> rows;
    std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/clifford_products.txt");
    std::string line, operation;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      if (line[0] >= 'a' && line[0] <= 'z') {
        words >> operation;
      } else if (line[0] != '#') {
        Row row;
        for (double x = 0; words >> x;) {
          row.push_back(x);
        }
        rows[operation].push_back(row);
      }
    }
    return rows;
  }();
  return all;
}
Multivector<double> part(const Row& row, int which) {
  Multivector<double> x;
  std::copy_n(row.begin() + 16 * which, 16, x.begin());
  return x;
}

using Binary = std::function<Multivector<double>(const Multivector<double>&, const Multivector<double>&)>;
using Unary = std::function<Multivector<double>(const Multivector<double>&)>;
/// The largest difference over the rows of an operation; infinite when they are not ten of the right width.
double off(const std::string& operation, const Binary& found) {
  const auto& rows = goldens().at(operation);
  double worst = rows.size() == 10 ? 0 : INFINITY;
  for (const Row& row : rows) {
    worst = worst_of(worst,
                     row.size() == 48 ? defect(found(part(row, 0), part(row, 1)), part(row, 2)) : INFINITY);
  }
  return worst;
}
double off(const std::string& operation, const Unary& found) {
  const auto& rows = goldens().at(operation);
  double worst = rows.size() == 10 ? 0 : INFINITY;
  for (const Row& row : rows) {
    worst = worst_of(worst, row.size() == 32 ? defect(found(part(row, 0)), part(row, 1)) : INFINITY);
  }
  return worst;
}

TEST(Multivector, GoldensOfAnIndependentPackage) {
  // Inputs are eighths, so these are exact.
  EXPECT_EQ(off("geometric", Binary(geometric_product<double>)), 0);
  EXPECT_EQ(off("outer", Binary(outer_product<double>)), 0);
  EXPECT_EQ(off("join", Binary(join<double>)), 0);
  EXPECT_EQ(off("reverse", Unary(reverse<double>)), 0);
  EXPECT_EQ(off("involution", Unary(involution<double>)), 0);
  EXPECT_EQ(off("dual", Unary(dual<double>)), 0);
  for (const Row& row : goldens().at("inner")) {
    ASSERT_EQ(row.size(), 33u);
    EXPECT_EQ(inner_product(part(row, 0), part(row, 1)), row[32]);
  }
  EXPECT_LT(off("sandwich", Binary(sandwich<double>)), 1e-14);
  EXPECT_LT(off("exp", Unary(exp<double>)), 1e-14);

  // Controls: exchanged factors, the other dual, an odd versor without the involution.
  EXPECT_GT(off("geometric", Binary([](const auto& x, const auto& y) { return geometric_product(y, x); })),
            0.1);
  EXPECT_GT(off("join", Binary([](const auto& x, const auto& y) { return involution(join(x, y)); })), 0.1);
  EXPECT_GT(off("dual", Unary([](const auto& x) { return dual(dual(dual(x))); })), 0.1);
  EXPECT_GT(off("sandwich", Binary([](const auto& u, const auto& x) {
                  return scaled(1 / inner_product(u, u),
                                geometric_product(geometric_product(u, x), reverse(u)));
                })),
            0.1);
}

TEST(Multivector, LawsOfTheProducts) {
  Stream stream(1, "multivectors");
  using M = Multivector<double>;
  double associative = 0, outer_associative = 0, reversed = 0, involuted = 0, involuted_control = 0,
         commuted = 0;
  for (int sample = 0; sample < 50; ++sample) {
    const M x = random_multivector<double>(stream), y = random_multivector<double>(stream),
            z = random_multivector<double>(stream);
    const auto worse = [](double& worst, const M& a, const M& b) { worst = worst_of(worst, defect(a, b)); };
    worse(associative, geometric_product(geometric_product(x, y), z),
          geometric_product(x, geometric_product(y, z)));
    worse(outer_associative, outer_product(outer_product(x, y), z), outer_product(x, outer_product(y, z)));
    worse(reversed, reverse(geometric_product(x, y)), geometric_product(reverse(y), reverse(x)));
    worse(involuted, involution(geometric_product(x, y)), geometric_product(involution(x), involution(y)));
    // The involution keeps the order of factors, the reverse exchanges it; the product does not commute.
    worse(involuted_control, reverse(geometric_product(x, y)), geometric_product(reverse(x), reverse(y)));
    worse(commuted, geometric_product(x, y), geometric_product(y, x));
    EXPECT_NEAR(inner_product(x, y), geometric_product(reverse(x), y)[one], 1e-13);
    EXPECT_GE(inner_product(x, x), 0);
    for (int k = 0; k <= 4; ++k) {
      const double sign = k % 2 == 0 ? 1 : -1;
      EXPECT_EQ(distance(dual(dual(grade(k, x))), scaled(sign, grade(k, x))), 0);
    }
    EXPECT_LT(defect(join(x, y), dual(outer_product(dual(x), dual(y)))), 1e-14);
  }
  EXPECT_LT(associative, 1e-14);
  EXPECT_LT(outer_associative, 1e-14);
  EXPECT_LT(reversed, 1e-14);
  EXPECT_LT(involuted, 1e-14);
  EXPECT_GT(involuted_control, 0.1);
  EXPECT_GT(commuted, 0.1);
}

TEST(Multivector, MeetAndJoinOfPlanesLinesAndPoints) {
  Stream stream(2, "meet");
  for (int sample = 0; sample < 20; ++sample) {
    const auto p = random_vector<double, 3>(stream), q = random_vector<double, 3>(stream),
               r = random_vector<double, 3>(stream);
    const auto P = embed_point(p), Q = embed_point(q), R = embed_point(r);
    // Three planes through p meet in p.
    const auto meeting = outer_product(outer_product(embed_plane(random_vector<double, 3>(stream), p),
                                                     embed_plane(random_vector<double, 3>(stream), p)),
                                       embed_plane(random_vector<double, 3>(stream), p));
    EXPECT_LT(distance(scaled(1 / meeting[e123], meeting), P), 1e-11);
    // The join of two points is the ray from one to the other, and holds both: [V] of the fact sheet.
    const auto line = join(P, Q);
    EXPECT_LT(distance(line, embed_ray(Ray<double>{q - p, cross(p, q - p)})), 1e-14);
    EXPECT_LT(largest(join(line, P)), 1e-13);
    EXPECT_GT(largest(join(line, R)), 1e-3);
    EXPECT_LT(distance(join(Q, P), scaled(-1.0, line)), 1e-14);
    // The join of three points is their plane, by a factor: normal along the cross product, all three on it.
    const auto plane = join(line, R);
    const auto normal = cross(q - p, r - p);
    EXPECT_LT(distance(cross(extract_normal(plane), normal), {{0, 0, 0}}), 1e-12);
    EXPECT_LT(std::abs(outer_product(plane, R)[e0123]), 1e-12);
    EXPECT_LT(std::abs(outer_product(plane, P)[e0123]), 1e-12);
    EXPECT_GT(std::abs(outer_product(plane, embed_point(p + normal))[e0123]), 1e-3);
    // A line and a plane meet in a point of both.
    const auto n = random_vector<double, 3>(stream);
    const auto hit = extract_point(outer_product(line, embed_plane(n, r)));
    EXPECT_LT(std::abs(dot(n, hit - r)), 1e-10 * (1 + std::sqrt(dot(hit, hit))));
  }
}

TEST(Multivector, SquareOfAnEvenMultivector) {
  // [V] of the fact sheet: m m~ = s + p e0123.
  Stream stream(3, "even");
  for (int sample = 0; sample < 20; ++sample) {
    auto m = random_multivector<double>(stream);
    m = sum(m, involution(m));
    const auto square = geometric_product(m, reverse(m));
    const MotorSquare<double> of(m);
    EXPECT_LT(distance(square, sum(blade(one, of.s), blade(e0123, of.p))), 1e-13);
    EXPECT_NEAR(of.s, inner_product(m, m), 1e-13);
  }
}

}  // namespace multivector_test
}  // namespace weyl::clifford
