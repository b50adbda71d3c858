#include "weyl/core/check.h"

#include <charconv>
#include <cmath>
#include <sstream>

namespace weyl {

void Part::append_to(std::string& message) const {
  char digits[32];
  const auto append = [&](auto... number) {
    message.append(digits, std::to_chars(std::begin(digits), std::end(digits), number...).ptr);
  };
  switch (kind_) {
    case Kind::text:
      message.append(value_.text.data, value_.text.size);
      break;
    case Kind::character:
      message += value_.character;
      break;
    case Kind::natural:
      append(value_.natural);
      break;
    case Kind::integer:
      append(value_.integer);
      break;
    case Kind::real:
      append(value_.real, std::chars_format::general, 6);
      break;
    case Kind::streamed: {
      std::ostringstream out;
      value_.streamed.write(out, value_.streamed.self);
      message += out.view();
      break;
    }
  }
}

std::string joined_parts(std::initializer_list<Part> parts) {
  std::string message;
  for (const Part& part : parts) {
    part.append_to(message);
  }
  return message;
}

}  // namespace weyl
