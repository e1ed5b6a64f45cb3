"""The cache of compiled code may be missing, broken, full, contested or hostile: results never depend on it."""

import hashlib
import json
import os
import re
import signal
import stat
import subprocess
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

from support import processes
from torseur.emit import cache, compile, compile_keyed, compile_together, compile_together_keyed, integrator, source
from torseur.emit.ir import Lanes
from torseur.emit.jit import Tier
from torseur.emit.source import module_text
from torseur.errors import CacheWarning
from torseur.graph import Function, Graph, Role, call, cos, sin


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache for one test; nobody has been warned of anything yet."""
    path = tmp_path / "cache"
    monkeypatch.setenv("TORSEUR_CACHE", str(path))
    monkeypatch.setattr(cache, "_warned", set())
    return path


@pytest.fixture
def assembled(monkeypatch):
    """How often the compiler ran."""
    ran = []
    assemble = source.assemble

    def counted(text, *rest):
        ran.append(len(text))
        return assemble(text, *rest)

    monkeypatch.setattr(source, "assemble", counted)
    return ran


def function(factor=3.0):
    g = Graph()
    q = g.block("q", 2)
    return Function("f", [q], {"y": [sin(q[0]) * factor, q[1] + factor]})


def value(factor=3.0):
    return compile(function(factor))([0.5, 1.0])


def expected(factor=3.0):
    return [np.sin(0.5) * factor, 1.0 + factor]


def entries(folder) -> list[Path]:
    return sorted(folder.glob("*.code"))


needs_users = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users on this system")
needs_root = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can give files away")


# -- warm starts -------------------------------------------------------------------------------------------------------


def test_what_was_compiled_once_is_not_compiled_again(folder, assembled):
    for _ in range(3):
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    assert len(assembled) == 1
    assert len(entries(folder)) == 1


def test_other_constants_lanes_or_tiers_are_other_entries(folder, assembled):
    value()
    value(4.0)
    compile(function())(np.ones((3, 2)))
    compile(function(), lanes=2)(np.ones((3, 2)))
    compile(function(), tier=Tier.QUICK)([0.5, 1.0])
    assert len(assembled) == len(entries(folder)) == 5


def test_names_do_not_matter_to_the_code(folder, assembled):
    value()
    g = Graph()
    x = g.block("angle", 2)
    other = compile(Function("other", [x], {"result": [sin(x[0]) * 3.0, x[1] + 3.0]}))
    np.testing.assert_array_equal(other(angle=[0.5, 1.0]), value())
    assert len(assembled) == 1
    assert [a.name for a in other.inputs] == ["angle"]


def test_an_integrator_is_kept_too(folder, monkeypatch):
    from torseur.emit import integrate

    def run():
        g = Graph()
        x = g.block("x", 1)
        return integrator(Function("f", [x], {"dx": [-x[0]]}))([1.0], step=0.1, steps=10).states[0]

    first = run()
    monkeypatch.setattr(integrate, "assemble", None)
    np.testing.assert_array_equal(run(), first)


# -- a broken cache ----------------------------------------------------------------------------------------------------


def truncated(content):
    return content[: len(content) // 2]


def flipped_code(content):
    return content[:-100] + bytes([content[-100] ^ 1]) + content[-99:]


def flipped_header(content):
    return content[:50] + bytes([content[50] ^ 1]) + content[51:]


def flipped_checksum(content):
    return content[:10] + bytes([content[10] ^ 1]) + content[11:]


def other_magic(content):
    return b"torseur0" + content[8:]


DAMAGES = [
    truncated,
    flipped_code,
    flipped_header,
    flipped_checksum,
    other_magic,
    lambda content: b"",
    lambda content: b"torseur2",
    lambda content: content[:41],
    lambda content: content + b"\0",
    lambda content: bytes(len(content)),
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda f: f.__name__)
def test_a_damaged_entry_is_compiled_again(folder, assembled, damage):
    value()
    (entry,) = entries(folder)
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    assert len(assembled) == 2
    assert entry.read_bytes() == good


def opened(content):
    """The header and the code of an entry."""
    length = int.from_bytes(content[40:48], "little")
    return json.loads(content[48 : 48 + length]), content[48 + length :]


def sealed(key, header, code):
    """An entry whose digest is right, whatever is in it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + code
    return b"torseur2" + hashlib.sha256(key.encode() + rest).digest() + rest


def told(header, **other):
    """A header that says something else of its function; None is left out."""
    said = {**header["functions"][""], **other}
    return {**header, "functions": {"": {name: x for name, x in said.items() if x is not None}}}


WRONG = {
    "no JSON": lambda header, code: (b"{", code),
    "no text": lambda header, code: (b"\xff\xfe", code),
    "no mapping": lambda header, code: ([1, 2], code),
    "nothing known": lambda header, code: ({}, code),
    "no functions": lambda header, code: ({**header, "functions": {}}, code),
    "another function": lambda header, code: ({**header, "functions": {"g": header["functions"][""]}}, code),
    "a list of functions": lambda header, code: ({**header, "functions": [header["functions"][""]]}, code),
    "no routines": lambda header, code: ({"functions": header["functions"]}, code),
    "no work": lambda header, code: (told(header, work=None), code),
    "work in words": lambda header, code: (told(header, work="much"), code),
    "other entries": lambda header, code: (told(header, entries=["loop", "absent"]), code),
    "entries without end": lambda header, code: (told(header, entries=7), code),
    "other arguments": lambda header, code: (told(header, inputs=[["q", [3], "state", []]]), code),
    "a role that is none": lambda header, code: (told(header, inputs=[["q", [2], "king", []]]), code),
    "no code": lambda header, code: (header, b""),
    "half the code": lambda header, code: (header, code[: len(code) // 2]),
    "words for code": lambda header, code: (header, b"this is not machine code" * 100),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_content_under_a_right_digest_is_compiled_again(folder, assembled, wrong):
    value()
    (entry,) = entries(folder)
    good = entry.read_bytes()
    assert sealed(entry.stem, *opened(good)) == good
    entry.write_bytes(sealed(entry.stem, *wrong(*opened(good))))
    np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    assert len(assembled) == 2
    assert entry.read_bytes() == good


def test_wrong_content_of_an_integrator_is_compiled_again(folder):
    g = Graph()
    x = g.block("x", 1)

    def run():
        return integrator(Function("f", [x], {"dx": [-x[0]]}))([1.0], step=0.1, steps=10).states[0]

    first = run()
    (entry,) = entries(folder)
    good = entry.read_bytes()
    entry.write_bytes(sealed(entry.stem, {}, b"nothing to run"))
    np.testing.assert_array_equal(run(), first)
    assert entry.read_bytes() == good


def test_a_keyed_function_with_wrong_content_is_built_again(folder):
    built = []

    def build():
        built.append(1)
        return function()

    first = compile_keyed("key", build)([0.5, 1.0])
    (entry,) = entries(folder)
    entry.write_bytes(sealed(entry.stem, {"name": "f"}, opened(entry.read_bytes())[1]))
    np.testing.assert_array_equal(compile_keyed("key", build)([0.5, 1.0]), first)
    assert len(built) == 2


def test_an_entry_under_the_name_of_another_is_not_run(folder, assembled):
    value(3.0)
    (first,) = entries(folder)
    value(4.0)
    (second,) = set(entries(folder)) - {first}
    second.write_bytes(first.read_bytes())
    np.testing.assert_allclose(value(4.0), expected(4.0), rtol=1e-15)
    assert len(assembled) == 3


def test_an_entry_that_is_a_directory_does_no_harm(folder):
    value()
    (entry,) = entries(folder)
    entry.unlink()
    entry.mkdir()
    with pytest.warns(CacheWarning, match="could not be kept"):
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    assert not list(folder.glob(".new-*"))


@needs_users
def test_an_entry_that_is_a_link_is_not_followed(folder, assembled, tmp_path):
    value()
    (entry,) = entries(folder)
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    value()
    assert len(assembled) == 2
    assert not entry.is_symlink()


@pytest.mark.parametrize("broken", ["mkdir", "mkstemp", "replace", "fdopen"])
def test_a_cache_that_cannot_be_written_costs_time_only(folder, monkeypatch, broken):
    def refuse(*args, **named):
        raise PermissionError(13, "Permission denied")

    homes = {"mkdir": Path, "mkstemp": cache.tempfile, "replace": os, "fdopen": os}
    monkeypatch.setattr(homes[broken], broken, refuse)
    with pytest.warns(CacheWarning, match="Permission denied"):
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    np.testing.assert_allclose(value(4.0), expected(4.0), rtol=1e-15)  # said once: a second warning would be an error
    assert not entries(folder)
    assert not list(folder.glob(".new-*"))


def test_a_cache_that_cannot_be_listed_does_no_harm(folder, monkeypatch):
    value()

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    np.testing.assert_allclose(value(4.0), expected(4.0), rtol=1e-15)
    assert cache.cache_info().entries == 0
    assert cache.clear_cache() == 0


def test_a_file_in_place_of_the_cache_is_said(folder):
    folder.write_text("not a directory")
    with pytest.warns(CacheWarning, match="the cache of compiled code is not used"):
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)


def no_home(cls):
    raise RuntimeError("Could not determine home directory.")


@needs_users
@pytest.mark.parametrize("given", ["~nobody_of_this_name/cache", None], ids=["of another", "of our own"])
def test_a_home_that_cannot_be_found_is_said(folder, monkeypatch, given):
    if given:
        monkeypatch.setenv("TORSEUR_CACHE", given)
    else:
        monkeypatch.delenv("TORSEUR_CACHE")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(Path, "home", classmethod(no_home))
    with pytest.warns(CacheWarning, match="home"):
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    info = cache.cache_info()
    assert not info.usable
    assert "home" in info.reason


# -- a cache that others can write to ----------------------------------------------------------------------------------


def refused(match):
    with pytest.warns(CacheWarning, match=match):
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    info = cache.cache_info()
    assert not info.usable
    assert info.reason


@needs_users
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_directory_that_others_can_write_is_refused(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    refused("can be written by other users")
    assert not entries(folder)


@needs_users
def test_a_directory_in_one_that_others_can_write_is_refused(folder):
    folder.mkdir(mode=0o700)
    folder.parent.chmod(0o777)
    refused("can be written by other users")
    folder.parent.chmod(0o1777)  # as /tmp is: nobody can move what is not his own
    cache._warned.clear()
    np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    assert len(entries(folder)) == 1


@needs_root
def test_a_directory_of_another_user_is_refused(folder):
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, -1)
    refused("belongs to another user")


@needs_root
def test_a_directory_in_one_of_another_user_is_refused(folder):
    folder.mkdir(mode=0o700)
    os.chown(folder.parent, 12345, -1)
    refused("belongs to another user")


@needs_users
def test_a_link_of_ours_is_followed_to_a_directory_of_ours(folder, tmp_path):
    (tmp_path / "there").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "there")
    value()
    assert len(entries(tmp_path / "there")) == 1


@needs_users
def test_a_link_to_a_directory_that_others_can_write_is_refused(folder, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o777)
    folder.symlink_to("there")
    refused("can be written by other users")


@needs_users
def test_a_link_on_the_way_that_others_can_change_is_refused(folder, tmp_path):
    public, private = tmp_path / "public", tmp_path / "private"
    public.mkdir()
    public.chmod(0o777)
    private.mkdir(mode=0o700)
    (public / "link").symlink_to(private)
    folder.symlink_to(public / "link")
    refused("can be written by other users")


@needs_root
def test_a_link_of_another_user_is_refused(folder, tmp_path):
    (tmp_path / "there").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "there")
    os.chown(folder, 12345, -1, follow_symlinks=False)
    refused("belongs to another user")


@needs_users
def test_links_in_a_circle_are_refused(folder, tmp_path):
    folder.symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(folder)
    with pytest.warns(CacheWarning, match="not used"):
        np.testing.assert_allclose(value(), expected(), rtol=1e-15)


@needs_users
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write_is_not_run(folder, assembled, mode):
    value()
    (entry,) = entries(folder)
    entry.chmod(mode)
    value()
    assert len(assembled) == 2
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


@needs_root
def test_an_entry_of_another_user_is_not_run(folder, assembled):
    value()
    (entry,) = entries(folder)
    os.chown(entry, 12345, -1)
    value()
    assert len(assembled) == 2


@needs_users
def test_what_is_made_is_private_whatever_the_mask(folder, monkeypatch):
    monkeypatch.setenv("TORSEUR_CACHE", str(folder / "deep" / "er"))
    before = os.umask(0)
    try:
        value()
    finally:
        os.umask(before)
    for place in (folder, folder / "deep", folder / "deep" / "er"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    (entry,) = entries(folder / "deep" / "er")
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


# -- size --------------------------------------------------------------------------------------------------------------


def test_what_was_used_longest_ago_goes_first(folder, monkeypatch):
    for k in range(4):
        cache.save(f"entry{k}", {}, bytes(1000))
        os.utime(folder / f"entry{k}.code", (1e9 + k, 1e9 + k))
    assert cache.load("entry0") is not None  # now it is the latest
    monkeypatch.setenv("TORSEUR_CACHE_LIMIT", "4500")
    cache.save("entry4", {}, bytes(1000))
    assert {path.stem for path in entries(folder)} == {"entry0", "entry3", "entry4"}
    assert cache.cache_info().bytes <= 4500


def test_the_limit_holds_though_entries_are_looked_at_now_and_then_only(folder, monkeypatch):
    looks, files = [], cache._files
    monkeypatch.setattr(cache, "_files", lambda directory: looks.append(directory) or files(directory))
    monkeypatch.setenv("TORSEUR_CACHE_LIMIT", "400000")
    for k in range(120):
        cache.save(f"entry{k}", {}, bytes(5000))
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 400_000
    assert len(looks) < 60
    assert (folder / "entry119.code").exists()
    assert not (folder / "entry0.code").exists()


def test_a_limit_too_small_for_anything_costs_time_only(folder, monkeypatch):
    monkeypatch.setenv("TORSEUR_CACHE_LIMIT", "10")
    np.testing.assert_allclose(value(), expected(), rtol=1e-15)
    assert not entries(folder)


def test_a_limit_that_is_no_number_is_said(folder, monkeypatch):
    monkeypatch.setenv("TORSEUR_CACHE_LIMIT", "much")
    with pytest.warns(CacheWarning, match="TORSEUR_CACHE_LIMIT"):
        value()
    assert cache.cache_info().limit == 512 * 1024 * 1024


def test_half_written_files_are_removed_when_they_are_old(folder):
    folder.mkdir(mode=0o700)
    old, young, other = folder / ".new-old", folder / ".new-young", folder / "notes.txt"
    for path in (old, young, other):
        path.write_text("half")
    os.utime(old, (1e9, 1e9))
    os.utime(other, (1e9, 1e9))
    value()
    assert not old.exists()
    assert young.exists()
    assert other.exists()


# -- switches and reports ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["off", "OFF", "0", "none", ""])
def test_the_cache_can_be_switched_off(folder, monkeypatch, assembled, word):
    monkeypatch.setenv("TORSEUR_CACHE", word)
    value()
    value()
    assert len(assembled) == 2
    info = cache.cache_info()
    assert not info.usable
    assert "switched off" in info.reason
    assert info.path is None
    assert cache.clear_cache() == 0


def test_what_is_in_the_cache_is_told_and_can_be_removed(folder):
    assert cache.cache_info() == cache.CacheInfo(folder, 0, 0, 512 * 1024 * 1024, True, None)
    assert not folder.exists()  # looking makes nothing
    value()
    value(4.0)
    info = cache.cache_info()
    assert (info.path, info.entries, info.usable) == (folder.resolve(), 2, True)
    assert info.bytes == sum(path.stat().st_size for path in entries(folder))
    (folder / "notes.txt").write_text("not ours")
    assert cache.clear_cache() == 2
    assert cache.cache_info().entries == 0
    assert (folder / "notes.txt").exists()
    np.testing.assert_allclose(value(), expected(), rtol=1e-15)


@pytest.mark.skipif(os.name != "posix" or os.uname().sysname == "Darwin", reason="XDG directories")
def test_the_user_s_cache_directory_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("TORSEUR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_info().path == tmp_path / "torseur"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/path")  # to be ignored, says the specification
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: tmp_path / "home"))
    assert cache.cache_info().path == tmp_path / "home" / ".cache" / "torseur"


# -- keys --------------------------------------------------------------------------------------------------------------


def keyed(built, key="arm:1"):
    def build():
        built.append(key)
        return function()

    return compile_keyed(key, build)


def test_a_keyed_function_is_built_for_the_first_time_only(folder):
    built = []
    for _ in range(2):
        f = keyed(built)
        np.testing.assert_allclose(f([0.5, 1.0]), expected(), rtol=1e-15)
        np.testing.assert_allclose(f(np.array([[0.5, 1.0]] * 3)), [expected()] * 3, rtol=1e-15)
        assert repr(f) == "<NativeFunction f(q[2]) -> y[2]>"
    assert len(built) == 1


def test_another_key_other_sources_or_another_processor_build_again(folder, monkeypatch):
    built = []
    keyed(built)([0.5, 1.0])
    keyed(built, "arm:2")([0.5, 1.0])
    assert len(built) == 2
    with monkeypatch.context() as patch:
        patch.setattr(cache, "sources_digest", lambda: "other sources")
        keyed(built)([0.5, 1.0])
    assert len(built) == 3
    with monkeypatch.context() as patch:
        machine = cache.host()
        patch.setattr(cache, "host", lambda: type(machine)(machine.triple, machine.cpu, machine.features + ",-foo"))
        assert keyed(built).interface.name == "f"
    assert len(built) == 4
    keyed(built)([0.5, 1.0])
    assert len(built) == 4


def test_the_fingerprint_of_our_sources_follows_their_content(tmp_path, monkeypatch):
    package = tmp_path / "torseur"
    (package / "emit").mkdir(parents=True)
    (package / "a.py").write_text("x = 1")
    monkeypatch.setattr(cache, "__file__", str(package / "emit" / "cache.py"))

    def digest():
        cache.sources_digest.cache_clear()
        return cache.sources_digest()

    try:
        first = digest()
        assert digest() == first
        (package / "a.py").write_text("x = 2")
        second = digest()
        (package / "a.py").rename(package / "b.py")
        assert len({first, second, digest()}) == 3
    finally:
        monkeypatch.undo()
        cache.sources_digest.cache_clear()


def test_a_second_process_neither_builds_nor_compiles(folder):
    code = """
        import sys
        from torseur.emit import compile_keyed, source
        from torseur.graph import Function, Graph, sin

        def build():
            print("built")
            g = Graph()
            q = g.block("q", 2)
            return Function("f", [q], {"y": [sin(q[0]), q[1] * 2.0]})

        assemble = source.assemble
        source.assemble = lambda *a: print("compiled") or assemble(*a)
        f = compile_keyed("the same key", build)
        print(f([0.0, 4.0]).tolist(), f([[0.0, 4.0]] * 5).tolist()[4])
    """
    result = "[0.0, 8.0] [0.0, 8.0]"
    assert processes.run(code).split("\n") == ["built", "compiled", "compiled", result]
    assert processes.run(code) == result


# -- functions compiled together ---------------------------------------------------------------------------------------
def pair():
    """Two functions that call a third."""
    g = Graph()
    x = g.block("x", 2)
    inner = Function("inner", [x], {"y": [sin(x[0]) * x[1], sin(x[0] + x[1])]})
    one, other = Graph(), Graph()
    a, b, p = one.block("a", 2), other.block("b", 2), other.block("p", 1, Role.PARAMETER)
    first = Function("first", [a], {"y": call(inner, a)})
    second = Function("second", [b, p], {"y": [y * cos(p[0]) for y in call(inner, b)], "z": b[0] * p[0]})
    return {"first": first, "second": second}


X, P = np.array([0.3, 2.0]), np.array([0.7])


def test_functions_compiled_together_are_one_entry_and_give_the_same_bits(folder, assembled):
    together = compile_together(pair())
    alone = {name: compile(f) for name, f in pair().items()}
    np.testing.assert_array_equal(together["first"](X), alone["first"](X))
    batch = np.stack([X, 2 * X, X + 1])
    for found, expected in zip(together["second"](batch, P), alone["second"](batch, P), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(together["second"].bind(P)(X)[0], alone["second"].bind(P)(X)[0])
    np.testing.assert_array_equal(together["first"].direct("first", "")(X), alone["first"](X))
    own = 2  # one for single states, one for batches
    assert len(assembled) == own + 3
    assert len(entries(folder)) == len(assembled)


def test_what_functions_call_in_common_is_written_once():
    text, _ = module_text(pair(), Lanes(1))
    assert len(re.findall(r"^define .* @inner\.", text, flags=re.MULTILINE)) == 1


def test_functions_of_a_key_are_built_when_the_cache_does_not_have_them(folder):
    built = []

    def build():
        built.append(1)
        return pair()

    def values():
        made = compile_together_keyed("key", ["first", "second"], build)
        return [made["second"].interface.name, *made["second"](X, P), made["first"](X)]

    first = values()
    again = values()
    assert len(built) == 1
    (entry,) = entries(folder)
    header, code = opened(entry.read_bytes())
    del header["functions"]["second"]
    entry.write_bytes(sealed(entry.stem, header, code))
    once_more = values()
    assert len(built) == 2
    for found in (again, once_more):
        for a, b in zip(found, first, strict=True):
            np.testing.assert_array_equal(a, b)


def test_batches_alone_compile_no_code_for_single_states(folder, assembled):
    f = compile_keyed("key", lambda: pair()["first"], lanes=4, batches=True)
    assert f.interface.name == "first"
    f(np.stack([X, X]))
    assert len(assembled) == 1
    f(X)
    assert len(assembled) == 2
    g = compile(pair()["first"], lanes=4)
    g(np.stack([X, X]))
    assert len(assembled) == 3


# -- several processes -------------------------------------------------------------------------------------------------

FUNCTIONS = """
    import numpy as np
    from torseur.emit import compile
    from torseur.graph import Function, Graph, sin

    def made(k):
        g = Graph()
        q = g.block("q", 3)
        return Function("f", [q], {"y": [sin(q[0]) * (k + 1.0), q[1] - q[2] * float(k)]})

    def check(k):
        q = np.linspace(0, 1, 15).reshape(5, 3)
        expected = np.stack([np.sin(q[:, 0]) * (k + 1.0), q[:, 1] - q[:, 2] * k], axis=-1)
        f = compile(made(k))
        np.testing.assert_allclose(f(q), expected, rtol=1e-14)
        np.testing.assert_allclose(f(q[0]), expected[0], rtol=1e-14)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals on this system")
@pytest.mark.parametrize("moment", ["before the file is moved", "in the middle of the file"])
def test_a_process_killed_while_it_writes_leaves_a_cache_that_works(folder, moment):
    before = "os.replace = lambda *a: os.kill(os.getpid(), signal.SIGKILL)"
    within = """
    class Dying:
        def __init__(self, *args): self.file = real(*args)
        def __enter__(self): return self
        def __exit__(self, *rest): pass
        def write(self, content):
            self.file.write(content[: len(content) // 2])
            self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    real, os.fdopen = os.fdopen, Dying
    """
    kill = before if moment.startswith("before") else within
    dying = processes.start(FUNCTIONS + f"\n    import os, signal\n    {kill}\n    check(0)\n")
    _, err = dying.communicate()
    assert dying.returncode == -signal.SIGKILL, err
    assert not entries(folder)
    assert len(list(folder.glob(".new-*"))) == 1
    assert processes.run(FUNCTIONS + "\n    check(0)\n    print('right')") == "right"
    assert len(entries(folder)) == 2
    assert cache.cache_info().entries == 2


def test_eight_processes_at_once_agree(folder):
    code = FUNCTIONS + "\n    for k in range(3):\n        check(k)\n    print('right')"
    running = [processes.start(code) for _ in range(8)]
    for process in running:
        out, err = process.communicate()
        assert (process.returncode, out.strip()) == (0, "right"), err
    assert len(entries(folder)) == 6
    assert not list(folder.glob(".new-*"))


def test_processes_that_push_each_other_out_agree(folder):
    code = FUNCTIONS + "\n    for k in range(2):\n        check(k)\n    print('right')"
    running = [processes.start(code, TORSEUR_CACHE_LIMIT="6000") for _ in range(3)]
    for process in running:
        out, err = process.communicate()
        assert (process.returncode, out.strip()) == (0, "right"), err


SLOW = (
    FUNCTIONS
    + """
    import sys, time
    from pathlib import Path
    from torseur.emit import source

    def assemble(*given, real=source.assemble):
        Path(sys.argv[1], f"{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(float(sys.argv[2]))
        return real(*given)

    import os
    source.assemble = assemble
    check(0)
    print("right")
"""
)


@pytest.mark.skipif(cache.fcntl is None, reason="no locks on this system")
def test_of_several_processes_one_compiles_and_the_others_wait(folder, tmp_path):
    began = tmp_path / "began"
    began.mkdir()
    running = [processes.start(SLOW, str(began), "0.5") for _ in range(3)]
    for process in running:
        out, err = process.communicate()
        assert (process.returncode, out.strip()) == (0, "right"), err
    assert len(list(began.iterdir())) == 2  # one state, and lanes
    assert sorted(folder.iterdir()) == sorted(entries(folder))


@pytest.mark.skipif(cache.fcntl is None, reason="no locks on this system")
def test_nobody_waits_for_a_process_that_was_killed_while_it_compiled(folder, tmp_path):
    dying = processes.start(SLOW, str(tmp_path), "600")
    while not (began := list(tmp_path.glob(f"{dying.pid}-*"))):
        assert dying.poll() is None
    other = processes.start(SLOW, str(tmp_path), "0")
    with pytest.raises(subprocess.TimeoutExpired):
        other.wait(1.0)  # it waits
    dying.kill()
    dying.communicate()
    out, err = other.communicate()
    assert (other.returncode, out.strip()) == (0, "right"), err
    assert len(list(tmp_path.glob("*-*"))) == len(began) + 2


def test_where_nothing_can_be_locked_every_process_makes_its_own(folder, monkeypatch, assembled):
    def refused(*given):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(cache, "fcntl", types.SimpleNamespace(flock=refused, LOCK_EX=2, LOCK_NB=4))
    assert list(value()) == pytest.approx(expected())
    monkeypatch.setattr(cache, "fcntl", None)
    assert list(value(5.0)) == pytest.approx(expected(5.0))
    assert len(assembled) == 2
    assert len(entries(folder)) == 2
