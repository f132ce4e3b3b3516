"""What is doubtful about jobs, though nothing is wrong with their form. Every code has a section in docs/lint.md."""
