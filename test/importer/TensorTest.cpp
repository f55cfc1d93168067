// Tensors in all forms, external data that tries to escape, and the files of test data.
#include "Models.h"
#include "compiler/importer/TensorFile.h"
#include "compiler/support/OutputFiles.h"
#include "llvm/ADT/StringExtras.h"
#include <onnx/onnx-data_pb.h>

using namespace ingot;
using namespace ingot::test;

/// What reading `tensor` as an initializer says, or its bytes in hex.
static std::string read(const pb::TensorProto &tensor) {
  Folder folder;
  pb::ModelProto model = reluModel();
  *model.mutable_graph()->add_initializer() = tensor;
  support::Problems problems("m.onnx");
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(folder.write("m.onnx", model), problems);
  if (!file) {
    return problems.text();
  }
  llvm::Expected<importer::TensorData> data = importer::readTensor(file->model().graph().initializer(0), *file);
  return data ? llvm::toHex(data->data, true) : llvm::toString(data.takeError());
}

static pb::TensorProto tensorOf(int32_t type, std::vector<int64_t> dims) {
  pb::TensorProto tensor;
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(dims.begin(), dims.end());
  return tensor;
}

TEST(Tensor, TypedFields) {
  pb::TensorProto tensor = tensorOf(importer::kFloat, {1});
  tensor.add_float_data(1.0f);
  EXPECT_EQ(read(tensor), "0000803f");
  tensor = tensorOf(importer::kDouble, {1});
  tensor.add_double_data(1.0);
  EXPECT_EQ(read(tensor), "000000000000f03f");
  tensor = tensorOf(importer::kInt64, {});
  tensor.add_int64_data(-2);
  EXPECT_EQ(read(tensor), "feffffffffffffff");
  tensor = tensorOf(importer::kInt8, {2});
  tensor.add_int32_data(-1);
  tensor.add_int32_data(5);
  EXPECT_EQ(read(tensor), "ff05");
  tensor = tensorOf(importer::kFloat16, {1});
  tensor.add_int32_data(0x3c00);
  EXPECT_EQ(read(tensor), "003c");
  tensor = tensorOf(importer::kUInt32, {1});
  tensor.add_uint64_data(0xfffffffeu);
  EXPECT_EQ(read(tensor), "feffffff");
  tensor = tensorOf(importer::kBool, {2});
  tensor.add_int32_data(1);
  tensor.add_int32_data(0);
  EXPECT_EQ(read(tensor), "0100");
  tensor = tensorOf(importer::kInt4, {3});
  tensor.add_int32_data(0x21);
  tensor.add_int32_data(0x03);
  EXPECT_EQ(read(tensor), "2103") << "two to a byte, the first in the low half";
  EXPECT_EQ(read(tensorOf(importer::kFloat, {0, 3})), "");
}

TEST(Tensor, SizesMustAgree) {
  pb::TensorProto tensor = tensorOf(importer::kFloat, {2, 2});
  tensor.set_raw_data("abc");
  expectProblem(read(tensor), "float32[2, 2] needs 16 bytes, but raw_data holds 3");
  tensor.clear_raw_data();
  tensor.add_float_data(1);
  expectProblem(read(tensor), "float32[2, 2] needs 16 bytes, but raw_data holds 4");
  tensor.clear_float_data();
  tensor.add_int64_data(1);
  expectProblem(read(tensor), "float32[2, 2] needs 4 values, but float_data holds 0");
}

TEST(Tensor, ImpossibleDims) {
  expectProblem(read(tensorOf(importer::kFloat, {-1})), "has impossible dims [-1]");
  expectProblem(read(tensorOf(importer::kFloat, {int64_t(1) << 62})), "has impossible dims");
  expectProblem(read(tensorOf(importer::kInt8, {int64_t(1) << 32, int64_t(1) << 32})), "has impossible dims");
  expectProblem(read(tensorOf(importer::kInt8, {0, int64_t(1) << 32, int64_t(1) << 32})), "has impossible dims");
  expectProblem(read(tensorOf(importer::kFloat, {1000000, 1000000})), "needs 1000000000000 values");
  expectProblem(read(tensorOf(99, {1})), "has the unknown element type 99");
}

TEST(Tensor, Sparse) {
  Folder folder;
  pb::ModelProto model = reluModel();
  pb::SparseTensorProto &sparse = *model.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = tensorOf(importer::kUInt8, {2});
  sparse.mutable_values()->set_name("s");
  sparse.mutable_values()->set_raw_data("\x05\x06");
  *sparse.mutable_indices() = tensorOf(importer::kInt64, {2, 2});
  for (int64_t index : {0, 1, 1, 0}) {
    sparse.mutable_indices()->add_int64_data(index);
  }
  sparse.add_dims(2);
  sparse.add_dims(2);
  support::Problems problems("m.onnx");
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(folder.write("m.onnx", model), problems);
  ASSERT_TRUE(file);
  llvm::Expected<importer::TensorData> data = importer::readSparse(file->model().graph().sparse_initializer(0), *file);
  ASSERT_TRUE(bool(data));
  EXPECT_EQ(llvm::toHex(data->data), "00050600");
  sparse.mutable_indices()->set_int64_data(3, 2);
  expectProblem(problemsOf(model), "initializer 's' is a sparse tensor with the index 2, outside [2, 2]");
  sparse.set_dims(0, int64_t(1) << 40);
  expectProblem(problemsOf(model), "too large to be made dense");
}

namespace {
/// A model in a folder of its own with one external initializer of four bytes.
struct External {
  Folder folder;
  pb::ModelProto model = reluModel();
  pb::TensorProto *tensor = &addWeight(model, "w", 1, {1});

  explicit External(const std::string &location) {
    tensor->set_data_location(pb::TensorProto::EXTERNAL);
    set("location", location);
    EXPECT_FALSE(llvm::sys::fs::create_directory(folder.at("model")));
  }
  void set(const std::string &key, const std::string &value) {
    pb::StringStringEntryProto &entry = *tensor->add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::string problems() { return problemsOf(folder.write("model/m.onnx", model)); }
};
} // namespace

TEST(ExternalData, Read) {
  External model("w.bin");
  model.folder.write("model/w.bin", "01234567");
  EXPECT_EQ(model.problems(), "");
  model.set("offset", "4");
  model.set("length", "4");
  EXPECT_EQ(model.problems(), "");
}

// A length of 0 is one that is left out.
TEST(ExternalData, LengthOfZero) {
  External model("w.bin");
  model.folder.write("model/w.bin", "01234567");
  model.set("length", "0");
  EXPECT_EQ(model.problems(), "");
  model.folder.write("model/w.bin", "012");
  expectProblem(model.problems(), "is too short: bytes 0 to 0 + 4 of 3");
}

TEST(ExternalData, InASubfolder) {
  External model("data/w.bin");
  EXPECT_FALSE(llvm::sys::fs::create_directory(model.folder.at("model/data")));
  model.folder.write("model/data/w.bin", "0123");
  EXPECT_EQ(model.problems(), "");
}

TEST(ExternalData, Missing) {
  expectProblem(External("w.bin").problems(),
                "initializer 'w' has external data 'w.bin' cannot be opened: No such file");
}

TEST(ExternalData, Escaping) {
  expectProblem(External("../../etc/passwd").problems(),
                "external data '../../etc/passwd' is refused: it must lie inside the model's folder");
  expectProblem(External("/etc/passwd").problems(),
                "external data '/etc/passwd' is refused: it must lie inside the model's folder");
  expectProblem(External("a/../../etc/passwd").problems(), "is refused: it must lie inside the model's folder");
  expectProblem(External("").problems(), "external data without a location");
}

TEST(ExternalData, EscapingByLink) {
  External model("w.bin");
  model.folder.write("secret", "0123");
  EXPECT_FALSE(llvm::sys::fs::create_link(model.folder.at("secret"), model.folder.at("model/w.bin")));
  expectProblem(model.problems(), "is refused: it is a link that leads outside the model's folder");
}

// A download cache: the model and its data are links into a store.
TEST(ExternalData, LinksSideBySide) {
  External model("w.bin");
  std::string real = model.folder.write("m-0123", model.model);
  model.folder.write("w-4567", "0123");
  EXPECT_FALSE(llvm::sys::fs::create_link(model.folder.at("w-4567"), model.folder.at("model/w.bin")));
  EXPECT_FALSE(llvm::sys::fs::create_link(real, model.folder.at("model/m.onnx")));
  EXPECT_EQ(problemsOf(model.folder.at("model/m.onnx")), "");
}

TEST(ExternalData, TooShort) {
  External model("w.bin");
  model.folder.write("model/w.bin", "012");
  expectProblem(model.problems(), "is too short: bytes 0 to 0 + 4 of 3");
  model.set("offset", "18446744073709551615");
  expectProblem(model.problems(), "is too short");
  model.set("offset", "many");
  expectProblem(model.problems(), "whose offset is 'many', not a number");
}

TEST(ExternalData, WrongLength) {
  External model("w.bin");
  model.folder.write("model/w.bin", "01234567");
  model.set("length", "8");
  expectProblem(model.problems(), "float32[1] needs 4 bytes, but its external data holds 8");
}

TEST(TensorFile, RoundTrip) {
  Folder folder;
  importer::HostTensor tensor{"x", importer::kInt32, {2}, {1, 0, 0, 0, 2, 0, 0, 0}, {}};
  support::OutputFiles files;
  ASSERT_FALSE(bool(importer::writeTensorFile(files, folder.at("t.pb"), tensor)));
  ASSERT_FALSE(bool(files.keep()));
  llvm::Expected<importer::HostTensor> back = importer::readTensorFile(folder.at("t.pb"));
  ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
  EXPECT_EQ(back->name, "x");
  EXPECT_EQ(back->type, importer::kInt32);
  EXPECT_EQ(back->dims, tensor.dims);
  EXPECT_EQ(back->bytes, tensor.bytes);
}

TEST(TensorFile, Optional) {
  Folder folder;
  pb::OptionalProto optional;
  optional.set_elem_type(pb::OptionalProto::UNDEFINED);
  llvm::Expected<importer::HostTensor> absent = importer::readTensorFile(folder.write("a.pb", optional));
  ASSERT_TRUE(bool(absent)) << llvm::toString(absent.takeError());
  EXPECT_TRUE(absent->isOptional && absent->isAbsent);
  optional.set_elem_type(pb::OptionalProto::TENSOR);
  *optional.mutable_tensor_value() = tensorOf(importer::kInt32, {1});
  optional.mutable_tensor_value()->set_raw_data(std::string("\2\0\0\0", 4));
  llvm::Expected<importer::HostTensor> there = importer::readTensorFile(folder.write("b.pb", optional));
  ASSERT_TRUE(bool(there)) << llvm::toString(there.takeError());
  EXPECT_TRUE(there->isOptional && !there->isAbsent);
  EXPECT_EQ(there->bytes, (std::vector<char>{2, 0, 0, 0}));
}

static std::string readFileProblem(const std::string &path) {
  llvm::Expected<importer::HostTensor> tensor = importer::readTensorFile(path);
  return tensor ? "" : llvm::toString(tensor.takeError());
}

TEST(TensorFile, Problems) {
  Folder folder;
  pb::SequenceProto sequence;
  sequence.set_elem_type(pb::SequenceProto::TENSOR);
  *sequence.add_tensor_values() = tensorOf(importer::kFloat, {0});
  *sequence.add_tensor_values() = tensorOf(importer::kFloat, {0});
  expectProblem(readFileProblem(folder.write("t.pb", sequence)), "t.pb: error: holds a sequence, or an optional value");
  pb::TensorProto tensor = tensorOf(importer::kFloat, {2});
  tensor.set_raw_data("abc");
  expectProblem(readFileProblem(folder.write("t.pb", tensor)), "tensor float32[2] needs 8 bytes, but raw_data holds 3");
  expectProblem(readFileProblem(folder.at("none.pb")), "cannot be opened");
  expectProblem(readFileProblem(folder.write("t.pb", "\xff\xff")), "is no tensor, or a damaged one");
  support::OutputFiles files;
  expectProblem(llvm::toString(importer::writeTensorFile(files, "/nowhere/t.pb", {})),
                "/nowhere/t.pb: error: cannot be written");
}
