#include "weyl/app/terminal/visible_output.h"

#include <iostream>
#include <string_view>

#include "weyl/core/quote.h"

namespace weyl {

VisibleOutput::VisibleOutput() : out_(std::cout.rdbuf()), error_(std::cerr.rdbuf()) {
  std::cout.rdbuf(&out_);
  std::cerr.rdbuf(&error_);
}

VisibleOutput::~VisibleOutput() {
  out_.pubsync();
  error_.pubsync();
  std::cout.rdbuf(out_.to());
  std::cerr.rdbuf(error_.to());
}

bool VisibleOutput::Lines::hand_on() {
  const std::string shown = visible(line_, "\n\t");
  line_.clear();
  const auto size = static_cast<std::streamsize>(shown.size());
  return to_->sputn(shown.data(), size) == size;
}

VisibleOutput::Lines::int_type VisibleOutput::Lines::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) {
    return traits_type::not_eof(c);
  }
  const char one = traits_type::to_char_type(c);
  return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

std::streamsize VisibleOutput::Lines::xsputn(const char* text, std::streamsize size) {
  const std::string_view added(text, static_cast<size_t>(size));
  line_ += added;
  return added.find('\n') == std::string_view::npos || hand_on() ? size : 0;
}

int VisibleOutput::Lines::sync() {
  const bool handed_on = hand_on();
  return to_->pubsync() == 0 && handed_on ? 0 : -1;
}

}  // namespace weyl
