#include "weyl/kernels/multivectors/products.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/multivectors/tiles.h"

#ifdef __CUDACC__
#include "weyl/kernels/cuda/launch.h"
#include "weyl/kernels/cuda/tables.h"
#endif

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

using clifford::geometric_terms, clifford::join_terms;

template <class T>
constexpr MultivectorRows<const T> read(const MultivectorRows<T>& x) {
  return {x.data, x.component, x.row};
}

template <class T>
constexpr Multivectors<T> scaled(Multivectors<T> x, Vec<T> scale) {
  for (Vec<T>& component : x.at) {
    component *= scale;
  }
  return x;
}
template <class T>
constexpr Multivectors<T> sum_of(Multivectors<T> x, const Multivectors<T>& y) {
  for (int i = 0; i < clifford::components; ++i) {
    x.at[i] += y.at[i];
  }
  return x;
}
template <class T>
constexpr Vec<T> dot(const Multivectors<T>& x, const Multivectors<T>& y) {
  Vec<T> sum{};
  for (int i = 0; i < clifford::components; ++i) {
    sum += x.at[i] * y.at[i];
  }
  return sum;
}

template <class T>
constexpr void forward(const MultivectorProductsInput<T>& in, MultivectorRows<T> product,
                       MultivectorRows<T> joined, int64_t first, int64_t last) {
  each_tile<T>(in.channels, first, last, [&](const Tile& tile) {
    if (in.left.data) {
      put_tile<T>(product, tile,
                  product_of<geometric_terms, T>(get_tile<T>(in.left, tile), get_tile<T>(in.right, tile)));
    }
    if (in.join_left.data) {
      const Multivectors<T> z =
          product_of<join_terms, T>(get_tile<T>(in.join_left, tile), get_tile<T>(in.join_right, tile));
      put_tile<T>(joined, tile, scaled<T>(z, get_tokens<T>(in.reference, tile)));
    }
  });
}

template <class T>
constexpr void backward(const MultivectorProductsInput<T>& in, MultivectorRows<const T> gproduct,
                        MultivectorRows<const T> gjoined, const MultivectorProductsGradients<T>& to,
                        int64_t first, int64_t last) {
  each_tile<T>(in.channels, first, last, [&](const Tile& tile) {
    if (in.left.data) {
      const Multivectors<T> g = get_tile<T>(gproduct, tile);
      if (to.left.data) {
        put_tile<T>(to.left, tile, product_of<product_by_left, T>(g, get_tile<T>(in.right, tile)));
      }
      if (to.right.data) {
        put_tile<T>(to.right, tile, product_of<product_by_right, T>(g, get_tile<T>(in.left, tile)));
      }
    }
    if (in.join_left.data) {
      const Multivectors<T> g = get_tile<T>(gjoined, tile), x = get_tile<T>(in.join_left, tile),
                            y = get_tile<T>(in.join_right, tile);
      const Vec<T> reference = get_tokens<T>(in.reference, tile);
      if (to.join_left.data) {
        put_tile<T>(to.join_left, tile, scaled<T>(product_of<join_by_left, T>(g, y), reference));
      }
      if (to.join_right.data) {
        put_tile<T>(to.join_right, tile, scaled<T>(product_of<join_by_right, T>(g, x), reference));
      }
      if (to.reference) {
        sum_tokens<T>(to.reference, tile, dot<T>(g, product_of<join_terms, T>(x, y)));
      }
    }
  });
}

/// A tile of a direction, zeros where there is none.
template <class T>
constexpr Multivectors<T> direction(const MultivectorRows<const T>& d, const Tile& tile) {
  return d.data ? get_tile<T>(d, tile) : Multivectors<T>{};
}

/// P(dx, y) + P(x, dy) by `terms`.
template <const auto& terms, class T>
constexpr Multivectors<T> moved(const Multivectors<T>& x, const Multivectors<T>& dx, const Multivectors<T>& y,
                                const Multivectors<T>& dy) {
  return sum_of<T>(product_of<terms, T>(dx, y), product_of<terms, T>(x, dy));
}

// With z = P(x, y), g its gradient and Px(g, y), Py(g, x) those of x and y, the directions dx and dy of the latter make
//   L = <g, P(dx, y) + P(x, dy)>.
template <class T>
constexpr void second_product(const MultivectorProductsInput<T>& in, const MultivectorRows<const T>& gproduct,
                              const MultivectorProductsGradients<const T>& d,
                              const MultivectorProductsGradients<T>& to, const MultivectorRows<T>& ggproduct,
                              const Tile& tile) {
  const Multivectors<T> dx = direction<T>(d.left, tile), dy = direction<T>(d.right, tile);
  if (ggproduct.data) {
    put_tile<T>(ggproduct, tile,
                moved<geometric_terms, T>(get_tile<T>(in.left, tile), dx, get_tile<T>(in.right, tile), dy));
  }
  const Multivectors<T> g = get_tile<T>(gproduct, tile);
  if (to.left.data) {
    put_tile<T>(to.left, tile, product_of<product_by_left, T>(g, dy));
  }
  if (to.right.data) {
    put_tile<T>(to.right, tile, product_of<product_by_right, T>(g, dx));
  }
}

// The same of r J(x, y), with a direction dr of the gradient of r:
//   L = r <g, J(dx, y) + J(x, dy)> + dr <g, J(x, y)>.
template <class T>
constexpr void second_join(const MultivectorProductsInput<T>& in, const MultivectorRows<const T>& gjoined,
                           const MultivectorProductsGradients<const T>& d,
                           const MultivectorProductsGradients<T>& to, const MultivectorRows<T>& ggjoined,
                           const Tile& tile) {
  const Multivectors<T> dx = direction<T>(d.join_left, tile), dy = direction<T>(d.join_right, tile),
                        x = get_tile<T>(in.join_left, tile), y = get_tile<T>(in.join_right, tile),
                        g = get_tile<T>(gjoined, tile);
  const Vec<T> r = get_tokens<T>(in.reference, tile),
               dr = d.reference ? get_tokens<T>(d.reference, tile) : Vec<T>{};
  const auto mixed = [&](const Multivectors<T>& by_r, const Multivectors<T>& by_dr) {
    return sum_of<T>(scaled<T>(by_r, r), scaled<T>(by_dr, dr));
  };
  if (ggjoined.data || to.reference) {
    const Multivectors<T> z = moved<join_terms, T>(x, dx, y, dy);
    if (to.reference) {
      sum_tokens<T>(to.reference, tile, dot<T>(g, z));
    }
    if (ggjoined.data) {
      put_tile<T>(ggjoined, tile, mixed(z, product_of<join_terms, T>(x, y)));
    }
  }
  if (to.join_left.data) {
    put_tile<T>(to.join_left, tile, product_of<join_by_left, T>(g, mixed(dy, y)));
  }
  if (to.join_right.data) {
    put_tile<T>(to.join_right, tile, product_of<join_by_right, T>(g, mixed(dx, x)));
  }
}

template <class T>
constexpr void second(const MultivectorProductsInput<T>& in, MultivectorRows<const T> gproduct,
                      MultivectorRows<const T> gjoined, const MultivectorProductsGradients<const T>& d,
                      const MultivectorProductsGradients<T>& to, MultivectorRows<T> ggproduct,
                      MultivectorRows<T> ggjoined, int64_t first, int64_t last) {
  each_tile<T>(in.channels, first, last, [&](const Tile& tile) {
    if (in.left.data) {
      second_product<T>(in, gproduct, d, to, ggproduct, tile);
    }
    if (in.join_left.data) {
      second_join<T>(in, gjoined, d, to, ggjoined, tile);
    }
  });
}

template <class T>
#ifdef __CUDACC__
constexpr MultivectorProducts<T> table{queued<forward<T>>, queued<backward<T>>, queued<second<T>>};
#else
constexpr MultivectorProducts<T> table{forward<T>, backward<T>, second<T>};
#endif

}  // namespace
}  // namespace WEYL_ISA

#ifdef __CUDACC__
template <>
const MultivectorProducts<float>* for_cuda() {
  return &cuda::table<float>;
}
template <>
const MultivectorProducts<double>* for_cuda() {
  return &cuda::table<double>;
}
#else
template <>
const MultivectorProducts<float>& compiled<MultivectorProducts<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const MultivectorProducts<double>& compiled<MultivectorProducts<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}
#endif

}  // namespace weyl::kernels
