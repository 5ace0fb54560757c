"""What do the probes say?  Their buffer decoded; stalls by site and role; what depth changed."""
