#include "weyl/data/atoms/tabled_frames.h"

#include <cmath>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {

TabledFrames::TabledFrames(std::unique_ptr<FrameReader> frames, std::unique_ptr<ByteSource> table,
                           std::string_view where, std::string_view ends)
    : table_(std::move(table), where), frames_(std::move(frames)), ends_(ends) {}

bool TabledFrames::next_row(AtomsFrame& frame, std::vector<std::string_view>& cells) {
  if (!frames_->next(frame)) {
    table_.check(!table_.next_filled(), "a row must have a molecule of ", ends_, " before");
    return false;
  }
  require<DataError>(table_.next_filled(), table_.where(),
                     ": must have a row for each molecule, ends before ", frames_->where());
  cells = comma_cells(table_.line());
  table_.check(cells.size() == names_.size(), "must have the ", names_.size(),
               " columns of the first line, has ", cells.size());
  return true;
}

double TabledFrames::number(const std::vector<std::string_view>& cells, size_t column) const {
  const auto x = parse_real(cells[column]);
  if (!x || !std::isfinite(*x)) {
    table_.check(false, names_[column], " must be a finite number, got ", quote(cells[column], 40));
  }
  return *x;
}

void TabledFrames::go_to(const FramePlace& place) {
  frames_->go_to(place);
  table_.go_to(place.beside);
}

}  // namespace weyl
