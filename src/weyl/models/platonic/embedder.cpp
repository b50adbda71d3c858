#include "weyl/models/platonic/embedder.h"

#include <utility>

#include "weyl/models/platonic/lift.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/ops/frames/group_fourier.h"

namespace weyl::platonic {
namespace {

int64_t lifted_columns(const InputColumns& columns, const GroupTables& tables) {
  return columns.scalar_count() + columns.vector_count() * tables.group().dimension();
}

void add_runs(const std::vector<bool>& odd, bool vectors, std::vector<LiftedChannels>& runs) {
  for (size_t i = 0; i < odd.size(); ++i) {
    if (i == 0 || odd[i] != odd[i - 1]) {
      runs.push_back({vectors, odd[i], 0});
    }
    ++runs.back().channels;
  }
}

}  // namespace

Embedder::Embedder(GroupTablesPtr tables, InputColumns columns, int64_t width, LinearForm form)
    : GroupLinear(tables, lifted_columns(columns, *tables) * tables->group().order(), width, form,
                  /*bias=*/false),
      columns_(std::move(columns)) {
  if (form == LinearForm::spectral) {
    std::vector<LiftedChannels> runs;
    add_runs(columns_.scalars, false, runs);
    add_runs(columns_.vectors, true, runs);
    const auto lifted = std::make_shared<const LiftedFourier>(*tables, runs);
    lifted_ = lifted->exact() ? lifted : nullptr;
  }
}

Tensor Embedder::embedded(const Tensor& scalars, const Tensor& vectors) const {
  if (lifted_ == nullptr || !by_irreps()) {
    return (*this)(lift(scalars, vectors, columns_.scalars, columns_.vectors, tables()));
  }
  const auto blocks = blocks_.get(training(), kernel(), [&] { return lifted_->blocks(kernel()); });
  return rows_of_products(spectral_products(lifted_->planes(scalars, vectors), blocks), tables());
}

Work Embedder::work_of_token(LinearForm form) const {
  const auto vectors = static_cast<double>(columns_.vector_count());
  if (form != LinearForm::spectral || lifted_ == nullptr) {
    const auto dimension = static_cast<double>(tables().group().dimension());
    const double turns = static_cast<double>(tables().group().order()) * dimension * dimension;
    return work(form, 1) + Work::product(turns * vectors, 0);
  }
  const int64_t out = kernel().size(1);
  return Work::product(static_cast<double>(lifted_->multiply_adds(out)), 1) +
         Work::product(static_cast<double>(lifted_->plane_multiply_adds()), 0) +
         Work::product(static_cast<double>(tables().fourier()->multiply_adds() * out), 1);
}

void Embedder::mode_changed() {
  GroupLinear::mode_changed();
  blocks_.drop();
}

}  // namespace weyl::platonic
