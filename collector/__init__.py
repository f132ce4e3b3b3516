"""Takes in what happened, from anyone, and turns it into runs, verdicts and rollups."""
