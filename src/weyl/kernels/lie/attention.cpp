#include "weyl/kernels/lie/attention.h"

#include "weyl/kernels/lie/attention_blocks.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {
namespace {

template <class T>
int64_t scratch_of(const LieAttentionInput<T>& in, int64_t longest) {
  Cutter<T> cutter{nullptr};
  const Workspace<T> s(in, longest, cutter);
  return cutter.used;
}

template <class T>
void forward(const LieAttentionInput<T>& in, const LieAttentionOutput<T>& out, T* scratch, int64_t first,
             int64_t last) {
  constexpr double lowest = -infinity<double>;
  Cutter<T> none{scratch};
  Workspace<T> s(in, 0, none);
  const auto enter = [&](int64_t begin, int64_t n) {
    Cutter<T> cutter{scratch};
    s = Workspace<T>(in, n, cutter);
    pack_values(in, begin, n, s);
  };
  const auto work = [&](const Rows& at) {
    const int64_t n = at.nodes(), states = in.heads * block;
    clear(s.mixed, states * s.value);
    clear(s.sums, states * in.dof * lanes<T>);
    for (int64_t k = 0; k < states; ++k) {
      s.top[k] = lowest;
      s.total[k] = 0;
    }
    for (int64_t r = 0; r < at.rows && out.outside; ++r) {
      out.outside[at.i + r] = 0;
    }
    for (int64_t k = 0; k < block * in.blocks; ++k) {
      s.least[k] = infinity<double>;
    }
    const int64_t end = seen_end(in, at);
    for (int64_t j = at.begin; j < end; j += tile) {
      const int64_t count = end - j < tile ? end - j : tile, wide = padded<T>(count);
      geometry(in, at, j, count, s, out.outside);
      if (out.least) {
        lower_least(in, at, count, s);
      }
      for (int64_t h = 0; h < in.heads; ++h) {
        for (int64_t r = 0; r < block; ++r) {
          const int64_t state = h * block + r;
          T* weight = s.weight + r * tile;
          const double high = r < at.rows ? scores(in, at, h, r, j, count, s) : lowest;
          if (high == lowest) {
            clear(weight, wide);
            continue;
          }
          double& top = s.top[state];
          T* sums = s.sums + state * in.dof * lanes<T>;
          if (top == lowest) {
            top = high;
          } else if (!(high <= top)) {
            const T shrink = exp_of(static_cast<T>(top - high));
            s.total[state] *= shrink;
            for (int64_t c = 0; c < s.value; c += lanes<T>) {
              T* mixed = s.mixed + state * s.value + c;
              store(mixed, load(mixed) * shrink);
            }
            for (int64_t c = 0; c < in.dof; ++c) {
              store(sums + c * lanes<T>, load(sums + c * lanes<T>) * shrink);
            }
            top = high;
          }
          s.total[state] += exponentials(in, r, count, top, s);
          for (int64_t c = 0; c < in.dof; ++c) {
            const T* w = s.coordinates + (r * in.dof + c) * tile;
            Vec<T> sum = load(sums + c * lanes<T>);
            for (int64_t k = 0; k < wide; k += lanes<T>) {
              sum += load(weight + k) * load(w + k);
            }
            store(sums + c * lanes<T>, sum);
          }
        }
        mixtures(s.weight, tile, s.v + (h * n + j - at.begin) * s.value, count, s.value,
                 s.mixed + h * block * s.value);
      }
    }
    for (int64_t h = 0; h < in.heads; ++h) {
      for (int64_t r = 0; r < at.rows; ++r) {
        const int64_t state = h * block + r, row = (at.i + r) * in.heads + h;
        const bool any = s.top[state] != lowest;
        const T over = any ? T(1) / s.total[state] : T(0);
        T* mixed = out.mixed + row * in.width;
        for (int64_t c = 0; c < in.width; c += lanes<T>) {
          const Vec<T> x = load(s.mixed + state * s.value + c) * over;
          put(mixed + c, x, in.width - c);
        }
        for (int64_t c = 0; c < in.dof; ++c) {
          out.coordinates[row * in.dof + c] =
              sum_of<T>(load(s.sums + (state * in.dof + c) * lanes<T>)) * over;
        }
        out.logsum[row] = any ? s.top[state] + static_cast<double>(log_of(s.total[state])) : 0;
      }
    }
    for (int64_t k = 0; out.least && k < at.rows * in.blocks; ++k) {
      out.least[at.i * in.blocks + k] = s.least[k] < infinity<double> ? s.least[k] : 0;
    }
  };
  each_block(in, first, last, enter, work, [](int64_t, int64_t) {});
}

template <class T>
constexpr LieAttention<T> table{scratch_of<T>, forward<T>};

}  // namespace
}  // namespace WEYL_ISA::lie

template <>
const LieAttention<float>& compiled<LieAttention<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<float>;
}
template <>
const LieAttention<double>& compiled<LieAttention<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::lie::table<double>;
}

}  // namespace weyl::kernels
