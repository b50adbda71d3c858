#include "weyl/data/containers/text_lines.h"

#include <algorithm>
#include <cstring>

namespace weyl {
namespace {

constexpr size_t kTextBlock = size_t{1} << 16;

}  // namespace

TextLines::TextLines(std::unique_ptr<ByteSource> source, std::string_view where, size_t longest)
    : source_(std::move(source)), where_(where), longest_(longest), buffer_(kTextBlock) {}

/// Reads more behind what is there.
bool TextLines::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    base_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    buffer_.resize(2 * buffer_.size());
  }
  const size_t size = source_->read(std::as_writable_bytes(std::span(buffer_)).subspan(end_));
  end_ += size;
  if (const std::string fault = size == 0 ? source_->fault() : ""; !fault.empty()) {
    throw DataError(text(where(number_ + 1), ": ", fault));
  }
  return size > 0;
}

std::string TextLines::where(int64_t line) const {
  if (from_) {
    return text(where_, ": from byte ", *from_, ", line ", line - 1);
  }
  return frame_ == 0 ? text(where_, ": line ", line) : text(where_, ": frame ", frame_, ", line ", line);
}

void TextLines::check_length(size_t size) const {
  if (size > longest_) {
    throw DataError(text(where(number_ + 1), ": a line must have at most ", longest_, " characters"));
  }
}

bool TextLines::next() {
  if (held_) {
    held_ = false;
    return true;
  }
  size_t seen = 0;
  const char* stop = nullptr;
  while (true) {
    const char* begin = buffer_.data() + begin_;
    const size_t size = end_ - begin_;
    stop = size > seen ? static_cast<const char*>(std::memchr(begin + seen, '\n', size - seen)) : nullptr;
    if (stop != nullptr || ended_) {
      break;
    }
    seen = size;
    check_length(size);
    ended_ = !fill();
  }
  const char* begin = buffer_.data() + begin_;
  if (stop == nullptr && begin_ == end_) {
    return false;
  }
  const size_t size = stop == nullptr ? end_ - begin_ : static_cast<size_t>(stop - begin);
  check_length(size);
  line_ = {begin, size};
  line_place_ = base_ + begin_;
  begin_ += stop == nullptr ? size : size + 1;
  if (line_.ends_with('\r')) {
    line_.remove_suffix(1);
  }
  if (number_ == 0 && line_.starts_with("\xEF\xBB\xBF")) {
    line_.remove_prefix(3);
  }
  ++number_;
  return true;
}

std::optional<uint64_t> TextLines::place() const {
  return source_->can_go() ? std::optional(held_ ? line_place_ : base_ + begin_) : std::nullopt;
}

void TextLines::go_to(uint64_t byte) {
  source_->go_to(byte);
  begin_ = end_ = 0;
  base_ = byte;
  held_ = ended_ = false;
  number_ = frame_ = byte > 0 ? 1 : 0;
  from_ = byte > 0 ? std::optional(byte) : std::nullopt;
}

bool TextLines::next_frame() {
  ++frame_;  // what is wrong on the way there is of that frame
  const bool found = next_filled();
  frame_ -= found ? 0 : 1;
  return found;
}

bool TextLines::next_filled() {
  while (next()) {
    if (!std::ranges::all_of(line_, is_blank)) {
      return true;
    }
  }
  return false;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::vector<std::string_view> comma_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  }
  return cells;
}

std::string_view take_word(std::string_view& line) {
  const char* at = line.data();
  const char* last = at + line.size();
  while (at != last && is_blank(*at)) {
    ++at;
  }
  const char* begin = at;
  while (at != last && !is_blank(*at)) {
    ++at;
  }
  line = {at, static_cast<size_t>(last - at)};
  return {begin, static_cast<size_t>(at - begin)};
}

}  // namespace weyl
