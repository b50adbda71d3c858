#include "weyl/app/command_line_draft.h"

#include <CLI/CLI.hpp>

namespace weyl {

CLI::App& add_verb(CLI::App& parent, const char* name, const char* what, const std::string& footer) {
  CLI::App& app = *parent.add_subcommand(name, what);
  app.footer(footer);
  return app;
}

CLI::App& add_group(CLI::App& root, const char* name, const char* what, const std::string& footer) {
  CLI::App& group = add_verb(root, name, what, footer);
  group.require_subcommand(1);
  return group;
}

std::string examples(const std::vector<std::string>& lines, const std::string& last) {
  std::string footer = "Examples:";
  for (const std::string& line : lines) {
    footer += "\n  weyl " + line;
  }
  return footer + (last.empty() ? "" : "\n" + last);
}

std::string block(const std::string& title, const std::vector<std::string>& lines) {
  std::string page = title;
  for (const std::string& line : lines) {
    page += "\n  " + line;
  }
  return page + "\n\n";
}

}  // namespace weyl
