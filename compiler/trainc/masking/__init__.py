"""Masking: the values that reports, reviews, `explain` and `pods` show as `***`.

1. In a Secret, every value is masked; also in a text that may be one: a document that cannot be parsed and
   mentions `kind: Secret`, or has no kind.
2. Elsewhere, the whole value of a variable, flag or key is masked whose name says that it is secret.
3. In any text, tokens with a known form and the passwords of URIs are masked, the exact characters only. Of a private
   key, only the lines of base64 are masked.
4. In a program, only the third rule applies. A program is a text that starts with `#!`, a key that has the suffix of
   one, and a word of `command` and `args` that is not the value of a flag whose name says that it is secret.

`secret_names` says which names are those of secrets, `text_secrets` finds secrets in a text, `masked_values` masks
trees, `document_secrets` finds the same values in the text of a document, and `masked_messages` masks what a diagnostic
quotes.
"""
