#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/models/model.h"
#include "weyl/predict/subject.h"
#include "weyl/study/audit/transformations.h"

namespace weyl {

struct AuditSamples {
  Batch batch;
  std::vector<int64_t> rows;  // of the set
};

/// The part of the samples that an audit can hold a model to, where exactness depends on the sample
/// (Model::symmetry_for). Where something is left out, `note` says what and why.
///
///   points  the samples for which the model has no obstacles; DataError where there are none
///   grids   the samples as they are where something is exact for their number of cells; else the largest square or
///           cube in their middle for which something is
///   poses   the samples as they are
Batch exact_part(const Model& model, const Batch& samples, const Schema& schema, std::string& note);

/// Draws `count` different samples of a set at random (a pure function of the seed), so that a sorted file is not
/// audited on one kind of sample. Of large grids there are fewer, cut as training or the task's windows cut them
/// (study/samples/grid_samples.h). DataError: the set is empty, or model or task refuse a sample of `where`, which is
/// named.
AuditSamples audit_samples(const FilePredictor& predictor, const std::string& where, const Dataset& data,
                           int64_t count, uint64_t seed);

/// What is measured on grids whose set makes them anew, of a model whose outputs are of whole grids: uniform turns, and shifts
/// by half a cell, and by 1, 2 and 4 cells. Nothing for others.
std::vector<Transformation> measured_anew(const Model& model, const std::shared_ptr<const Dataset>& data,
                                          const AuditSamples& samples);

/// Random samples where there are no data: random tokens, or random grids, of typical size.
Batch random_audit_samples(const Subject& subject, int64_t count, uint64_t seed);

}  // namespace weyl
