"""What happened when?  Marked regions of other profilers, timelines, Perfetto and SVG."""
