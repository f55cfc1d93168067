"""A runtime of MLServer that is not ingot's, in a server with ingot's: it finds in a request what MLServer documents."""
import mlserver
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse


class Sums(mlserver.MLModel):
    """Gives the sum of its input, by the codec and of the list of numbers."""

    async def load(self):
        return True

    async def predict(self, payload):
        tensor = payload.inputs[0]
        decoded, numbers = NumpyCodec.decode_input(tensor), tensor.data.root
        if not isinstance(numbers, list):
            raise TypeError(f"the data are no list: {type(numbers)}")
        sums = decoded.reshape(-1)[:2].copy()
        sums[:] = decoded.sum(), sum(numbers)
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("sums", sums)])
