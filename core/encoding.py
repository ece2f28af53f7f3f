"""Nested arrays and JSON values as bytes: safetensors with a JSON skeleton, never a pickle."""

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from rolecast.core.seals import BLANK_SEAL, seal, seal_holds

_SKELETON_KEY: Final = "skeleton"
_SEAL_KEY: Final = "seal"
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


def to_sealed_bytes(state: Mapping[str, Any]) -> bytes:
    """Encode as `to_bytes`, with a seal over all bytes."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    skeleton = json.dumps(_strip(state, arrays))
    return seal(
        save(arrays, metadata={_SKELETON_KEY: skeleton, _SEAL_KEY: BLANK_SEAL}), in_head=True
    )


def from_bytes(data: bytes) -> dict[str, Any]:
    """Decode what `to_bytes` or `to_sealed_bytes` gave.

    Raises:
        ValueError: the bytes are something else, or damaged.
    """
    if seal_holds(data) is False:
        raise ValueError("its seal is wrong")
    try:
        arrays = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        if _SEAL_KEY in header["__metadata__"] and not seal_holds(data):
            raise ValueError("its seal has lost its name")  # noqa: TRY301 - as all damage
        state: dict[str, Any] = _fill(json.loads(header["__metadata__"][_SKELETON_KEY]), arrays)
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not a saved state: {error}") from error
    if not isinstance(state, dict):
        raise ValueError("not a saved state: expected a mapping")  # noqa: TRY004 - of the bytes
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
