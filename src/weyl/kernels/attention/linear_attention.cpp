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

/// The part of the angles' gradient that comes from the rotation of the results.
template <class T>
void begin_angles(const AttentionInput<T>& a, const Part& part, HeadRows<const T> y, HeadRows<const T> gy,
                  T* angles) {
  const int64_t half = a.key_width / 2;
  each_chunk(part, [&](const Place& at) {
    for (int64_t i = at.i; i < at.i + at.rows; ++i) {
      T* of_row = angles + (i * a.heads + at.h) * half;
      clear(of_row, half);
      if (a.rotate_values) {
        add_turn(gy.at(i, at.h), y.at(i, at.h), half, of_row);
      }
    }
  });
}

// With G = sum_i q_i gy_i^T / norm: gq_i = M gy_i, gk_j = G v_j, gv_j = G^T k_j.
template <class T>
void backward(const LinearAttentionInput<T>& in, HeadRows<const T> y, HeadRows<const T> gy,
              const AttentionGradients<T>& g, T* scratch, int64_t first, int64_t last) {
  const AttentionInput<T>& a = in.rows;
  Cutter<T> cutter{scratch};
  const Workspace<T> s(a, 1, cutter);
  T *m_across = s.matrices[0], *of_m = s.matrices[1], *of_m_across = s.matrices[2];
  const Source<T> q = queries(a), k = keys(a), v = values(a), gout = like_values(a, gy);
  T* of_values = a.rotate_values ? g.angles : nullptr;
  each_part(in, first, last, [&](const Part& part, T scale) {
    if (g.angles) {
      begin_angles(a, part, y, gy, g.angles);
    }
    if (g.q.data || g.angles) {
      sum_outer(a, part, v, k, {}, {}, scale, s, m_across);
      write_sums(a, part, {gout, m_across}, {}, s, {g.q, a.key_width, q.rotated, g.q_bias, g.angles, q});
    }
    if (g.k.data || g.v.data || g.angles) {
      sum_outer(a, part, q, gout, {}, {}, scale, s, of_m);
    }
    if (g.k.data || g.angles) {
      transpose_matrices(part, s, of_m, a.key_width, a.value_width, of_m_across);
      write_sums(a, part, {v, of_m_across}, {}, s, {g.k, a.key_width, k.rotated, g.k_bias, g.angles, k});
    }
    if (g.v.data || of_values) {
      write_sums(a, part, {k, of_m}, {}, s, {g.v, a.value_width, v.rotated, g.v_bias, of_values, v});
    }
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
