#include "weyl/kernels/frames/frame_norm.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

template <class T>
void forward(const FrameNormInput<T>& f, T* sum, T* normed, T* mean, T* rstd, int64_t first, int64_t last) {
  const int64_t channels = f.channels, step = lanes<T>;
  for (int64_t frame = first * f.frames; frame < last * f.frames; ++frame) {
    const int64_t at = frame * channels;
    const T* x = f.a + at;
    if (sum) {
      for (int64_t c = 0; c < channels; c += step) {
        Vec<T> s{};
        if (f.b) {
          s = get(f.b + at + c, channels - c);
        }
        if (f.offset) {
          s += get(f.offset + c, channels - c);
        }
        s += get(f.a + at + c, channels - c);
        put(sum + at + c, s, channels - c);
      }
      x = sum + at;
    }
    if (!normed) {
      continue;
    }
    Vec<T> total{};
    for (int64_t c = 0; c < channels; c += step) {
      total += get(x + c, channels - c);
    }
    const T m = sum_of<T>(total) / static_cast<T>(channels);
    Vec<T> squares{};
    for (int64_t c = 0; c < channels; c += step) {
      const Vec<T> d = (channels - c >= step ? load(x + c) : load_part(x + c, channels - c, m)) - m;
      squares += d * d;
    }
    const T r =
        T(1) / static_cast<T>(__builtin_sqrt(sum_of<T>(squares) / static_cast<T>(channels) + f.epsilon));
    for (int64_t c = 0; c < channels; c += step) {
      Vec<T> y = (get(x + c, channels - c) - m) * r;
      if (f.weight) {
        y *= get(f.weight + c, channels - c);
      }
      if (f.bias) {
        y += get(f.bias + c, channels - c);
      }
      put(normed + at + c, y, channels - c);
    }
    mean[frame] = m;
    rstd[frame] = r;
  }
}

template <class T>
void backward(const FrameNormInput<T>& f, const T* mean, const T* rstd, const T* gsum, const T* gnormed,
              T* gx, T* gweight, T* gbias, T* goffset, int64_t first, int64_t last) {
  const int64_t channels = f.channels, step = lanes<T>;
  for (int64_t frame = first * f.frames; frame < last * f.frames; ++frame) {
    const int64_t at = frame * channels;
    const T m = mean[frame], r = rstd[frame];
    Vec<T> plain{}, against{};
    for (int64_t c = 0; c < channels; c += step) {
      const int64_t left = channels - c;
      const Vec<T> normal = (get(f.a + at + c, left) - m) * r, g = get(gnormed + at + c, left);
      const Vec<T> weighted = f.weight ? g * get(f.weight + c, left) : g;
      plain += weighted;
      against += weighted * normal;
      if (gweight) {
        put(gweight + c, get(gweight + c, left) + g * normal, left);
      }
      if (gbias) {
        put(gbias + c, get(gbias + c, left) + g, left);
      }
    }
    const T shift = sum_of<T>(plain) / static_cast<T>(channels),
            slope = sum_of<T>(against) / static_cast<T>(channels);
    for (int64_t c = 0; c < channels; c += step) {
      const int64_t left = channels - c;
      const Vec<T> normal = (get(f.a + at + c, left) - m) * r, g = get(gnormed + at + c, left);
      Vec<T> d = ((f.weight ? g * get(f.weight + c, left) : g) - shift - normal * slope) * r;
      if (gsum) {
        d += get(gsum + at + c, left);
      }
      if (gx) {
        put(gx + at + c, d, left);
      }
      if (goffset) {
        put(goffset + c, get(goffset + c, left) + d, left);
      }
    }
  }
}

/// Where a pointer may be null, zeros.
template <class T>
inline Vec<T> get_or_zero(const T* p, int64_t at, int64_t left) {
  return p ? get(p + at, left) : Vec<T>{};
}

/// With n = (x - mean) r, h = weight g, u the tangent of gx = gsum + r (h - <h> - n <h n>), <> the mean over a frame's
/// channels, and the tangents dw, db of gweight = g n and gbias = g:
///   ggsum = u,   ggnormed = weight r (u - <u> - n <u n>) + dw n + db,   gweight = g r (u - <u> - n <u n>),
///   v = -r (u <h n> + h <u n>) + dw g,   gx = r (v - <v> - n <v n>) - r^2 n (<u h> - <u><h> - <u n><h n>).
template <class T>
void second(const FrameNormInput<T>& f, const T* mean, const T* rstd, const T* gnormed,
            const FrameNormTangents<T>& d, T* gx, T* ggsum, T* ggnormed, T* gweight, T* goffset,
            int64_t first, int64_t last) {
  const int64_t channels = f.channels, step = lanes<T>;
  for (int64_t frame = first * f.frames; frame < last * f.frames; ++frame) {
    const int64_t at = frame * channels;
    const T m = mean[frame], r = rstd[frame];
    const auto tangent = [&](int64_t c, int64_t left) {
      return get_or_zero(d.a, at + c, left) + get_or_zero(d.b, at + c, left) + get_or_zero(d.offset, c, left);
    };
    const auto normal_at = [&](int64_t c, int64_t left) { return (get(f.a + at + c, left) - m) * r; };
    Vec<T> of_u{}, of_un{}, of_h{}, of_hn{}, of_uh{}, of_v{}, of_vn{};
    for (int64_t c = 0; c < channels; c += step) {
      const int64_t left = channels - c;
      const Vec<T> n = normal_at(c, left), g = get(gnormed + at + c, left), u = tangent(c, left);
      const Vec<T> h = f.weight ? g * get(f.weight + c, left) : g, v = get_or_zero(d.weight, c, left) * g;
      of_u += u;
      of_un += u * n;
      of_h += h;
      of_hn += h * n;
      of_uh += u * h;
      of_v += v;
      of_vn += v * n;
    }
    const T over = T(1) / static_cast<T>(channels);
    const T u1 = sum_of<T>(of_u) * over, un = sum_of<T>(of_un) * over, h1 = sum_of<T>(of_h) * over,
            hn = sum_of<T>(of_hn) * over;
    const T v1 = sum_of<T>(of_v) * over - r * (u1 * hn + h1 * un),
            vn = sum_of<T>(of_vn) * over - T(2) * r * un * hn;
    const T slope = vn + r * (sum_of<T>(of_uh) * over - u1 * h1 - un * hn);
    for (int64_t c = 0; c < channels; c += step) {
      const int64_t left = channels - c;
      const Vec<T> n = normal_at(c, left), g = get(gnormed + at + c, left), u = tangent(c, left);
      const Vec<T> dw = get_or_zero(d.weight, c, left), along = (u - u1 - n * un) * r;
      const Vec<T> h = f.weight ? g * get(f.weight + c, left) : g;
      if (ggsum) {
        put(ggsum + at + c, u, left);
      }
      if (ggnormed) {
        const Vec<T> scaled = f.weight ? along * get(f.weight + c, left) : along;
        put(ggnormed + at + c, scaled + dw * n + get_or_zero(d.bias, c, left), left);
      }
      if (gweight) {
        put(gweight + c, get(gweight + c, left) + g * along, left);
      }
      const Vec<T> x = (dw * g - (u * hn + h * un) * r - v1 - n * slope) * r;
      if (gx) {
        put(gx + at + c, x, left);
      }
      if (goffset) {
        put(goffset + c, get(goffset + c, left) + x, left);
      }
    }
  }
}

template <class T>
void sum_frames(const T* x, int64_t width, int64_t channels, T* total, int64_t first, int64_t last) {
  for (int64_t at = first * width; at < last * width; at += channels) {
    for (int64_t c = 0; c < channels; c += lanes<T>) {
      put(total + c, get(total + c, channels - c) + get(x + at + c, channels - c), channels - c);
    }
  }
}

template <class T>
constexpr FrameNorm<T> table{forward<T>, backward<T>, second<T>, sum_frames<T>};

}  // namespace
}  // namespace WEYL_ISA

template <>
const FrameNorm<float>& compiled<FrameNorm<float>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<float>;
}
template <>
const FrameNorm<double>& compiled<FrameNorm<double>, InstructionSet::WEYL_ISA>() {
  return WEYL_ISA::table<double>;
}

}  // namespace weyl::kernels
