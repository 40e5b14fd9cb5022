"""What the checks of the audit share: the calls they make, the rows they keep, and what counts as an alarm."""
