// Graphs that say something impossible, and functions.
#include "Models.h"

using namespace ingot;
using namespace ingot::test;

static pb::GraphProto &graphOf(pb::ModelProto &model) { return *model.mutable_graph(); }

static std::unique_ptr<importer::Graph> flat(const pb::ModelProto &model, std::string &text) {
  support::Problems problems("m.onnx");
  std::unique_ptr<importer::Graph> graph;
  if (importer::checkModel(model, anyOp, problems)) {
    graph = importer::flattenModel(model, problems);
  }
  text = problems.text();
  return graph;
}

TEST(Check, Versions) {
  pb::ModelProto model = reluModel();
  model.set_ir_version(99);
  model.mutable_opset_import(0)->set_version(0);
  std::string text = problemsOf(model);
  expectProblem(text, "has IR version 99; supported are 3 to 14");
  expectProblem(text, "imports operator set 0 of ai.onnx; the first is 1");
}

TEST(Check, NoOpset) {
  pb::ModelProto model = reluModel();
  model.clear_opset_import();
  std::string text = problemsOf(model);
  expectProblem(text, "the model imports no operator set");
  expectProblem(text, "node 'relu' (Relu): uses the domain 'ai.onnx', of which no operator set is imported");
}

TEST(Check, DefaultDomainHasTwoNames) {
  pb::ModelProto model = reluModel();
  model.mutable_opset_import(0)->set_domain("ai.onnx");
  EXPECT_EQ(problemsOf(model), "");
}

TEST(Check, Cycle) {
  pb::ModelProto model = reluModel();
  addNode(*graphOf(model).mutable_node(), "Add", {"y", "b"}, {"a"}, "first");
  addNode(*graphOf(model).mutable_node(), "Neg", {"a"}, {"b"}, "second");
  expectProblem(problemsOf(model), "the graph has a cycle of 2 nodes: ");
}

TEST(Check, NodeThatUsesItself) {
  pb::ModelProto model = reluModel();
  addNode(*graphOf(model).mutable_node(), "Neg", {"a"}, {"a"}, "self");
  expectProblem(problemsOf(model), "node 'self' (Neg, opset 17): the graph has a cycle of 1 nodes: 'self' -> 'self'");
}

TEST(Check, UnsortedIsSorted) {
  pb::ModelProto model = emptyModel();
  addValue(*graphOf(model).mutable_input(), "x");
  addValue(*graphOf(model).mutable_output(), "c");
  addNode(*graphOf(model).mutable_node(), "Neg", {"b"}, {"c"});
  addNode(*graphOf(model).mutable_node(), "Neg", {"a"}, {"b"});
  addNode(*graphOf(model).mutable_node(), "Neg", {"x"}, {"a"});
  std::string text;
  std::unique_ptr<importer::Graph> graph = flat(model, text);
  ASSERT_TRUE(graph) << text;
  EXPECT_EQ(graph->nodes[0].outputs[0], "a");
  EXPECT_EQ(graph->nodes[2].outputs[0], "c");
}

TEST(Check, NamesDefinedTwiceOrNever) {
  pb::ModelProto model = reluModel();
  addNode(*graphOf(model).mutable_node(), "Neg", {"nobody"}, {"y"}, "again");
  addValue(*graphOf(model).mutable_output(), "missing");
  addWeight(model, "w", 1, {0});
  addWeight(model, "w", 1, {0});
  std::string text = problemsOf(model);
  expectProblem(text, "node 'again' (Neg, opset 17): defines the value 'y', which is defined elsewhere, too");
  expectProblem(text,
                "node 'again' (Neg, opset 17): input 0, 'nobody', is not defined by any node, initializer or input");
  expectProblem(text, "output 'missing' is not defined by any node, initializer or input");
  expectProblem(text, "initializer 'w' is defined twice");
}

static void addConstant(pb::ModelProto &model, const std::string &output, int64_t value) {
  pb::AttributeProto &attribute = *addNode(*graphOf(model).mutable_node(), "Constant", {}, {output}).add_attribute();
  attribute.set_name("value_int");
  attribute.set_i(value);
}

TEST(Check, LastConstantCounts) {
  pb::ModelProto model = reluModel();
  addConstant(model, "c", 1);
  addNode(*graphOf(model).mutable_node(), "Add", {"y", "c"}, {"z"});
  addConstant(model, "c", 2);
  std::string text;
  std::unique_ptr<importer::Graph> graph = flat(model, text);
  ASSERT_TRUE(graph) << text;
  ASSERT_EQ(graph->nodes.size(), 3u);
  EXPECT_EQ(graph->nodes[1].attributes[0].value->i(), 2);
  EXPECT_EQ(graph->nodes[2].op, "Add");
}

TEST(Check, InitializerOfAnInputIsItsDefault) {
  pb::ModelProto model = reluModel();
  addWeight(model, "x", 1, {2, 3}).set_raw_data(std::string(24, '\0'));
  EXPECT_EQ(problemsOf(model), "");
}

TEST(Check, SubgraphsSeeOuterNames) {
  pb::ModelProto model = reluModel();
  pb::NodeProto &node = addNode(*graphOf(model).mutable_node(), "If", {"y"}, {"z"}, "branch");
  pb::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("then_branch");
  addNode(*attribute.mutable_g()->mutable_node(), "Add", {"x", "y"}, {"sum"}, "inside");
  addValue(*attribute.mutable_g()->mutable_output(), "sum");
  EXPECT_EQ(problemsOf(model), "");
  attribute.mutable_g()->mutable_node(0)->set_input(0, "elsewhere");
  expectProblem(problemsOf(model), "node 'inside' (Add, opset 17): input 0, 'elsewhere'");
}

TEST(Check, EveryUnknownOpIsReported) {
  pb::ModelProto model = reluModel();
  addNode(*graphOf(model).mutable_node(), "Frobnicate", {"x"}, {"a"}, "one");
  pb::NodeProto &custom = addNode(*graphOf(model).mutable_node(), "Gelu", {"x"}, {"b"}, "two");
  custom.set_domain("com.example");
  pb::OperatorSetIdProto &import = *model.add_opset_import();
  import.set_domain("com.example");
  import.set_version(3);
  Folder folder;
  auto question = [](llvm::StringRef domain, llvm::StringRef op, int64_t) -> std::string {
    return op == "Relu" ? "" : "unknown operator";
  };
  std::string text = problemsOf(folder.write("m.onnx", model), question);
  expectProblem(text, "node 'one' (Frobnicate, opset 17): unknown operator");
  expectProblem(text, "node 'two' (com.example.Gelu, opset 3): unknown operator");
}

TEST(Check, HugeInput) {
  pb::ModelProto model = reluModel();
  addValue(*graphOf(model).mutable_input(), "large", {int64_t(1) << 40, int64_t(1) << 40});
  addValue(*graphOf(model).mutable_input(), "also", {int64_t(1) << 39});
  std::string text = problemsOf(model);
  expectProblem(text, "input 'large' has impossible dims");
  expectProblem(text, "input 'also' has impossible dims");
}

TEST(Check, NamesCannotDriveTheTerminal) {
  pb::ModelProto model = reluModel();
  graphOf(model).mutable_node(0)->set_input(0, "\x1b[31mred\n");
  expectProblem(problemsOf(model), "'\\1b[31mred\\0a'");
}

/// Adds a function of the domain "mine", which is one node from "a" to "b".
static pb::FunctionProto &addFunction(pb::ModelProto &model, const std::string &name, const std::string &op) {
  if (model.opset_import_size() == 1) {
    pb::OperatorSetIdProto &import = *model.add_opset_import();
    import.set_domain("mine");
    import.set_version(1);
  }
  pb::FunctionProto &function = *model.add_functions();
  function.set_name(name);
  function.set_domain("mine");
  function.add_input("a");
  function.add_output("b");
  *function.mutable_opset_import() = model.opset_import();
  addNode(*function.mutable_node(), op, {"a"}, {"b"}, "inner");
  return function;
}

TEST(Functions, Inlined) {
  pb::ModelProto model = reluModel();
  pb::FunctionProto &function = addFunction(model, "Soft", "Elu");
  pb::AttributeProto &parameter = *function.mutable_node(0)->add_attribute();
  parameter.set_name("alpha");
  parameter.set_ref_attr_name("slope");
  function.mutable_node(0)->set_output(0, "t");
  addNode(*function.mutable_node(), "Neg", {"t"}, {"b"}, "minus");
  pb::NodeProto &call = *graphOf(model).mutable_node(0);
  call.set_op_type("Soft");
  call.set_domain("mine");
  call.set_name("call");
  pb::AttributeProto &slope = *call.add_attribute();
  slope.set_name("slope");
  slope.set_f(0.5f);
  std::string text;
  std::unique_ptr<importer::Graph> graph = flat(model, text);
  ASSERT_TRUE(graph) << text;
  ASSERT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(graph->nodes[0].name, "call/inner");
  EXPECT_EQ(graph->nodes[0].inputs[0], "x");
  EXPECT_EQ(graph->nodes[0].outputs[0], "call/t");
  EXPECT_EQ(graph->nodes[0].attributes[0].name, "alpha");
  EXPECT_EQ(graph->nodes[0].attributes[0].value->f(), 0.5f);
  EXPECT_EQ(graph->nodes[1].outputs[0], "y");
}

TEST(Functions, ParameterReturned) {
  pb::ModelProto model = reluModel();
  addFunction(model, "Same", "Neg").set_output(0, "a");
  graphOf(model).mutable_node(0)->set_op_type("Same");
  graphOf(model).mutable_node(0)->set_domain("mine");
  std::string text;
  std::unique_ptr<importer::Graph> graph = flat(model, text);
  ASSERT_TRUE(graph) << text;
  EXPECT_EQ(graph->nodes.back().op, "Identity");
  EXPECT_EQ(graph->nodes.back().inputs[0], "x");
  EXPECT_EQ(graph->nodes.back().outputs[0], "y");
}

TEST(Functions, RecursionIsRefused) {
  pb::ModelProto model = reluModel();
  addFunction(model, "F", "G").mutable_node(0)->set_domain("mine");
  addFunction(model, "G", "F").mutable_node(0)->set_domain("mine");
  graphOf(model).mutable_node(0)->set_op_type("F");
  graphOf(model).mutable_node(0)->set_domain("mine");
  std::string text;
  EXPECT_FALSE(flat(model, text));
  expectProblem(text, "the function calls itself");
}

TEST(Functions, DoublingIsBounded) {
  pb::ModelProto model = reluModel();
  for (int level = 0; level < 40; ++level) {
    std::string next = "F" + std::to_string(level + 1);
    pb::FunctionProto &function = addFunction(model, "F" + std::to_string(level), next);
    function.mutable_node(0)->set_domain("mine");
    addNode(*function.mutable_node(), next, {"a"}, {"c"}).set_domain("mine");
  }
  addFunction(model, "F40", "Neg");
  graphOf(model).mutable_node(0)->set_op_type("F0");
  graphOf(model).mutable_node(0)->set_domain("mine");
  std::string text;
  EXPECT_FALSE(flat(model, text));
  expectProblem(text, "nodes once its functions are inlined");
}

TEST(Functions, CallDepthIsBounded) {
  pb::ModelProto model = reluModel();
  for (int level = 0; level < 5000; ++level) {
    addFunction(model, "F" + std::to_string(level), "F" + std::to_string(level + 1))
        .mutable_node(0)
        ->set_domain("mine");
  }
  addFunction(model, "F5000", "Neg");
  graphOf(model).mutable_node(0)->set_op_type("F0");
  graphOf(model).mutable_node(0)->set_domain("mine");
  std::string text;
  EXPECT_FALSE(flat(model, text));
  expectProblem(text, "functions call each other more than 64 deep");
}

TEST(Check, MistakesOfTheImporterAreNoneOfTheModel) {
  support::Problems all("m.onnx"), ofBranch = all.emptyForSameFile();
  all.add({"n", "Relu", 17}, "is wrong");
  EXPECT_FALSE(all.haveBug());
  ofBranch.addBug({"n", "Relu", 17}, "is lost");
  all.add(ofBranch);
  EXPECT_TRUE(all.haveBug());
  EXPECT_EQ(all.text(), "m.onnx: error: node 'n' (Relu, opset 17): is wrong\n"
                        "m.onnx: error: node 'n' (Relu, opset 17): internal error: is lost\n");
}
