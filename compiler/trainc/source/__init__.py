"""Source lines in reports: excerpts with underlined columns and masked secrets. Imported only for a report."""
