"""LoGRA: reinforcement learning with low-rank gradient sketches."""
