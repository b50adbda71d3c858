#pragma once

#include <span>
#include <string>
#include <vector>

#include "weyl/models/model.h"
#include "weyl/study/audit/audit.h"

namespace weyl {

/// What an audit found, in a few sentences for who does not read tables. The first says what it means for who uses the model's
/// answers; then come under what the model is exact, or is not though it claims to be, and how far off it is under what else
/// was tried.
/// `claimed`: what was audited. `answers`: what users get, the predictions of the task or the model's outputs.
/// `augmented`: whether training turns its samples.
std::vector<std::string> summary_of(const AuditReport& report, const Symmetry& claimed,
                                    std::span<const Quantity> answers, bool augmented);

}  // namespace weyl
