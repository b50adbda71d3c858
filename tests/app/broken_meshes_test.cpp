// Meshes that are no bodies, given to the maker of rigid bodies: one line that names the file, nothing written.
#include "tests/app/refusals.h"
#include "weyl/makers/bodies/rigid_world.h"

namespace weyl {
namespace broken_meshes_test {

class BrokenMeshes : public Refusals {
 protected:
  void SetUp() override {
    if (bullet_version().empty()) {
      GTEST_SKIP() << "this build has no Bullet";
    }
    Refusals::SetUp();
  }
  /// Of a maker that is asked for scenes of this mesh, and beside it of bodies of its own.
  void mesh_refused(const std::string& name, const std::string& fault) const {
    SCOPED_TRACE(name);
    const std::string scenes =
        "data make rigid_bodies --out scenes train=2 valid=0 test=0 'objects=[2, 2]' frames=3 ";
    const std::string meshes = "'meshes=[\"" + name + "\"]'";
    refused(scenes + "shapes=[] " + meshes, 3, name + ": " + fault);
    refused(scenes + "'shapes=[\"cube\"]' " + meshes, 3, name + ": " + fault);
  }
};

const std::string corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n",
                  obj = "o one\n" + corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

TEST_F(BrokenMeshes, AreRefusedWithOneLine) {
  write_bytes(at("sound.obj"), obj);
  write_bytes(at("empty.obj"), "");
  mesh_refused("empty.obj", "the mesh must have vertices, it is empty");
  write_bytes(at("no_faces.obj"), corners);
  mesh_refused("no_faces.obj", "the mesh must have faces, it has none");
  write_bytes(at("object.obj"), obj + "o two\nv 5 0 0\n");
  mesh_refused("object.obj", "line 10: object 'two' must have faces, it has vertices alone");
  write_bytes(at("nan.obj"), "v nan 0 0\n" + obj);
  mesh_refused("nan.obj", "line 1: coordinates must be finite, got nan");
  write_bytes(at("cut.obj"), obj.substr(0, obj.size() - 3));  // its last face has two corners
  mesh_refused("cut.obj", "line 9: a face must have at least 3 corners, got 2");
  write_bytes(at("flat.obj"), obj + "f 1 1 2\n");
  mesh_refused("flat.obj", "triangle 4 must have an area, it has none (corners 0, 0, 1)");
  const std::string e = "1e-200";  // whose cube is 0
  write_bytes(at("tiny.obj"), "v 0 0 0\nv " + e + " 0 0\nv 0 " + e + " 0\nv 0 0 " + e +
                                  "\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  mesh_refused("tiny.obj", "the mesh must enclose a volume that float32 holds, got 0");
  mesh_refused("none.obj", "");
  // The control: the mesh that these were made from is a body.
  const Outcome made = weyl_program(
      "data make rigid_bodies --out scenes train=2 valid=0 test=0 'objects=[2, 2]' frames=3 shapes=[] "
      "'meshes=[\"sound.obj\"]'",
      at("."));
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(fs::exists(at("scenes/train.safetensors")));
}

/// Every broken mesh of the corpus, of every format.
TEST_F(BrokenMeshes, OfTheCorpusAreRefusedWithOneLine) {
  int64_t files = 0;
  for (const auto& entry : fs::directory_iterator(WEYL_SOURCE_DIR "/tests/fixtures/broken/mesh")) {
    mesh_refused(entry.path().string(), "");
    ++files;
  }
  EXPECT_GE(files, 25);
}

}  // namespace broken_meshes_test
}  // namespace weyl
