#include "weyl/data/files/convert.h"

#include <filesystem>
#include <numeric>

#include "weyl/carriers/tensor_format.h"
#include "weyl/config/toml.h"
#include "weyl/core/alternatives.h"
#include "weyl/core/check.h"
#include "weyl/data/files/format_words.h"
#include "weyl/data/files/open_request.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

void require_no_options(const char* holds, const std::string& to, const OptionTexts& options) {
  require<ConfigError>(options.empty(), "convert: ", holds, " to ", to, " take no options, got '",
                       options.empty() ? "" : options.front(), "'");
}

/// By the format's own function.
template <class Format>
Converted convert_by(const std::string& in, const std::string& out, const OptionTexts& texts) {
  if constexpr (requires { typename Format::ConvertOptions; }) {
    typename Format::ConvertOptions options;
    read_toml_text("", "weyl data convert", texts, [&](Fields& f) { fields(f, options); });
    return Format::convert(in, out, options);
  } else {
    require_no_options(Format::holds, Format::converts_to, texts);
    return Format::convert(in, out);
  }
}

/// The samples of a data set as a carrier tensor file.
template <class Format>
Converted convert_as_tensors(const std::string& in, const std::string& out, const OptionTexts& options) {
  require_no_options(Format::holds, ".safetensors", options);
  require_new(out);
  const auto data = Format::open(OpenRequest{.path = in});
  std::vector<int64_t> all(data->size());
  std::iota(all.begin(), all.end(), 0);
  write_tensor_file(out, data->batch(all), data->schema(),
                    {{"converted_from", fs::path(in).filename().string()}}, Existing::keep);
  return {{out}, {}};
}

}  // namespace

void require_new(const std::string& path) {
  require<ConfigError>(!fs::exists(path), path, ": exists already; remove it or choose another name");
}

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

}  // namespace weyl
