#include "weyl/ops/multivectors/tables.h"

#include <vector>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/kernels/multivectors/grade_maps.h"
#include "weyl/ops/constants.h"

namespace weyl {
namespace {

using clifford::components;

Tensor tensor_of(const std::vector<double>& numbers, at::IntArrayRef shape, const Tensor& like) {
  return constant(numbers, like.scalar_type(), like.device()).view(shape);
}

/// f(terms) of the table of a product.
template <class F>
auto with_terms(MultivectorProduct product, const F& f) {
  return product == MultivectorProduct::geometric ? f(clifford::geometric_terms) : f(clifford::join_terms);
}

/// Where the number (i, j, k) of a table (n, 16, 16) stands.
size_t place_in_table(int i, int j, int k) {
  constexpr auto wide = static_cast<size_t>(components);
  return (static_cast<size_t>(i) * wide + static_cast<size_t>(j)) * wide + static_cast<size_t>(k);
}

}  // namespace

Tensor dense_table(MultivectorProduct product, const Tensor& like) {
  std::vector<double> table(components * components * components);
  with_terms(product, [&](const auto& terms) {
    for (const clifford::Term& t : terms) {
      table[place_in_table(t.out, t.left, t.right)] = t.sign;
    }
  });
  return tensor_of(table, {components, components, components}, like);
}

ProductTerms product_terms(MultivectorProduct product, const Tensor& like) {
  return with_terms(product, [&](const auto& terms) {
    const int64_t count = terms.size();
    std::vector<int64_t> left, right;
    std::vector<double> sum(static_cast<size_t>(components * count));
    for (const clifford::Term& t : terms) {
      sum[static_cast<size_t>(t.out) * static_cast<size_t>(count) + left.size()] = t.sign;
      left.push_back(t.left);
      right.push_back(t.right);
    }
    return ProductTerms{constant(left, like.device()), constant(right, like.device()),
                        tensor_of(sum, {components, count}, like)};
  });
}

Tensor grade_basis(const Tensor& like) {
  std::vector<double> basis(kernels::grade_maps * components * components);
  for (int a = 0; a < kernels::grade_maps; ++a) {
    const kernels::GradeMap& map = kernels::grade_map[a];
    for (int i = 0; i < map.count; ++i) {
      basis[place_in_table(a, map.out + i, map.in + i)] = map.scale;
    }
  }
  return tensor_of(basis, {kernels::grade_maps, components, components}, like);
}

}  // namespace weyl
