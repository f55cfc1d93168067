// Small models made in memory, and a folder to write them to.
#pragma once
#include "compiler/importer/Graph.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/importer/TensorData.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace ingot::test {
namespace pb = importer::pb;

inline pb::ModelProto emptyModel() {
  pb::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  return model;
}

inline pb::ValueInfoProto &addValue(google::protobuf::RepeatedPtrField<pb::ValueInfoProto> &list,
                                    const std::string &name, std::vector<int64_t> dims = {2, 3}) {
  pb::ValueInfoProto &value = *list.Add();
  value.set_name(name);
  pb::TypeProto::Tensor &type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(1);
  type.mutable_shape();
  for (int64_t dim : dims) {
    type.mutable_shape()->add_dim()->set_dim_value(dim);
  }
  return value;
}

inline pb::NodeProto &addNode(google::protobuf::RepeatedPtrField<pb::NodeProto> &list, const std::string &op,
                              const std::vector<std::string> &inputs, const std::vector<std::string> &outputs,
                              const std::string &name = "") {
  pb::NodeProto &node = *list.Add();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string &input : inputs) {
    node.add_input(input);
  }
  for (const std::string &output : outputs) {
    node.add_output(output);
  }
  return node;
}

/// x -> Relu -> y
inline pb::ModelProto reluModel() {
  pb::ModelProto model = emptyModel();
  addValue(*model.mutable_graph()->mutable_input(), "x");
  addValue(*model.mutable_graph()->mutable_output(), "y");
  addNode(*model.mutable_graph()->mutable_node(), "Relu", {"x"}, {"y"}, "relu");
  return model;
}

/// An initializer of the model's graph; its values are left to the caller.
inline pb::TensorProto &addWeight(pb::ModelProto &model, const std::string &name, int32_t type,
                                  std::vector<int64_t> dims) {
  pb::TensorProto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (int64_t dim : dims) {
    tensor.add_dims(dim);
  }
  return tensor;
}

/// A folder that goes away with the test.
class Folder {
public:
  Folder() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("ingot-importer", path)); }
  ~Folder() { llvm::sys::fs::remove_directories(path); }

  std::string at(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return full.str().str();
  }
  std::string write(llvm::StringRef name, llvm::StringRef bytes) const {
    llvm::sys::fs::remove(at(name)); // overwriting a file would wait for the disk
    std::error_code error;
    llvm::raw_fd_ostream(at(name), error) << bytes;
    EXPECT_FALSE(error);
    return at(name);
  }
  std::string write(llvm::StringRef name, const google::protobuf::Message &message) const {
    return write(name, message.SerializeAsString());
  }

private:
  llvm::SmallString<128> path;
};

inline std::string anyOp(llvm::StringRef, llvm::StringRef, int64_t) { return ""; }

/// Everything that loading, checking and reading a model's tensors has to say; empty: the model is fine.
inline std::string problemsOf(const std::string &path, importer::OpQuestion question = anyOp) {
  support::Problems problems("m.onnx");
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(path, problems);
  if (!file) {
    return problems.text();
  }
  if (importer::checkModel(file->model(), question, problems)) {
    importer::flattenModel(file->model(), problems);
  }
  for (const pb::TensorProto &tensor : file->model().graph().initializer()) {
    if (auto data = importer::readTensor(tensor, *file); !data) {
      problems.add("initializer " + support::quoted(tensor.name()) + " " + llvm::toString(data.takeError()));
    }
  }
  for (const pb::SparseTensorProto &tensor : file->model().graph().sparse_initializer()) {
    if (auto data = importer::readSparse(tensor, *file); !data) {
      problems.add("initializer " + support::quoted(tensor.values().name()) + " " + llvm::toString(data.takeError()));
    }
  }
  return problems.text();
}

inline std::string problemsOf(const pb::ModelProto &model) {
  Folder folder;
  return problemsOf(folder.write("m.onnx", model));
}

inline void expectProblem(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\ngot: " << text;
}

} // namespace ingot::test
