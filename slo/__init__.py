"""Judges: objectives, budgets, burn rates, alerts, notices."""
