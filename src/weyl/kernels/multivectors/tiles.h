// Vectors of multivectors: 16 vectors, one a component, whose lanes are channels of a token or, where a token has
// fewer channels than a vector has lanes, of several tokens. Included by kernel files alone (see simd/simd.h).
#pragma once

#include "weyl/algebra/clifford/blades.h"
#include "weyl/kernels/multivectors/rows.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {

/// `tokens` tokens from `token` on, of each `channels` channels from `channel` on, fill a vector's first lanes; more
/// than one token only with all their channels.
struct Tile {
  int64_t token, tokens, channel, channels;
  [[gnu::always_inline]] constexpr int64_t numbers() const { return tokens * channels; }
};

/// f(tile) for all channels of tokens first <= n < last.
template <class T, class F>
[[gnu::always_inline]] constexpr void each_tile(int64_t channels, int64_t first, int64_t last, const F& f) {
  if constexpr (lanes<T> == 1) {
    each_row(first * channels, last * channels,
             [&](int64_t i) { f(Tile{i / channels, 1, i % channels, 1}); });
  } else {
    const int64_t fit = channels > 0 ? lanes<T> / channels : 0;
    if (fit > 1) {
      for (int64_t n = first; n < last; n += fit) {
        f(Tile{n, last - n < fit ? last - n : fit, 0, channels});
      }
      return;
    }
    for (int64_t n = first; n < last; ++n) {
      for (int64_t c = 0; c < channels; c += lanes<T>) {
        f(Tile{n, 1, c, channels - c < lanes<T> ? channels - c : lanes<T>});
      }
    }
  }
}

/// 16 vectors, one a component.
template <class T>
struct Multivectors {
  Vec<T> at[clifford::components];
};

/// f<channels>() for the few channels of which several tokens fit into a vector: copies of a size that the compiler
/// knows are single moves.
template <class F>
[[gnu::always_inline]] constexpr void with_channels(int64_t channels, const F& f) {
  switch (channels) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    case 6:
      return f.template operator()<6>();
    case 7:
      return f.template operator()<7>();
    default:
      return f.template operator()<8>();
  }
}
static_assert(lanes<float> / 2 <= 8);

/// A tile of several tokens whose rows do not follow one another.
template <class T>
[[gnu::noinline]] constexpr Multivectors<T> gather_tile(const MultivectorRows<const T>& x, const Tile& tile) {
  Multivectors<T> v;
  with_channels(tile.channels, [&]<int channels>() {
    const T* from = x.at(0, tile.token);
    for (int i = 0; i < clifford::components; ++i, from += x.component) {
      T packed[lanes<T>] = {};
      for (int64_t r = 0; r < tile.tokens; ++r) {
        copy(from + r * x.row, channels, packed + r * channels);
      }
      v.at[i] = load(packed);
    }
  });
  return v;
}
template <class T>
[[gnu::noinline]] constexpr void scatter_tile(const MultivectorRows<T>& x, const Tile& tile,
                                              const Multivectors<T>& v) {
  with_channels(tile.channels, [&]<int channels>() {
    T* to = x.at(0, tile.token);
    for (int i = 0; i < clifford::components; ++i, to += x.component) {
      T packed[lanes<T>];
      store(packed, v.at[i]);
      for (int64_t r = 0; r < tile.tokens; ++r) {
        copy(packed + r * channels, channels, to + r * x.row);
      }
    }
  });
}

/// The multivectors of a tile; lanes beyond them are zeros.
template <class T>
constexpr Multivectors<T> get_tile(const MultivectorRows<const T>& x, const Tile& tile) {
  if constexpr (lanes<T> > 1) {
    if (tile.tokens > 1 && x.row != tile.channels) {
      return gather_tile<T>(x, tile);
    }
  }
  Multivectors<T> v;
  const int64_t numbers = tile.numbers();
  const T* from = x.at(0, tile.token) + tile.channel;
  if (numbers == lanes<T>) {
    for (int i = 0; i < clifford::components; ++i, from += x.component) {
      v.at[i] = load(from);
    }
  } else {
    for (int i = 0; i < clifford::components; ++i, from += x.component) {
      v.at[i] = load_part(from, numbers);
    }
  }
  return v;
}

template <class T>
constexpr void put_tile(const MultivectorRows<T>& x, const Tile& tile, const Multivectors<T>& v) {
  if constexpr (lanes<T> > 1) {
    if (tile.tokens > 1 && x.row != tile.channels) {
      return scatter_tile<T>(x, tile, v);
    }
  }
  const int64_t numbers = tile.numbers();
  T* to = x.at(0, tile.token) + tile.channel;
  if (numbers == lanes<T>) {
    for (int i = 0; i < clifford::components; ++i, to += x.component) {
      store(to, v.at[i]);
    }
  } else {
    for (int i = 0; i < clifford::components; ++i, to += x.component) {
      store_part(to, v.at[i], numbers);
    }
  }
}

/// One number a token, for each of its channels.
template <class T>
constexpr Vec<T> get_tokens(const T* numbers, const Tile& tile) {
  if (tile.tokens == 1) {
    return spread(numbers[tile.token]);
  }
  T each[lanes<T>] = {};
  for (int64_t r = 0; r < tile.tokens; ++r) {
    for (int64_t c = 0; c < tile.channels; ++c) {
      each[r * tile.channels + c] = numbers[tile.token + r];
    }
  }
  return load(each);
}
/// The sums over channels of a tile's tokens, written, or added to for a token's further channels, which must come one after
/// the other: not for CUDA.
template <class T>
constexpr void sum_tokens(T* sums, const Tile& tile, Vec<T> v) {
  if (tile.tokens == 1) {
    sums[tile.token] = sum_of<T>(v) + (tile.channel > 0 ? sums[tile.token] : T(0));
    return;
  }
  T each[lanes<T>];
  store(each, v);
  for (int64_t r = 0; r < tile.tokens; ++r) {
    T sum = 0;
    for (int64_t c = 0; c < tile.channels; ++c) {
      sum += each[r * tile.channels + c];
    }
    sums[tile.token + r] = sum;
  }
}

/// The terms of a bilinear product as those of one of its derivatives, which is such a product of the result's
/// gradient (as its left factor) and of the other factor.
template <int terms>
consteval clifford::Product<terms> with_gradient(const clifford::Product<terms>& product, bool by_left) {
  clifford::Product<terms> derivative;
  int n = 0;
  for (int i = 0; i < clifford::components; ++i) {
    for (const clifford::Term& t : product) {
      if ((by_left ? t.left : t.right) == i) {
        derivative.term[n++] = {static_cast<uint8_t>(i), t.out, by_left ? t.right : t.left, t.sign};
      }
    }
  }
  return derivative;
}

inline constexpr auto product_by_left = with_gradient(clifford::geometric_terms, true),
                      product_by_right = with_gradient(clifford::geometric_terms, false);
inline constexpr auto join_by_left = with_gradient(clifford::join_terms, true),
                      join_by_right = with_gradient(clifford::join_terms, false);

template <const auto& terms, int first, int last, class T>
[[gnu::always_inline]] constexpr void add_terms(const Multivectors<T>& x, const Multivectors<T>& y,
                                                Multivectors<T>& z, Vec<T>& sum) {
  if constexpr (last - first > 1) {
    constexpr int middle = (first + last) / 2;
    add_terms<terms, first, middle, T>(x, y, z, sum);
    add_terms<terms, middle, last, T>(x, y, z, sum);
  } else {
    constexpr clifford::Term t = terms.term[first];
    constexpr bool begins = first == 0 || terms.term[first == 0 ? 0 : first - 1].out != t.out;
    constexpr bool ends =
        last == terms.size() || terms.term[last == terms.size() ? first : last].out != t.out;
    if constexpr (begins) {
      sum = t.sign > 0 ? x.at[t.left] * y.at[t.right] : -(x.at[t.left] * y.at[t.right]);
    } else if constexpr (t.sign > 0) {
      sum += x.at[t.left] * y.at[t.right];
    } else {
      sum -= x.at[t.left] * y.at[t.right];
    }
    if constexpr (ends) {
      z.at[t.out] = sum;
    }
  }
}

/// The product of x and y by `terms`.
template <const auto& terms, class T>
[[gnu::always_inline]] constexpr Multivectors<T> product_of(const Multivectors<T>& x,
                                                            const Multivectors<T>& y) {
  Multivectors<T> z;
  Vec<T> sum;
  add_terms<terms, 0, terms.size(), T>(x, y, z, sum);
  return z;
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
