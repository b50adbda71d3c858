// The 16 basis blades of G(3,0,1) and the tables of their products, made when this file is compiled: by sorting the
// indices of two blades and cancelling equal neighbours. Constants alone, no standard library, so that files which
// are compiled for several instruction sets may unroll them.
#pragma once

#include <cstdint>

namespace weyl::clifford {

inline constexpr int components = 16, grades = 5;

/// Where each blade stands. e0 squares to 0, e1, e2 and e3 to 1.
enum Blade : uint8_t { one, e0, e1, e2, e3, e01, e02, e03, e12, e13, e23, e012, e013, e023, e123, e0123 };

inline constexpr int grade_of[components] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4};
/// Grade k is the components grade_begin[k] .. grade_begin[k + 1] - 1.
inline constexpr int grade_begin[grades + 1] = {0, 1, 5, 11, 15, 16};

/// out += sign * left * right, of components of two multivectors.
struct Term {
  uint8_t out, left, right;
  int8_t sign;
};

/// A bilinear product: in the order of `out`, then of `left`; two terms of one `out` never share a `left` or a `right`.
template <int terms>
struct Product {
  Term term[terms] = {};

  static constexpr int size() { return terms; }
  constexpr const Term& operator[](int i) const { return term[i]; }
  constexpr const Term* begin() const { return term; }
  constexpr const Term* end() const { return term + terms; }
};

struct Signs {
  int8_t sign[components] = {};

  constexpr int operator[](int i) const { return sign[i]; }
};

/// A word of at most eight indices 0 .. 3 and the sign before it.
struct Word {
  int length = 0, sign = 1;
  int index[8] = {};

  constexpr void append(int i) { index[length++] = i; }
};

/// The word of a blade: its indices, ascending.
consteval Word word_of(int blade) {
  constexpr int indices[components][4] = {{-1, -1, -1, -1}, {0, -1, -1, -1}, {1, -1, -1, -1}, {2, -1, -1, -1},
                                          {3, -1, -1, -1},  {0, 1, -1, -1},  {0, 2, -1, -1},  {0, 3, -1, -1},
                                          {1, 2, -1, -1},   {1, 3, -1, -1},  {2, 3, -1, -1},  {0, 1, 2, -1},
                                          {0, 1, 3, -1},    {0, 2, 3, -1},   {1, 2, 3, -1},   {0, 1, 2, 3}};
  Word word;
  for (int k = 0; k < 4 && indices[blade][k] >= 0; ++k) {
    word.append(indices[blade][k]);
  }
  return word;
}

/// e_left e_right as a word: sorted by exchanges of neighbours, each of which changes the sign, then equal
/// neighbours cancelled: e0 e0 = 0 makes the sign 0, the others are 1.
consteval Word sorted_product(int left, int right) {
  Word word = word_of(left);
  const Word tail = word_of(right);
  for (int k = 0; k < tail.length; ++k) {
    word.append(tail.index[k]);
  }
  for (int pass = 0; pass < word.length; ++pass) {
    for (int k = 0; k + 1 < word.length; ++k) {
      if (word.index[k] > word.index[k + 1]) {
        const int larger = word.index[k];
        word.index[k] = word.index[k + 1];
        word.index[k + 1] = larger;
        word.sign = -word.sign;
      }
    }
  }
  Word result;
  result.sign = word.sign;
  for (int k = 0; k < word.length; ++k) {
    if (k + 1 < word.length && word.index[k] == word.index[k + 1]) {
      result.sign *= word.index[k] == 0 ? 0 : 1;
      ++k;
    } else {
      result.append(word.index[k]);
    }
  }
  return result;
}

consteval bool same_indices(const Word& a, const Word& b) {
  bool same = a.length == b.length;
  for (int k = 0; same && k < a.length; ++k) {
    same = a.index[k] == b.index[k];
  }
  return same;
}

/// The terms of the geometric product, or with `outer` those of them that raise the grade by the other's.
template <int terms>
consteval Product<terms> product_terms(bool outer) {
  Product<terms> product;
  int n = 0;
  for (int out = 0; out < components; ++out) {
    const Word blade = word_of(out);
    for (int left = 0; left < components; ++left) {
      for (int right = 0; right < components; ++right) {
        const Word word = sorted_product(left, right);
        if (word.sign != 0 && same_indices(word, blade) &&
            (!outer || grade_of[out] == grade_of[left] + grade_of[right])) {
          product.term[n++] = {static_cast<uint8_t>(out), static_cast<uint8_t>(left),
                               static_cast<uint8_t>(right), static_cast<int8_t>(word.sign)};
        }
      }
    }
  }
  return product;  // one term more than `terms` is no constant expression, one less fails below
}

/// x y.
inline constexpr Product<192> geometric_terms = product_terms<192>(false);
/// x ^ y.
inline constexpr Product<81> outer_terms = product_terms<81>(true);
static_assert(geometric_terms[191].sign != 0 && outer_terms[80].sign != 0);

/// The right complement: dual(x)_i = dual_signs[i] x_(15 - i), where e_A ^ dual(e_A) = e0123. Twice is 1 on even
/// grades and -1 on odd ones.
consteval Signs complement_signs() {
  Signs signs;
  for (const Term& term : outer_terms) {
    if (term.out == e0123) {
      signs.sign[term.right] = term.sign;
    }
  }
  return signs;
}
inline constexpr Signs dual_signs = complement_signs();

/// J(x, y) = dual(dual(x) ^ dual(y)): the right dual on both sides, never its inverse (GATr's `join`, without the
/// factor of the reference).
consteval Product<81> regressive_terms() {
  Product<81> join;
  for (int n = 0; n < 81; ++n) {
    // Complements reverse the order of components, so the terms are read from the last one.
    const Term& term = outer_terms[80 - n];
    join.term[n] = {static_cast<uint8_t>(15 - term.out), static_cast<uint8_t>(15 - term.left),
                    static_cast<uint8_t>(15 - term.right),
                    static_cast<int8_t>(term.sign * dual_signs[term.left] * dual_signs[term.right] *
                                        dual_signs[15 - term.out])};
  }
  return join;
}
inline constexpr Product<81> join_terms = regressive_terms();

/// Of the reverse, (x y)~ = y~ x~: -1 on grades 2 and 3.
inline constexpr Signs reverse_signs = {{1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1}};
/// Of the grade involution: -1 on odd grades.
inline constexpr Signs involution_signs = {{1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, 1}};

/// The components without e0, which alone the inner product sees: <x, y> = sum over them of x_i y_i.
inline constexpr int inner_indices[8] = {one, e1, e2, e3, e12, e13, e23, e123};

}  // namespace weyl::clifford
