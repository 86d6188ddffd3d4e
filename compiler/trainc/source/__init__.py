"""The lines of the input as a report shows them: cut out, underlined, and without secrets. Imported for a report."""
