"""Is a difference from the accepted baseline allowed?  Policy, expectations, judge, baselines."""
