"""Decides when jobs run, queues them, runs them, and says what happened."""
