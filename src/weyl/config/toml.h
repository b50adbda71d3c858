#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

/// A Visit calls `fields(f, options)` for the struct that the caller holds: the functions below run it with
/// the right visitor, so they need no templates and only toml.cpp knows toml++.
using Visit = std::function<void(Fields&)>;

/// Reads a TOML file into a struct. Overrides ("train.epochs=5": a path and a TOML value; a bare word is a
/// string) replace what the file says before anything is read. Throws ConfigError for an unknown key (naming
/// the nearest), a wrong type (an integer serves for a number, never the reverse), a value out of range or
/// not finite, a duplicate key or a syntax error: `file:line: key.path: what must hold, got what was found`.
/// A value from an override is named as `override 'train.epochs=5'` in place of file and line.
void read_toml(const std::string& path, std::span<const std::string> overrides, const Visit& visit);
void read_toml_text(std::string_view text, std::string_view where, std::span<const std::string> overrides,
                    const Visit& visit);

/// The tables and keys at `paths` ("task", "train.batch") of a document whose others belong to other readers: they are
/// not looked at.
void read_toml_part(std::string_view text, std::string_view where, std::span<const std::string_view> paths,
                    const Visit& visit);

/// The resolved options as TOML that reads back to equal options (round-trip exact doubles). Of a variant
/// only the chosen alternative is written. ConfigError for a number that is not finite.
std::string write_toml(const Visit& visit);

/// The reference page (Markdown: key, type, default, help; one section a table), the JSON schema (draft
/// 2020-12), and the description of one key or table ("train.optimiser.rate"; ConfigError with the nearest
/// key when there is none). The options visited supply the defaults.
std::string describe_markdown(const Visit& visit, std::string_view title);
std::string describe_json_schema(const Visit& visit);
std::string explain(const Visit& visit, std::string_view key);

/// The keys that a Visit shows, for help pages: two lines each, help first, then what it must be and its
/// default, as `explain` says them.
std::string describe_keys(const Visit& visit);

template <class S>
void read_config(const std::string& path, std::span<const std::string> overrides, S& options) {
  read_toml(path, overrides, [&](Fields& f) { fields(f, options); });
}

}  // namespace weyl
