#pragma once

#include "weyl/saved/predictor.h"

namespace weyl {

/// Writes up to `count` samples of bodies in motion, evenly taken, as FOLDER/<name>_<i>.safetensors, as they were and as
/// the model says (predict/body_film.h), with a title of the sample's number: what read_film reads (app/film.h). Nothing
/// for other tasks. Returns how many.
int64_t write_films(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    const std::string& name = "film", int64_t count = 3);

}  // namespace weyl
