#include "weyl/data/convert.h"

#include <filesystem>
#include <numeric>

#include "weyl/carriers/tensor_format.h"
#include "weyl/config/toml.h"
#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/format_words.h"
#include "weyl/data/formats.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

void require_no_options(const std::string& what, const OptionTexts& options) {
  require<ConfigError>(options.empty(), what, " take no options, got '",
                       options.empty() ? "" : options.front(), "'");
}

template <class Format>
auto options_of(const char* where, const OptionTexts& texts) {
  typename Format::ConvertOptions options;
  read_toml_text("", where, texts, [&](Fields& f) { fields(f, options); });
  return options;
}

/// By the format's own function.
template <class Format>
Converted convert_by(const std::string& in, const std::string& out, const OptionTexts& texts) {
  if constexpr (requires { typename Format::ConvertOptions; }) {
    return Format::convert(in, out, options_of<Format>("weyl data convert", texts));
  } else {
    require_no_options(text("convert: ", Format::holds, " to ", Format::converts_to), texts);
    return Format::convert(in, out);
  }
}

/// The samples of a data set as a carrier tensor file.
template <class Format>
Converted convert_as_tensors(const std::string& in, const std::string& out, const OptionTexts& options) {
  require_no_options(text("convert: ", Format::holds, " to .safetensors"), options);
  require_new(out);
  const auto data = Format::open(OpenRequest{.path = in});
  std::vector<int64_t> all(data->size());
  std::iota(all.begin(), all.end(), 0);
  write_tensor_file(out, data->batch(all), data->schema(),
                    {{"converted_from", fs::path(in).filename().string()}}, Existing::keep);
  return {{out}, {}};
}

}  // namespace

Converted convert(const std::string& in, const std::string& out, const OptionTexts& options) {
  require<DataError>(fs::exists(in), in, ": there is no such file");
  Converted result;
  const bool converted = any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanConvert<Format>) {
      if (Format::converts(in, out, options)) {
        result = convert_by<Format>(in, out, options);
        return true;
      }
    } else if constexpr (AsTensors<Format>) {
      if (out.ends_with(".safetensors") && Format::takes(in, {})) {
        result = convert_as_tensors<Format>(in, out, options);
        return true;
      }
    }
    return false;
  });
  require<ConfigError>(converted, "convert: must be ", list_of_formats(FormatUse::convert), ", got ", in,
                       " to ", out);
  return result;
}

namespace {

/// By the format's own function.
template <class Format>
SplitIndices split_by(const std::string& path, const std::string& folder, const SplitOptions& options,
                      const OptionTexts& texts) {
  if constexpr (requires { typename Format::ConvertOptions; }) {
    return Format::split(path, folder, options, options_of<Format>("weyl data split", texts));
  } else {
    require_no_options(text("split: ", Format::holds), texts);
    return Format::split(path, folder, options);
  }
}

/// A file of samples that are no tensors yet, as carrier tensor files.
SplitIndices split_as_tensors(const std::string& path, const std::string& folder, const SplitOptions& options,
                              const Dataset& data) {
  return write_parts(folder, options, data.size(),
                     [&](const std::string& out, const std::vector<int64_t>& samples) {
                       write_tensor_file(out, data.batch(samples), data.schema(),
                                         split_metadata(path, options), Existing::keep);
                     });
}

}  // namespace

SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options,
                        const OptionTexts& texts) {
  require<DataError>(std::filesystem::exists(path), path, ": there is no such file");
  SplitIndices parts;
  const bool split = any_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (CanSplit<Format>) {
      if (Format::takes(path, {})) {
        parts = split_by<Format>(path, folder, options, texts);
        return true;
      }
    } else if constexpr (AsTensors<Format>) {
      if (const OpenRequest request{.path = path}; Format::takes(path, request.asked)) {
        require_no_options(text("split: ", Format::holds), texts);
        parts = split_as_tensors(path, folder, options, *Format::open(request));
        return true;
      }
    }
    return false;
  });
  require<DataError>(split, "split: must be ", list_of_formats(FormatUse::split), ", got ", path);
  return parts;
}

}  // namespace weyl
