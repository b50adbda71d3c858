#include "weyl/study/scaling/coefficients.h"

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/read_file.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr size_t most_bytes = size_t{1} << 20;

// The numbers of one row, refused by file and line.
class Row {
 public:
  Row(const CsvLines& lines, std::string_view where, int64_t line, const CsvRow& cells)
      : lines_(lines), where_(where), line_(line), cells_(cells) {}

  const std::string& cell(std::string_view name) const {
    static const std::string absent;
    const int64_t place = lines_.column(name);
    return place < 0 ? absent : cells_[static_cast<size_t>(place)];
  }
  double positive(std::string_view name) const {
    const CsvNumber number = positive_number(name, cell(name));
    require<DataError>(number.fault.empty(), where_, ":", line_, ": ", number.fault);
    return number.value;
  }

 private:
  const CsvLines& lines_;
  std::string_view where_;
  int64_t line_;
  const CsvRow& cells_;
};

}  // namespace

std::vector<GivenLaw> parse_coefficients(std::string_view contents, std::string_view where) {
  CsvLines lines(contents, where, {"system", "A", "alpha", "B", "beta"});
  std::vector<GivenLaw> laws;
  lines.each([&](int64_t line, const CsvRow& cells) {
    const Row row(lines, where, line, cells);
    GivenLaw given;
    given.system = row.cell("system");
    require<DataError>(!given.system.empty(), where, ":", line, ": system is missing");
    require<DataError>(std::ranges::find(laws, given.system, &GivenLaw::system) == laws.end(), where, ":",
                       line, ": system ", quote(given.system), " is there twice");
    given.law = {row.positive("A"), row.positive("alpha"), row.positive("B"), row.positive("beta"), 0};
    const std::string& E = row.cell("E");
    if (!E.empty() && parse_real(E) != 0.0) {  // 0, 0.0, -0: none
      given.law.E = row.positive("E");
    }
    if (!row.cell("xi").empty()) {
      given.xi = row.positive("xi");
    }
    laws.push_back(std::move(given));
  });
  if (!lines.refused().empty()) {
    throw DataError(text(where, ":", lines.refused().front().line, ": ", lines.refused().front().reason));
  }
  require<DataError>(!laws.empty() && laws.size() <= 100, where, ": must hold one to 100 systems, holds ",
                     laws.size());
  return laws;
}

std::vector<GivenLaw> read_coefficients(const std::string& path) {
  const FileContents file = read_file(path, most_bytes);
  if (file.error != 0) {
    throw_unread(path + ": " + file.fault, file.error);
  }
  require<DataError>(file.fault.empty(), path, ": ", file.fault);
  return parse_coefficients(file.text, path);
}

}  // namespace weyl
