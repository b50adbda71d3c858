#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/containers/text_lines.h"

namespace weyl {

/// Frames of one reader, each with its row of a table, a text of columns between commas whose first line names them, in the
/// same order. What the columns are, a derived reader says.
class TabledFrames : public FrameReader {
 public:
  std::string where() const override { return frames_->where(); }
  std::string_view unit_of(std::string_view name) const override { return frames_->unit_of(name); }
  std::optional<FramePlace> place() override { return place_of(*frames_, table_); }
  void go_to(const FramePlace& place) override;

 protected:
  /// `where`: the name of the table; `ends`: what is said of the frames where rows are left, "the SDF file, which ends".
  TabledFrames(std::unique_ptr<FrameReader> frames, std::unique_ptr<ByteSource> table, std::string_view where,
               std::string_view ends);

  /// The next frame and the cells of its row, as many as `names_`; false at the end. DataError with the table and its line: a
  /// row of other columns, or one that is missing or too many.
  bool next_row(AtomsFrame& frame, std::vector<std::string_view>& cells);
  /// DataError with the table and its line: the cell is no finite number.
  double number(const std::vector<std::string_view>& cells, size_t column) const;

  TextLines table_;
  std::vector<std::string> names_;  // of all columns, by which messages name them

 private:
  std::unique_ptr<FrameReader> frames_;
  std::string ends_;
};

}  // namespace weyl
