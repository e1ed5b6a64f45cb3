"""Files changed at random, for readers that must survive anything."""

from __future__ import annotations

import random
from collections.abc import Sequence


def mutated(rng: random.Random, seeds: Sequence[bytes], pieces: Sequence[bytes], letters: bytes) -> bytes:
    """One of some files with a few bytes changed, cut out, put in from a list or from elsewhere in it, or cut short."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        match rng.randrange(6):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randint(1, 30)]
            case 2:
                data[at:at] = rng.choice(pieces)
            case 3:
                other = rng.randrange(len(data))
                data[at:at] = data[other : other + rng.randint(1, 60)]
            case 4:
                words = [k for k in range(at, min(at + 80, len(data))) if chr(data[k]).isalnum()]
                for k in words[:2]:
                    data[k] = rng.choice(letters)
            case _:
                del data[at + 1 :]
        data = data or bytearray(b"=")
    return bytes(data)
