// From files to IR, as far as that needs no particular operator: inputs, constants, outputs, and problems reported
// together, those that are found when nodes are resolved among them.
#include "compiler/importer/Import.h"
#include "Models.h"
#include "compiler/graph/Resolve.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

using namespace ingot;
using namespace ingot::test;

/// Warnings, and the module's text or the problems.
static std::string import(const pb::ModelProto &model, const importer::ImportOptions &options = {}) {
  Folder folder;
  mlir::MLIRContext context;
  std::string text;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    text += d.str() + "\n";
    return mlir::success();
  });
  support::Problems problems("m.onnx");
  std::optional<importer::ImportedModel> result =
      importer::importModel(context, folder.write("m.onnx", model), options, problems);
  if (!result || failed(graph::resolve(*result->module->getOps<mlir::func::FuncOp>().begin(), problems))) {
    EXPECT_FALSE(problems.empty());
    return text + problems.text();
  }
  EXPECT_TRUE(problems.empty());
  llvm::raw_string_ostream out(text);
  result->module->print(out, mlir::OpPrintingFlags().enableDebugInfo(true, true));
  return text;
}

/// A graph that returns its input.
static pb::ModelProto throughModel(std::vector<int64_t> dims = {2, 3}) {
  pb::ModelProto model = emptyModel();
  addValue(*model.mutable_graph()->mutable_input(), "x", dims);
  addValue(*model.mutable_graph()->mutable_output(), "x", dims);
  return model;
}

/// Makes a dim of the first input symbolic.
static pb::ModelProto symbolicModel(const std::string &symbol, int at = 0) {
  pb::ModelProto model = throughModel();
  auto &dim =
      *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(at);
  dim.clear_dim_value();
  if (!symbol.empty()) {
    dim.set_dim_param(symbol);
  }
  return model;
}

static pb::NodeProto &addConstant(pb::ModelProto &model, const std::string &attribute) {
  pb::NodeProto &node = addNode(*model.mutable_graph()->mutable_node(), "Constant", {}, {"c"}, "const");
  node.add_attribute()->set_name(attribute);
  model.mutable_graph()->add_output()->set_name("c");
  return node;
}

TEST(Import, NamesStay) {
  std::string text = import(throughModel(), {.name = "net"});
  expectProblem(text, "func.func @net(%arg0: tensor<2x3xf32> {onnx.dims = [\"\", \"\"], onnx.name = \"x\"}");
  expectProblem(text, "-> (tensor<2x3xf32> {onnx.name = \"x\"})");
}

TEST(Import, SmallWeightsAreDense) {
  pb::ModelProto model = throughModel();
  addWeight(model, "w", importer::kInt64, {2}).set_raw_data(std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
  addWeight(model, "b", importer::kBool, {2}).set_raw_data(std::string("\1\0", 2));
  addWeight(model, "u", importer::kUInt8, {1}).set_raw_data("\xff");
  for (const char *name : {"w", "b", "u"}) {
    model.mutable_graph()->add_output()->set_name(name);
  }
  std::string text = import(model);
  expectProblem(text, "onnx.Constant dense<[1, 2]> : tensor<2xi64> \"w\"");
  expectProblem(text, "onnx.Constant dense<[true, false]> : tensor<2xi1> \"b\"");
  expectProblem(text, "onnx.Constant dense<255> : tensor<1xui8> \"u\"");
}

TEST(Import, LargeWeightsAreResources) {
  pb::ModelProto model = throughModel();
  addWeight(model, "w", importer::kFloat, {400}).set_raw_data(std::string(1600, '\0'));
  model.mutable_graph()->add_output()->set_name("w");
  expectProblem(import(model), "onnx.Constant dense_resource<w> : tensor<400xf32>");
}

TEST(Import, UnusedWeightsAreDropped) {
  pb::ModelProto model = throughModel();
  addWeight(model, "w", importer::kFloat, {1}).set_raw_data(std::string(4, '\0'));
  EXPECT_EQ(import(model).find("onnx.Constant"), std::string::npos);
}

TEST(Import, ConstantForms) {
  pb::ModelProto model = throughModel();
  addConstant(model, "value_floats").mutable_attribute(0)->add_floats(0.5f);
  expectProblem(import(model), "onnx.Constant dense<5.000000e-01> : tensor<1xf32> \"const\"");
  model = throughModel();
  addConstant(model, "value_float").mutable_attribute(0)->set_f(0.5f);
  expectProblem(import(model), "onnx.Constant dense<5.000000e-01> : tensor<f32>");
  model = throughModel();
  addConstant(model, "value_int").mutable_attribute(0)->set_i(-7);
  expectProblem(import(model), "onnx.Constant dense<-7> : tensor<i64>");
  model = throughModel();
  addConstant(model, "value_ints").mutable_attribute(0)->add_ints(7);
  expectProblem(import(model), "onnx.Constant dense<7> : tensor<1xi64>");
  model = throughModel();
  addConstant(model, "value").mutable_attribute(0)->mutable_t()->set_data_type(importer::kInt32);
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_t()->add_int32_data(3);
  expectProblem(import(model), "onnx.Constant dense<3> : tensor<i32>");
  model = throughModel();
  addConstant(model, "value_string").mutable_attribute(0)->set_s("a");
  expectProblem(import(model), "does = \"spell\"");
  model = throughModel();
  addConstant(model, "value").mutable_attribute(0)->mutable_t()->set_data_type(importer::kFloat);
  expectProblem(import(model), "node 'const' (Constant, opset 17): float32[] needs 1 values, but float_data holds 0");
}

TEST(Import, SymbolicDims) {
  expectProblem(import(symbolicModel("width", 1)),
                "tensor<2x?xf32, #onnx.sizes<2, \"width\">> {onnx.dims = [\"\", \"width\"]");
  expectProblem(import(symbolicModel("", 1)), "tensor<2x?xf32, #onnx.sizes<2, \"x_1\">> {onnx.dims = [\"\", \"\"]");
  expectProblem(import(symbolicModel("batch"), {.dims = {{"batch", 4}}}),
                "tensor<4x3xf32> {onnx.dims = [\"batch\", \"\"]");
  expectProblem(import(symbolicModel(""), {.dims = {{"x_0", 4}}}), "tensor<4x3xf32>");
  // As the model writes it and as reports and headers do.
  expectProblem(import(symbolicModel("p2o.Dim.0"), {.dims = {{"p2o.Dim.0", 4}}}), "tensor<4x3xf32>");
  expectProblem(import(symbolicModel("p2o.Dim.0"), {.dims = {{"p2o_Dim_0", 4}}}), "tensor<4x3xf32>");
  expectProblem(import(symbolicModel(""), {.shapes = {{"x", {5, 3}}}}), "tensor<5x3xf32>");
}

/// Makes both dims of the input symbolic.
static pb::ModelProto symbolicModel(const std::string &first, const std::string &second) {
  pb::ModelProto model = symbolicModel(first);
  auto &type = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type.mutable_shape()->mutable_dim(1)->clear_dim_value();
  type.mutable_shape()->mutable_dim(1)->set_dim_param(second);
  return model;
}

TEST(Import, EqualNamesAreEqualSizes) {
  expectProblem(import(symbolicModel("n", "n")), "#onnx.sizes<\"n\", \"n\">");
  for (const char *nothing : {"?", "*", "-1", "None", "unk", "unknown"}) {
    expectProblem(import(symbolicModel(nothing, nothing)), "#onnx.sizes<\"x_0\", \"x_1\">");
  }
  for (const char *reused : {"N", "Dynamic", "unk__12", "DynamicDimension_0", "p2o.DynamicDimension.0"}) {
    expectProblem(import(symbolicModel(reused, reused)), "\", \"x_1\">");
  }
  expectProblem(import(symbolicModel("n", "n"), {.independentDims = {"n"}}), "#onnx.sizes<\"n\", \"x_1\">");
  expectProblem(import(symbolicModel("n", "n"), {.dims = {{"n", 4}}, .independentDims = {"*"}}), "tensor<4x4xf32>");
}

TEST(Import, OtherNamesAreOtherSizes) {
  expectProblem(import(symbolicModel("s0 + 1", "s0 - 1")), "#onnx.sizes<\"'s0 + 1'\", \"'s0 - 1'\">");
  expectProblem(import(symbolicModel("a-b", "a_b")), "#onnx.sizes<\"'a-b'\", \"a_b\">");
  expectProblem(import(symbolicModel("x_1", "?")), "#onnx.sizes<\"x_1\", \"x_1_2\">");
  expectProblem(import(symbolicModel("高", "宽")), R"(#onnx.sizes<"\E9\AB\98", "\E5\AE\BD">)");
  expectProblem(import(symbolicModel("高", "宽"), {.dims = {{"高", 4}}}), R"(#onnx.sizes<4, "\E5\AE\BD">)");
  expectProblem(import(symbolicModel("s0 + 1", "n"), {.dims = {{"s0_plus_1", 4}}}), "#onnx.sizes<4, \"n\">");
  expectProblem(import(symbolicModel("a-b", "a_b"), {.dims = {{"a.b", 4}}}),
                "--dim names 'a.b', which is not a dimension");
}

TEST(Import, ShapesGiveOtherInputsTheirSymbols) {
  pb::ModelProto model = symbolicModel("batch");
  *model.mutable_graph()->add_input() = model.graph().input(0);
  model.mutable_graph()->mutable_input(1)->set_name("z");
  expectProblem(import(model, {.shapes = {{"x", {6, 3}}}}), "%arg1: tensor<6x3xf32>");
  expectProblem(import(model, {.shapes = {{"x", {6, 3}}, {"z", {7, 3}}}}),
                "dimension 'batch' is given two sizes: 6 and 7");
}

TEST(Import, WrongSizes) {
  std::string text = import(symbolicModel("batch"), {.dims = {{"btach", 4}}, .shapes = {{"y", {1}}, {"x", {1, 2, 3}}}});
  expectProblem(text, "--dim names 'btach', which is not a dimension of any input");
  expectProblem(text, "--shape names 'y', which is not an input");
  expectProblem(text, "--shape gives input 'x' 3 dims, but the model says '[batch, 3]'");
  expectProblem(import(throughModel(), {.shapes = {{"x", {2, 4}}}}),
                "--shape gives input 'x' the dim 4 where the model says 3");
}

TEST(Import, InputsOfOtherTypes) {
  pb::ModelProto model = throughModel();
  pb::ValueInfoProto &sequence = *model.mutable_graph()->add_input();
  sequence.set_name("s");
  sequence.mutable_type()->mutable_sequence_type();
  addValue(*model.mutable_graph()->mutable_input(), "t").mutable_type()->mutable_tensor_type()->set_elem_type(14);
  std::string text = import(model);
  expectProblem(text, "input 's' is a sequence of what is no tensor, which is unsupported");
  expectProblem(text, "input 't' has the element type complex64, which is unsupported");
}

TEST(Import, ConstantsThatNobodyReadMayBeOfAnyType) {
  pb::ModelProto model = throughModel();
  addWeight(model, "w", importer::kComplex64, {1}).set_raw_data(std::string(8, '\0'));
  addWeight(model, "u", 99, {1});
  pb::NodeProto &node = addNode(*model.mutable_graph()->mutable_node(), "Constant", {}, {"c"}, "const");
  node.add_attribute()->set_name("value");
  *node.mutable_attribute(0)->mutable_t() = model.graph().initializer(0);
  expectProblem(import(model), "return %arg0");
  addNode(*model.mutable_graph()->mutable_node(), "Neg", {"w"}, {"a"}, "reads");
  addNode(*model.mutable_graph()->mutable_node(), "Neg", {"c"}, {"b"}, "reads too");
  std::string text = import(model);
  expectProblem(text, "initializer 'w' has the element type complex64, which is unsupported");
  expectProblem(text, "node 'const' (Constant, opset 17): has the element type complex64, which is unsupported");
}

TEST(Import, EverythingAtOnce) {
  pb::ModelProto model = symbolicModel("width", 1);
  addNode(*model.mutable_graph()->mutable_node(), "Frobnicate", {"x"}, {"a"}, "one");
  addNode(*model.mutable_graph()->mutable_node(), "None", {}, {"b"}, "two");
  addNode(*model.mutable_graph()->mutable_node(), "If", {"x"}, {"d"}, "three");
  addConstant(model, "value_tensor");
  addWeight(model, "w", 1, {5}).set_raw_data("abc");
  addNode(*model.mutable_graph()->mutable_node(), "Neg", {"w"}, {"e"}, "four");
  std::string text = import(model);
  expectProblem(text, "node 'one' (Frobnicate, opset 17): unknown or unsupported operator");
  expectProblem(text, "node 'two' (None, opset 17): unknown or unsupported operator");
  expectProblem(text, "node 'three' (If, opset 17): needs the attribute 'then_branch'");
  expectProblem(text, "initializer 'w' float32[5] needs 20 bytes, but raw_data holds 3");
  expectProblem(text, "node 'const' (Constant, opset 17): has the unknown attribute 'value_tensor'");
}

/// x [1, 2, 4, 4] -> the node -> y
static pb::ModelProto nodeModel(const std::string &op, const std::vector<std::string> &inputs,
                                const std::vector<std::string> &outputs = {"y"}) {
  pb::ModelProto model = emptyModel();
  addValue(*model.mutable_graph()->mutable_input(), "x", {1, 2, 4, 4});
  model.mutable_graph()->add_output()->set_name("y");
  addWeight(model, "w", importer::kFloat, {3, 2, 1, 1}).set_raw_data(std::string(24, '\0'));
  addNode(*model.mutable_graph()->mutable_node(), op, inputs, outputs, "n");
  return model;
}

static pb::AttributeProto &addAttribute(pb::ModelProto &model, const std::string &name) {
  pb::AttributeProto &attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name(name);
  return attribute;
}

TEST(Nodes, Built) {
  pb::ModelProto model = nodeModel("Conv", {"x", "w"});
  addAttribute(model, "strides").add_ints(2);
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->add_ints(2);
  std::string text = import(model);
  expectProblem(text, "onnx.Constant dense<0.000000e+00> : tensor<3x2x1x1xf32> \"w\"");
  expectProblem(text, "onnx.None : none \"n\"");
  expectProblem(
      text,
      "{strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, none) -> tensor<1x3x2x2xf32> \"n\"");
  expectProblem(text, "-> (tensor<1x3x2x2xf32> {onnx.name = \"y\"})");
}

TEST(Nodes, EmptyNamesAtTheEndAreLeftOut) {
  EXPECT_NE(import(nodeModel("Relu", {"x", ""})).find("onnx.Relu"), std::string::npos);
}

TEST(Nodes, WrongCounts) {
  expectProblem(import(nodeModel("Relu", {})), "node 'n' (Relu, opset 17): has too few inputs: the first is missing");
  expectProblem(import(nodeModel("Relu", {""})), "has too few inputs: the first is missing");
  expectProblem(import(nodeModel("Conv", {"x"})), "node 'n' (Conv, opset 17): has too few inputs: input 1 is missing");
  expectProblem(import(nodeModel("Relu", {"x", "x"})), "has 2 inputs, but the operator takes 1");
  expectProblem(import(nodeModel("Conv", {"x", "w", "w", "w"})), "has 4 inputs, but the operator takes at most 3");
  expectProblem(import(nodeModel("Relu", {"x"}, {"y", "z"})), "has 2 outputs, but the operator gives 1");
}

TEST(Nodes, WrongAttributes) {
  pb::ModelProto model = nodeModel("Conv", {"x", "w"});
  addAttribute(model, "colour").set_i(1);
  expectProblem(import(model), "node 'n' (Conv, opset 17): has the unknown attribute 'colour'");
  model = nodeModel("Conv", {"x", "w"});
  addAttribute(model, "group").set_s("one");
  expectProblem(import(model), "node 'n' (Conv, opset 17): attribute 'group' failed to satisfy constraint");
  model = nodeModel("MaxPool", {"x"});
  expectProblem(import(model), "node 'n' (MaxPool, opset 17): requires attribute 'kernel_shape'");
}

TEST(Nodes, AttributesOfTrainingAreDropped) {
  pb::ModelProto model = nodeModel("Dropout", {"x"});
  addAttribute(model, "ratio").set_f(0.5f);
  expectProblem(import(model), "onnx.Dropout");
}

TEST(Nodes, OneMistakeIsOneMessage) {
  pb::ModelProto model = nodeModel("Conv", {"x"}, {"a"});
  addNode(*model.mutable_graph()->mutable_node(), "Relu", {"a"}, {"b"}, "second");
  addNode(*model.mutable_graph()->mutable_node(), "Relu", {"b"}, {"y"}, "third");
  addNode(*model.mutable_graph()->mutable_node(), "Conv", {"x"}, {"z"}, "fourth");
  std::string text = import(model);
  EXPECT_EQ(llvm::StringRef(text).count('\n'), 2u) << text;
  expectProblem(text, "node 'n' (Conv, opset 17)");
  expectProblem(text, "node 'fourth' (Conv, opset 17)");
}
