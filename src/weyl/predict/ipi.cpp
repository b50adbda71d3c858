#include "weyl/predict/ipi.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

constexpr size_t header_size = 12;
constexpr int32_t longest_text = 1 << 20;
constexpr int64_t most_at_once = 1 << 16;

/// One message, sent as a whole: several writes would each wait for an acknowledgement.
class Message {
 public:
  explicit Message(std::string_view header) {
    std::string padded(header);
    padded.resize(header_size, ' ');
    add_all(padded);
  }
  template <class T>
  void add(T value) {
    add_all(std::span(&value, 1));
  }
  template <class Values>
  void add_all(const Values& values) {
    const auto bytes = std::as_bytes(std::span(values));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

void scale(IpiForces& forces, double energy, double length) {
  forces.energy *= energy;
  for (double& x : forces.forces) {
    x *= energy * length;
  }
  for (double& x : forces.virial) {
    x *= energy;
  }
}

IpiForces mean(const std::vector<IpiForces>& members) {
  IpiForces sum = members.front();
  const auto add = [](auto& to, const auto& more) {
    std::ranges::transform(to, more, to.begin(), std::plus());
  };
  for (const IpiForces& member : std::span(members).subspan(1)) {
    sum.energy += member.energy;
    add(sum.forces, member.forces);
    add(sum.virial, member.virial);
  }
  scale(sum, 1.0 / static_cast<double>(members.size()), 1);
  return sum;
}

Json list_of(std::span<const double> numbers) {
  Json list = Json::array();
  for (const double x : numbers) {
    list.add(x);
  }
  return list;
}

/// What each model says, as i-PI's ffcommittee reads it.
std::string committee(const std::vector<IpiForces>& members) {
  Json energies = Json::array(), forces = Json::array(), virials = Json::array();
  for (const IpiForces& member : members) {
    energies.add(member.energy);
    forces.add(list_of(member.forces));
    Json virial = Json::array();
    for (size_t row = 0; row < 3; ++row) {
      virial.add(list_of(std::span(member.virial).subspan(3 * row, 3)));
    }
    virials.add(virial);
  }
  Json json = Json::object().set("committee_pot", energies).set("committee_force", forces);
  if (std::isfinite(members.front().virial.front())) {  // JSON has no NaN
    json.set("committee_virial", virials);
  }
  return json.dump();
}

/// The driver's side of one conversation.
class Driver {
 public:
  Driver(Connection& connection, int64_t atoms, const IpiEvaluate& evaluate)
      : connection_(connection), atoms_(atoms), evaluate_(evaluate) {}

  int64_t answer_all() {
    for (;;) {
      const auto header = read_header();
      if (!header || *header == "EXIT") {
        return answered_;
      }
      answer(*header);
    }
  }

 private:
  void read(std::span<std::byte> into) {
    require<DataError>(connection_.read(into), "i-PI: closed the connection within a message");
  }
  template <class T>
  T read_number() {
    T value;
    read(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  std::optional<std::string> read_header() {
    std::string header(header_size, ' ');
    if (!connection_.read(std::as_writable_bytes(std::span(header)))) {
      return std::nullopt;
    }
    header.resize(header.find_last_not_of(" \0", std::string::npos, 2) + 1);
    return header;
  }

  void answer(const std::string& header) {
    if (header == "STATUS") {
      connection_.write(Message(!initialised_ ? "NEEDINIT" : found_.empty() ? "READY" : "HAVEDATA").bytes());
    } else if (header == "INIT") {
      initialise();
    } else if (header == "POSDATA") {
      take_places();
    } else if (header == "GETFORCE") {
      give_forces();
    } else {
      throw DataError(text("i-PI: must send STATUS, INIT, POSDATA, GETFORCE or EXIT, sent ", quote(header)));
    }
  }

  void initialise() {
    read_number<int32_t>();  // which bead of a path; all are alike
    const auto length = read_number<int32_t>();
    require<DataError>(length >= 0 && length <= longest_text, "i-PI: INIT must have a text of 0 to ",
                       longest_text, " bytes, says ", length);
    std::string said(static_cast<size_t>(length), ' ');
    read(std::as_writable_bytes(std::span(said)));
    at_once_ = 1;
    constexpr std::string_view key = "batch_size:";
    const size_t at = said.find(key);
    if (at != std::string::npos) {
      const size_t begin = at + key.size();
      const auto size =
          parse_integer(said.substr(begin, said.find_first_not_of("0123456789", begin) - begin));
      require<DataError>(size && *size >= 1 && *size <= most_at_once, "i-PI: batch_size must be from 1 to ",
                         most_at_once, ", INIT says ", quote(said));
      at_once_ = *size;
    }
    initialised_ = true;
  }

  void take_places() {
    const bool batched = at_once_ > 1;
    std::vector<IpiStructure> structures(static_cast<size_t>(at_once_));
    if (batched) {
      take_count();
    }
    for (IpiStructure& structure : structures) {
      take_cell(structure);
    }
    if (!batched) {
      take_count();
    }
    for (IpiStructure& structure : structures) {
      structure.positions.resize(static_cast<size_t>(3 * atoms_));
      read(std::as_writable_bytes(std::span(structure.positions)));
      for (double& x : structure.positions) {
        x *= bohr_;
      }
    }
    found_ = evaluate_(structures);
    answered_ += at_once_;
  }

  void take_count() {
    const auto count = read_number<int32_t>();
    require<DataError>(count == atoms_, "i-PI: must send as many atoms as the template has, ", atoms_,
                       ", sends ", count);
  }

  /// Columns are lattice vectors on the wire; the inverse that follows says nothing more.
  void take_cell(IpiStructure& structure) {
    std::array<double, 18> sent;
    read(std::as_writable_bytes(std::span(sent)));
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        structure.cell[3 * i + j] = sent[3 * j + i] * bohr_;
      }
    }
  }

  void give_forces() {
    require<DataError>(!found_.empty(), "i-PI: must send POSDATA before GETFORCE");
    Message message("FORCEREADY");
    std::vector<IpiForces> means;
    for (std::vector<IpiForces>& members : found_) {
      for (IpiForces& member : members) {
        scale(member, 1 / hartree_, bohr_);
      }
      means.push_back(mean(members));
    }
    for (const IpiForces& found : means) {
      message.add(found.energy);
    }
    message.add(static_cast<int32_t>(atoms_));
    for (const IpiForces& found : means) {
      message.add_all(found.forces);
    }
    for (const IpiForces& found : means) {
      message.add_all(found.virial);
    }
    for (const std::vector<IpiForces>& members : found_) {
      const std::string extra = members.size() > 1 ? committee(members) : "";
      message.add(static_cast<int32_t>(extra.size()));
      message.add_all(extra);
    }
    found_.clear();
    connection_.write(message.bytes());
  }

  Connection& connection_;
  int64_t atoms_;
  const IpiEvaluate& evaluate_;
  const double bohr_ = unit_factor("Bohr", "Angstrom"), hartree_ = unit_factor("Hartree", "eV");
  bool initialised_ = false;
  int64_t at_once_ = 1, answered_ = 0;
  std::vector<std::vector<IpiForces>> found_;  // of the structures that came last, until it is fetched
};

}  // namespace

int64_t answer_ipi(Connection& connection, int64_t atoms, const IpiEvaluate& evaluate) {
  return Driver(connection, atoms, evaluate).answer_all();
}

}  // namespace weyl
