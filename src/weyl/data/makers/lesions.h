#pragma once

#include <cstdint>
#include <string>

#include "weyl/config/fields.h"
#include "weyl/data/formats/array.h"
#include "weyl/data/makers/plan.h"

namespace weyl {

/// Pictures that look like dermoscopy, with the mask of the lesion, in PH2's folders: skin of some tone with
/// a fine grain; one lesion, an ellipse with an irregular border (waves of the radius and a noise that moves
/// it), sharp or faint, brown, darker in blotches, with a network of lines, sometimes a bluish veil; hairs;
/// uneven light, sometimes the dark corners of a round lens; noise. The mask is the inside of the border,
/// whatever hides or fades it.
struct LesionsMakerOptions {
  static constexpr const char* name_in_config = "lesions";
  static constexpr const char* makes = "pictures like dermoscopy with masks, in the folders of PH2";
  int64_t count = 200;
  int64_t height = 192, width = 256;
  int64_t seed = 0;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, LesionsMakerOptions& o);
MakerPlan plan_of(const LesionsMakerOptions& o);

struct Lesion {
  Array image;  // (H, W, 3) u8
  Array mask;   // (H, W, 1) u8, 0 and 255
};

/// Picture `index`, a pure function of (options but count and threads, index).
Lesion make_lesion(const LesionsMakerOptions& options, int64_t index);

/// Writes `<folder>/PH2 Dataset images/IMD001/IMD001_Dermoscopic_Image/IMD001.bmp` and
/// `IMD001/IMD001_lesion/IMD001_lesion.bmp`, and so on; the same bytes for any number of threads.
/// ConfigError: one is there already, or there is nothing to make. When a file cannot be written
/// (DataError) none is left. False when stopped: then nothing was written.
bool make_lesions(const LesionsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl
