"""What the endpoint of Prometheus says of ingot's models beside MLServer's own counters.

They are in prometheus_client's registry, which the endpoint shows with and without MLServer's workers; what mlserver.register makes is shown with workers only. They
are made when a model is first loaded, since a worker chooses then where its values are kept."""

import functools
import typing

import prometheus_client

ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


@functools.cache
def histograms() -> typing.Dict[str, prometheus_client.Histogram]:
    labels = ["model_name", "model_version"]
    return {
        "seconds": prometheus_client.Histogram("ingot_request_seconds", "how long a request has waited and run", labels),
        "rows": prometheus_client.Histogram("ingot_run_rows", "rows that a run answers where batches are formed, otherwise 1", labels, buckets=ROWS),
        "waiting": prometheus_client.Histogram("ingot_waiting", "how many requests wait when one comes", labels, buckets=ROWS),
    }


class Metrics:
    """The histograms of a model."""

    def __init__(self, name: str, version: typing.Optional[str]) -> None:
        chosen = {key: each.labels(model_name=name, model_version=version or "") for key, each in histograms().items()}
        self.seconds, self.rows, self.waiting = chosen["seconds"].observe, chosen["rows"].observe, chosen["waiting"].observe
