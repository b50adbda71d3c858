#include "weyl/data/poses/pose_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace pose_file_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/poses/";

/// The largest entry of R^T R - 1 over all poses.
double off_rotation(const PoseTrajectory& t) {
  double worst = 0;
  for (int64_t p = 0; p < t.size(); ++p) {
    const double* g = &t.matrices[16 * p];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        double sum = i == j ? -1 : 0;
        for (int k = 0; k < 3; ++k) {
          sum += g[4 * k + i] * g[4 * k + j];
        }
        worst = worst_of(worst, std::abs(sum));
      }
    }
  }
  return worst;
}

TEST(PoseFile, ReadsTum) {
  const PoseTrajectory t = read_poses(fixtures + "desk.tum.txt");
  EXPECT_EQ(t.format, PoseFormat::tum);
  ASSERT_EQ(t.size(), 12);
  EXPECT_EQ(t.start, "1305031098.6659");
  EXPECT_EQ(t.times[0], 0);
  EXPECT_NEAR(t.times[11], 0.3663, 1e-6);
  EXPECT_EQ(t.matrices[3], 1.3405);
  EXPECT_EQ(t.matrices[16 * 11 + 11], 1.5365);
  // q = (x, y, z, w) = (0.7867, -0.1209, 0.5184, 0.3127): R_00 = 1 - 2 (y^2 + z^2), R_10 = 2 (x y + z w)
  EXPECT_NEAR(t.matrices[0], 0.4333, 2e-4);
  EXPECT_NEAR(t.matrices[4], 0.1340, 2e-4);
  EXPECT_LT(off_rotation(t), 1e-15);  // of four decimals in the file, unit all the same
  EXPECT_GT(t.off_group, 1e-6);
  EXPECT_LT(t.off_group, 1e-4);
}

// TUM's own ground truth has one time twice.
TEST(PoseFile, RepeatedTimesAreRefusedKeptOrDropped) {
  const std::string twice = "1.0 1 0 0 0 0 0 1\n2.0 2 0 0 0 0 0 1\n2.0 3 0 0 0 0 0 1\n3.0 4 0 0 0 0 0 1\n";
  EXPECT_THROW(parse_poses(twice, "twice"), DataError);
  const PoseTrajectory kept = parse_poses(twice, "twice", {}, RepeatedTimes::keep),
                       dropped = parse_poses(twice, "twice", {}, RepeatedTimes::drop);
  ASSERT_EQ(kept.size(), 4);
  EXPECT_EQ(kept.times[2], kept.times[1]);
  ASSERT_EQ(dropped.size(), 3);
  EXPECT_EQ(dropped.stamps, (std::vector<std::string>{"1.0", "2.0", "3.0"}));
  EXPECT_EQ(dropped.matrices[16 + 3], 2);  // the first of the two
  EXPECT_EQ(dropped.matrices[32 + 3], 4);
  const std::string back = "2.0 1 0 0 0 0 0 1\n1.0 2 0 0 0 0 0 1\n";
  EXPECT_THROW(parse_poses(back, "back", {}, RepeatedTimes::keep), DataError);
}

TEST(PoseFile, ReadsKitti) {
  const PoseTrajectory t = read_poses(fixtures + "street.kitti.txt");
  EXPECT_EQ(t.format, PoseFormat::kitti);
  ASSERT_EQ(t.size(), 8);
  EXPECT_TRUE(t.times.empty());
  EXPECT_EQ(t.matrices[16 * 7 + 11], 6.02);
  EXPECT_NEAR(t.matrices[16 * 7 + 2], 0.2089082, 1e-6);
  EXPECT_LT(off_rotation(t), 1e-14);
}

TEST(PoseFile, ReadsEuroc) {
  const PoseTrajectory t = read_poses(fixtures + "hall.euroc.csv");
  EXPECT_EQ(t.format, PoseFormat::euroc);
  ASSERT_EQ(t.size(), 10);
  EXPECT_EQ(t.start, "1403636580838555648");
  EXPECT_NEAR(t.times[9], 0.045, 1e-12);  // nanoseconds: more digits than a double of the timestamp has
  // The same motion as the TUM file: there the quaternion ends with w, here it begins with it.
  const PoseTrajectory tum = read_poses(fixtures + "desk.tum.txt");
  for (size_t k = 0; k < t.matrices.size(); ++k) {
    EXPECT_NEAR(t.matrices[k], tum.matrices[k], 3e-4) << k;
  }
}

TEST(PoseFile, AcceptsWhatEditorsDo) {
  const std::string row = "1.5 1 2 3 0 0 0 1";
  const auto same = parse_poses(row, "x").matrices;
  for (const std::string& file :
       std::vector<std::string>{row + "\n", row + "\r\n", "\xEF\xBB\xBF" + row, "\n\n  # note\n" + row,
                                "\t1.5\t1  2 3 0 0   0 1 \n", "+1.5 +1 2e0 3 0 0 0 1"}) {
    EXPECT_EQ(parse_poses(file, "x").matrices, same) << file;
  }
  // A header without a comment sign, as data frames are written.
  EXPECT_EQ(parse_poses("timestamp,p_x,p_y,p_z,q_w,q_x,q_y,q_z\n5,1,2,3,1,0,0,0\n", "x").matrices, same);
}

std::string fault(const std::string& file) {
  try {
    parse_poses(file, "x");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(PoseFile, CommentsAreJudgedByTheRowsBelowThem) {
  const std::string names = "# timestamp, tx, ty, tz, qx, qy, qz, qw\n";
  EXPECT_EQ(parse_poses(names + "1.5 1 2 3 0 0 0 1", "x").matrices,
            parse_poses("1.5 1 2 3 0 0 0 1", "x").matrices);
  EXPECT_EQ(parse_poses(names + "1 0 0 0 0 1 0 0 0 0 1 0", "x").size(), 1);
  EXPECT_EQ(parse_poses("# note\n" + names + "# note\n\n5,1,2,3,0,0,0,1", "x").matrices,
            parse_poses("1.5 1 2 3 0 0 0 1", "x").matrices);  // by the names, not as EuRoC has it
  EXPECT_EQ(
      fault("# timestamp, tx, ty, tz, qx, qy, qz, s\n5,1,2,3,0,0,0,1"),
      "x: line 1: the header must name a translation (x y z) and a quaternion (qx qy qz qw) or a matrix "
      "(r11 .. r33); of the rotation it names 'qx', 'qy', 'qz'");
  EXPECT_EQ(fault("5,1,2,3,1,0,0,0\n" + names), "");  // below the first row it is a comment
}

TEST(PoseFile, OneLineOfNamesIsAHeaderAndNothingElseIsDropped) {
  const std::string names = "timestamp,p_x,p_y,p_z,q_w,q_x,q_y,q_z\n", row = "5,1,2,3,1,0,0,0\n";
  EXPECT_EQ(parse_poses(names + row, "x").size(), 1);
  EXPECT_EQ(fault("nan,0,0,0,1,0,0,0\n" + row),
            "x: line 1: column 1 must be a whole number of nanoseconds, got 'nan'");
  EXPECT_EQ(fault("a,0,0,0,1,0,0,0\n" + row),
            "x: line 1: column 1 must be a whole number of nanoseconds, got 'a'");
  EXPECT_NE(fault(names + names + row).find("line 2: column 1"), std::string::npos);
  EXPECT_NE(fault(row + names).find("line 2: column 1"), std::string::npos);
  EXPECT_NE(fault("t,x,y,z\n" + row).find("line 1: must have the 8 columns"), std::string::npos);
}

TEST(PoseFile, ColumnsAreFoundByTheirNames) {
  const PoseTrajectory wanted = parse_poses("1.5 1 2 3 0.6 0 0 0.8\n2.5 4 5 6 0 0.6 0 0.8", "x");
  const std::vector<std::string> files{
      "# timestamp tx ty tz qw qx qy qz\n1.5 1 2 3 0.8 0.6 0 0\n2.5 4 5 6 0.8 0 0.6 0\n",
      "timestamp tx ty tz qx qy qz qw\n1.5 1 2 3 0.6 0 0 0.8\n2.5 4 5 6 0 0.6 0 0.8\n",
      "qw,qx,qy,qz,x,y,z,time\n0.8,0.6,0,0,1,2,3,1500000000\n0.8,0,0.6,0,4,5,6,2500000000\n",
      "#timestamp [ns], q_RS_x [], q_RS_y [], q_RS_z [], q_RS_w [], p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], "
      "v_RS_R_x [m s^-1], b_w_RS_S_x [rad s^-1]\n1500000000,0.6,0,0,0.8,1,2,3,7,7\n"
      "2500000000,0,0.6,0,0.8,4,5,6,7,7\n",
      "%time,field.header.seq,field.pose.position.x,field.pose.position.y,field.pose.position.z,"
      "field.pose.orientation.x,field.pose.orientation.y,field.pose.orientation.z,field.pose.orientation.w\n"
      "1500000000,1,1,2,3,0.6,0,0,0.8\n2500000000,2,4,5,6,0,0.6,0,0.8\n"};
  for (const std::string& file : files) {
    const PoseTrajectory found = parse_poses(file, "x");
    EXPECT_EQ(found.matrices, wanted.matrices) << file;
    EXPECT_EQ(found.times, wanted.times) << file;
  }
  // An r is of the quaternion only where no other one nor a matrix is named.
  const auto turned_at = [](const std::string& names, const std::string& row) {
    return parse_poses(names + row, "x").matrices;
  };
  const auto one = turned_at("", "0 1 2 3 0.6 0 0 0.8");
  EXPECT_EQ(turned_at("t,x,y,z,rx,ry,rz,rw\n", "0,1,2,3,0.6,0,0,0.8\n"), one);
  EXPECT_EQ(turned_at("t,px,py,pz,qx,qy,qz,qw,vx,vy,vz,rx,ry,rz\n", "0,1,2,3,0.6,0,0,0.8,7,7,7,8,8,8\n"),
            one);
  EXPECT_EQ(turned_at("t,rx,ry,rz,rw,px,py,pz,qx,qy,qz,qw\n", "0,7,7,7,7,1,2,3,0.6,0,0,0.8\n"), one);
  EXPECT_EQ(turned_at("t,x,y,z,r11,r12,r13,r21,r22,r23,r31,r32,r33,rx,ry,rz\n",
                      "0,1,2,3,1,0,0,0,1,0,0,0,1,8,8,8\n"),
            turned_at("", "0 1 2 3 0 0 0 1"));
  // Matrices: nine numbers beside a place, or twelve, counted from 0 or 1; without a time they are KITTI's.
  const std::string nine = "stamp,r11,r12,r13,r21,r22,r23,r31,r32,r33,tx,ty,tz\n5,0,-1,0,1,0,0,0,0,1,7,8,9\n";
  const std::string twelve = "r00,r01,r02,r03,r10,r11,r12,r13,r20,r21,r22,r23\n0,-1,0,7,1,0,0,8,0,0,1,9\n";
  const std::vector<double> turned = parse_poses("0 -1 0 7 1 0 0 8 0 0 1 9", "x").matrices;
  EXPECT_EQ(parse_poses(nine, "x").matrices, turned);
  EXPECT_EQ(parse_poses(nine, "x").format, PoseFormat::euroc);
  EXPECT_EQ(parse_poses(twelve, "x").matrices, turned);
  EXPECT_EQ(parse_poses(twelve, "x").format, PoseFormat::kitti);
  EXPECT_EQ(fault(twelve + "0,-1,0,7,1,0,0,8,0,0,1\n"),
            "x: line 3: must have the 12 columns that the header names, got 11");
  EXPECT_EQ(fault("the notes of a day that nobody read\n1.5 1 2 3 0 0 0 1"),
            "x: line 1: column 1 must be a number, got 'the'");
}

/// Two poses in the columns x, y, z, qw, qx, qy, qz, behind their times.
std::string rows(const std::string& first, const std::string& second) {
  return first + ",1,2,3,1,0,0,0\n" + second + ",4,5,6,0,1,0,0\n";
}

TEST(PoseFile, TheUnitOfTimesIsThatOfTheirName) {
  const std::string pose = ",x,y,z,qw,qx,qy,qz\n";
  struct {
    std::string names, first, second;
    double seconds;
    std::string start;
  } const files[] = {
      {"sec", "0", "29", 29, "0"},
      {"secs", "3", "4", 1, "3"},
      {"time[s]", "0.000", "0.050", 0.05, "0.000"},
      {"time (s)", "10", "12", 2, "10"},
      {"Time (sec)", "1e1", "12", 2, "1e1"},
      {"t_s", "0.5", "0.75", 0.25, "0.5"},
      {"timestamp_seconds", "1403636580.25", "1403636580.5", 0.25, "1403636580.25"},
      {"#timestamp [ns]", "1403636580838555648", "1403636580838555658", 1e-8, "1403636580838555648"},
      {"timestamp_ns", "5", "1000000005", 1, "5"},
      {"nsec", "0", "50000000", 0.05, "0"},
      {"timestamp (us)", "1403636580838555", "1403636580838556", 1e-6, "1403636580838555"},
      {"time_ms", "0.0", "33.25", 0.03325, "0.0"},
      {"field.header.stamp [ms]", "1000", "3000", 2, "1000"},
      {"sec,nsec", "0,999999999", "1,1", 2e-9, "0.999999999"},
      {"header.seq,header.stamp.secs,header.stamp.nsecs", "7,1403636580,838555648", "8,1403636580,838555658",
       1e-8, "1403636580.838555648"},
      {"header.stamp.sec,header.stamp.nanosec,header.frame_id", "10,5,map", "11,5,map", 1, "10.000000005"},
      {"tv_sec,time_sec,time_usec", "0,3,250000", "0,4,500000", 1.25, "3.250000000"},
      {"nsec,sec", "999999999,0", "1,1", 2e-9, "0.999999999"},
      {"time [s],time [ns]", "1,1000000000", "2,2000000000", 1, "1"},
      {"Time,header.seq,header.stamp.secs,header.stamp.nsecs,header.frame_id",
       "1403636580.9,0,1403636580,5,\"a, b\"", "1403636581.9,1,1403636582,5,\"a, b\"", 2,
       "1403636580.000000005"},
      {"%time,field.header.stamp", "1500000000,0", "2500000000,0", 1, "1500000000"},
      {"\"\",\"timestamp [ns]\"", "0,0", "1,1000", 1e-6, "0"}};
  for (const auto& file : files) {
    const PoseTrajectory found = parse_poses(file.names + pose + rows(file.first, file.second), "x");
    ASSERT_EQ(found.times.size(), 2u) << file.names;
    EXPECT_NEAR(found.times[1], file.seconds, 1e-12 + 1e-6 * file.seconds) << file.names;
    EXPECT_EQ(found.start, file.start) << file.names;
    EXPECT_EQ(found.matrices, parse_poses("0 1 2 3 0 0 0 1\n1 4 5 6 1 0 0 0", "x").matrices) << file.names;
  }
  EXPECT_EQ(parse_poses("sec,nsec" + pose + rows("0,999999999", "1,1"), "x").stamps,
            (std::vector<std::string>{"0.999999999", "1.000000001"}));
  EXPECT_EQ(
      parse_poses("# timestamp [ns] tx ty tz qx qy qz qw\n5 1 2 3 0 0 0 1\n10 1 2 3 0 0 0 1", "x").times,
      (std::vector<double>{0, 5e-9}));
}

TEST(PoseFile, TimesWithAFractionAndNoUnitAreSeconds) {
  const std::string pose = ",x,y,z,qw,qx,qy,qz\n";
  const PoseTrajectory found = parse_poses("time" + pose + rows("0", "0.05"), "x");
  EXPECT_EQ(found.times, (std::vector<double>{0, 0.05}));
  EXPECT_EQ(found.stamps, (std::vector<std::string>{"0", "0.05"}));
  EXPECT_EQ(found.warnings, (std::vector<std::string>{
                                "x: times have fractions and no unit, and are taken for seconds; the header "
                                "can say it, as `time [s]`"}));
  EXPECT_TRUE(parse_poses("time" + pose + rows("0", "50000000"), "x").warnings.empty());
  EXPECT_TRUE(parse_poses("time [s]" + pose + rows("0", "0.05"), "x").warnings.empty());
  // Nobody says what the columns are, or what is no number: as EuRoC has them.
  EXPECT_EQ(fault(rows("0", "0.5")), "x: line 2: column 1 must be a whole number of nanoseconds, got '0.5'");
  EXPECT_EQ(fault("time" + pose + rows("0", "nan")),
            "x: line 3: column 1 must be a whole number of nanoseconds, got 'nan'; the header says another "
            "unit as `time [s]`");
}

TEST(PoseFile, TimesThatTheirUnitDoesNotFitAreRefused) {
  const std::string pose = ",x,y,z,qw,qx,qy,qz\n";
  EXPECT_EQ(fault("sec" + pose + rows("1403636580838555648", "1403636580838555649")),
            "x: line 2: column 1 must be seconds, below 1e11, got '1403636580838555648', which can only be "
            "nanoseconds or another small unit");
  EXPECT_EQ(fault("time [ns]" + pose + rows("0", "0.5")),
            "x: line 3: column 1 must be a whole number of nanoseconds, got '0.5'");
  EXPECT_EQ(
      fault("time" + pose + rows("0", "a")),
      "x: line 3: column 1 must be a whole number of nanoseconds, got 'a'; the header says another unit "
      "as `time [s]`");
  EXPECT_EQ(fault("sec,nsec" + pose + rows("0,1000000000", "2,0")),
            "x: line 2: column 2 must be less than a second beside whole ones, got '1000000000'");
  EXPECT_EQ(fault("sec,nsec" + pose + rows("0.5,1", "2,0")),
            "x: line 2: column 1 must be whole seconds beside their parts, got '0.5'");
  EXPECT_EQ(fault("time [us]" + pose + rows("-1", "2")),
            "x: line 2: column 1 must be a time from 0 to 290 years, got '-1'");
  EXPECT_EQ(fault("time [ms]" + pose + rows("1e300", "2")),
            "x: line 2: column 1 must be a time from 0 to 290 years, got '1e300'");
  // A unit that nobody says is nanoseconds, as EuRoC has it: not where a camera would see a billion poses a second.
  EXPECT_EQ(
      fault("time" + pose + rows("0", "29")),
      "x: times without a unit are taken for nanoseconds, but 2 poses in 2.9e-08 s cannot be; say the unit "
      "in the header, as `time [s]`");
  EXPECT_EQ(fault("time" + pose + rows("0", "50000000")), "");
}

TEST(PoseFile, AHeaderThatNamesARotationIsObeyedOrRefused) {
  const std::string begin = "x: line 1: the header must name ";
  const std::string wanted =
      begin + "a translation (x y z) and a quaternion (qx qy qz qw) or a matrix (r11 .. r33)";
  const std::string angles =
      "; angles are not read, for their order and signs differ; of the rotation it names ";
  EXPECT_EQ(fault("t,x,y,z,roll,pitch,yaw\n0,1,2,3,0,0,0\n"), wanted + angles + "'roll', 'pitch', 'yaw'");
  EXPECT_EQ(fault("t x y z roll pitch yaw\n0 1 2 3 0 0 0\n"), wanted + angles + "'roll', 'pitch', 'yaw'");
  EXPECT_EQ(fault("# t x y z yaw pitch roll speed\n0 1 2 3 0 0 0 1\n"),
            wanted + angles + "'yaw', 'pitch', 'roll'");
  EXPECT_EQ(fault("t,x,y,z,rot_x,rot_y,rot_z,w\n0,1,2,3,1,0,0,0\n"),
            wanted + angles + "'rot_x', 'rot_y', 'rot_z'");
  EXPECT_EQ(fault("t,east,north,up,qw,qx,qy,qz\n0,1,2,3,1,0,0,0\n"),
            wanted + "; it names no translation; of the rotation it names 'qx', 'qy', 'qz', 'qw'");
  EXPECT_EQ(
      fault("t,gt_x,gt_y,gt_z,gt_qx,gt_qy,gt_qz,gt_qw\n0,1,2,3,0,0,0,1\n"),
      wanted + "; it names no translation; of the rotation it names 'gt_qx', 'gt_qy', 'gt_qz', 'gt_qw'");
  EXPECT_EQ(fault("t,x,y,z,rx,ry,rz\n0,1,2,3,0,0,0\n"), wanted + angles + "'rx', 'ry', 'rz'");
  EXPECT_EQ(fault("t,x,y,z,q0,q1,q2,q3\n0,1,2,3,1,0,0,0\n"), wanted + ", got 't,x,y,z,q0,q1,q2,q3'");
  EXPECT_EQ(fault("mol,a,b,c,d,e,f,g\n0,1,2,3,1,0,0,0\n"), wanted + ", got 'mol,a,b,c,d,e,f,g'");
  EXPECT_EQ(fault("t,a.x,a.y,a.z,a.qw,a.qx,a.qy,a.qz,b.qw,b.qx,b.qy,b.qz\n0,1,2,3,1,0,0,0,1,0,0,0\n"),
            begin + "one rotation, 'a.qx' and 'b.qx' are of two");
  EXPECT_EQ(fault("t,x,y,z,qw,qx,qy,qz,px,py,pz\n0,1,2,3,1,0,0,0,1,2,3\n"),
            begin + "one translation, 'x' and 'px' are of two");
  EXPECT_EQ(fault("mileage,x,y,z,qw,qx,qy,qz\n0,1,2,3,1,0,0,0\n"),
            begin + "the time, as `time [s]` or `time [ns]`, got 'mileage' for column 1");
  EXPECT_EQ(fault("t,x [ft],y [ft],z [ft],qw,qx,qy,qz\n0,1,2,3,1,0,0,0\n"),
            "x: line 1: the header must give the translation in m, cm, mm or km, got 'x [ft]'");
  EXPECT_EQ(fault("t,x,y,z,qw,qx,qy,qz\n0,1,2,3,1,0,0,0,9\n"),
            begin + "the 9 columns of the rows, got 8 names");
  EXPECT_EQ(
      fault("# timestamp tx ty tz qw qx qy qz confidence\n0 1 2 3 1 0 0 0\n"),
      "x: line 2: the comment above names other columns than the rows have, with q_w first, where it must "
      "stand last");
  EXPECT_EQ(fault("# the columns are timestamp tx ty tz qx qy qz qw\n0 1 2 3 0 0 0 1\n"), "");
  // Rows without times, and lengths in millimetres.
  const PoseTrajectory found =
      parse_poses("frame,x [mm],y [mm],z [mm],qw,qx,qy,qz\n0,1000,2000,3000,1,0,0,0\n", "x");
  EXPECT_EQ(found.format, PoseFormat::kitti);
  EXPECT_TRUE(found.times.empty());
  EXPECT_EQ(found.matrices, parse_poses("0 1 2 3 0 0 0 1", "x").matrices);
  EXPECT_EQ(parse_poses("timestamp_ns,qw,qx,qy,qz,tx_m,ty_m,tz_m\n0,1,0,0,0,1,2,3\n", "x").matrices,
            found.matrices);
  EXPECT_EQ(parse_poses("# format: timestamp(s) tx ty tz qw qx qy qz\n0 1 2 3 1 0 0 0\n", "x").matrices,
            found.matrices);
}

TEST(PoseFile, OtherColumnsThanThePosesMayHoldText) {
  const auto wanted = parse_poses("0 1 2 3 0 0 0 1", "x").matrices;
  EXPECT_EQ(parse_poses("time,tx,ty,tz,qx,qy,qz,qw,child_frame\n0,1,2,3,0,0,0,1,base\n", "x").matrices,
            wanted);
  EXPECT_EQ(parse_poses("child_frame,time,tx,ty,tz,qx,qy,qz,qw\nbase,0,1,2,3,0,0,0,1\n", "x").matrices,
            wanted);
  EXPECT_EQ(parse_poses("time,tx,ty,tz,\"a, b\",qx,qy,qz,qw\n0,1,2,3,\"a, b\",0,0,0,1\n", "x").matrices,
            wanted);
  EXPECT_EQ(fault("time,tx,ty,tz,qx,qy,qz,qw,child_frame\n0,1,2,3,0,0,0,base,base\n"),
            "x: line 2: column 8 must be a number, got 'base'");
}

TEST(PoseFile, RowsOfTwelveAndThirteenColumnsAreMatrices) {
  const PoseTrajectory found =
      read_poses(WEYL_SOURCE_DIR "/tests/fixtures/reports/22_thirteen_columns_csv.csv");
  ASSERT_EQ(found.size(), 40);  // as MulRan has them: a timestamp and a 3 x 4 matrix, here the identity
  for (int64_t p = 0; p < found.size(); ++p) {
    for (int k = 0; k < 16; ++k) {
      EXPECT_EQ(found.matrices[16 * p + k], k % 5 == 0 ? 1 : 0) << p << " " << k;
    }
  }
  EXPECT_NEAR(found.times[39], 39 * 0.05, 1e-9);
  EXPECT_EQ(found.start, "1403636580838555648");
  EXPECT_EQ(parse_poses("1,0,0,7,0,1,0,8,0,0,1,9\n", "x").format, PoseFormat::kitti);
  EXPECT_EQ(parse_poses("1.5 1 0 0 7 0 1 0 8 0 0 1 9\n", "x").matrices,
            parse_poses("1,0,0,7,0,1,0,8,0,0,1,9\n", "x").matrices);
  EXPECT_EQ(fault("5,1,0,0,7,0,1,0,8,0,0,1,9\n6,1,0,0,7,0,1,0,8,0,0,1\n"),
            "x: line 2: must have the 13 columns timestamp and a 3 x 4 matrix, got 12");
  // Rows of EuRoC with as many columns hold no matrix.
  EXPECT_EQ(parse_poses("5,1,2,3,1,0,0,0,7,7,7,7,7\n", "x").matrices,
            parse_poses("5,1,2,3,1,0,0,0\n", "x").matrices);
}

TEST(PoseFile, ATimeThatStandsThereTwiceSaysWhatToDo) {
  const std::string path = WEYL_SOURCE_DIR "/tests/fixtures/reports/09_tum_one_time_twice.txt";
  EXPECT_EQ(
      message_of<DataError>([&] { read_poses(path); }),
      path +
          ": line 21: the time '1000.1900' stands there twice, and nobody can tell which pose is meant; say repeated=keep "
          "or repeated=drop (data.pose_windows.repeated, data.pose_sequences.repeated), or remove one of the "
          "two lines");
}

TEST(PoseFile, NanosecondsAndSecondsAreTold) {
  EXPECT_EQ(fault("1403636580838555648 1 2 3 0 0 0 1"),
            "x: line 1: column 1 must be seconds, below 1e11, got '1403636580838555648', which can only be "
            "nanoseconds or another small unit");
  EXPECT_EQ(fault("99999999999 1 2 3 0 0 0 1"), "");
  const std::string pose = ",1,2,3,1,0,0,0\n";
  const PoseTrajectory points =
      parse_poses("1403636580838555648.0" + pose + "1403636580838555658.0" + pose, "x");
  EXPECT_EQ(points.start, "1403636580838555648.0");
  EXPECT_NEAR(points.times[1], 1e-8, 1e-20);  // with all digits
  const PoseTrajectory short_forms =
      parse_poses("1.4036365808385556e+18" + pose + "1.4036365808435556e+18" + pose, "x");
  EXPECT_NEAR(short_forms.times[1], 5e-3, 1e-6);
  for (const std::string time : {"1403636580.838", "1.5e0", "1e300", "-5.0", ".0", "1.0.0", "0x5"}) {
    EXPECT_NE(fault(time + pose).find("column 1 must be a whole number of nanoseconds"), std::string::npos)
        << time;
  }
}

TEST(PoseFile, TakesTheFormatThatIsNamed) {
  EXPECT_THROW(parse_poses("1 0 0 0 0 1 0 0 0 0 1 0", "x", PoseFormat::tum), DataError);
  EXPECT_EQ(parse_poses("1 0 0 0 0 1 0 0 0 0 1 0", "x", PoseFormat::kitti).size(), 1);
  EXPECT_THROW(parse_poses("1.5 1 2 3 0 0 0 1", "x", PoseFormat::euroc), DataError);
}

TEST(PoseFile, AQuaternionAndItsNegativeAreOnePose) {
  EXPECT_EQ(parse_poses("0 0 0 0 0.5 0.5 -0.5 0.5", "x").matrices,
            parse_poses("0 0 0 0 -0.5 -0.5 0.5 -0.5", "x").matrices);
}

TEST(PoseFile, WhatIsWrittenIsReadAsTheSame) {
  // Half turns about each axis, and quaternions of which each component is the largest.
  const std::string tum =
      "1305031098.6659 1.1 -2e-9 3.3e8 0 0 0 1\n1305031098.6758 0 0 0 1 0 0 0\n1305031098.6858 0 0 0 0 1 0 "
      "0\n"
      "1305031098.70000 0 0 0 0 0 1 0\n1305031099 1 2 3 0.5 0.5 -0.5 0.5\n1305031100 1 2 3 0.1 0.7 0.1 0.7\n"
      "1305031101 1 2 3 0.7 0.1 0.7 -0.1\n1305031102 1 2 3 0.1 -0.1 0.99 0.01\n";
  const PoseTrajectory first = parse_poses(tum, "x");
  ASSERT_EQ(first.stamps.size(), 8u);
  EXPECT_EQ(first.stamps[3], "1305031098.70000");
  const PoseTrajectory kitti = parse_poses(pose_text(PoseFormat::kitti, first.matrices), "x");
  EXPECT_EQ(kitti.format, PoseFormat::kitti);
  const PoseTrajectory again = parse_poses(pose_text(PoseFormat::tum, first.matrices, first.stamps), "x");
  EXPECT_EQ(again.stamps, first.stamps);
  EXPECT_EQ(again.times, first.times);
  for (size_t k = 0; k < first.matrices.size(); ++k) {
    EXPECT_NEAR(kitti.matrices[k], first.matrices[k], 1e-15) << k;
    EXPECT_NEAR(again.matrices[k], first.matrices[k], 1e-15) << k;
    if (k % 16 < 12 && k % 4 == 3) {
      EXPECT_EQ(again.matrices[k], first.matrices[k]) << k;  // a coordinate to its last bit
    }
  }
  EXPECT_THROW(pose_text(PoseFormat::euroc, first.matrices, first.stamps), ShapeError);
  EXPECT_THROW(pose_text(PoseFormat::tum, first.matrices), ShapeError);
}

TEST(PoseFile, TimestampsOfEurocAreSecondsWithAllTheirDigits) {
  const PoseTrajectory euroc =
      parse_poses("1403636580838555648,1,2,3,1,0,0,0\n1403636580838555658,1,2,3,1,0,0,0\n", "x");
  EXPECT_EQ(euroc.stamps, (std::vector<std::string>{"1403636580.838555648", "1403636580.838555658"}));
  EXPECT_EQ(stamp_between(euroc.stamps[0], euroc.stamps[1], "x"), "1403636580.838555653");
  EXPECT_EQ(stamp_between("1.5", "2.5", "x"), "2.000000000");
  EXPECT_EQ(stamp_between("0", "1e-9", "x"), "0.000000000500000000");
  EXPECT_THROW(stamp_between("1", "1", "x"), DataError);
}

}  // namespace pose_file_test
}  // namespace weyl
