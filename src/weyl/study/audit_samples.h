#pragma once

#include <string>

#include "weyl/predict/subject.h"

namespace weyl {

/// `count` different samples of a set, drawn at random (a pure function of the seed), so that a sorted file is not
/// audited on one kind alone; of large grids fewer, cut as training or the task's windows cut them
/// (study/grid_samples.h). DataError: the set is empty, or model or task refuse a sample of `where`, which is named.
Batch audit_samples(const FilePredictor& predictor, const std::string& where, const Dataset& data,
                    int64_t count, uint64_t seed);

/// The same where there are no data: random tokens, or random grids, of typical size.
Batch random_audit_samples(const Subject& subject, int64_t count, uint64_t seed);

}  // namespace weyl
