"""ingot.from_sklearn: estimators of scikit-learn as compiled models, by way of skl2onnx."""
import typing

import numpy as np

from . import _compile, _model


def single(X):
    """Rows of an array or of a table of pandas, whose float64 become float32."""
    if hasattr(X, "dtypes"):
        return X.astype({name: np.float32 for name, kind in X.dtypes.items() if kind == np.float64})
    X = np.asarray(X)
    return X.astype(np.float32) if X.dtype == np.float64 else X


def from_sklearn(
    estimator: typing.Any,
    X: typing.Any,
    *,
    double: bool = False,
    convert: typing.Optional[typing.Mapping[str, typing.Any]] = None,
    **options: typing.Any,
) -> _model.Model:
    """Compiles a fitted estimator: a classifier, regressor, cluster model, transformer, or a pipeline of them.

    X        data that it was fitted on, or a row of them: an array, or a table of pandas, whose columns become inputs. float64 becomes float32
    double   the model takes float64 and computes so; skl2onnx cannot convert every estimator like this (no trees)
    convert  further arguments of skl2onnx.to_onnx: {"target_opset": 17, "options": {...}}
    options  of ingot.compile: dims={"batch": 1}, threads=1

    The number of rows is open. A classifier gives the labels and the probabilities, an array with a column for each of `estimator.classes_`.
    Needs the package skl2onnx.

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.float32([[0], [1], [2]])
    >>> m = from_sklearn(LinearRegression().fit(X, [1, 3, 5]), X)
    >>> m(np.float32([[10]]))
    array([[21.]], dtype=float32)
    """
    try:
        import skl2onnx
    except ImportError as error:
        raise ImportError(f"ingot.from_sklearn converts by the package skl2onnx, and there is no {error.name}: pip install skl2onnx") from error
    from sklearn.base import is_classifier

    given = dict(convert or {})
    if is_classifier(estimator):
        # Without this the probabilities are a list of dictionaries, one for each row.
        given["options"] = {id(estimator): {"zipmap": False}, **given.get("options", {})}
    row = X[:1] if double else single(X[:1])
    return _compile.compile(skl2onnx.to_onnx(estimator, row, **given), **options)
