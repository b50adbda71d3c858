#pragma once

#include <string>

#include "weyl/data/images/image_set.h"
#include "weyl/data/options.h"

namespace weyl {

/// Dermoscopy, rgb, label `mask`: 1 is lesion. Normalised by 0.5 and 0.25.
ImageKind ph2_kind();
Schema ph2_schema(const Ph2DataOptions& options);

/// PH2's folder (or the one above it): `PH2 Dataset images/IMDxxx/IMDxxx_Dermoscopic_Image/IMDxxx.bmp` and
/// `IMDxxx/IMDxxx_lesion/IMDxxx_lesion.bmp`, also .png. Images are resized (bilinear), masks with them
/// (load_mask). Splits are drawn by the seed: as many as the options say, else by the fractions, half of the
/// images for training and a quarter each for validation and testing unless given (100, 50, 50 of 200).
/// ConfigError: fractions beyond 1, a height without a width. DataError: no such folder, an image without its
/// mask or of another size, a broken file, fewer images than asked for.
Splits open_ph2(const Ph2DataOptions& options);

}  // namespace weyl
