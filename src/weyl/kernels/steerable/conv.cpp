#include "weyl/kernels/steerable/conv.h"

#include "weyl/kernels/steerable/conv_mixing.h"

namespace weyl::kernels {

template <class T>
struct SteerableConvTable {
  decltype(&steerable_conv_tiles<T>) tiles;
  decltype(&steerable_conv_scratch<T>) scratch;
  decltype(&steerable_conv<T>) forward;
};

namespace WEYL_ISA {

template <class T>
int64_t steerable_conv_tiles(const SteerableConvInput<T>& in) {
  return in.batch * conv::Shape<T>(in, conv::forward_target).tiles;
}

template <class T>
int64_t steerable_conv_scratch(const SteerableConvInput<T>& in, bool backward) {
  Cutter<T> cutter{nullptr};
  const conv::Shape<T> shape(in, backward ? conv::backward_target : conv::forward_target);
  const conv::Workspace<T> s(in, shape, backward, cutter);
  return cutter.used;
}

template <class T>
void steerable_conv(const SteerableConvInput<T>& in, T* y, T* scratch, int64_t first, int64_t last) {
  const conv::Shape<T> shape(in, conv::forward_target);
  Cutter<T> cutter{scratch};
  const conv::Workspace<T> s(in, shape, false, cutter);
  const int64_t chunks = steerable_conv_chunks(in);
  for (int64_t index = 0; index < chunks; ++index) {
    conv::at_chunk(in, index, [&](const ConvIrrep& irrep, int64_t c, int64_t count) {
      conv::pack_weights(in, irrep, c, count, s.weights);
      for (int64_t tile = first; tile < last; ++tile) {
        const int64_t b = tile / shape.tiles, r0 = tile % shape.tiles * shape.tile_rows;
        const int64_t r1 = r0 + shape.tile_rows < shape.rows ? r0 + shape.tile_rows : shape.rows;
        const int64_t numbers = (r1 - r0) * in.out[2];
        if (numbers <= 0) {
          continue;
        }
        for (int64_t n = 0; n < count; ++n) {
          conv::filter_channel(in, shape, s, irrep, c + n, b, r0, r1);
          conv::couple(in, shape, s, irrep, n, count, numbers);
        }
        const T* weights = s.weights;
        for (int64_t k = 0; k < irrep.pairs; ++k) {
          const ConvPair& pair = in.pairs[irrep.pair + k];
          const int64_t width = pair.filters * 2 * count;
          for (int64_t m = 0; m < pair.components; ++m) {
            T* mixed = s.mixed + (pair.row * count + m * width) * shape.pitch;
            const conv::Rows<const T> columns{mixed, nullptr, width, shape.pitch};
            conv::product<T>(weights, width, 1, 2 * pair.channels, columns, width, numbers,
                             conv::feature_rows(in, shape, pair, y, b, m, r0), !pair.first || c > 0);
          }
          weights += 2 * pair.channels * width;
        }
      }
    });
  }
}

template <class T>
SteerableConvTable<T> steerable_conv_table() {
  return {&WEYL_ISA::steerable_conv_tiles<T>, &WEYL_ISA::steerable_conv_scratch<T>,
          &WEYL_ISA::steerable_conv<T>};
}
template SteerableConvTable<float> steerable_conv_table();
template SteerableConvTable<double> steerable_conv_table();

}  // namespace WEYL_ISA

#ifdef WEYL_DISPATCH
#ifdef WEYL_X86
namespace v3 {
template <class T>
SteerableConvTable<T> steerable_conv_table();
}
namespace v4 {
template <class T>
SteerableConvTable<T> steerable_conv_table();
}
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

namespace {
template <class T>
SteerableConvTable<T> chosen_table() {
  return choose(&baseline::steerable_conv_table<T>, &v3::steerable_conv_table<T>,
                &v4::steerable_conv_table<T>)();
}
}  // namespace

template <class T>
int64_t steerable_conv_tiles(const SteerableConvInput<T>& in) {
  return chosen_table<T>().tiles(in);
}
template <class T>
int64_t steerable_conv_scratch(const SteerableConvInput<T>& in, bool backward) {
  return chosen_table<T>().scratch(in, backward);
}
template <class T>
void steerable_conv(const SteerableConvInput<T>& in, T* y, T* scratch, int64_t first, int64_t last) {
  chosen_table<T>().forward(in, y, scratch, first, last);
}
template <class T>
int64_t steerable_conv_chunks(const SteerableConvInput<T>& in) {
  int64_t chunks = 0;
  for (int64_t i = 0; i < in.irrep_count; ++i) {
    chunks += (in.irreps[i].channels + conv_chunk - 1) / conv_chunk;
  }
  return chunks;
}
template int64_t steerable_conv_tiles<float>(const SteerableConvInput<float>&);
template int64_t steerable_conv_tiles<double>(const SteerableConvInput<double>&);
template int64_t steerable_conv_chunks<float>(const SteerableConvInput<float>&);
template int64_t steerable_conv_chunks<double>(const SteerableConvInput<double>&);
template int64_t steerable_conv_scratch<float>(const SteerableConvInput<float>&, bool);
template int64_t steerable_conv_scratch<double>(const SteerableConvInput<double>&, bool);
template void steerable_conv<float>(const SteerableConvInput<float>&, float*, float*, int64_t, int64_t);
template void steerable_conv<double>(const SteerableConvInput<double>&, double*, double*, int64_t, int64_t);
#endif

}  // namespace weyl::kernels
