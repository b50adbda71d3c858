#include "weyl/kernels/frames/frame_norm.h"

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {
namespace {

/// Where a pointer may be null, zeros.
template <class T>
inline Vec<T> get_or_zero(const T* p, int64_t at, int64_t left) {
  return p ? get(p + at, left) : Vec<T>{};
}

/// t times what else multiplies the branch beside its scale; `at` is a place of row n.
template <class T>
inline Vec<T> kept(const FrameNormInput<T>& f, Vec<T> t, int64_t n, int64_t at, int64_t left) {
  if (f.rows) {
    t *= f.rows[n];
  }
  if (f.noise) {
    t *= get(f.noise + at, left);
  }
  return t;
}
template <class T>
inline Vec<T> scaled(const FrameNormInput<T>& f, Vec<T> t, int64_t c, int64_t left) {
  return f.scale ? t * get(f.scale + c, left) : t;
}

template <class T>
void forward(const FrameNormInput<T>& f, T* sum, T* normed, T* mean, T* rstd, int64_t first, int64_t last) {
  const int64_t channels = f.channels, step = lanes<T>;
  for (int64_t frame = first * f.frames; frame < last * f.frames; ++frame) {
    const int64_t at = frame * channels, n = frame / f.frames;
    const T* x = f.a + at;
    if (sum) {
      for (int64_t c = 0; c < channels; c += step) {
        const int64_t left = channels - c;
        Vec<T> s = get_or_zero(f.b, at + c, left) + get_or_zero(f.offset, c, left);
        s = scaled(f, kept(f, s, n, at + c, left), c, left) + get_or_zero(f.a, at + c, left);
        put(sum + at + c, s, left);
      }
      x = sum + at;
    }
    if (!normed) {
      continue;
    }
    T m = 0;
    if (f.centred) {
      Vec<T> total{};
      for (int64_t c = 0; c < channels; c += step) {
        total += get(x + c, channels - c);
      }
      m = sum_of<T>(total) / static_cast<T>(channels);
    }
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
              T* gx, T* gweight, T* gbias, int64_t first, int64_t last) {
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
    const T shift = f.centred ? sum_of<T>(plain) / static_cast<T>(channels) : T(0),
            slope = sum_of<T>(against) / static_cast<T>(channels);
    for (int64_t c = 0; c < channels; c += step) {
      const int64_t left = channels - c;
      const Vec<T> normal = (get(f.a + at + c, left) - m) * r, g = get(gnormed + at + c, left);
      const Vec<T> d = ((f.weight ? g * get(f.weight + c, left) : g) - shift - normal * slope) * r;
      put(gx + at + c, d + get_or_zero(gsum, at + c, left), left);
    }
  }
}

/// With n = (x - mean) r, h = weight g, u the tangent of gx = gsum + r (h - <h> - n <h n>), <> the mean over a frame's
/// channels, and the tangents dw, db of gweight = g n and gbias = g:
///   ggnormed = weight r (u - <u> - n <u n>) + dw n + db,   gweight = g r (u - <u> - n <u n>),
///   v = -r (u <h n> + h <u n>) + dw g,   gx = r (v - <v> - n <v n>) - r^2 n (<u h> - <u><h> - <u n><h n>).
/// A norm that is not centred lacks <h>, <u> and <v>.
template <class T>
void second(const FrameNormInput<T>& f, const T* mean, const T* rstd, const T* gnormed, const T* tangent,
            const T* dweight, const T* dbias, T* gx, T* ggnormed, T* gweight, int64_t first, int64_t last) {
  const int64_t channels = f.channels, step = lanes<T>;
  for (int64_t frame = first * f.frames; frame < last * f.frames; ++frame) {
    const int64_t at = frame * channels;
    const T m = mean[frame], r = rstd[frame];
    const auto normal_at = [&](int64_t c, int64_t left) { return (get(f.a + at + c, left) - m) * r; };
    Vec<T> of_u{}, of_un{}, of_h{}, of_hn{}, of_uh{}, of_v{}, of_vn{};
    for (int64_t c = 0; c < channels; c += step) {
      const int64_t left = channels - c;
      const Vec<T> n = normal_at(c, left), g = get(gnormed + at + c, left),
                   u = get_or_zero(tangent, at + c, left);
      const Vec<T> h = f.weight ? g * get(f.weight + c, left) : g, v = get_or_zero(dweight, c, left) * g;
      of_u += u;
      of_un += u * n;
      of_h += h;
      of_hn += h * n;
      of_uh += u * h;
      of_v += v;
      of_vn += v * n;
    }
    const T over = T(1) / static_cast<T>(channels), centred = f.centred ? over : T(0);
    const T u1 = sum_of<T>(of_u) * centred, un = sum_of<T>(of_un) * over, h1 = sum_of<T>(of_h) * centred,
            hn = sum_of<T>(of_hn) * over;
    const T v1 = sum_of<T>(of_v) * centred - r * (u1 * hn + h1 * un),
            vn = sum_of<T>(of_vn) * over - T(2) * r * un * hn;
    const T slope = vn + r * (sum_of<T>(of_uh) * over - u1 * h1 - un * hn);
    for (int64_t c = 0; c < channels; c += step) {
      const int64_t left = channels - c;
      const Vec<T> n = normal_at(c, left), g = get(gnormed + at + c, left),
                   u = get_or_zero(tangent, at + c, left);
      const Vec<T> dw = get_or_zero(dweight, c, left), along = (u - u1 - n * un) * r;
      const Vec<T> h = f.weight ? g * get(f.weight + c, left) : g;
      if (ggnormed) {
        const Vec<T> weighted = f.weight ? along * get(f.weight + c, left) : along;
        put(ggnormed + at + c, weighted + dw * n + get_or_zero(dbias, c, left), left);
      }
      if (gweight) {
        put(gweight + c, get(gweight + c, left) + g * along, left);
      }
      if (gx) {
        put(gx + at + c, (dw * g - (u * hn + h * un) * r - v1 - n * slope) * r, left);
      }
    }
  }
}

template <class T>
void branch_backward(const FrameNormInput<T>& f, const T* gsum, T* gb, T* goffset, T* gscale, int64_t first,
                     int64_t last) {
  const int64_t channels = f.channels;
  for (int64_t frame = first * f.frames; frame < last * f.frames; ++frame) {
    const int64_t at = frame * channels, n = frame / f.frames;
    for (int64_t c = 0; c < channels; c += lanes<T>) {
      const int64_t left = channels - c;
      const Vec<T> unscaled = kept(f, get(gsum + at + c, left), n, at + c, left),
                   g = scaled(f, unscaled, c, left);
      if (gscale) {
        const Vec<T> branch = get_or_zero(f.b, at + c, left) + get_or_zero(f.offset, c, left);
        put(gscale + c, get(gscale + c, left) + unscaled * branch, left);
      }
      if (goffset) {
        put(goffset + c, get(goffset + c, left) + g, left);
      }
      if (gb) {
        put(gb + at + c, g, left);
      }
    }
  }
}

template <class T>
constexpr FrameNorm<T> table{forward<T>, backward<T>, second<T>, branch_backward<T>};

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
