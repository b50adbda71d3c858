#pragma once

#include <string>

#include "weyl/data/images/image_set.h"
#include "weyl/data/images/options.h"

namespace weyl {

/// Dermoscopy, rgb, label `mask`: 1 is lesion. Normalised by 0.5 and 0.25.
ImageKind ph2_kind();

/// Whether a folder is PH2's `PH2 Dataset images`, or the one above.
bool is_ph2_folder(const std::string& path);

}  // namespace weyl
