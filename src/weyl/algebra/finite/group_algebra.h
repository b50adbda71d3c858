#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weyl/algebra/finite/double_double.h"
#include "weyl/algebra/finite/group_table.h"

namespace weyl {

/// Elements sum_g f(g) g of the real group algebra, as functions f on the group, (G).
using Combination = std::vector<DoubleDouble>;

/// sum_g f(g) x g, the left translate: (x f)(g) = f(x^-1 g).
Combination translated(const GroupTable& group, int64_t x, const Combination& f);
/// sum_i weights[i] elements[i] f, elements by their indices.
Combination product(const GroupTable& group, std::span<const int64_t> elements,
                    std::span<const DoubleDouble> weights, const Combination& f);
Combination product(const GroupTable& group, const Combination& a, const Combination& b);

DoubleDouble dot(const Combination& a, const Combination& b);
void scale(DoubleDouble factor, Combination& f);
/// f less its part along a vector of length one.
void remove_along(const Combination& unit, Combination& f);

/// Of a symmetric idempotent e and an element x the largest idempotent e' with e e' = e' on which e (x + x^-1) e is a number
/// and that number is as large as possible. It is e where e (x + x^-1) e is a number already.
Combination top_idempotent(const GroupTable& group, const Combination& idempotent, int64_t x);

}  // namespace weyl
