#include "weyl/ops/frames/frame_norm.h"

#include "weyl/core/check.h"
#include "weyl/ops/frames/branch_and_norm.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/ops/frames/frames.h"
#include "weyl/ops/frames/group_tables.h"

namespace weyl {
namespace {

/// `channels`: of a frame where the group says it, else zero.
void require_law(const char* where, const Tensor& x, const NormLaw& law, int64_t channels = 0) {
  require(law.centred ? law.weight.defined() == law.bias.defined() : !law.bias.defined(), where,
          law.centred ? ": weight and bias must both be (C), or both undefined"
                      : ": a norm that is not centred has no bias");
  require_frames(where, x, law.weight);
  require_frames(where, x, law.bias);
  require(!law.bias.defined() || law.weight.sizes() == law.bias.sizes(), where,
          ": weight and bias must both be (C)");
  require(channels == 0 || !law.weight.defined() || law.weight.size(0) == channels, where,
          ": weight must be (", channels, "), got ",
          law.weight.defined() ? law.weight.sizes() : at::IntArrayRef{});
}

/// `channels`: of a frame where the norm says it, else zero.
void require_branch(const char* where, const Tensor& x, const Tensor& branch_bias,
                    const BranchFactors& factors, int64_t channels) {
  for (const Tensor& shared : {branch_bias, factors.scale}) {
    require_frames(where, x, shared);
    if (shared.defined()) {
      channels = channels == 0 ? shared.size(0) : channels;
      require(shared.size(0) == channels, where, ": what the frames share must be (", channels, "), got ",
              shared.sizes());
    }
  }
  const auto has = [&](const Tensor& t, at::IntArrayRef sizes) {
    return !t.defined() || (t.sizes() == sizes && t.scalar_type() == x.scalar_type());
  };
  require(has(factors.rows, {x.size(0)}) && has(factors.noise, x.sizes()), where,
          ": factors of a branch must be (N) and (N, G C), of x's type, as x is ", x.sizes());
}

Tensors inputs_of(const Tensor& x, const Tensors& branch, const Tensor& branch_bias, const NormLaw& law,
                  const BranchFactors& factors) {
  Tensors in{x, branch_bias, factors.scale, factors.rows, factors.noise, law.weight, law.bias};
  in.insert(in.end(), branch.begin(), branch.end());
  return in;
}

int64_t channels_of(const Tensor& x, const NormLaw& law) {
  return law.weight.defined() ? law.weight.size(0) : x.size(1);
}

Tensors run(const BranchAndNormParts& parts, const Tensor& x, const Tensors& branch,
            const Tensor& branch_bias, const NormLaw& law, const BranchFactors& factors) {
  return call(branch_and_norm(parts), inputs_of(x, branch, branch_bias, law, factors));
}

void require_rows(const char* where, const Tensor& x, const Tensor& branch) {
  require(x.sizes() == branch.sizes() && x.scalar_type() == branch.scalar_type(), where,
          ": x and branch must agree, got ", x.sizes(), " ", x.scalar_type(), " and ", branch.sizes(), " ",
          branch.scalar_type());
}

std::shared_ptr<const FourierTables> planes_for(const char* where, const Tensor& x, const Tensors& branch,
                                                const GroupTables& tables) {
  auto fourier = tables.fourier();
  const int64_t G = fourier->spectrum().order();
  require(x.dim() == 2 && x.size(1) % G == 0, where, ": x must be (N, ", G, " C), got ", x.sizes());
  if (!branch.empty()) {
    require_planes(where, branch, *fourier);
    require(rows_in(branch, *fourier) == x.size(0) && channels_in(branch, *fourier) * G == x.size(1) &&
                branch[0].scalar_type() == x.scalar_type(),
            where, ": planes must be those of rows ", x.sizes(), " ", x.scalar_type(), ", got ",
            rows_in(branch, *fourier), " rows of ", channels_in(branch, *fourier) * G, " numbers");
  }
  return fourier;
}

}  // namespace

Tensor frame_norm(const Tensor& x, const NormLaw& law) {
  require_law("frame_norm", x, law);
  return run({false, true, law.epsilon, law.centred, nullptr}, x, {}, {}, law, {})[0];
}

Tensor add_branch(const Tensor& x, const Tensor& branch, const Tensor& branch_bias,
                  const BranchFactors& factors) {
  require_rows("add_branch", x, branch);
  require_branch("add_branch", x, branch_bias, factors, 0);
  return run({.branch = true, .norm = false, .planes = nullptr}, x, {branch}, branch_bias, {}, factors)[0];
}

NormedSum add_branch_and_norm(const Tensor& x, const Tensor& branch, const Tensor& branch_bias,
                              const NormLaw& law, const BranchFactors& factors) {
  const char* where = "add_branch_and_norm";
  require_rows(where, x, branch);
  require_law(where, x, law);
  require_branch(where, x, branch_bias, factors, channels_of(x, law));
  const Tensors both =
      run({true, true, law.epsilon, law.centred, nullptr}, x, {branch}, branch_bias, law, factors);
  return {both[0], both[1]};
}

Tensors frame_norm_planes(const Tensor& x, const NormLaw& law, const GroupTables& tables) {
  const char* where = "frame_norm_planes";
  const auto fourier = planes_for(where, x, {}, tables);
  require_law(where, x, law, x.size(1) / fourier->spectrum().order());
  return run({false, true, law.epsilon, law.centred, fourier}, x, {}, {}, law, {});
}

Tensor add_branch_planes(const Tensor& x, const Tensors& branch, const GroupTables& tables,
                         const Tensor& branch_bias, const BranchFactors& factors) {
  const char* where = "add_branch_planes";
  const auto fourier = planes_for(where, x, branch, tables);
  require_branch(where, x, branch_bias, factors, x.size(1) / fourier->spectrum().order());
  return run({.branch = true, .norm = false, .planes = fourier}, x, branch, branch_bias, {}, factors)[0];
}

NormedPlanes add_branch_and_norm_planes(const Tensor& x, const Tensors& branch, const GroupTables& tables,
                                        const Tensor& branch_bias, const NormLaw& law,
                                        const BranchFactors& factors) {
  const char* where = "add_branch_and_norm_planes";
  const auto fourier = planes_for(where, x, branch, tables);
  require_law(where, x, law, x.size(1) / fourier->spectrum().order());
  require_branch(where, x, branch_bias, factors, channels_of(x, law));
  Tensors both = run({true, true, law.epsilon, law.centred, fourier}, x, branch, branch_bias, law, factors);
  NormedPlanes result{both[0], {}};
  result.normed.assign(both.begin() + 1, both.end());
  return result;
}

}  // namespace weyl
