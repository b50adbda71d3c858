// The one list of kernel cases.
#pragma once

#include "tests/oracles/attention_cases.h"
#include "tests/oracles/edge_cases.h"
#include "tests/oracles/frame_cases.h"
#include "tests/oracles/lie_cases.h"
#include "tests/oracles/multivector_cases.h"
#include "tests/oracles/steerable_cases.h"
#include "tests/oracles/vector_cases.h"

namespace weyl {

inline std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> cases;
  add_attention_cases(cases);
  add_edge_cases(cases);
  add_frame_cases(cases);
  add_lie_cases(cases);
  add_multivector_cases(cases);
  add_steerable_cases(cases);
  add_vector_cases(cases);
  return cases;
}

}  // namespace weyl
