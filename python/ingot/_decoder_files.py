"""What the folder of a language model says: which file is the decoder, how its inputs and outputs are called, how many tokens it was made for, which tokens end
a text, and how its authors sample.

    model.onnx                what ONNX Runtime's model builder, optimum and PyTorch's exporter write
    genai_config.json         of the model builder: the file, names, the context, tokens that end a text, sampling
    config.json, generation_config.json   of transformers: the context, tokens that end a text, sampling
    tokenizer.json, tokenizer_config.json, chat_template.jinja   (_text.py)

genai_config.json says more than the others, and is asked first. A model without any of these files is found by its inputs' usual names."""
import json
import os
import pathlib
import typing

from . import _declared
from ._errors import Error

Path = typing.Union[str, "os.PathLike[str]"]

# Inputs and outputs as the model builder and optimum call them; genai_config.json may call them otherwise. %d is the layer's number.
INPUTS = {"input_ids": "input_ids", "attention_mask": "attention_mask", "position_ids": "position_ids"}
INPUTS |= {"past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"}
OUTPUTS = {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"}
MODELS = ("model.onnx", "decoder_model.onnx", "decoder_with_past_model.onnx", "onnx/model.onnx")


class Files(typing.NamedTuple):
    """What is known of a language model before its decoder is read."""

    model: pathlib.Path
    folder: pathlib.Path
    inputs: typing.Dict[str, str]  # what the decoder calls them, by the keys of INPUTS
    outputs: typing.Dict[str, str]
    context: typing.Optional[int]  # tokens; None: no file says how many
    width: typing.Optional[int]  # elements of a head; None: the decoder has to say it
    stops: typing.Tuple[int, ...]
    sampling: typing.Dict[str, typing.Any]  # fields of _sampling.Sampling that are not its defaults


def read(path):
    """The contents of a JSON file; an empty dictionary where there is none."""
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Error(f"{path}: is no JSON: {error}") from None


def find(path):
    """The Files of a decoder, or of the folder of one.

    Raises FileNotFoundError where there is none, and ingot.Error where it is not clear which file is meant."""
    path = pathlib.Path(path).absolute()
    folder = path if path.is_dir() else path.parent
    genai, config, generation = (read(folder / f"{name}.json") for name in ("genai_config", "config", "generation_config"))
    decoder = genai.get("model", {}).get("decoder", {})
    model = path if path != folder else decoder_file(folder, decoder.get("filename"))
    if not model.exists():
        raise FileNotFoundError(f"{model}: there is no such model")
    text = config.get("text_config", config)  # a model of pictures and text keeps the decoder's numbers apart
    context = genai.get("model", {}).get("context_length") or text.get("max_position_embeddings") or text.get("n_positions")
    ends = [part.get("eos_token_id") for part in (genai.get("model", {}), generation, text)]
    return Files(
        model,
        folder,
        INPUTS | known(decoder.get("inputs", {}), INPUTS),
        OUTPUTS | known(decoder.get("outputs", {}), OUTPUTS),
        int(context) if context else None,
        decoder.get("head_size") or text.get("head_dim"),
        numbers(next((end for end in ends if end is not None), ())),
        sampling(genai.get("search") or generation),
    )


def known(names, keys):
    return {key: name for key, name in names.items() if key in keys}


def numbers(value):
    return tuple(map(int, value)) if isinstance(value, (list, tuple)) else (int(value),)


def decoder_file(folder, said):
    """The decoder in a folder: the file that genai_config.json names, one of a usual name, or the only one that there is."""
    if said:
        return folder / said
    for name in MODELS:
        if (folder / name).exists():
            return folder / name
    found = sorted(folder.glob("*.onnx"))
    if len(found) > 1:
        raise Error(f"{folder}: has several models, {', '.join(file.name for file in found)}; name one of them")
    return found[0] if found else folder / "model.onnx"


def sampling(search):
    """How the model's authors sample, if they do: greedy otherwise."""
    chosen = {"repetition_penalty": float(search.get("repetition_penalty") or 1)}
    if search.get("do_sample"):
        chosen |= {"temperature": float(search.get("temperature") or 1), "top_k": int(search.get("top_k") or 0), "top_p": float(search.get("top_p") or 1)}
    return chosen


def operators(path):
    """The names of the operators in a model's graph, without those of subgraphs; weights are skipped."""

    def read_graph(data):
        graph = next((value for number, value in _declared.fields(data) if number == 7), b"")
        for number, node in _declared.fields(graph):
            if number == 1:
                yield next((_declared.text(value) for field, value in _declared.fields(node) if field == 4), "")

    return _declared.mapped(path, lambda data: set(read_graph(data)))
