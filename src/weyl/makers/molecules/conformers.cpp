#include "weyl/makers/molecules/conformers.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/sdf.h"
#include "weyl/data/containers/text_lines.h"
#include "weyl/makers/molecules/smiles.h"

namespace weyl {

void fields(Fields& f, ConformersMakerOptions& o) {
  f("file", o.file, ".csv or .csv.gz with a column `smiles`, such as data.csv.gz of PCQM4Mv2; must be given");
  f("conformers", o.conformers, "of each molecule", {1, 1000});
  f("first", o.first, "row to begin with, from 0", {0, 1e9});
  f("count", o.count, "rows; 0: all that follow", {0, 1e9});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("threads", o.threads, "threads that draw the conformers of a molecule; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const ConformersMakerOptions& o) {
  return {.what = text("of each molecule of ", o.file),
          .counts = {{"conformers", o.conformers}},
          .make = std::bind_front(make_conformers, o)};
}

namespace {

/// The rows of a table, as the texts of its column `smiles`.
class SmilesTable {
 public:
  explicit SmilesTable(const std::string& path) : lines_(open_bytes(path), path) {
    const auto cells = lines_.next() ? comma_cells(lines_.line()) : std::vector<std::string_view>();
    columns_ = cells.size();
    column_ = static_cast<size_t>(std::ranges::find(cells, "smiles") - cells.begin());
    lines_.check(column_ < columns_, "must name a column smiles, names ",
                 columns_ == 0 ? "none" : quote(lines_.line(), 60));
  }

  bool next() { return lines_.next_filled(); }
  std::string smiles() const {
    const auto cells = comma_cells(lines_.line());
    lines_.check(cells.size() == columns_, "must have the ", columns_, " columns of the first line, has ",
                 cells.size());
    return std::string(cells[column_]);
  }
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    lines_.check(holds, parts...);
  }

 private:
  TextLines lines_;
  size_t columns_ = 0, column_ = 0;
};

int64_t rows_of(const std::string& path) {
  int64_t rows = 0;
  for (SmilesTable table(path); table.next();) {
    ++rows;
  }
  return rows;
}

}  // namespace

bool make_conformers(const ConformersMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  require<ConfigError>(!o.file.empty(), "conformers: file must be given");
  const int64_t rows = rows_of(o.file), end = o.count == 0 ? rows : o.first + o.count;
  require<ConfigError>(o.first < end && end <= rows, "conformers: first and count must be within the ", rows,
                       " rows of ", o.file, ", got ", o.first, " and ", o.count);
  std::array<char, 32> name{"conformers.sdf"};
  if (end - o.first < rows) {
    std::snprintf(name.data(), name.size(), "conformers-%09lld.sdf", static_cast<long long>(o.first));
  }
  NewFiles files;
  files.add((std::filesystem::path(folder) / name.data()).string());
  return files.keep_if([&](const NewFiles::Written& written) {
    AtomicFile file(files.path(0), Existing::keep);
    SmilesTable table(o.file);
    auto told = std::chrono::steady_clock::now();
    for (int64_t row = 0; row < end && table.next(); ++row) {
      if (row < o.first) {
        continue;
      }
      if (hooks.stop && hooks.stop()) {
        return false;
      }
      const uint64_t seed =
          Stream(static_cast<uint64_t>(o.seed), "conformers", {static_cast<uint64_t>(row)}).bits();
      std::string sdf;
      try {
        for (AtomsFrame& frame : conformers_of_smiles(table.smiles(), o.conformers, seed, o.threads)) {
          remove_hydrogens(frame);
          frame.set(FrameValue{"idx", {}, std::vector{row}});
          append_sdf(sdf, frame);
        }
      } catch (const ConfigError& error) {
        table.check(false, error.what());
      }
      file.write(sdf);
      if (const auto now = std::chrono::steady_clock::now();
          hooks.report && now - told > std::chrono::milliseconds(100)) {
        hooks.report(row + 1 - o.first, end - o.first);
        told = now;
      }
    }
    file.commit();
    written(0);
    return true;
  });
}

}  // namespace weyl
