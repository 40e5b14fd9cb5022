"""The memory that the page promises, computed from shapes and counted from live tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="real shapes need transformers: pip install .[rl]")

from logra.__main__ import main  # noqa: E402
from logra.memory import account, live_bytes, measure, qwen3_5_0_8b, target_shapes  # noqa: E402
from tiny_models import llama, qwen3_5  # noqa: E402


def test_the_0_8b_shape_stays_under_two_per_cent_of_dense_adamw():
    shapes = target_shapes(qwen3_5_0_8b())
    assert len(shapes) == 18 * 5 + 24 * 3 + 6 * 4
    assert account(shapes, 16).share < 0.02


@pytest.mark.parametrize("model", [qwen3_5, llama])
@pytest.mark.parametrize("rank", [4, 16])
def test_what_is_computed_is_what_is_alive(model, rank):
    built = model()
    computed = account(target_shapes(built), rank)
    accumulated, stepping = measure(built, rank)
    layers = len(target_shapes(model()))
    small = 4 * layers + 4 * 2 + 8 * 8  # a scalar a layer that roots its graph, and the tokens
    assert 0 <= accumulated - (computed.sketches + computed.projections + computed.moments) <= small
    assert 0 <= stepping - computed.total <= small


def test_live_bytes_counts_a_storage_once():
    before = live_bytes()
    one = torch.zeros(1000)
    views = [one[:10], one.view(10, 100)]
    assert live_bytes() - before == 4000
    assert len(views) == 2


@pytest.mark.slow
def test_the_0_8b_model_measured():
    model = qwen3_5_0_8b("cpu", torch.bfloat16)
    computed = account(target_shapes(model), 16)
    _, stepping = measure(model, 16, low_precision="stochastic")
    assert stepping == pytest.approx(computed.total, rel=1e-3)
    assert stepping < 0.02 * computed.dense


def test_the_command_prints_the_pages_table(capsys):
    assert main(["memory", "--rank", "16", "64", "256"]) == 0
    table = capsys.readouterr().out.strip()
    page = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    assert table in page, f"the page's table is not the command's:\n{table}"


def test_the_command_reads_a_config(tmp_path, capsys):
    llama().config.save_pretrained(tmp_path)
    assert main(["memory", "--config", str(tmp_path)]) == 0
    assert "share of dense AdamW's" in capsys.readouterr().out


def test_the_command_says_what_is_missing(tmp_path, capsys):
    assert main(["memory", "--config", str(tmp_path / "nowhere")]) == 1
    assert "nowhere" in capsys.readouterr().err


def test_only_the_known_model_is_measured(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["memory", "--measure", "--config", str(tmp_path)])
    assert "leave out --config" in capsys.readouterr().err
