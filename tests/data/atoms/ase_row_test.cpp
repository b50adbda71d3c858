// JSON as Python writes it, arrays and rows as ASE puts them into it.
#include "weyl/data/atoms/ase_row.h"

#include <gtest/gtest.h>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"

namespace weyl {
namespace ase_row_test {

PythonJson parsed(const std::string& json) {
  return parse_python_json(json, "a");
}

std::string fault(const std::string& json) {
  return message_of<DataError>([&] { parsed(json); });
}

template <class T>
T value(const std::string& json) {
  return std::get<T>(parsed(json).value);
}

TEST(PythonJson, ValuesAndPythonsOwnNumbers) {
  EXPECT_TRUE(value<bool>(" true "));
  EXPECT_FALSE(value<bool>("false"));
  EXPECT_EQ(value<int64_t>("-12"), -12);
  EXPECT_EQ(value<double>("1.5e-3"), 1.5e-3);
  EXPECT_EQ(value<double>("123456789012345678901234567890"), 123456789012345678901234567890.0);
  EXPECT_TRUE(std::isnan(value<double>("NaN")));
  EXPECT_EQ(value<double>("-Infinity"), -INFINITY);
  EXPECT_EQ(value<double>("Infinity"), INFINITY);
  EXPECT_EQ(value<std::string>(R"("a\n\"\u00e9\ud83d\ude00\ud800")"), "a\n\"\u00e9\U0001F600\uFFFD");
  EXPECT_EQ(std::get<int64_t>(parsed(R"({"a": {}, "b": {"c": 3}})").find("b")->find("c")->value), 3);
  EXPECT_EQ(parsed("[1]").find("a"), nullptr);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(parsed("null").value));
}

TEST(PythonJson, ListsOfOneKindAreFlat) {
  EXPECT_EQ(value<FrameValues>("[1, 2 ,3]"), FrameValues(Integers{1, 2, 3}));
  EXPECT_EQ(value<FrameValues>("[1,2.5,-Infinity]"), FrameValues(Reals{1, 2.5, -INFINITY}));
  EXPECT_EQ(value<FrameValues>("[true, false]"), FrameValues(std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(value<FrameValues>(R"(["a", "b"])"), FrameValues(Texts{"a", "b"}));
  EXPECT_TRUE(value<PythonJson::List>("[]").empty());
  EXPECT_EQ(value<PythonJson::List>("[1, 2, \"a\", 3]").size(), 4);
  EXPECT_EQ(value<PythonJson::List>("[1.5, null]").size(), 2);
  EXPECT_EQ(value<PythonJson::List>("[[1], [2]]").size(), 2);
}

TEST(PythonJson, RefusesWhatIsNone) {
  for (const auto& [json, said] :
       std::map<std::string, std::string>{{"", "byte 0: a value is missing"},
                                          {"[1, 2", "a comma or an end is missing"},
                                          {"[1, 2,]", "a value is missing"},
                                          {"[,1]", "a value is missing"},
                                          {"{\"a\" 1}", "a colon is missing"},
                                          {"{a: 1}", "a key is missing"},
                                          {"{\"a\": 1, \"a\": 2}", "has a key twice"},
                                          {"\"abc", "a string does not end"},
                                          {"\"a\nb\"", "no control characters"},
                                          {"\"\\q\"", "an escape that is none"},
                                          {"\"\\u12g4\"", "four digits"},
                                          {"1e999", "a number is none, or too large"},
                                          {"--1", "a number is none"},
                                          {"1 2", "must end after its value"},
                                          {"nul", "a value is missing"},
                                          {std::string(100, '['), "at most 64 deep"},
                                          {std::string(1000000, '{'), "a key is missing"}}) {
    const std::string line = fault(json);
    EXPECT_TRUE(line.starts_with("a: must be valid JSON, byte ")) << json.substr(0, 40) << ": " << line;
    EXPECT_NE(line.find(said), std::string::npos) << line;
  }
  std::string many = "[";
  for (int64_t i = 0; i <= python_json_limit / 8; ++i) {
    many += "[],";
  }
  EXPECT_NE(fault(many + "1]").find("must hold at most"), std::string::npos);
}

TEST(AseArray, EncodedAndNested) {
  const auto array = [](const std::string& json) { return ase_array(parsed(json), "a", "b"); };
  EXPECT_EQ(array(R"({"__ndarray__": [[2, 1], "float32", [1, 2]]})")->values, FrameValues(Reals{1, 2}));
  EXPECT_EQ(array(R"({"__ndarray__": [[2, 1], "float32", [1, 2]]})")->shape, (Integers{2, 1}));
  EXPECT_EQ(array(R"({"__ndarray__": [[], "int64", [3]]})")->shape, Integers{});
  EXPECT_EQ(array(R"({"__ndarray__": [[0, 3], "float64", []]})")->values, FrameValues(Reals{}));
  EXPECT_EQ(array(R"({"__ndarray__": [[1], "bool", [true]]})")->values, FrameValues(std::vector<uint8_t>{1}));
  EXPECT_EQ(array(R"({"__ndarray__": [[1], "<U3", ["abc"]]})")->values, FrameValues(Texts{"abc"}));
  EXPECT_FALSE(array(R"({"__ndarray__": [[1], "complex128", [1.0, 2.0]]})"));
  EXPECT_FALSE(array(R"({"__datetime__": "2026-01-01T00:00:00.0"})"));
  EXPECT_EQ(array("[[1, 2], [3, 4.5]]")->values, FrameValues(Reals{1, 2, 3, 4.5}));
  EXPECT_EQ(array("[[[1], [2]], [[3], [4]]]")->shape, (Integers{2, 2, 1}));
  EXPECT_FALSE(array("[[1, 2], [3]]"));
  EXPECT_FALSE(array("[[1, 2], [\"a\", \"b\"]]"));
  EXPECT_FALSE(array("[1, null]"));
  EXPECT_FALSE(array("null"));
}

/// What is said of a row of one atom, with some members more.
std::string refused(const std::string& row) {
  AtomsFrame frame;
  return message_of<DataError>([&] { read_ase_row(parsed(row), frame, "a"); });
}

TEST(AseRow, FaultsAreNamed) {
  const std::string atom = R"({"numbers": [1], "positions": [[0.0, 0.0, 0.0]])";
  EXPECT_EQ(refused(atom + "}"), "");
  const std::vector<std::pair<std::string, std::string>> rows{
      {"[1, 2]", "a row must be an object of JSON"},
      {"{}", "a row must have the atomic numbers of its atoms, \"numbers\""},
      {R"({"positions": [[0.0, 0.0, 0.0]]})", "\"numbers\""},
      {R"({"numbers": [1.5], "positions": [[0, 0, 0]]})", "\"numbers\""},
      {R"({"numbers": [119], "positions": [[0, 0, 0]]})", "an atomic number must be 0 .. 118, got 119"},
      {R"({"numbers": [-1], "positions": [[0, 0, 0]]})", "an atomic number must be 0 .. 118, got -1"},
      {R"({"numbers": [1]})", "a row of 1 atoms must have \"positions\" of shape [1, 3]"},
      {R"({"numbers": [1], "positions": [[0, 0]]})", "of shape [1, 3], has [1, 2]"},
      {R"({"numbers": [1, 1], "positions": [[0, 0, 0]]})", "of shape [2, 3], has [1, 3]"},
      {R"({"numbers": [1], "positions": [[0, NaN, 0]]})", "\"positions\" must be finite"},
      {R"({"numbers": [1], "positions": {"__ndarray__": [[1, 3], "float64", [0, 0]]}})",
       "'positions': an array of shape [1, 3] must have as many values, has 2"},
      {R"({"numbers": [1], "positions": {"__ndarray__": [[8589934592, 2147483648], "float64", []]}})",
       "must have as many values, has 0"},
      {R"({"numbers": {"__ndarray__": [[1], "int64", ["one"]]}})",
       "'numbers': the values of an array must be of its type, 'int64'"},
      {R"({"numbers": {"__ndarray__": [[1.5], "int64", [1]]}})", "the shape of an array must be integers"},
      {R"({"numbers": {"__ndarray__": "here"}})", "'numbers': an array must be [shape, type, values]"},
      {atom + R"(, "forces": [[0, 0, 0], [0, 0, 0]]})",
       "'forces' must have a row for each of 1 atoms, has shape [2, 3]"},
      {atom + R"(, "cell": [1, 2, 3]})", "\"cell\" must be three lattice vectors of shape [3, 3], has [3]"},
      {atom + R"(, "cell": [[Infinity, 0, 0], [0, 1, 0], [0, 0, 1]]})", "\"cell\" must be finite"},
      {atom + R"(, "pbc": [true, false]})", "\"pbc\" must be three of true and false"},
      {atom + R"(, "pbc": [true, true, true]})", "\"pbc\" is given without a cell"},
      {atom + R"(, "pbc": [true, true, true], "cell": [[1, 0, 0], [0, 1, 0], [1, 1, 0]]})",
       "the lattice vectors of periodic directions must be linearly independent"},
      {atom + R"(, "data": "here"})", "\"data\" must be an object of JSON"}};
  for (const auto& [row, said] : rows) {
    const std::string line = refused(row);
    EXPECT_TRUE(line.starts_with("a: ")) << row << ": " << line;
    EXPECT_EQ(line.find("a: ", 1), std::string::npos) << line;
    EXPECT_NE(line.find(said), std::string::npos) << "should say: " << said << "\n  says: " << line;
  }
}

TEST(AseRow, NamesThatAreThereTwiceAndCellsAsObjects) {
  AtomsFrame frame;
  read_ase_row(parsed(R"({"numbers": [1, 1], "positions": [[0, 0, 0], [0, 0, 1]], "charges": [1, 2],
      "cell": {"array": {"__ndarray__": [[3, 3], "float64", [4, 0, 0, 0, 4, 0, 0, 0, 4]]}, "__ase_objtype__": "cell"},
      "key_value_pairs": {"x": 1}, "data": {"x": 2, "charges": [3, 4], "y_charges": [5, 6, 7], "forces": [1, 2]}})"),
               frame, "a");
  check_frame(frame, "a");
  EXPECT_EQ(frame.cell, (std::array<double, 9>{4, 0, 0, 0, 4, 0, 0, 0, 4}));
  EXPECT_EQ(frame.pbc, (std::array{false, false, false}));
  EXPECT_EQ(real(frame, "x"), 1);
  EXPECT_EQ(real(frame, "data.x"), 2);
  EXPECT_EQ(frame.column("charges")->values, FrameValues(Integers{1, 2}));
  EXPECT_EQ(frame.column("data.charges")->values, FrameValues(Integers{3, 4}));
  EXPECT_EQ(frame.value("y_charges")->shape, Integers{3});  // of no atoms
  EXPECT_EQ(frame.column("forces")->width, 1);
  read_ase_row(parsed(R"({"numbers": [], "positions": []})"), frame, "a");
  EXPECT_EQ(frame.size(), 0);
}

}  // namespace ase_row_test
}  // namespace weyl
