#include "weyl/app/films.h"

#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/predict/body_film.h"

namespace weyl {

int64_t write_films(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    const std::string& name, int64_t count) {
  count = std::min(count, test.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sample = i * test.size() / count;
    const auto film = film_of(predictor, test.batch({&sample, 1}), test.schema().horizon);
    if (!film) {
      return i;
    }
    std::string times;
    for (const std::string& time : film->times) {
      times += time + "\n";
    }
    NamedTensors tensors{{"truth", film->truth}, {"prediction", film->prediction}};
    if (film->ground.defined()) {
      tensors["ground"] = film->ground;
    }
    std::filesystem::create_directories(folder);
    save_tensors(text(folder, "/", name, "_", i, ".safetensors"), tensors,
                 {{"format", "weyl.film"},
                  {"times", times},
                  {"title", text("Sample ", sample, " of the test split")},
                  {"unit", film->unit}},
                 Existing::replace_link);
  }
  return count;
}

}  // namespace weyl
