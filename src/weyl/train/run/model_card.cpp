#include "weyl/train/run/model_card.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "weyl/core/markdown.h"
#include "weyl/train/run/journal.h"

namespace weyl {
namespace {

/// A name as code, where it is one.
std::string code(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || c == '-' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
  return plain ? '`' + name + '`' : markdown_text(name);
}

void list(std::ostream& out, const char* title, const std::vector<Quantity>& quantities) {
  out << "| " << title << " |";
  const char* between = " ";
  for (const auto& q : quantities) {
    out << between << code(q.name) << " (" << level_names[static_cast<int>(q.level)] << ' '
        << kind_names[static_cast<int>(q.kind)];
    if (q.channels != 1) {
      out << " x " << q.channels;
    }
    out << (q.unit.empty() ? "" : ", ") << markdown_text(q.unit) << ')';
    between = ", ";
  }
  out << (quantities.empty() ? " none |\n" : " |\n");
}

std::string joined_markdown(const std::vector<std::string>& items) {
  std::string all;
  for (const auto& item : items) {
    all += all.empty() ? "" : ", ";
    all += markdown_text(item);
  }
  return all.empty() ? "none" : all;
}

}  // namespace

std::string model_card(const std::string& name, const ModelSummary& s, const std::vector<CardResult>& results,
                       const std::vector<std::string>& notes) {
  std::ostringstream out;
  out << "---\nlibrary_name: weyl\ntags:\n- weyl\n- equivariance\n- " << s.system << "\n";
  if (!s.task.empty()) {
    out << "- " << s.task << "\n";
  }
  out << "---\n\n# " << markdown_text(name) << "\n\n"
      << "A `" << s.system << "` model on " << s.carrier << ", trained with weyl " << s.weyl_version
      << ". Use it with `weyl eval`, `weyl predict` and\n`weyl audit` on this folder; `weyl train --resume` "
         "continues "
         "the training.\n\n"
      << "| | |\n|---|---|\n"
      << "| parameters | " << s.parameters << " (" << s.dtype << ") |\n"
      << "| exact symmetry | " << joined_markdown(s.exact) << " |\n";
  if (!s.approximate.empty()) {
    out << "| approximate symmetry | " << joined_markdown(s.approximate) << " |\n";
  }
  list(out, "inputs", s.interface.features);
  list(out, "outputs", s.interface.outputs);
  out << "| trained for | " << s.step << " steps, " << exact_text(s.epoch) << " epochs |\n";
  for (const auto& note : notes) {
    out << "\n**Note:** " << note << ".\n";
  }
  if (!results.empty()) {
    out << "\n## Results\n\n| metric | value | unit |\n|---|---|---|\n";
    for (const auto& r : results) {
      out << "| " << markdown_text(r.name) << " | " << exact_text(r.value) << " | " << markdown_text(r.unit)
          << " |\n";
    }
  }
  out << "\n`config.toml` is the resolved config, `metrics.csv` the learning curve, `timing.csv` where the "
         "time went.\n";
  return out.str();
}

}  // namespace weyl
