// The tables of products against matrices: e_i of a metric q as creation plus q_i times annihilation on the exterior
// algebra of four vectors, Kronecker products of 2x2 matrices. Integers, so every number must be the same.
#include "weyl/algebra/clifford/blades.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weyl::clifford {
namespace blades_test {

using Matrix = std::vector<std::vector<int>>;

Matrix kronecker(const Matrix& a, const Matrix& b) {
  Matrix c(a.size() * b.size(), std::vector<int>(a.size() * b.size()));
  for (size_t i = 0; i < c.size(); ++i) {
    for (size_t j = 0; j < c.size(); ++j) {
      c[i][j] = a[i / b.size()][j / b.size()] * b[i % b.size()][j % b.size()];
    }
  }
  return c;
}
Matrix times(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<int>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a.size(); ++j) {
      for (size_t k = 0; k < a.size(); ++k) {
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
  return c;
}
Matrix multiple(int factor, Matrix a) {
  for (auto& row : a) {
    for (int& x : row) {
      x *= factor;
    }
  }
  return a;
}
Matrix identity() {
  Matrix a(16, std::vector<int>(16));
  for (int i = 0; i < 16; ++i) {
    a[i][i] = 1;
  }
  return a;
}

const std::array<std::string, 16> names{"",   "0",  "1",  "2",   "3",   "01",  "02",  "03",
                                        "12", "13", "23", "012", "013", "023", "123", "0123"};

/// The matrices of the sixteen blades for the squares q of e0 .. e3.
std::vector<Matrix> blades(const std::array<int, 4>& q) {
  std::vector<Matrix> vectors;
  for (int i = 0; i < 4; ++i) {
    Matrix e{{1}};
    for (int k = 0; k < 4; ++k) {
      const Matrix before{{1, 0}, {0, -1}}, after{{1, 0}, {0, 1}}, here{{0, q[i]}, {1, 0}};
      e = kronecker(e, k < i ? before : k == i ? here : after);
    }
    vectors.push_back(e);
  }
  std::vector<Matrix> all;
  for (const std::string& name : names) {
    Matrix blade = identity();
    for (const char digit : name) {
      blade = times(blade, vectors[digit - '0']);
    }
    all.push_back(blade);
  }
  return all;
}

/// Blade products (left, right) -> (out, sign) of those that do not vanish, found among the matrices themselves.
using Table = std::map<std::array<int, 2>, std::array<int, 2>>;
Table table_of(const std::vector<Matrix>& blades) {
  Table table;
  const Matrix nothing(16, std::vector<int>(16));
  for (int left = 0; left < 16; ++left) {
    for (int right = 0; right < 16; ++right) {
      const Matrix product = times(blades[left], blades[right]);
      int found = product == nothing ? 1 : 0;
      for (int out = 0; out < 16; ++out) {
        for (const int sign : {1, -1}) {
          if (product == multiple(sign, blades[out])) {
            table[{left, right}] = {out, sign};
            ++found;
          }
        }
      }
      EXPECT_EQ(found, 1) << left << " times " << right;  // distinct blades: the matrices are faithful
    }
  }
  return table;
}
template <int terms>
Table table_of(const Product<terms>& product) {
  Table table;
  for (const Term& term : product) {
    table[{term.left, term.right}] = {term.out, term.sign};
  }
  EXPECT_EQ(table.size(), static_cast<size_t>(terms)) << "two terms of one pair";
  return table;
}

const Table& geometric() {
  static const Table table = table_of(blades({0, 1, 1, 1}));
  return table;
}
const Table& outer() {
  static const Table table = table_of(blades({0, 0, 0, 0}));
  return table;
}

TEST(Blades, NamesGradesAndOrder) {
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(grade_of[i], static_cast<int>(names[i].size())) << i;
    EXPECT_LE(grade_begin[grade_of[i]], i);
    EXPECT_LT(i, grade_begin[grade_of[i] + 1]);
  }
  EXPECT_EQ(names[e03], "03");
  EXPECT_EQ(names[e13], "13");
  EXPECT_EQ(names[e123], "123");
  EXPECT_EQ(names[e0123], "0123");
}

TEST(Blades, GeometricProductIsThatOfMatrices) {
  EXPECT_EQ(geometric().size(), 192u);
  EXPECT_EQ(table_of(geometric_terms), geometric());
  // The control: with e0 e0 = 1, or with the space of negative squares, the tables differ.
  EXPECT_NE(table_of(geometric_terms), table_of(blades({1, 1, 1, 1})));
  EXPECT_NE(table_of(geometric_terms), table_of(blades({0, -1, -1, -1})));
}

TEST(Blades, OuterProductIsThatOfMatricesWithoutMetric) {
  EXPECT_EQ(outer().size(), 81u);
  EXPECT_EQ(table_of(outer_terms), outer());
}

TEST(Blades, DualIsTheRightComplement) {
  // The signs as the fact sheet has them, read off the authors' tables.
  const int published[] = {1, -1, 1, -1, 1, 1, -1, 1, 1, -1, 1, -1, 1, -1, 1, 1};
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(dual_signs[i], published[i]) << i;
    // e_A ^ dual(e_A) = e0123, where dual(e_A) stands at 15 - A.
    const std::array<int, 2> product = outer().at({15 - i, i});
    EXPECT_EQ(product[0], 15);
    EXPECT_EQ(product[1], dual_signs[i]);
    EXPECT_EQ(dual_signs[i] * dual_signs[15 - i], grade_of[i] % 2 == 0 ? 1 : -1);
  }
}

TEST(Blades, JoinIsTheDualOfTheOuterProductOfDuals) {
  Table wanted, inverse;
  for (const auto& [pair, result] : outer()) {
    const int left = 15 - pair[0], right = 15 - pair[1], out = 15 - result[0];
    const int inner = dual_signs[pair[0]] * dual_signs[pair[1]] * result[1];
    wanted[{left, right}] = {out, inner * dual_signs[out]};
    inverse[{left, right}] = {out, inner * dual_signs[15 - out]};
  }
  EXPECT_EQ(wanted.size(), 81u);
  EXPECT_EQ(table_of(join_terms), wanted);
  // The control: with the inverse of the dual outside, signs differ.
  EXPECT_NE(table_of(join_terms), inverse);
}

TEST(Blades, ReverseAndInvolutionFollowFromTheProduct) {
  for (const auto& [pair, result] : geometric()) {
    // (a b)~ = b~ a~ and (a b)^ = a^ b^, from the vectors on.
    const auto& [out, sign] = result;
    const std::array<int, 2> swapped = geometric().at({pair[1], pair[0]});
    EXPECT_EQ(sign * reverse_signs[out], reverse_signs[pair[0]] * reverse_signs[pair[1]] * swapped[1]);
    EXPECT_EQ(involution_signs[out], involution_signs[pair[0]] * involution_signs[pair[1]]);
  }
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(reverse_signs[i], 1);
    EXPECT_EQ(involution_signs[i], -1);
  }
}

TEST(Blades, InnerProductReadsTheBladesThatDoNotVanish) {
  const std::set<int> inner(std::begin(inner_indices), std::end(inner_indices));
  for (int i = 0; i < 16; ++i) {
    const auto square = geometric().find({i, i});
    EXPECT_EQ(inner.count(i), square != geometric().end() ? 1u : 0u) << i;
    if (square != geometric().end()) {
      EXPECT_EQ(square->second[1] * reverse_signs[i], 1) << "e~ e = 1";
    }
  }
}

TEST(Blades, TermsStandInTheOrderOfOutAndLeft) {
  const auto ordered = [](const auto& product) {
    for (int i = 1; i < product.size(); ++i) {
      const Term &a = product[i - 1], &b = product[i];
      EXPECT_TRUE(a.out < b.out || (a.out == b.out && a.left < b.left)) << i;
    }
  };
  ordered(geometric_terms);
  ordered(outer_terms);
  ordered(join_terms);
}

}  // namespace blades_test
}  // namespace weyl::clifford
