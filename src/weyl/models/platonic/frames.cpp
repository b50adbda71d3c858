#include "weyl/models/platonic/frames.h"

#include "weyl/core/check.h"

namespace weyl::platonic {
namespace {

/// The same elements rounded to float32: the tables that the authors' weights were trained with.
GroupPtr rounded(const FiniteGroup& group) {
  std::vector<std::vector<double>> elements;
  for (int64_t g = 0; g < group.order(); ++g) {
    std::vector<double> element;
    for (const double x : group.element(g)) {
      element.push_back(static_cast<float>(x));
    }
    elements.push_back(std::move(element));
  }
  return std::make_shared<FiniteGroup>(group.name(), group.dimension(), std::move(elements));
}

/// The group that options ask for; the errors of algebra with the key before them.
GroupPtr asked_for(const Options& options, int64_t dimension) {
  if (!options.generators.empty()) {
    try {
      return std::make_shared<FiniteGroup>(
          FiniteGroup::from_generators("generated", dimension, options.generators));
    } catch (const ConfigError& error) {
      throw ConfigError(text("model.platonic.generators: ", error.what()));
    }
  }
  require<ConfigError>(options.axis.size() == 3, "model.platonic.axis: must be three numbers, got ",
                       options.axis.size());
  try {
    return named_group(options.group, {options.axis[0], options.axis[1], options.axis[2]});
  } catch (const ConfigError& error) {
    throw ConfigError(text("model.platonic.", error.what()));
  }
}

}  // namespace

GroupPtr frames_of(const Options& options, int64_t dimension) {
  const GroupPtr group = asked_for(options, dimension);
  require<ConfigError>(group->dimension() == dimension, "model.platonic.group: '", group->name(),
                       "' acts in ", group->dimension(), " dimensions, the data have ", dimension);
  return options.authors_tables ? rounded(*group) : group;
}

LinearForm form_that_pays(const FiniteGroup& group, int64_t channels) {
  // Measured (docs/papers/platonic-transformer.md): from here on spectral is the faster one for every group that was tried.
  // Narrower frames were not, and norms over fewer than eight channels amplify the rounding of the transforms.
  const int64_t width = group.order() * channels;
  const bool pays = (width >= 256 && channels >= 8) || (width >= 192 && channels >= 16);
  return group.order() >= 2 && pays ? LinearForm::spectral : LinearForm::dense;
}

}  // namespace weyl::platonic
