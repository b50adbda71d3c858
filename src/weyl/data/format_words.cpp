#include "weyl/data/format_words.h"

#include "weyl/config/toml.h"
#include "weyl/core/alternatives.h"
#include "weyl/data/formats.h"

namespace weyl {
namespace {

template <class Format>
std::string words_of() {
  return std::string(Format::holds) + " (" + Format::names() + ")";
}

template <class Format>
void add_words(std::vector<std::string>& to, FormatUse use) {
  switch (use) {
    case FormatUse::open:
      if constexpr (CanOpen<Format>) {
        to.push_back(words_of<Format>());
      }
      break;
    case FormatUse::inspect:
      if constexpr (CanOpen<Format> || CanInspect<Format> || HasSets<Format>) {
        to.push_back(words_of<Format>());
      }
      break;
    case FormatUse::convert:
      if constexpr (CanConvert<Format>) {
        to.push_back(words_of<Format>() + " to " + Format::converts_to);
      } else if constexpr (AsTensors<Format>) {
        to.push_back(words_of<Format>() + " to .safetensors");
      }
      break;
    case FormatUse::split:
      if constexpr (CanSplit<Format>) {
        to.push_back(words_of<Format>() + " into " + Format::splits_into);
      } else if constexpr (AsTensors<Format>) {
        to.push_back(words_of<Format>() + " into .safetensors");
      }
      break;
  }
}

}  // namespace

std::vector<std::string> formats_for(FormatUse use) {
  std::vector<std::string> all;
  each_alternative<FileFormats>(
      [&]<class Format>(std::type_identity<Format>) { add_words<Format>(all, use); });
  return all;
}

std::string list_of_formats(FormatUse use, std::string_view last) {
  std::vector<std::string> all = formats_for(use);
  if (!last.empty()) {
    all.emplace_back(last);
  }
  std::string line;
  for (size_t i = 0; i < all.size(); ++i) {
    line += (i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + all[i];
  }
  return line;
}

std::vector<std::pair<std::string, std::string>> conversion_options() {
  std::vector<std::pair<std::string, std::string>> all;
  each_alternative<FileFormats>([&]<class Format>(std::type_identity<Format>) {
    if constexpr (requires { typename Format::ConvertOptions; }) {
      typename Format::ConvertOptions options;
      all.emplace_back(Format::holds, describe_keys([&](Fields& f) { fields(f, options); }));
    }
  });
  return all;
}

}  // namespace weyl
