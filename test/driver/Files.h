// Temporary folders, models and recorded data for the driver's tests.
#pragma once
#include "compiler/importer/TensorFile.h"
#include "compiler/support/OutputFiles.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

namespace ingot::test {

/// A folder of its own for each test, removed afterwards.
class FilesTest : public testing::Test {
protected:
  void SetUp() override {
    std::string form = testing::TempDir() + "ingot-driver-XXXXXX";
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    root = form;
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  std::string path(const std::string &name) const { return root + "/" + name; }

  /// A model y = x + x; -1 in `dims` is the symbol "n". `w`, an initializer, is an input too, as in old files. Without
  /// a rank the model says nothing of the shape.
  std::string model(const std::string &name, const std::vector<int64_t> &dims, bool ranked = true) const {
    onnx::ModelProto proto;
    proto.set_ir_version(8);
    proto.set_producer_name("test");
    proto.add_opset_import()->set_version(17);
    onnx::GraphProto &graph = *proto.mutable_graph();
    graph.set_name("g");
    onnx::NodeProto &node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input("x");
    node.add_input("x");
    node.add_output("y");
    onnx::TensorProto &weight = *graph.add_initializer();
    weight.set_name("w");
    weight.set_data_type(1);
    weight.add_dims(2);
    weight.set_raw_data(std::string(8, '\0'));
    addValue(*graph.add_input(), "w", {2});
    addValue(*graph.add_input(), "x", dims);
    addValue(*graph.add_output(), "y", dims);
    if (!ranked) {
      graph.mutable_input(1)->mutable_type()->mutable_tensor_type()->clear_shape();
    }
    std::ofstream file(path(name), std::ios::binary);
    proto.SerializeToOstream(&file);
    return path(name);
  }

  static importer::HostTensor tensor(const std::vector<int64_t> &dims, const std::vector<float> &values) {
    importer::HostTensor result;
    result.type = 1;
    result.dims = dims;
    const char *first = reinterpret_cast<const char *>(values.data());
    result.bytes.assign(first, first + values.size() * sizeof(float));
    return result;
  }

  void write(const std::string &name, const importer::HostTensor &value) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    support::OutputFiles files;
    ASSERT_FALSE(bool(importer::writeTensorFile(files, path(name), value)));
    ASSERT_FALSE(bool(files.keep()));
  }

  std::string root;

private:
  static void addValue(onnx::ValueInfoProto &value, const char *name, const std::vector<int64_t> &dims) {
    value.set_name(name);
    auto *type = value.mutable_type()->mutable_tensor_type();
    type->set_elem_type(1);
    type->mutable_shape();
    for (int64_t dim : dims) {
      auto *added = type->mutable_shape()->add_dim();
      dim < 0 ? added->set_dim_param("n") : added->set_dim_value(dim);
    }
  }
};

} // namespace ingot::test
