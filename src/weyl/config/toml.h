#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

/// A Visit calls `fields(f, options)` for a struct that the caller holds. The functions below run it with the right
/// visitor. So they need no templates, and only toml.cpp knows toml++.
using Visit = std::function<void(Fields&)>;

/// Reads a TOML file into a struct. Overrides are a path and a TOML value, "train.epochs=5"; a bare word is a string.
/// They replace what the file says before anything is read.
///
/// ConfigError, `file:line: key.path: what must hold, got what was found`, for an unknown key (naming the nearest), a
/// wrong type (an integer serves for a number, never the reverse), a value that is out of range or not finite, a
/// duplicate key, and a syntax error. Where an override gave the value, `override 'train.epochs=5'` stands in place of
/// file and line.
void read_toml(const std::string& path, std::span<const std::string> overrides, const Visit& visit);
void read_toml_text(std::string_view text, std::string_view where, std::span<const std::string> overrides,
                    const Visit& visit);

/// Reads only the tables and keys at `paths` ("task", "train.batch"). The rest of the document belongs to other readers
/// and is not looked at.
void read_toml_part(std::string_view text, std::string_view where, std::span<const std::string_view> paths,
                    const Visit& visit);

/// The resolved options as TOML that reads back to equal options; doubles round-trip exactly. A variant is written with
/// its chosen alternative alone. ConfigError for a number that is not finite.
std::string write_toml(const Visit& visit);

/// Documentation of the options; the options visited supply the defaults.
///   describe_markdown     the reference page: key, type, default, help; one section for each table
///   describe_json_schema  the JSON schema (draft 2020-12)
///   explain               one key or table ("train.optimiser.rate"). ConfigError, with the nearest key, when there is
///                         none
std::string describe_markdown(const Visit& visit, std::string_view title);
std::string describe_json_schema(const Visit& visit);
std::string explain(const Visit& visit, std::string_view key);

/// The keys that a Visit shows, for help pages. Each has two lines: its help, then its requirement and default as
/// `explain` states them.
std::string describe_keys(const Visit& visit);

template <class S>
void read_config(const std::string& path, std::span<const std::string> overrides, S& options) {
  read_toml(path, overrides, [&](Fields& f) { fields(f, options); });
}

}  // namespace weyl
