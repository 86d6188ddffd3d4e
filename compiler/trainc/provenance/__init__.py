"""The source of each field of a compiled object (`tracing`), and diagnostics at these places (`placing`)."""
