"""Writes profiler buffers as the device code does, damage included."""

import numpy as np

START, END, INSTANT, FINALIZE = range(4)


def word(time, lane, event, kind, *, sm=None):
    tag = (lane << 12) | (event << 2) | kind
    if sm is not None:
        tag |= sm << 24
    return ((time & 0xFFFFFFFF) << 32) | (tag & 0xFFFFFFFF)


def buffer(blocks, groups, lanes, *, size=None, stride=None, sm=None):
    """``lanes`` maps a lane to its ``(time, event, type)``; ``stride`` is what the kernel used."""
    stride = blocks * groups if stride is None else stride
    last = max((lane + (len(found) - 1) * stride for lane, found in lanes.items()), default=0)
    words = [0] * (last + 2 + stride if size is None else size)
    words[0] = (groups << 32) | blocks
    for k in range(max((len(found) for found in lanes.values()), default=0)):
        for lane, found in lanes.items():
            if k < len(found):
                time, event, kind = found[k]
                words[1 + lane + k * stride] = word(time, lane, event, kind, sm=sm)
    return np.array(words, dtype=np.uint64)


def spans(*found, begin=1000):
    """Records of back-to-back regions ``(event, duration)`` and a finalize."""
    records, now = [], begin
    for event, duration in found:
        records += [(now, event, START), (now + duration, event, END)]
        now += duration
    return [*records, (now, 0, FINALIZE)]
