"""Secrets in a text made unreadable: keys, tokens and passwords in their known forms and places.

The kind of a secret is named in its place (`[redacted: github token]`), so that a reader sees that something was removed. Each
module of `rules` decides one family, and the others what these share: `provider_keys` keys with a provider's form, `private_keys`
private keys, `urls` secrets in addresses, `headers` authorization and cookies, `commands` options of programs, `assignments` values of names (`names`,
`name_places`, `spaced_values`, `written_values`, `value_lists`, `secret_values`), `values_apart` values at some distance from their names,
`spoken` values named in other languages, `sentences` values named in English some words away, `printed` output of programs that
consists of a secret alone, `code_calls` arguments of functions, `tables` columns by their heads, `recovery_codes` recovery
codes, `aws_keys` values that are random enough by themselves, `encoded_texts` all of these inside base64, `as_seen` all of
these behind frames and escapes (`framed`, `joined`); `repeated` the same secrets in other places of their text; `signs` tells
which of the rules a text need be given to; `silent_texts` which of many names of files need not be asked about.

All code that shows, sends or lists secrets asks `secrets_in`, so that results agree. Every rule takes linear time.
"""
