"""The texts of files: excerpts and diffs as they are shown, and edits of YAML that keep comments and layout.

Imported only for a report, a fix or an upgrade.
"""
