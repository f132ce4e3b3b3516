"""How a run's work is carried out: one file per kind of executor."""
