"""The language server: diagnostics, fixes, hover, navigation and completion while a manifest is edited.

It uses only the public names of `trainc` (docs/python.md), and pygls for the protocol:

outline     the fields of a text with their positions, also of a text that is not valid YAML
project     the open texts, the session, the last answers, and ranges in the units of the client
references  which documents a field names, and where they are
hover_and_actions
            hover, code lenses and code actions
completion  field names, values, names of documents, and snippets
shown       compiled objects, pods and reviews as documents that follow the edits
server      the messages of the protocol, and when files are checked
"""
