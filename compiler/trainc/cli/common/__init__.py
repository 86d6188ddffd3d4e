"""Code that commands share: options, settings, printing, exit codes, completion."""
