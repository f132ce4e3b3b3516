"""Why a job did or did not run at an instant, in words. Pure: what the ledger knows is handed in."""
