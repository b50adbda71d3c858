// How the function of a kernel file runs on a CUDA device. Included by kernel files alone, where nvcc compiles them.
//
// A kernel file is one text for processors and for CUDA: compiled by nvcc, with vectors of one number (simd/one_lane.h),
// each thread of a grid runs the function as a whole, and its outermost loop, `each_row`, gives the thread its share.
#pragma once

namespace weyl::kernels {

/// Of the thread that asks: where its launches are queued, a cudaStream_t.
void* launch_stream();
/// Throws Error when the last launch was refused, with what CUDA says.
void require_launched();

namespace WEYL_ISA {

template <class T>
struct Plain {
  using Type = T;
};
template <class T>
struct Plain<const T&> {
  using Type = T;
};

template <auto function, class... Arguments>
__global__ void grid(Arguments... arguments) {
  function(arguments...);
}

template <auto function>
struct Queued;
template <class... Arguments, void (*function)(Arguments...)>
struct Queued<function> {
  static void run(Arguments... arguments) {
    // Enough blocks for any device; threads without a row end at once.
    constexpr int blocks = 2048, threads = 128;
    grid<function, typename Plain<Arguments>::Type...>
        <<<blocks, threads, 0, static_cast<cudaStream_t>(launch_stream())>>>(arguments...);
    require_launched();
  }
};

/// `function` of the same arguments, pointers into the device's memory among them, on the device: it is queued, not
/// waited for.
template <auto function>
constexpr auto queued = &Queued<function>::run;

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
