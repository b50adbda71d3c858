#include "weyl/kernels/steerable/conv.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/steerable/conv_mixing.h"

namespace weyl::kernels {
namespace WEYL_ISA::conv {
namespace {

template <class T>
int64_t tiles(const SteerableConvInput<T>& in) {
  return in.batch * Shape<T>(in, forward_target).tiles;
}

template <class T>
int64_t scratch_of(const SteerableConvInput<T>& in, bool backward) {
  Cutter<T> cutter{nullptr};
  const Shape<T> shape(in, backward ? backward_target : forward_target);
  const Workspace<T> s(in, shape, backward, cutter);
  return cutter.used;
}

template <class T>
void forward(const SteerableConvInput<T>& in, T* y, T* scratch, int64_t first, int64_t last) {
  const Shape<T> shape(in, forward_target);
  Cutter<T> cutter{scratch};
  const Workspace<T> s(in, shape, false, cutter);
  const auto work = [&](const ConvIrrep& irrep, int64_t c, int64_t count) {
    pack_weights(in, irrep, c, count, s.weights);
    for (int64_t tile = first; tile < last; ++tile) {
      const int64_t b = tile / shape.tiles, r0 = tile % shape.tiles * shape.tile_rows;
      const int64_t r1 = r0 + shape.tile_rows < shape.rows ? r0 + shape.tile_rows : shape.rows;
      const int64_t numbers = (r1 - r0) * in.out[2];
      if (numbers <= 0) {
        continue;
      }
      for (int64_t n = 0; n < count; ++n) {
        filter_channel(in, shape, s, irrep, c + n, b, r0, r1);
        couple(in, shape, s, irrep, n, count, numbers);
      }
      const T* weights = s.weights;
      for (int64_t k = 0; k < irrep.pairs; ++k) {
        const ConvPair& pair = in.pairs[irrep.pair + k];
        const int64_t width = pair.filters * 2 * count;
        for (int64_t m = 0; m < pair.components; ++m) {
          T* mixed = s.mixed + (pair.row * count + m * width) * shape.pitch;
          const Rows<const T> columns{mixed, nullptr, width, shape.pitch};
          product<T>(weights, width, 1, 2 * pair.channels, columns, width, numbers,
                     feature_rows(in, shape, pair, y, b, m, r0), !pair.first || c > 0);
        }
        weights += 2 * pair.channels * width;
      }
    }
  };
  int64_t index = 0;
  while (at_chunk(in, index, work)) {
    ++index;
  }
}

template <class T>
constexpr SteerableConv<T> table{tiles<T>, scratch_of<T>, forward<T>};

}  // namespace
}  // namespace WEYL_ISA::conv

template <>
const SteerableConv<float>& compiled<SteerableConv<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::conv::table<float>;
}
template <>
const SteerableConv<double>& compiled<SteerableConv<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::conv::table<double>;
}

}  // namespace weyl::kernels
