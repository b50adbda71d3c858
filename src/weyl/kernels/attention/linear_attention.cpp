#include "weyl/kernels/attention/linear_attention_rows.h"
#include "weyl/kernels/dispatch.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace linear {
namespace {

template <class T>
int64_t scratch_of(const LinearAttentionInput<T>& in, int derivative) {
  Cutter<T> cutter{nullptr};
  const Workspace<T> s(in.rows, derivative, cutter);
  return cutter.used;
}

/// Queries, keys and values as they are multiplied, and rows of values' width that are rotated with them.
template <class T>
Source<T> queries(const AttentionInput<T>& a) {
  return {a.q, a.key_width, a.q_bias, a.angles != nullptr};
}
template <class T>
Source<T> keys(const AttentionInput<T>& a) {
  return {a.k, a.key_width, a.k_bias, a.angles != nullptr, a.k.data == nullptr};
}
template <class T>
Source<T> values(const AttentionInput<T>& a) {
  return {a.v, a.value_width, a.v_bias, a.rotate_values};
}
template <class T>
Source<T> like_values(const AttentionInput<T>& a, HeadRows<const T> x) {
  return {x, a.value_width, nullptr, a.rotate_values};
}

template <class T>
void forward(const LinearAttentionInput<T>& in, HeadRows<T> y, T* scratch, int64_t first, int64_t last) {
  const AttentionInput<T>& a = in.rows;
  Cutter<T> cutter{scratch};
  const Workspace<T> s(a, 0, cutter);
  T* m = s.matrices[0];
  each_part(in, first, last, [&](const Part& part, T scale) {
    sum_outer(a, part, keys(a), values(a), {}, {}, scale, s, m);
    write_sums(a, part, {queries(a), m}, {}, s, {y, a.value_width, a.rotate_values});
  });
}

// With G = sum_i q_i gy_i^T / norm: gq_i = M gy_i, gk_j = G v_j, gv_j = G^T k_j. Two walks over the rows: for both matrices,
// and for what they give.
template <class T>
void backward(const LinearAttentionInput<T>& in, HeadRows<const T> y, HeadRows<const T> gy,
              const AttentionGradients<T>& g, T* scratch, int64_t first, int64_t last) {
  const AttentionInput<T>& a = in.rows;
  Cutter<T> cutter{scratch};
  const Workspace<T> s(a, 1, cutter);
  const int64_t K = a.key_width, V = a.value_width, half = K / 2, key = padded<T>(K), value = padded<T>(V);
  T *m_across = s.matrices[0], *of_m = s.matrices[1], *of_m_across = s.matrices[2];
  const bool of_q = g.q.data || g.angles, of_k = g.k.data || g.angles,
             of_v = g.v.data || (g.angles && a.rotate_values);
  T* of_values = a.rotate_values ? g.angles : nullptr;
  each_part(in, first, last, [&](const Part& part, T scale) {
    clear_matrices(part, s, m_across);
    clear_matrices(part, s, of_m);
    each_chunk(part, [&](const Place& at) {
      if (a.angles) {
        find_turns(a, at, s);
      }
      if (of_q) {
        add_outer(at, rows_of(a, values(a), at, false, s, s.v), V, rows_of(a, keys(a), at, true, s, s.k), K,
                  m_across + at.h * s.size);
      }
      if (of_k || of_v) {
        add_outer(at, rows_of(a, queries(a), at, false, s, s.q), K,
                  rows_of(a, like_values(a, gy), at, true, s, s.gout), V, of_m + at.h * s.size);
      }
    });
    scale_matrices(part, s, scale, m_across);
    scale_matrices(part, s, scale, of_m);
    transpose_matrices(part, s, of_m, K, V, of_m_across);
    each_chunk(part, [&](const Place& at) {
      if (a.angles) {
        find_turns(a, at, s);
      }
      const int64_t matrix = at.h * s.size;
      // What is rotated is packed, and so stands in whole vectors.
      const Rows<T> k = rows_of(a, keys(a), at, false, s, s.k), v = rows_of(a, values(a), at, false, s, s.v);
      if (g.angles) {
        for (int64_t r = 0; r < at.rows; ++r) {
          T* angles = g.angles + ((at.i + r) * a.heads + at.h) * half;
          clear(angles, half);
          if (a.rotate_values) {
            pack_row<T>(y.at(at.i + r, at.h), nullptr, nullptr, nullptr, T(1), V, s.q);
            pack_row<T>(gy.at(at.i + r, at.h), nullptr, nullptr, nullptr, T(1), V, s.sums);
            add_turn(s.sums, s.q, half, angles);
          }
        }
      }
      if (of_q) {
        multiply<false>(at, rows_of(a, like_values(a, gy), at, false, s, s.gout), V, m_across + matrix, K,
                        s.sums, key);
        const Rows<T> q = g.angles ? rows_of(a, queries(a), at, false, s, s.q) : Rows<T>{};
        finish(a, at, {g.q, K, a.angles != nullptr, g.q_bias, g.angles, q}, s);
      }
      if (of_k) {
        multiply<false>(at, v, V, of_m_across + matrix, K, s.sums, key);
        finish(a, at, {g.k, K, a.angles != nullptr, g.k_bias, g.angles, k}, s);
      }
      if (of_v) {
        multiply<false>(at, k, K, of_m + matrix, V, s.sums, value);
        finish(a, at, {g.v, V, a.rotate_values, g.v_bias, of_values, v}, s);
      }
    });
  });
}

// A dot for the direction d: the sum of d times the first gradients is L = <M, D> + <G, E>, with
// D = sum_i q'_i gy_i^T / norm and E = sum_j (k'_j v_j^T + k_j v'_j^T) / norm. So
//   by gy_i  M^T q'_i + E^T q_i,   by q_i  E gy_i,   by k_j  D v_j + G v'_j,   by v_j  D^T k_j + G^T k'_j.
template <class T>
void second(const LinearAttentionInput<T>& in, HeadRows<const T> gy, const AttentionTangents<T>& d,
            const AttentionGradients<T>& g, HeadRows<T> ggy, T* scratch, int64_t first, int64_t last) {
  const AttentionInput<T>& a = in.rows;
  Cutter<T> cutter{scratch};
  const Workspace<T> s(a, 2, cutter);
  const int64_t K = a.key_width, V = a.value_width;
  const Source<T> q = queries(a), k = keys(a), v = values(a), gout = like_values(a, gy), dq{d.q, K},
                  dk{d.k, K}, dv{d.v, V};
  const bool keys_move = dk || dv, keys_wanted = g.k.data || g.v.data;
  const auto where = [&](bool wanted, int index) { return wanted ? s.matrices[index] : nullptr; };
  T* m = where(dq && ggy.data, 0);
  T* e = where(keys_move && (ggy.data || g.q.data), 1);
  T* e_across = where(keys_move && g.q.data, 2);
  T* of_q = where(dq && keys_wanted, 3);  // D
  T* of_q_across = where(dq && g.k.data, 4);
  T* of_m = where((dv && g.k.data) || (dk && g.v.data), 5);  // G
  T* of_m_across = where(dv && g.k.data, 6);
  each_part(in, first, last, [&](const Part& part, T scale) {
    const auto sum = [&](T* matrices, const Source<T>& one, const Source<T>& other,
                         const Source<T>& second_one, const Source<T>& second_other, T* across) {
      if (matrices) {
        sum_outer(a, part, one, other, second_one, second_other, scale, s, matrices);
      }
      if (across) {
        transpose_matrices(part, s, matrices, K, V, across);
      }
    };
    sum(m, k, v, {}, {}, nullptr);
    sum(e, dk, v, k, dv, e_across);
    sum(of_q, dq, gout, {}, {}, of_q_across);
    sum(of_m, q, gout, {}, {}, of_m_across);
    if (ggy.data) {
      write_sums(a, part, {dq, m}, {q, e}, s, {ggy, V});
    }
    if (g.q.data) {
      write_sums(a, part, {gout, e_across}, {}, s, {g.q, K});
    }
    if (g.k.data) {
      write_sums(a, part, {v, of_q_across}, {dv, of_m_across}, s, {g.k, K});
    }
    if (g.v.data) {
      write_sums(a, part, {k, of_q}, {dk, dk ? of_m : nullptr}, s, {g.v, V});
    }
  });
}

template <class T>
constexpr LinearAttention<T> table{scratch_of<T>, forward<T>, backward<T>, second<T>};

}  // namespace
}  // namespace linear
}  // namespace WEYL_ISA

template <>
const LinearAttention<float>& compiled<LinearAttention<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::linear::table<float>;
}
template <>
const LinearAttention<double>& compiled<LinearAttention<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::linear::table<double>;
}

}  // namespace weyl::kernels
