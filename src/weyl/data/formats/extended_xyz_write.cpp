#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/data/formats/extended_xyz.h"
#include "weyl/data/formats/extended_xyz_comment.h"
#include "weyl/data/formats/gzip.h"

namespace weyl {
namespace {

constexpr size_t kWritten = size_t{1} << 20;

char letter_of(const FrameValues& values) {
  constexpr std::string_view letters = "RILS";  // in the order of the variant
  return letters[values.index()];
}

void append_entry(std::string& to, double x) {
  append_number(to, x);
}
void append_entry(std::string& to, int64_t x) {
  append_number(to, x);
}
void append_entry(std::string& to, uint8_t yes) {
  to += yes != 0 ? 'T' : 'F';
}
void append_entry(std::string& to, const std::string& text) {
  append_text(to, text);
}

void check_writable(const AtomsFrame& frame) {
  for (const auto& column : frame.columns) {
    const auto& name = column.name;
    require<DataError>(!name.empty() && name.find_first_of(" \t\r\n\v\f\"\\=:{}[],") == std::string::npos &&
                           name != "species" && name != "symbols" && name != "pos" && name != "positions",
                       "extended xyz: a column cannot be named ", quote(name));
  }
  for (const auto& value : frame.values) {
    require<DataError>(value.name != "Properties" && value.name != "Lattice" && value.name != "pbc",
                       "extended xyz: a value cannot be named ", quote(value.name));
    require<DataError>(value.shape.size() <= 2, "extended xyz: ", quote(value.name),
                       " must have at most 2 dimensions, got shape ", shape_text(value.shape));
  }
  require<DataError>(frame.cell || frame.pbc == std::array<bool, 3>{}, "extended xyz: pbc needs a cell");
  require<DataError>(frame.bonds.empty(), "extended xyz: cannot hold bonds");
}

void append_comment(std::string& to, const AtomsFrame& frame) {
  if (frame.cell) {
    to += "Lattice=\"";
    for (size_t i = 0; i < 9; ++i) {
      to += i == 0 ? "" : " ";
      append_number(to, (*frame.cell)[i]);
    }
    to += "\" ";
  }
  to += "Properties=species:S:1:pos:R:3";
  for (const auto& column : frame.columns) {
    to += ':';
    to += column.name;
    to += ':';
    to += letter_of(column.values);
    to += ':';
    append_number(to, column.width);
  }
  for (const auto& value : frame.values) {
    append_pair(to, value);
  }
  to += " pbc=\"";
  for (size_t d = 0; d < 3; ++d) {
    to += d == 0 ? "" : " ";
    to += frame.pbc[d] ? 'T' : 'F';
  }
  to += "\"\n";
}

}  // namespace

void append_extended_xyz(std::string& to, const AtomsFrame& frame) {
  check_frame(frame, "extended xyz");
  check_writable(frame);
  append_number(to, frame.size());
  to += '\n';
  append_comment(to, frame);
  for (size_t atom = 0; atom < frame.numbers.size(); ++atom) {
    to += element_symbol(frame.numbers[atom]);
    for (size_t d = 0; d < 3; ++d) {
      to += ' ';
      append_number(to, frame.positions[3 * atom + d]);
    }
    for (const auto& column : frame.columns) {
      std::visit(
          [&](const auto& values) {
            const auto width = static_cast<size_t>(column.width);
            for (size_t k = 0; k < width; ++k) {
              to += ' ';
              append_entry(to, values[width * atom + k]);
            }
          },
          column.values);
    }
    to += '\n';
  }
}

ExtendedXyzWriter::ExtendedXyzWriter(const std::string& path, Existing existing)
    : file_(path, existing), path_(path) {}

void ExtendedXyzWriter::write(const AtomsFrame& frame) {
  append_extended_xyz(buffer_, frame);
  if (buffer_.size() >= kWritten) {
    flush();
  }
}

void ExtendedXyzWriter::flush() {
  if (path_.ends_with(".gz")) {  // members of a gzip file may follow one another
    file_.write(gzip(std::as_bytes(std::span(buffer_)), path_));
  } else {
    file_.write(buffer_);
  }
  buffer_.clear();
}

void ExtendedXyzWriter::commit() {
  flush();
  file_.commit();
}

}  // namespace weyl
