#include "weyl/kernels/lie/attention.h"

#include "weyl/kernels/lie/attention_blocks.h"

namespace weyl::kernels {

template <class T>
struct LieAttentionTable {
  decltype(&lie_attention_scratch<T>) scratch;
  decltype(&lie_attention<T>) forward;
};

namespace WEYL_ISA {

template <class T>
int64_t lie_attention_scratch(const LieAttentionInput<T>& in, int64_t longest) {
  Cutter<T> cutter{nullptr};
  const lie::Workspace<T> s(in, longest, cutter);
  return cutter.used;
}

template <class T>
void lie_attention(const LieAttentionInput<T>& in, const LieAttentionOutput<T>& out, T* scratch,
                   int64_t first, int64_t last) {
  using lie::tile;
  constexpr T lowest = -static_cast<T>(INFINITY);
  Cutter<T> none{scratch};
  lie::Workspace<T> s(in, 0, none);
  const auto enter = [&](int64_t begin, int64_t n) {
    Cutter<T> cutter{scratch};
    s = lie::Workspace<T>(in, n, cutter);
    lie::pack_values(in, begin, n, s);
  };
  const auto work = [&](const lie::Rows& at) {
    const int64_t n = at.nodes(), states = in.heads * block;
    std::memset(s.mixed, 0, states * s.value * sizeof(T));
    std::memset(s.sums, 0, states * in.dof * lanes<T> * sizeof(T));
    for (int64_t k = 0; k < states; ++k) {
      s.top[k] = lowest;
      s.total[k] = 0;
    }
    for (int64_t r = 0; r < at.rows && out.outside; ++r) {
      out.outside[at.i + r] = 0;
    }
    for (int64_t j = at.begin; j < at.end; j += tile) {
      const int64_t count = at.end - j < tile ? at.end - j : tile, wide = padded<T>(count);
      lie::geometry(in, at, j, count, s, out.outside);
      for (int64_t h = 0; h < in.heads; ++h) {
        for (int64_t r = 0; r < block; ++r) {
          const int64_t state = h * block + r;
          T* weight = s.weight + r * tile;
          const T high = r < at.rows ? lie::scores(in, at, h, r, j, count, s) : lowest;
          if (high == lowest) {
            std::memset(weight, 0, wide * sizeof(T));
            continue;
          }
          T& top = s.top[state];
          T* sums = s.sums + state * in.dof * lanes<T>;
          if (top == lowest) {
            top = high;
          } else if (!(high <= top)) {
            const T shrink = lie::exp_of(top - high);
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
          Vec<T> total{};
          for (int64_t k = 0; k < wide; k += lanes<T>) {
            const Vec<T> e = exp_of<T>(load(weight + k) - top);
            store(weight + k, e);
            total += e;
          }
          s.total[state] += sum_of<T>(total);
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
          in.width - c >= lanes<T> ? store(mixed + c, x) : store_part(mixed + c, x, in.width - c);
        }
        for (int64_t c = 0; c < in.dof; ++c) {
          out.coordinates[row * in.dof + c] =
              sum_of<T>(load(s.sums + (state * in.dof + c) * lanes<T>)) * over;
        }
        out.logsum[row] = any ? s.top[state] + lie::log_of(s.total[state]) : T(0);
      }
    }
  };
  lie::each_block(in, first, last, enter, work, [](int64_t, int64_t) {});
}

template <class T>
LieAttentionTable<T> lie_attention_table() {
  return {&WEYL_ISA::lie_attention_scratch<T>, &WEYL_ISA::lie_attention<T>};
}
template LieAttentionTable<float> lie_attention_table();
template LieAttentionTable<double> lie_attention_table();

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
LieAttentionTable<T> lie_attention_table();
}
namespace v4 {
template <class T>
LieAttentionTable<T> lie_attention_table();
}
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

namespace {
template <class T>
LieAttentionTable<T> chosen_table() {
  return choose(&baseline::lie_attention_table<T>, &v3::lie_attention_table<T>,
                &v4::lie_attention_table<T>)();
}
}  // namespace

template <class T>
int64_t lie_attention_scratch(const LieAttentionInput<T>& in, int64_t longest) {
  return chosen_table<T>().scratch(in, longest);
}
template <class T>
void lie_attention(const LieAttentionInput<T>& in, const LieAttentionOutput<T>& out, T* scratch,
                   int64_t first, int64_t last) {
  chosen_table<T>().forward(in, out, scratch, first, last);
}
template int64_t lie_attention_scratch<float>(const LieAttentionInput<float>&, int64_t);
template int64_t lie_attention_scratch<double>(const LieAttentionInput<double>&, int64_t);
template void lie_attention<float>(const LieAttentionInput<float>&, const LieAttentionOutput<float>&, float*,
                                   int64_t, int64_t);
template void lie_attention<double>(const LieAttentionInput<double>&, const LieAttentionOutput<double>&,
                                    double*, int64_t, int64_t);
#endif

}  // namespace weyl::kernels
