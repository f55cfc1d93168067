"""ingot.from_sklearn: estimators of scikit-learn compiled give what scikit-learn gives.

    estimators.py --build build [NAMES OF TESTS]
"""
import doctest
import importlib
import sys
import unittest
import unittest.mock

import numpy as np
import package

RNG = np.random.default_rng(1)
X = RNG.standard_normal((200, 5)).astype(np.float32).astype(np.float64)
LABELS = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64) + (X[:, 3] > 1)
VALUES = X @ np.arange(5) + np.sin(X[:, 0])


class Estimators(unittest.TestCase):
    def classify(self, estimator, labels=LABELS, dtype=np.float32, within=1e-5, **options):
        with self.subTest(type(estimator).__name__):
            model = ingot.from_sklearn(estimator.fit(X, labels), X, **options)
            for rows in (1, 17, 200):
                got, probabilities = model(X[:rows].astype(dtype))
                want = estimator.predict_proba(X[:rows])
                np.testing.assert_allclose(probabilities, want, atol=within)
                # Where two classes are as probable to float32, either is right.
                ahead = np.diff(np.sort(want, axis=1)[:, -2:], axis=1)[:, 0] > within
                np.testing.assert_array_equal(got[ahead], estimator.predict(X[:rows])[ahead])
                self.assertGreater(ahead.mean(), 0.9)

    def test_classifiers(self):
        from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, tree

        self.classify(linear_model.LogisticRegression())
        self.classify(linear_model.LogisticRegression(), labels=np.array(["no", "so", "yes"])[LABELS])
        self.classify(tree.DecisionTreeClassifier(max_depth=4, random_state=1))
        self.classify(ensemble.RandomForestClassifier(20, max_depth=5, random_state=1))
        self.classify(ensemble.GradientBoostingClassifier(n_estimators=10, random_state=1))
        self.classify(naive_bayes.GaussianNB(), within=1e-4)
        self.classify(neighbors.KNeighborsClassifier(3))
        self.classify(neural_network.MLPClassifier((8,), max_iter=300, random_state=1))

    def test_pipelines(self):
        from sklearn import compose, decomposition, linear_model, model_selection, pipeline, preprocessing

        steps = [preprocessing.StandardScaler(), decomposition.PCA(3, random_state=1), linear_model.LogisticRegression()]
        self.classify(pipeline.make_pipeline(*steps))
        self.classify(pipeline.make_pipeline(*steps), dtype=np.float64, double=True, within=1e-12)
        columns = compose.ColumnTransformer([("a", preprocessing.MinMaxScaler(), [0, 1]), ("b", preprocessing.PolynomialFeatures(2), [2, 3, 4])])
        self.classify(pipeline.make_pipeline(columns, linear_model.LogisticRegression()))
        self.classify(model_selection.GridSearchCV(linear_model.LogisticRegression(), {"C": [0.1, 1]}, cv=2))

    def test_regressors(self):
        from sklearn import ensemble, linear_model, neural_network, svm

        for regressor in (linear_model.Ridge(), svm.SVR(), ensemble.RandomForestRegressor(10, random_state=1), neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=300, random_state=1)):
            with self.subTest(type(regressor).__name__):
                got = ingot.from_sklearn(regressor.fit(X, VALUES), X)(X.astype(np.float32))
                np.testing.assert_allclose(got.reshape(-1), regressor.predict(X), rtol=1e-3, atol=1e-3)

    def test_clusters_and_transformers(self):
        from sklearn import cluster, preprocessing

        means, x = cluster.KMeans(3, n_init=1, random_state=1).fit(X), X.astype(np.float32)
        labels, distances = ingot.from_sklearn(means, X)(x)
        np.testing.assert_array_equal(labels, means.predict(X))
        np.testing.assert_allclose(distances, means.transform(X), rtol=1e-4)
        scaler = preprocessing.StandardScaler().fit(X)
        np.testing.assert_allclose(ingot.from_sklearn(scaler, X, threads=1)(x), scaler.transform(X), atol=1e-5)

    def test_what_is_asked_for(self):
        from sklearn.linear_model import LogisticRegression

        estimator = LogisticRegression().fit(X, LABELS)
        model = ingot.from_sklearn(estimator, X, convert={"options": {id(estimator): {"zipmap": True}}, "target_opset": 17})
        probabilities = model(X[:2].astype(np.float32))[1]
        self.assertEqual(sorted(probabilities[0]), [0, 1, 2])
        with self.assertRaisesRegex(ingot.CompileError, "abacus"):
            ingot.from_sklearn(estimator, X, target="abacus")

    def test_the_guide(self):
        names = {}
        exec(package.code("scikit-learn"), names)
        np.testing.assert_allclose(names["probabilities"], names["pipeline"].predict_proba(names["X"]), atol=1e-5)

    def test_doctests(self):
        result = doctest.testmod(importlib.import_module("ingot._sklearn"))
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 0)


class Without(unittest.TestCase):
    def test_the_package_is_named(self):
        with unittest.mock.patch.dict(sys.modules, {"skl2onnx": None}), self.assertRaisesRegex(ImportError, "pip install skl2onnx"):
            ingot.from_sklearn(None, X)


if __name__ == "__main__":
    build, tests = package.command_line(__doc__)
    ingot = package.use(build)
    package.need("skl2onnx")
    unittest.main(argv=[sys.argv[0], *tests])
