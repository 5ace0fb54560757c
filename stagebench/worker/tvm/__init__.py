"""Apache TVM's adapter: with `stagebench.worker.tir`, what reads its IR."""
