"""Short forms of model files, each beside the full form it stands for."""

__all__ = ["SAME"]

SAME = [
    ("parameters: {a: 1, b: x, c: , x: 3}", "parameters: {a: {value: 1}, b: {value: x}, c: {}, x: {value: 3}}"),
    ("base: floating", "base: {kind: floating}"),
    ("inputs: {u: 2, v: }", "inputs: {u: {default: 2}, v: {default: 0}}"),
    ("outputs: {y: 1}", "outputs: {y: {value: 1}}"),
    ("bodies: {a: }", "bodies: {a: {}}"),
    ("bodies: {a: {joint: revolute}}", "bodies: {a: {joint: {kind: revolute}}}"),
    (
        "bodies: {a: {joint: {kind: revolute, coordinate: q, lower: -1, start: 2}}}",
        "bodies: {a: {joint: {kind: revolute, coordinates: {q: {lower: -1, start: 2}}}}}",
    ),
    (
        "bodies: {a: {joint: {kind: universal, coordinates: [p, q]}}}",
        "bodies: {a: {joint: {kind: universal, coordinates: {p: {}, q: {}}}}}",
    ),
    (
        "bodies: {a: {joint: {kind: universal, coordinates: {p: 1, q: }}}}",
        "bodies: {a: {joint: {kind: universal, coordinates: {p: {start: 1}, q: {}}}}}",
    ),
    ("bodies: {a: {mdh: {d: 1}}}", "bodies: {a: {place: {mdh: {d: 1}}}}"),
    ("bodies: {a: {pose: [1, 2, 3]}}", "bodies: {a: {place: {pose: {position: [1, 2, 3]}}}}"),
    ("bodies: {a: {place: [1, 2, 3]}}", "bodies: {a: {place: {pose: {position: [1, 2, 3]}}}}"),
    ("bodies: {a: {frames: {f: [1, 2, 3]}}}", "bodies: {a: {frames: {f: {place: {pose: {position: [1, 2, 3]}}}}}}"),
    ("bodies: {a: {frames: {f: {dh: {a: 1}}}}}", "bodies: {a: {frames: {f: {place: {dh: {a: 1}}}}}}"),
    (
        "bodies: {a: {inertia: {mass: 1, tensor: [1, 2, 3]}}}",
        "bodies: {a: {inertia: {mass: 1, tensor: {xx: 1, yy: 2, zz: 3}}}}",
    ),
    (
        "bodies: {a: {shapes: [{box: [1, 2, 3]}, {sphere: 2}, {line: [[0, 0, 0], [1, 1, 1]]}, {mesh: a.stl}]}}",
        "bodies: {a: {shapes: [{box: {size: [1, 2, 3]}}, {sphere: {radius: 2}},"
        " {line: {points: [[0, 0, 0], [1, 1, 1]]}}, {mesh: {file: a.stl}}]}}",
    ),
    ("bodies: {a: {shapes: [{sphere: 1, pose: [1, 2, 3]}]}}", "bodies: {a: {shapes: [{sphere: 1, place: [1, 2, 3]}]}}"),
    ("base: {kind: moving, steps: [{tx: t}]}", "base: {kind: moving, place: {steps: [{tx: t}]}}"),
    ("title: 'a'", 'title: "a"'),
    ("bodies:", "bodies: {}"),
]
