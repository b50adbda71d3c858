#include "weyl/data/formats/amat.h"

#include <algorithm>
#include <charconv>

#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

constexpr size_t kLeastLine = 2 * (amat_pixels + 1) - 1;  // "0 0 ... 0"

bool is_amat_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

const char* after_blanks(const char* at, const char* end) {
  while (at != end && is_amat_blank(*at)) {
    ++at;
  }
  return at;
}

/// The column at `at`, for an error line.
std::string column_text(const char* at, const char* end) {
  return quote({at, static_cast<size_t>(std::find_if(at, end, is_amat_blank) - at)}, 40);
}

class LineReader {
 public:
  LineReader(AmatImages& to, std::string_view where) : to_(to), where_(where) {}

  void read(std::string_view line, int64_t number) {
    line_ = number;
    const char *at = line.data(), *end = at + line.size();
    at = after_blanks(at, end);
    if (at == end) {
      return;
    }
    int64_t column = 0;
    double label = 0;
    for (; at != end; ++column) {
      if (column > amat_pixels) {
        break;
      }
      double x = 0;
      const char* begin = at;
      if (at + 1 < end ? *at == '0' && is_amat_blank(at[1]) : *at == '0') {  // most pixels: a short way
        ++at;
      } else {
        const auto [stop, error] = std::from_chars(at, end, x);
        check(error == std::errc() && (stop == end || is_amat_blank(*stop)), "column ", column + 1,
              " must be a number, got ", column_text(begin, end));
        at = stop;
      }
      if (column < amat_pixels) {
        check(x >= 0 && x <= 1, "column ", column + 1, " must be a pixel in [0, 1], got ",
              column_text(begin, end));
        to_.pixels.push_back(static_cast<float>(x));
      } else {
        check(x >= 0 && x <= 9 && x == static_cast<double>(static_cast<int64_t>(x)), "column ", column + 1,
              " must be a label 0 .. 9, got ", column_text(begin, end));
        label = x;
      }
      at = after_blanks(at, end);
    }
    check(column == amat_pixels + 1 && at == end, "must have 785 columns, 784 pixels and the label, got ",
          at == end ? std::to_string(column) : "more");
    to_.labels.push_back(static_cast<int64_t>(label));
  }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) [[unlikely]] {
      require<DataError>(false, where_, ": line ", line_, ": ", parts...);
    }
  }

  AmatImages& to_;
  std::string_view where_;
  int64_t line_ = 0;
};

}  // namespace

AmatImages parse_amat(std::string_view file, std::string_view where) {
  AmatImages found;
  // A file cannot hold more images than lines of the least length.
  const size_t most = file.size() / kLeastLine + 1;
  found.pixels.reserve(std::min<size_t>(std::count(file.begin(), file.end(), '\n') + 1, most) * amat_pixels);
  LineReader reader(found, where);
  for (int64_t number = 1; !file.empty(); ++number) {
    const size_t end = std::min(file.find('\n'), file.size());
    reader.read(file.substr(0, end), number);
    file.remove_prefix(std::min(end + 1, file.size()));
  }
  require<DataError>(found.size() > 0, where, ": must hold at least one image, holds none");
  return found;
}

AmatImages read_amat(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_amat({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::string amat_text(std::span<const float> pixels, std::span<const int64_t> labels) {
  require(pixels.size() == labels.size() * amat_pixels, "amat: must have 784 pixels for each of ",
          labels.size(), " labels, got ", pixels.size());
  std::string result;
  result.reserve(pixels.size() * 4);
  char number[32];
  for (size_t i = 0; i < labels.size(); ++i) {
    for (const float x : pixels.subspan(i * amat_pixels, amat_pixels)) {
      const auto end = std::to_chars(std::begin(number), std::end(number), x).ptr;
      result.append(number, end).push_back(' ');
    }
    result.append(std::to_string(labels[i])).push_back('\n');
  }
  return result;
}

}  // namespace weyl
