#pragma once

#include "weyl/kernels/multivectors/rows.h"

namespace weyl::kernels {

/// Products of multivectors of G(3,0,1), channel by channel, each (16, N, C):
///   left right,  192 terms, and  reference_n J(join_left, join_right),  81 terms.
/// Either pair may be absent. reference (N). Tokens first <= n < last. T is float or double.
template <class T>
struct MultivectorProductsInput {
  int64_t channels = 0;
  MultivectorRows<const T> left, right, join_left, join_right;
  const T* reference = nullptr;
};

/// What is wanted of a derivative, or its directions; null: not wanted, or zero. All are written, none added to.
template <class T>
struct MultivectorProductsGradients {
  MultivectorRows<T> left, right, join_left, join_right;
  T* reference = nullptr;  // (N)
};

template <class T>
struct MultivectorProducts {
  void (*forward)(const MultivectorProductsInput<T>& in, MultivectorRows<T> product,
                  MultivectorRows<T> joined, int64_t first, int64_t last);

  void (*backward)(const MultivectorProductsInput<T>& in, MultivectorRows<const T> gproduct,
                   MultivectorRows<const T> gjoined, const MultivectorProductsGradients<T>& gradients,
                   int64_t first, int64_t last);

  /// The derivative of `backward`: given the gradients `directions` of its results, those of the inputs and of
  /// gproduct and gjoined.
  void (*second)(const MultivectorProductsInput<T>& in, MultivectorRows<const T> gproduct,
                 MultivectorRows<const T> gjoined, const MultivectorProductsGradients<const T>& directions,
                 const MultivectorProductsGradients<T>& gradients, MultivectorRows<T> ggproduct,
                 MultivectorRows<T> ggjoined, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
