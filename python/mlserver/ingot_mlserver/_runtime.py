"""IngotRuntime, the class that model-settings.json names as `implementation`."""

import asyncio
import typing

import grpc
import mlserver
from mlserver.errors import InferenceError, InvalidModelURI, MLServerError
from mlserver.grpc.utils import STATUS_CODE_MAPPING
from mlserver.types import InferenceRequest, InferenceResponse
from mlserver.utils import get_model_uri

from . import _contents, _options
from ._engine import Engine, IngotEngine
from ._metrics import Metrics
from ._options import Options
from ._scheduler import Batching, Scheduler
from ._signature import Signature

# MLServer has no status of gRPC for a server that has too much to do, and would call it unknown.
STATUS_CODE_MAPPING.setdefault(503, grpc.StatusCode.UNAVAILABLE)
_contents.install()
# Errors of a run that are in the data of the request (words of ingot.RunError.kind); others are the server's own.
IN_DATA = {"index", "shape", "count", "size", "string"}


def explained(error: Exception) -> MLServerError:
    """What a run has raised, as an error that KServe's protocol can say."""
    if isinstance(error, MLServerError):
        return error
    if isinstance(error, MemoryError):
        return MLServerError(f"not enough memory: {error}", 503)
    if isinstance(error, (TypeError, ValueError)) or getattr(error, "kind", "") in IN_DATA:
        return InferenceError(str(error))
    return MLServerError(str(error) or type(error).__name__, 500)


class IngotRuntime(mlserver.MLModel):
    def __init__(self, settings: mlserver.ModelSettings) -> None:
        _options.take_batching(settings)
        super().__init__(settings)

    def open(self, uri: str, options: Options) -> Engine:
        """The model of a path, ready to run."""
        return IngotEngine(uri, options)

    async def load(self) -> bool:
        options = _options.read(self.settings)
        try:
            uri = await get_model_uri(self.settings)
        except InvalidModelURI as error:
            raise _options.invalid(self.name, str(error)) from None
        try:
            # Other models are served while this one is compiled.
            self._engine = await asyncio.get_running_loop().run_in_executor(None, self.open, uri, options)
            self._signature = Signature(self._engine, options.max_bytes)
        except Exception as error:
            raise _options.invalid(self.name, str(error)) from error
        self._metrics = Metrics(self.name, self.version)
        self._scheduler = Scheduler(self._engine.run, options.runs, options.max_waiting, self._batching(options), self._metrics.rows)
        self.inputs = self._signature.metadata(self._signature.inputs)
        self.outputs = self._signature.metadata(self._signature.outputs)
        self.settings.platform = self.settings.platform or "onnx_ingot"
        return True

    def _batching(self, options: Options) -> typing.Optional[Batching]:
        if not options.batches:
            return None
        size = self._signature.batch_size()
        if size is None:
            raise _options.invalid(self.name, "max_batch_size: the inputs and outputs have no first axis in common that is open; the model cannot run batches")
        self._signature.split = size
        return Batching(options.max_batch_size, options.max_batch_time, self._engine.bounds[size][1], self._engine.variants.get(size, ()))

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        loop = asyncio.get_running_loop()
        began = loop.time()
        checked, requested = self._signature.check(payload), self._signature.requested(payload)
        self._metrics.waiting(self._scheduler.waiting)
        try:
            outputs = await self._scheduler.submit([None if each is None else each.array() for each in checked])
        except Exception as error:
            raise explained(error) from error
        self._metrics.seconds(loop.time() - began)
        answers = [self._signature.response(number, outputs[number]) for number in requested]
        return InferenceResponse.model_construct(model_name=self.name, model_version=self.version, id=payload.id, parameters=None, outputs=answers)

    async def unload(self) -> bool:
        """Answers what is under way first."""
        if hasattr(self, "_scheduler"):
            await self._scheduler.drain()
            self._scheduler.close()
        return True
