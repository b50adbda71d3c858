#include "weyl/study/audit/audit_summary.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace {

std::string error_text(double error) {
  std::ostringstream out;
  out << std::scientific << std::setprecision(1) << error;
  return out.str();
}

void add_name(std::string& list, const std::string& name) {
  list += (list.empty() ? "" : ", ") + name;
}

/// The largest error of each thing tried, in the order in which the things first occur.
struct Worst {
  std::string of, output;
  double error = 0;
};

void note_error(std::vector<Worst>& all, const std::string& of, const std::string& output, double error) {
  auto found = std::ranges::find(all, of, &Worst::of);
  if (found == all.end()) {
    found = all.insert(all.end(), {of, output, error});
  } else if (worst_of(found->error, error) != found->error) {
    found->error = error;
    found->output = output;
  }
}

/// Claims: one line of those that hold, one of those that do not.
void say_claims(const AuditReport& report, std::vector<std::string>& lines) {
  std::vector<Worst> failed, held;
  std::vector<std::string> groups;
  for (const AuditClaim& c : report.claims) {
    if (std::ranges::find(groups, c.group) == groups.end()) {
      groups.push_back(c.group);
    }
    if (!c.passed) {
      const std::string how =
          c.constant ? " is the same for all samples" : " is off by " + error_text(c.error);
      note_error(failed, c.group, c.output + how + " in " + c.dtype, c.error);
    }
  }
  std::string exact, broken;
  for (const std::string& group : groups) {
    const auto found = std::ranges::find(failed, group, &Worst::of);
    if (found == failed.end()) {
      add_name(exact, group);
    } else {
      add_name(broken, group + " (" + found->output + ")");
    }
  }
  if (!exact.empty()) {
    for (const AuditClaim& c : report.claims) {
      if (std::ranges::find(failed, c.group, &Worst::of) == failed.end()) {
        note_error(held, c.dtype, c.output, c.error);
      }
    }
    std::string most;
    for (const Worst& w : held) {
      add_name(most, error_text(w.error) + " in " + w.of);
    }
    lines.push_back("exact under " + exact + ": off by at most " + most +
                    " of an output's spread or of what rounds it");
  }
  if (!broken.empty()) {
    lines.push_back("NOT exact, though claimed, under " + broken);
  }
  if (groups.empty()) {
    lines.emplace_back("exact under nothing: the model claims nothing");
  }
}

/// What holds nearly or not at all, of predictions where there are some. A shear and a right factor of its own for each pose
/// are there to show and mean nothing to users; of rotations the measures say more than the control.
void say_misses(const AuditReport& report, const Symmetry& claimed, std::vector<std::string>& lines) {
  const auto predicted = [](const AuditMeasure& m) { return m.output.starts_with("prediction."); };
  const bool predictions = std::ranges::any_of(report.measures, predicted);
  std::vector<Worst> misses;
  for (const AuditMeasure& m : report.measures) {
    if (!m.constant && (!predictions || predicted(m))) {
      note_error(misses, m.group, m.output, m.error);
    }
  }
  for (const AuditControl& c : report.controls) {
    if (c.transformation != "shear" && c.transformation != "right factors" &&
        c.transformation != "rotation") {
      note_error(misses, c.transformation, "", c.error);
    }
  }
  std::string all;
  for (const Worst& w : misses) {
    add_name(all,
             w.of + " by up to " + error_text(w.error) + (w.output.empty() ? "" : " (" + w.output + ")"));
  }
  if (!all.empty()) {
    lines.push_back("off under " + all + ", of an output's spread");
  }
  for (const Claim& claim : claimed.approximate) {
    if (std::ranges::find(report.measures, claim.group, &AuditMeasure::group) == report.measures.end()) {
      lines.push_back("nearly exact under " + claim.group +
                      ", by how much is not measured: turned cells would be interpolated");
    }
  }
}

bool holds(const std::vector<Claim>& claims, std::initializer_list<Claim::Of> any) {
  return std::ranges::any_of(
      claims, [&](const Claim& claim) { return std::ranges::find(any, claim.of) != any.end(); });
}

/// The answers that stay under a motion, and those that move with the sample.
std::string how_answers_move(std::span<const Quantity> answers) {
  std::string stay, move;
  for (const Quantity& q : answers) {
    add_name(q.kind == Kind::scalar || q.kind == Kind::category ? stay : move, q.name);
  }
  std::string result = stay.empty() ? "" : stay + " stay" + (stay.find(',') == std::string::npos ? "s" : "");
  if (!move.empty()) {
    result += (result.empty() ? "" : " and ") + move + " move" +
              (move.find(',') == std::string::npos ? "s" : "") + " along";
  }
  return result;
}

std::string meaning(const AuditReport& report, const Symmetry& claimed, std::span<const Quantity> answers,
                    bool augmented) {
  using Of = Claim::Of;
  if (std::ranges::any_of(report.claims, [](const AuditClaim& c) { return !c.passed; })) {
    return "answers for a sample and for its image differ by more than rounding: do not rely on the claims that fail";
  }
  const bool left = holds(claimed.exact, {Of::left_motions}),
             turned = holds(claimed.exact, {Of::rotations, Of::rotoreflections}),
             mirrored = holds(claimed.exact, {Of::rotoreflections}),
             shifted = left || holds(claimed.exact, {Of::translations});
  const std::string moves = how_answers_move(answers);
  if (left || turned) {
    std::string ways = left ? "moved as a whole" : mirrored ? "turned or mirrored" : "turned";
    ways += !left && shifted ? " or shifted" : "";
    return "when a sample is " + ways + ", " + moves +
           ", whatever the training has seen: no augmentation is needed for that";
  }
  std::string group;
  for (const Claim& claim : claimed.exact) {
    if (claim.of == Of::finite) {
      add_name(group, claim.group);
    }
  }
  const std::string kept = group.empty() ? "" : "under the motions of " + group + " " + moves + "; ";
  return kept + "a sample that is turned by " + (group.empty() ? "anything" : "another angle") +
         " gets another answer: " +
         (augmented
              ? "training turns its samples, which makes the difference smaller and never zero"
              : "where samples come in any direction, train with turned ones (train.augment = \"rotations\", or "
                "turned data), or take a system that is exact under all rotations");
}

}  // namespace

std::vector<std::string> summary_of(const AuditReport& report, const Symmetry& claimed,
                                    std::span<const Quantity> answers, bool augmented) {
  std::vector<std::string> lines{"for this task: " + meaning(report, claimed, answers, augmented)};
  say_claims(report, lines);
  say_misses(report, claimed, lines);
  for (const SkippedControl& c : report.skipped) {
    lines.push_back("not judged: " + c.transformation + ", under which every sample is its own image");
  }
  return lines;
}

}  // namespace weyl
