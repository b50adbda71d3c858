#include "weyl/kernels/edges/edge_sums.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// The rows of one step; c and d stand at a when there is one product.
template <class T>
struct Operands {
  T* to;
  const T *a, *b, *c, *d;
};

template <class T, bool add, bool two>
inline void product(const EdgeStep& s, const Operands<T>& o) {
  for (int64_t x = 0; x < s.components; ++x) {
    T* to = o.to + x * s.to_apart;
    const T *a = o.a + x * s.a_apart, *b = o.b + x * s.b_apart, *c = o.c + x * s.c_apart,
            *d = o.d + x * s.d_apart;
    along<T>(s.length, [&]<bool whole>(int64_t k, int64_t left) {
      Vec<T> y = get<whole>(a + k, left) * get<whole>(b + k, left);
      if constexpr (add) {
        y += get<whole>(to + k, left);
      }
      if constexpr (two) {
        y += get<whole>(c + k, left) * get<whole>(d + k, left);
      }
      put<whole>(to + k, y, left);
    });
  }
}

template <class T, bool add, bool two>
inline void dot(const EdgeStep& s, const Operands<T>& o) {
  along<T>(s.length, [&]<bool whole>(int64_t k, int64_t left) {
    Vec<T> y{};
    if constexpr (add) {
      y = get<whole>(o.to + k, left);
    }
    for (int64_t x = 0; x < s.components; ++x) {
      y += get<whole>(o.a + x * s.a_apart + k, left) * get<whole>(o.b + x * s.b_apart + k, left);
      if constexpr (two) {
        y += get<whole>(o.c + x * s.c_apart + k, left) * get<whole>(o.d + x * s.d_apart + k, left);
      }
    }
    put<whole>(o.to + k, y, left);
  });
}

/// Components first <= x < last, summed over each group of channels.
template <class T, bool add, bool two>
inline void grouped(const EdgeStep& s, const Operands<T>& o, int64_t first, int64_t last) {
  const int64_t size = s.length / s.groups;
  T* to = o.to + first * s.to_apart;
  for (int64_t g = 0; g < s.groups; ++g) {
    Vec<T> y{};
    for (int64_t x = first; x < last; ++x) {
      const T *a = o.a + x * s.a_apart + g * size, *b = o.b + x * s.b_apart + g * size,
              *c = o.c + x * s.c_apart + g * size, *d = o.d + x * s.d_apart + g * size;
      along<T>(size, [&]<bool whole>(int64_t k, int64_t left) {
        y += get<whole>(a + k, left) * get<whole>(b + k, left);
        if constexpr (two) {
          y += get<whole>(c + k, left) * get<whole>(d + k, left);
        }
      });
    }
    to[g] = sum_of<T>(y) + (add ? to[g] : T(0));
  }
}
template <class T, bool add, bool two>
inline void gather(const EdgeStep& s, const Operands<T>& o) {
  for (int64_t x = 0; x < s.components; ++x) {
    grouped<T, add, two>(s, o, x, x + 1);
  }
}
template <class T, bool add, bool two>
inline void total(const EdgeStep& s, const Operands<T>& o) {
  grouped<T, add, two>(s, o, 0, s.components);
}

template <class T>
inline void spread_groups(const EdgeStep& s, const Operands<T>& o) {
  const int64_t size = s.length / s.groups;
  for (int64_t x = 0; x < s.components; ++x) {
    for (int64_t g = 0; g < s.groups; ++g) {
      const Vec<T> value = spread<T>(o.a[x * s.a_apart + g]);
      T* to = o.to + x * s.to_apart + g * size;
      along<T>(size, [&]<bool whole>(int64_t k, int64_t left) { put<whole>(to + k, value, left); });
    }
  }
}

template <class T, bool add, bool two>
inline void perform(const EdgeStep& s, const Operands<T>& o) {
  switch (s.kind) {
    case EdgeStep::Kind::product:
      return product<T, add, two>(s, o);
    case EdgeStep::Kind::dot:
      return dot<T, add, two>(s, o);
    case EdgeStep::Kind::gather:
      return gather<T, add, two>(s, o);
    case EdgeStep::Kind::total:
      return total<T, add, two>(s, o);
    case EdgeStep::Kind::spread:
      return spread_groups<T>(s, o);
  }
}

template <class T>
void run_edges(const EdgeRun<T>& run, EdgeMemory<T> memory, int64_t first, int64_t last) {
  T **at = memory.pointers, **rows = at + run.register_count;
  for (int64_t r = 0; r < run.register_count; ++r) {
    at[r] = memory.numbers + run.registers[r].offset;  // those in tensors: again for each edge
  }
  for (int64_t k = first; k < last; ++k) {
    const int64_t e = run.order ? run.order[k] : k;
    const int64_t bond = run.bond ? run.bond[e] : 0;
    const bool opens = run.bond && run.edge_of_bond[bond] == e;
    const int64_t of[] = {run.centre[e], run.neighbour[e], e, bond};
    for (int64_t a = 0; a < run.tensor_count; ++a) {
      rows[a] = run.arrays[a] + of[static_cast<int>(run.tensors[a].rows)] * run.row_sizes[a];
    }
    for (int64_t r = 0; r < run.register_count; ++r) {
      const EdgeRegister& place = run.registers[r];
      if (place.array >= 0) {
        at[r] = rows[place.array] + place.offset;
      }
    }
    for (const EdgeStep* s = run.steps; s != run.steps + run.step_count; ++s) {
      const bool two = s->c >= 0, add = s->add && !(s->opens && opens);
      const Operands<T> o{at[s->to], at[s->a], at[s->b < 0 ? s->a : s->b], at[two ? s->c : s->a],
                          at[two ? s->d : s->a]};
      if (two) {
        add ? perform<T, true, true>(*s, o) : perform<T, false, true>(*s, o);
      } else {
        add ? perform<T, true, false>(*s, o) : perform<T, false, false>(*s, o);
      }
    }
  }
}

template <class T>
constexpr EdgeRunner<T> table{run_edges<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const EdgeRunner<float>& compiled<EdgeRunner<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const EdgeRunner<double>& compiled<EdgeRunner<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels
