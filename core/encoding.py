"""Nested arrays and JSON values as bytes: safetensors with a JSON skeleton, never a pickle."""

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

_SKELETON_KEY: Final = "skeleton"
_ARRAY_KEY: Final = "__array__"
_TUPLE_KEY: Final = "__tuple__"


def to_bytes(state: Mapping[str, Any]) -> bytes:
    """Encode a nested mapping of arrays, numbers, strings, lists and tuples.

    Raises:
        TypeError: a value is of another kind, or a key is no string.
    """
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    skeleton = json.dumps(_strip(state, arrays))
    encoded: bytes = save(arrays, metadata={_SKELETON_KEY: skeleton})
    return encoded


def from_bytes(data: bytes) -> dict[str, Any]:
    """Decode what `to_bytes` gave.

    Raises:
        ValueError: the bytes are something else, or damaged.
    """
    try:
        arrays = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        state: dict[str, Any] = _fill(json.loads(header["__metadata__"][_SKELETON_KEY]), arrays)
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"not a saved state: {error}") from error
    return state


def _strip(value: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """Move arrays out of a nested value, leaving their number."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise TypeError(f"an array of {value.dtype} cannot be saved; expected numbers")
        name = str(len(arrays))
        arrays[name] = np.ascontiguousarray(value).reshape(value.shape)
        return {_ARRAY_KEY: name}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key in {_ARRAY_KEY, _TUPLE_KEY}:
                raise TypeError(f"key {key!r} cannot be saved; expected a plain string")
        return {key: _strip(item, arrays) for key, item in value.items()}
    if isinstance(value, tuple):
        return {_TUPLE_KEY: [_strip(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_strip(item, arrays) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be saved; expected arrays and JSON values")


def _fill(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """Undo `_strip`."""
    if isinstance(value, list):
        return [_fill(item, arrays) for item in value]
    if isinstance(value, dict):
        if _ARRAY_KEY in value:
            return np.array(arrays[value[_ARRAY_KEY]])
        if _TUPLE_KEY in value:
            return tuple(_fill(item, arrays) for item in value[_TUPLE_KEY])
        return {key: _fill(item, arrays) for key, item in value.items()}
    return value
