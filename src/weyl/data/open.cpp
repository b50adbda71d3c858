#include "weyl/data/open.h"

#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/advice.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/format_words.h"
#include "weyl/data/formats.h"
#include "weyl/data/images/image_set.h"
#include "weyl/data/volumes/decathlon.h"

namespace weyl {
namespace {

template <class Options>
constexpr bool is_of_images = requires(const Options& o) {
  requires std::is_same_v<std::remove_cvref_t<decltype(o.input)>, ImageInput>;
};

}  // namespace

Schema declared_schema(const DataOptions& options, const Interface* interface) {
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires { declared_schema(o, interface); }) {
          return declared_schema(o, interface);
        } else {
          return declared_schema(o);
        }
      },
      options.set);
}

Splits open_splits(const DataOptions& options, const Interface* interface, Keep keep) {
  const auto folds = folds_of(options);
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires { open_set(o, Folds{}); }) {
          return open_set(o, folds.value_or(Folds{}));
        }
        using Options = std::remove_cvref_t<decltype(o)>;
        if constexpr (is_of_images<Options>) {
          const Splits splits = open_set(o);
          int64_t seed = 0;
          if constexpr (requires { o.seed; }) {
            seed = o.seed;
          }
          return folds ? folded_images(splits, *folds, seed) : splits;
        }
        require<ConfigError>(!folds, "data.folds must be 0 for the data set ", o.name_in_config,
                             ", whose samples are not independent grids, got ", options.folds);
        if constexpr (requires { open_set(o, keep); }) {
          return open_set(o, keep);
        } else if constexpr (requires { open_set(o, interface); }) {
          return open_set(o, interface);
        } else {
          return open_set(o);
        }
      },
      options.set);
}

DataOptions as_opened(DataOptions options, const Dataset& train) {
  std::visit(
      [&](auto& o) {
        if constexpr (requires { as_opened(o, train); }) {
          o = as_opened(std::move(o), train);
        }
      },
      options.set);
  return options;
}

namespace {

/// Which of several splits the samples are; "": there are no others.
std::string part_of(const Splits& splits, const Dataset& taken, const std::string& path) {
  std::string name;
  int64_t all = 0;
  for (const auto& [split, data] :
       {std::pair{"test", &splits.test}, {"valid", &splits.valid}, {"train", &splits.train}}) {
    name = data->get() == &taken ? split : name;
    all += *data != nullptr ? (*data)->size() : 0;
  }
  return all > taken.size() ? text(path, ": is a data set with splits, of which ", name, " is taken, ",
                                   taken.size(), " of ", all, " samples; a folder or file of it gives others")
                            : "";
}

}  // namespace

std::shared_ptr<const Dataset> open_file(const std::string& path, const DataOptions& options,
                                         const Interface* interface, Values values, Keep keep,
                                         OpenedAs* how) {
  OpenedAs unasked;
  how = how != nullptr ? how : &unasked;
  namespace fs = std::filesystem;
  require<DataError>(fs::exists(path), path, ": there is no such file");
  const AskedSet set = asked(options);
  const OpenRequest request{path, set.noting(&how->by_options), interface, values, keep};
  std::shared_ptr<const Dataset> data;
  any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanOpen<Format>) {
      if (Format::takes(path, set)) {
        data = Format::open(request);
      }
    }
    return data != nullptr;
  });
  if (data == nullptr && fs::is_directory(path)) {
    const DataOptions all = all_of(options, path);
    how->by_options = true;
    if (const auto* volumes = std::get_if<DecathlonDataOptions>(&all.set)) {
      data = open_whole(*volumes);
    } else {
      const Splits splits = open_splits(all, interface, keep);
      data = splits.test ? splits.test : splits.valid ? splits.valid : splits.train;
      how->part = part_of(splits, *data, path);
    }
  }
  if (data == nullptr) {
    const std::string advice = advice_for(path);
    throw DataError(text(
        path, ": ", advice.empty() ? "must be " + list_of_formats(FormatUse::open, "a folder") : advice));
  }
  return data;
}

}  // namespace weyl
