#include "weyl/core/setting.h"

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {

std::string text_of(const Setting& setting) {
  switch (setting.kind) {
    case Setting::Kind::none:
      return "none";
    case Setting::Kind::boolean:
      return setting.number != 0 ? "true" : "false";
    case Setting::Kind::number:
      return text(setting.number);
    case Setting::Kind::word:
      return printable(setting.word, 40);
    case Setting::Kind::other:
      break;
  }
  return "something else";
}

}  // namespace weyl
